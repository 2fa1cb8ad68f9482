"""Runs the mechanisms on drawn data: simulated errors, and an audit of Laplace noise."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.noise.demonstration import IntArray
from explorer.privacy.spaces import Clustered
from explorer.studies.base.simulation import dots_series, mean_interval, trial_pieces
from explorer.studies.base.study import Context, Fidelity, Guarantee, Request, Result, Series
from explorer.studies.base.sweeping import SweptPoints, evenly_spread
from explorer.studies.frequency import theory
from explorer.studies.frequency.theory import Calibration, Problem
from explorer.studies.guarantees.audits import Audited

EVEN, SKEWED, ONE = "even", "skewed", "one"
MAX_ITEMS = 512
"""Largest domain that is simulated."""
ESTIMATES = {
    "gkrr": ("GKRR, signed", theory.GKRR),
    "gkrr_simplex": ("GKRR, nearest histogram in ℓ2", theory.GKRR),
    "gkrr_emd": ("GKRR, nearest histogram in d_EM", theory.GKRR),
    "hadamard_simplex": ("Hadamard response, nearest histogram", theory.HADAMARD),
    "laplace_simplex": ("Laplace, nearest histogram", theory.LAPLACE),
    "hadamard": ("Hadamard response, shifted to sum 1", theory.HADAMARD),
    "laplace": ("Laplace, shifted to sum 1", theory.LAPLACE),
}
"""Labels and sources, in the order in which dots get the colours of the seven curves of theory."""
_MEASURES = ("emd", "rmse", "cluster")
_MAX_DOTS = 6
_TRIALS_PER_CALL = 10
"""Trials that a worker draws in one call."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Mechanisms and data to simulate, complete and picklable.

    Attributes
    ----------
    s, t : int
    r : float
        The clustered space.
    alpha0, item, eps : float
        α₀ of GKRR, ε₀ of Hadamard response and ε of Laplace noise.
    m, n : int
    local : bool
    data : str
        Distribution of the items: `EVEN`, `SKEWED` or `ONE`.
    """

    s: int
    t: int
    r: float
    alpha0: float
    item: float
    eps: float
    m: int
    n: int
    local: bool
    data: str


def counts_of(e: Experiment) -> IntArray:
    """Return the number of items of each kind, mn in all; clusters are filled in turn."""
    k, total = e.s * e.t, e.m * e.n
    if e.data == ONE:
        out = np.zeros(k, dtype=np.int64)
        out[0] = total
        return out
    share = np.ones(k) if e.data == EVEN else 1 / np.arange(1.0, k + 1)
    exact = share / share.sum() * total
    out = np.floor(exact).astype(np.int64)
    # The largest remainders get the items left over by rounding down.
    missing = total - int(out.sum())
    order = np.argsort(out - exact, kind="stable")
    for i in range(abs(missing)):
        out[order[i % k]] += 1 if missing > 0 else -1
    # Item j is the (j // s)-th of cluster j mod s, so that every cluster has large and small ones.
    return np.asarray(out.reshape(e.t, e.s).T.ravel())


def errors(e: Experiment, trials: int, seed: tuple[int, ...]) -> FloatArray:
    """Return d_EM, squared ℓ2 error and that of clusters (runs in a worker process).

    All items of one kind are randomised by one multinomial draw from their row of the mechanism's
    law, which has the same law as randomising them one by one.

    Returns
    -------
    ndarray, shape (trials, estimates, 3)
        Estimates in the order of `ESTIMATES`, shifted to sum 1 where theirs differs.
    """
    rng = np.random.default_rng(seed)
    space = Clustered(e.s, e.t, e.r)
    counts = counts_of(e)
    truth = counts / counts.sum()
    mechanism = um.GKRR(space, e.alpha0)
    gkrr_law = mechanism.law()
    hadamard = um.HadamardResponse(space.size, e.item)
    hadamard_law = hadamard.law()
    signs = np.where(hadamard_law > 1 / hadamard.K, 1.0, -1.0) / np.tanh(e.item / 2)
    scale = um.laplace_scale(1 if e.local else e.n, e.eps)
    out = np.empty((trials, len(ESTIMATES), len(_MEASURES)))
    for trial in range(trials):
        v = _answers(counts, gkrr_law, rng) / counts.sum()
        plain = estimate_of(v, space, e.alpha0)
        by_rows = signs @ (_answers(counts, hadamard_law, rng) / counts.sum())
        noise = _laplace(space.size, scale, e.n if e.local else 1, rng)
        estimates = [
            plain,
            um.simplex_projection(plain),
            um.emd_projection(plain, space),
            um.simplex_projection(by_rows),
            um.simplex_projection(truth + noise),
            _to_sum_one(by_rows),
            _to_sum_one(truth + noise),
        ]
        gap = np.array(estimates) - truth
        out[trial, :, 0] = space.emd_of_masses(np.array(estimates), truth)
        out[trial, :, 1] = (gap**2).sum(axis=1)
        out[trial, :, 2] = (gap.reshape(len(estimates), e.s, e.t).sum(axis=2) ** 2).sum(axis=1)
    return out


def _answers(counts: IntArray, law: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return the number of answers of each kind."""
    total = np.zeros(law.shape[1], dtype=np.int64)
    for count, row in zip(counts.tolist(), law, strict=True):
        if count:
            total += rng.multinomial(count, row / row.sum())
    return total


def estimate_of(v: FloatArray, space: Clustered, alpha0: float) -> FloatArray:
    """Return GKRR's unbiased estimate from the shares of answers (Algorithm 4), of sum 1."""
    a, b, c = um.gkrr_inverse(space.clusters, space.each, max(space.r, 1e-300), alpha0)
    if space.each == 1:
        # a' and b' act together: a' + b' = 1 − s·c'.
        estimate = (1 - space.clusters * c) * v + c
    else:
        masses = v.reshape(space.clusters, space.each).sum(axis=1)
        estimate = a * v + b * np.repeat(masses, space.each) + c
    return _to_sum_one(np.asarray(estimate))


def _laplace(k: int, scale: float, averaged: int, rng: np.random.Generator) -> FloatArray:
    """Return k means of `averaged` Laplace variables, each a difference of Gamma variables."""
    up, down = rng.gamma(averaged, scale, (2, k))
    return np.asarray((up - down) / averaged)


def _to_sum_one(estimate: FloatArray) -> FloatArray:
    """Return the nearest point of sum 1 in ℓ2, for which d_EM is defined."""
    return np.asarray(estimate + (1 - estimate.sum()) / len(estimate))


def simulated(
    full: Result,
    request: Request,
    swept: SweptPoints,
    p: Problem,
    c: Calibration,
    context: Context,
) -> Iterator[Result]:
    """Yield the full answer with more and more simulated dots, the last one complete.

    Every point has its own seed, derived from the request's seed and the index of the point.
    """
    usable = np.flatnonzero(((p.k <= MAX_ITEMS) & p.distinguishable)[:-1])
    if not usable.size:
        note = f"Only spaces of at most {MAX_ITEMS} items, none at distance 0, are simulated."
        yield replace(full, notes=(*full.notes, note), complete=True, fidelity=Fidelity.FULL)
        return
    indices = usable[evenly_spread(usable.size, _MAX_DOTS)].tolist()
    trials = int(request["trials"])
    rows: list[tuple[float, FloatArray]] = []
    for number, j in enumerate(indices):
        e = Experiment(
            int(p.s[j]),
            int(p.t[j]),
            float(p.r[j]),
            float(c.alpha0[j]),
            float(c.item[j]),
            float(p.eps[j]),
            int(p.m[j]),
            int(p.n[j]),
            p.local,
            str(request["data"]),
        )
        pieces: list[FloatArray] = []
        seed = (abs(request.seed), j)
        for piece in trial_pieces(context, errors, e, trials, _TRIALS_PER_CALL, seed):
            pieces.append(piece)
            drawn = sum(len(some) for some in pieces)
            if drawn == trials:
                rows.append((float(swept.x[j]), np.concatenate(pieces)))
            yield replace(
                full,
                fidelity=Fidelity.FULL,
                series=full.series + _series(rows, request),
                progress=(number + drawn / trials) / len(indices),
                complete=drawn == trials and number == len(indices) - 1,
            )


def _series(rows: list[tuple[float, FloatArray]], request: Request) -> tuple[Series, ...]:
    if not rows:
        return ()
    at = _MEASURES.index(request.quantity)
    x = np.array([place for place, _ in rows])
    note = f"mean and 95 % interval of {request['trials']} runs, seed {request.seed}"
    series = []
    for i, (key, (name, source)) in enumerate(ESTIMATES.items()):
        drawn = np.array([values[:, i, at] for _, values in rows])
        mean, low, high = mean_interval(drawn, least=0.0)
        if request.quantity != "emd":
            mean, low, high = np.sqrt(mean), np.sqrt(low), np.sqrt(high)
        label, columns = f"simulated: {name}", np.array([x, mean, low, high])
        series.append(dots_series(f"{key}_simulated", label, source, columns.T, note))
    return tuple(series)


def audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return the Laplace histogram of two users, one of whom moves all items to another bin."""
    eps, users = float(request["eps"]), 2
    data = [np.array([1.0, 0.0]), np.array([1 - 1 / users, 1 / users])]
    scale = float(um.laplace_scale(users, eps))

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        drawn = np.array([um.laplace_histogram(data[side], users, eps, rng) for _ in range(runs)])
        lengths = [np.abs(drawn - other).sum(axis=1) for other in data]
        score: FloatArray = (lengths[0] - lengths[1]) / scale
        return score

    return Audited(
        f"the curator's Laplace histogram of {users} users; one of them moves all items to another "
        "bin",
        run,
        eps,
        0.0,
        "promised of Laplace noise for any replacement",
    )
