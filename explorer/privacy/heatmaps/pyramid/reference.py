"""The reduced problem written out, and a general-purpose solver for it.

The reference backend: slower than the tree solver and with another choice among the optima, but
written from the problem's definition alone. Imports cvxpy when called, so run it in a process
where that may take its time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.pyramid.measurement import Measurement
from explorer.privacy.heatmaps.pyramid.tree import Reconstruction, kappa
from explorer.privacy.noise.demonstration import IntArray


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
        i, kept = m.start + k, m.selected[k]
        kept_codes.append(codes[kept])
        first_row.append(cells)
        cells += len(kept_codes[-1])
        weights.append(np.full(len(kept_codes[-1]), 2.0**-i))
        targets.append(m.values[k][kept])
        place = np.ones(len(codes), bool) if i == m.level else ~kept
        places.append(place)
        mine = codes[place]
        costs.append(np.where(kept[place], 0.0, kappa(i, m.level)))
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
        kept = m.selected[k]
        mass = np.zeros(len(place))
        mass[kept] = sums[row : row + int(kept.sum())]
        row += int(kept.sum())
        count = int(place.sum())
        mass[place] = x[variable : variable + count]
        variable += count
        masses.append(mass)
    return Reconstruction(m, tuple(masses))
