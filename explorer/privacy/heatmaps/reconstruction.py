"""The non-negative reconstruction nearest to the noisy counts, solved exactly on the tree.

The reduced problem has one variable for every kept leaf and one for every left-out cell (a
candidate that was not kept): minimise

    Σ_{c∈S, level i} 2^{-i} |t(c) − Σ_{v⊆c} x_v| + Σ_{r left out, level j} κ_j x_r,   x ≥ 0,

with κ_j = 2^{1−j} − 2^{−ℓ}: no descendant of a left-out cell is measured, so its mass costs 2^{−i}
on every level i ≥ j wherever it lies. Every cell's cost is a convex piecewise-linear function of
its mass, kept as a list of (slope, length); its last, endless slope is κ_i for a cell of level i,
kept or not. Slopes are kept in units of 2^{−ℓ}, where all of them are integers, so ties are exact.

**Reference solver.** The reference backend: slower than the tree solver and with another choice
among the optima, but written from the problem's definition alone. Imports cvxpy when called, so run
it in a process where that may take its time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.measurement import Measurement
from explorer.privacy.heatmaps.quadtree import SparseMap
from explorer.privacy.noise.demonstration import IntArray

Pieces = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """Masses of all candidate cells.

    Attributes
    ----------
    measurement : Measurement
    masses : tuple of ndarray of float64
        Mass inside every candidate, level by level like ``measurement.codes``; ≥ 0.
    """

    measurement: Measurement
    masses: tuple[FloatArray, ...]

    @property
    def total(self) -> float:
        """Mass of the whole map, 0 iff every noisy count of the start level is ≤ 0."""
        return float(self.masses[0].sum())

    def objective(self) -> float:
        """Return the value of the minimised sum (counts weighted by cell side)."""
        m = self.measurement
        cost = 0.0
        for k, mass in enumerate(self.masses):
            i, selected = m.start + k, m.selected[k]
            cost += 2.0**-i * float(np.abs(m.values[k][selected] - mass[selected]).sum())
            cost += kappa(i, m.level) * float(mass[~selected].sum())
        return cost

    def blocks(self) -> SparseMap:
        """Return the map: kept leaves, and left-out cells whose mass is spread evenly.

        Where nothing is positive the paper's answer is undefined (0/0); then the map is uniform
        (errata heat-7).
        """
        m = self.measurement
        if not self.total > 0:
            return SparseMap.uniform(m.level)
        levels, codes, masses = [], [], []
        for k, mass in enumerate(self.masses):
            last = m.start + k == m.level
            ends = mass > 0 if last else (mass > 0) & ~m.selected[k]
            codes.append(m.codes[k][ends])
            masses.append(mass[ends])
            levels.append(np.full(len(codes[-1]), m.start + k))
        return SparseMap(
            m.level, np.concatenate(levels), np.concatenate(codes), np.concatenate(masses)
        )


def kappa(level: int, leaf_level: int) -> float:
    """Return κ_j = 2^{1−j} − 2^{−ℓ}, the cost of a unit of mass in a left-out cell of level j."""
    return float(2.0 ** (1 - level) - 2.0**-leaf_level)


def _with_target(merged: Pieces, target: float, weight: float) -> Pieces:
    """Add weight·|target − x| to a piecewise-linear function given by its slopes.

    `weight` is 2^{ℓ−i} for a cell of level i ≥ 1, whose endless slope before is
    κ_{i+1} = weight − 1 in the same units.
    """
    if target <= 0:
        return [(slope + weight, length) for slope, length in merged]
    left = target
    before = 0
    for _, length in merged:
        if length >= left:
            break
        left -= length
        before += 1
    else:
        return [*[(slope - weight, length) for slope, length in merged], (-1.0, left)]
    edge, length = merged[before]
    result = [(slope - weight, length) for slope, length in merged[:before]]
    result.append((edge - weight, left))
    if length > left:
        result.append((edge + weight, length - left))
    result += [(slope + weight, length) for slope, length in merged[before + 1 :]]
    return result


def _merge(lists: list[Pieces]) -> Pieces:
    """Return the pieces of several functions in order of slope (infimal convolution)."""
    merged: Pieces = []
    for pieces in lists:
        merged += pieces
    if len(merged) > 1:
        merged.sort()
    return merged


def _share(
    mass: float, merged: Pieces, lists: list[Pieces], four: tuple[Pieces, ...]
) -> list[float]:
    """Split a cell's mass over its four children along the merged pieces.

    Cheapest pieces first; pieces tied at the slope where the mass runs out share in proportion
    to their lengths; what exceeds all pieces goes a quarter to each child, as all four have the
    same endless slope.
    """
    filled, edge = 0.0, 0.0
    for slope, length in merged:
        filled += length
        if filled >= mass:
            edge = slope
            break
    else:
        quarter = (mass - filled) / 4
        return [sum([length for _, length in pieces]) + quarter for pieces in four]
    if len(lists) == 1:
        return [mass if pieces is lists[0] else 0.0 for pieces in four]
    below, tied = 0.0, 0.0
    for slope, length in merged:
        if slope < edge:
            below += length
        elif slope == edge:
            tied += length
        else:
            break
    fraction = (mass - below) / tied
    result = []
    for pieces in four:
        part = 0.0
        for slope, length in pieces:
            if slope < edge:
                part += length
            elif slope == edge:
                part += fraction * length
            else:
                break
        result.append(part)
    return result


def reconstruct(measurement: Measurement) -> Reconstruction:
    """Solve the reduced problem exactly in O(|S|·depth) steps.

    Parameters
    ----------
    measurement : Measurement
        With finite noisy counts.

    Returns
    -------
    Reconstruction
        An optimum. Its start-level masses are max(t, 0), as in every optimum; below, where the
        optimum is far from unique (errata heat-22), ties are shared evenly as `_share` says.

    References
    ----------
    Line 9 of Algorithm 1, reduced to the cells that are read; solved by merging slopes instead
    of a linear program.
    """
    m = measurement
    depth = len(m.codes) - 1
    weight = 1.0
    own: list[Pieces] = [
        [(-1.0, t)] if t > 0 else [] for t in m.values[depth][m.selected[depth]].tolist()
    ]
    empty: Pieces = []
    joints: list[list[tuple[Pieces, list[Pieces], tuple[Pieces, ...]]]] = []
    for k in range(depth - 1, -1, -1):
        weight *= 2
        selected = m.selected[k + 1].tolist()
        joint: list[tuple[Pieces, list[Pieces], tuple[Pieces, ...]]] = []
        above: list[Pieces] = []
        following = iter(own)
        targets = m.values[k][m.selected[k]].tolist()
        for position, target in zip(range(0, len(selected), 4), targets, strict=True):
            four = tuple(
                [next(following) if selected[position + n] else empty for n in (0, 1, 2, 3)]
            )
            lists = [pieces for pieces in four if pieces]
            merged = _merge(lists)
            joint.append((merged, lists, four))
            above.append(_with_target(merged, target, weight) if k else empty)
        joints.append(joint)
        own = above
    masses = [np.maximum(m.values[0], 0.0)]
    for k in range(depth):
        shares: list[float] = []
        for mass, (merged, lists, four) in zip(
            masses[k][m.selected[k]].tolist(), joints[depth - 1 - k], strict=True
        ):
            if mass > 0:
                shares += _share(mass, merged, lists, four)
            else:
                shares += (0.0, 0.0, 0.0, 0.0)
        masses.append(np.array(shares))
    return Reconstruction(m, tuple(masses))


@dataclass(frozen=True, slots=True)
class ReducedProblem:
    """min Σ_c weight_c |target_c − (M x)_c| + cost·x over x ≥ 0, with M of zeros and ones.

    Attributes
    ----------
    weights, targets : ndarray of float64, shape (cells,)
        2^{−i} and t of every kept cell, level by level.
    costs : ndarray of float64, shape (variables,)
        κ_j of left-out cells, 0 for kept leaves.
    rows, columns : ndarray of int64
        Places of M's ones: the variable lies in the kept cell.
    places : tuple of ndarray of bool
        Which candidates of each level are variables, in the variables' order.
    """

    weights: FloatArray
    targets: FloatArray
    costs: FloatArray
    rows: IntArray
    columns: IntArray
    places: tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], ...]

    def objective(self, x: FloatArray) -> float:
        """Return the value at x."""
        sums = np.bincount(self.rows, weights=x[self.columns], minlength=len(self.weights))
        return float(self.weights @ np.abs(self.targets - sums) + self.costs @ x)


def reduced_problem(measurement: Measurement) -> ReducedProblem:
    """Write out the reduced problem of a measurement."""
    m = measurement
    weights, targets, costs, rows, columns, places = [], [], [], [], [], []
    variables = 0
    kept_codes: list[IntArray] = []
    first_row: list[int] = []
    cells = 0
    for k, codes in enumerate(m.codes):
        i, selected = m.start + k, m.selected[k]
        kept_codes.append(codes[selected])
        first_row.append(cells)
        cells += len(kept_codes[-1])
        weights.append(np.full(len(kept_codes[-1]), 2.0**-i))
        targets.append(m.values[k][selected])
        place = np.ones(len(codes), bool) if i == m.level else ~selected
        places.append(place)
        mine = codes[place]
        costs.append(np.where(selected[place], 0.0, kappa(i, m.level)))
        index = np.arange(variables, variables + len(mine))
        variables += len(mine)
        for above in range(k + 1):
            ancestor = mine >> (2 * (k - above))
            at = np.searchsorted(kept_codes[above], ancestor)
            at = np.minimum(at, max(len(kept_codes[above]) - 1, 0))
            inside = kept_codes[above][at] == ancestor
            rows.append(first_row[above] + at[inside])
            columns.append(index[inside])
    return ReducedProblem(
        np.concatenate(weights),
        np.concatenate(targets),
        np.concatenate(costs),
        np.concatenate(rows),
        np.concatenate(columns),
        tuple(places),
    )


def solve_reduced(problem: ReducedProblem) -> FloatArray:
    """Return an optimal x, found by cvxpy with HiGHS.

    Module-level and of plain arrays, so that it can run in another process.

    Raises
    ------
    RuntimeError
        If the solver does not end at an optimum.
    """
    import cvxpy
    from scipy.sparse import coo_array

    cp: Any = cvxpy  # cvxpy has no type information of its own

    x = cp.Variable(len(problem.costs), nonneg=True)
    ones = np.ones(len(problem.rows))
    matrix = coo_array(
        (ones, (problem.rows, problem.columns)), shape=(len(problem.weights), len(problem.costs))
    ).tocsr()
    # Counts may be of any size; the solver's tolerances are absolute.
    unit = max(float(np.abs(problem.targets).max(initial=0.0)), 1e-300)
    misfit = cp.multiply(problem.weights, problem.targets / unit - matrix @ x)
    task = cp.Problem(cp.Minimize(cp.norm1(misfit) + problem.costs @ x))
    task.solve(solver=cp.HIGHS)
    if task.status != cp.OPTIMAL or x.value is None:
        raise RuntimeError(f"the reference solver stopped without an optimum ({task.status})")
    return np.asarray(np.maximum(np.asarray(x.value, dtype=float), 0.0) * unit)


def reconstruct_by_reference(measurement: Measurement) -> Reconstruction:
    """Solve a measurement's reduced problem with the reference backend.

    Among the many optima it returns the one its solver happens to find, often with a larger
    earth mover's distance than the tree solver's (errata heat-22).
    """
    problem = reduced_problem(measurement)
    return from_variables(measurement, problem, solve_reduced(problem))


def from_variables(
    measurement: Measurement, problem: ReducedProblem, x: FloatArray
) -> Reconstruction:
    """Return the masses of all candidates that belong to values of the variables."""
    m = measurement
    sums = np.bincount(problem.rows, weights=x[problem.columns], minlength=len(problem.weights))
    masses = []
    variable = row = 0
    for k, place in enumerate(problem.places):
        selected = m.selected[k]
        mass = np.zeros(len(place))
        mass[selected] = sums[row : row + int(selected.sum())]
        row += int(selected.sum())
        count = int(place.sum())
        mass[place] = x[variable : variable + count]
        variable += count
        masses.append(mass)
    return Reconstruction(m, tuple(masses))
