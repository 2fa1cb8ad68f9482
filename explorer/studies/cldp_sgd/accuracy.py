"""Training for real: a piece in the worker process, a better picture, the next piece."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from explorer.privacy import learning
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Context, Readout, Request, Series, Table
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.cldp_sgd import text
from explorer.studies.cldp_sgd.curves import Spending, norm_of
from explorer.studies.cldp_sgd.parameters import MAX_EPOCHS, MNIST, R_2_HALF
from explorer.studies.cldp_sgd.runs import Job, Run, train_piece

PIECE_S = 0.2
"""How long a piece of training is: between two, the work can be cancelled."""
_MOST_MARKS = 60
_TABLE_EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Wanted:
    """What must be trained for a request.

    Attributes
    ----------
    private : tuple of Job
        One a run; empty if nothing can be trained.
    plain : Job or None
    epochs : int
        The sliders' number of epochs.
    most : int
        How far the x axis asks for them.
    missing : str
        Why nothing can be trained.
    """

    private: tuple[Job, ...]
    plain: Job | None
    epochs: int
    most: int
    missing: str = ""

    def stages(self) -> Iterator[tuple[Job, int]]:
        """Yield what to train up to where: first one run and the baseline, then the others."""
        if self.plain is None:
            return
        for epochs in sorted({self.epochs, self.most}):
            for job in (self.private[0], self.plain, *self.private[1:]):
                yield job, epochs


def wanted(request: Request, points: SweptPoints, context: Context) -> Wanted:
    """Return what a request needs trained.

    Raises
    ------
    LookupError
        If MNIST's folder is not open.
    """
    epochs = int(request["epochs"])
    # Nobody asked for the whole range, which is where an axis begins: it is only looked at.
    asked_for = points.sweep.key == "epochs" and points.sweep.high < MAX_EPOCHS
    most = max(epochs, int(points.x[-1])) if asked_for else epochs
    if request["k"] > request["n"]:
        return Wanted((), None, epochs, most, text.MORE_THAN_ALL)
    folder = ""
    if request["data"] == MNIST:
        if not request["folder"]:
            return Wanted((), None, epochs, most, text.NO_FOLDER)
        folder = str(context.file(request["folder"]))
    first = Job(
        source=request["data"],
        folder=folder,
        fingerprint=request["folder"] if folder else "",
        data_seed=request["data_seed"],
        model=request["model"],
        private=True,
        p=norm_of(request),
        best_cap=request["randomiser"] != R_2_HALF,
        eps0=request["eps0"],
        clip=request["clip"],
        clients=request["n"],
        sampled=request["k"],
        diameter=request["diameter"],
        steps=request["steps"],
        rate=request["rate"] if request["steps"] == "constant" else 0.0,
        seed=request.seed,
    )
    private = tuple(first.numbered(run) for run in range(request["runs"]))
    return Wanted(private, first.plain(), epochs, most)


def run_of(job: Job, context: Context) -> Run:
    """Return how far a training has come, in this request or an earlier one."""
    kept: list[Run] = context.memo(("cldp-sgd", job), lambda: [Run()])
    return kept[0]


def trained(asked: Wanted, context: Context) -> Iterator[float]:
    """Train what is not kept yet, yielding the share of the work that is done after each piece.

    As many trainings go on at the same time as there are workers, the first ones first.
    """
    stages = list(asked.stages())
    ends = dict(stages)
    runs: dict[Job, list[Run]] = {
        job: context.memo(("cldp-sgd", job), lambda: [Run()]) for job in ends
    }
    for epochs in sorted({epochs for _, epochs in stages}):
        jobs = [job for job, end in stages if end == epochs]
        while waiting := [job for job in jobs if runs[job][0].epochs < epochs]:
            context.check()
            pieces = waiting[: context.workers]
            tasks = [(job, runs[job][0], epochs, PIECE_S) for job in pieces]
            for number, run in context.map_in_workers(train_piece, tasks):
                runs[pieces[number]][0] = run
                yield float(
                    np.mean([_share(run_of(job, context), job, end) for job, end in ends.items()])
                )


def _share(run: Run, job: Job, epochs: int) -> float:
    if run.state is None:
        return 0.0
    rounds = float(learning.rounds_of(epochs, job.clients, job.sampled))
    return min(run.state.rounds / rounds, 1.0)


@dataclass(frozen=True)
class Scores:
    """Accuracy after each epoch: mean and spread of the runs, NaN where there is none.

    Attributes
    ----------
    mean, spread, plain : ndarray, shape (MAX_EPOCHS + 1,)
        Indexed by epochs; `spread` is the standard deviation between runs, NaN for fewer than 2.
    runs : ndarray of int, shape (MAX_EPOCHS + 1,)
    """

    mean: FloatArray
    spread: FloatArray
    plain: FloatArray
    runs: FloatArray


def scores(asked: Wanted, context: Context) -> Scores:
    """Return what is known so far."""
    size = MAX_EPOCHS + 1
    rows = np.full((max(len(asked.private), 1), size), np.nan)
    for row, job in zip(rows, asked.private, strict=False):
        found = run_of(job, context).accuracy[: asked.most + 1]
        row[: len(found)] = found
    runs = np.isfinite(rows).sum(axis=0)
    mean, spread = np.full(size, np.nan), np.full(size, np.nan)
    mean[runs > 0] = np.nanmean(rows[:, runs > 0], axis=0)
    spread[runs > 1] = np.nanstd(rows[:, runs > 1], axis=0, ddof=1)
    plain = np.full(size, np.nan)
    if asked.plain is not None:
        found = run_of(asked.plain, context).accuracy[: asked.most + 1]
        plain[: len(found)] = found
    return Scores(mean, spread, plain, runs)


class Ledger:
    """ε at δ after chosen epochs, by the routes of Figure 5 and the sharper one."""

    def __init__(self, request: Request, asked: Wanted, context: Context) -> None:
        # A few dozen epochs tell all there is to see; the table's and the sliders' are among them.
        log_spaced = np.geomspace(1, asked.most, _MOST_MARKS)
        kept = [*log_spaced, *_TABLE_EPOCHS, asked.epochs]
        self.epochs = np.unique(np.rint([e for e in kept if e <= asked.most])).astype(int)
        points = {
            key: np.full(self.epochs.size, float(request[key]))
            for key in ("eps0", "k", "n", "delta")
        }
        points["epochs"] = self.epochs.astype(float)
        self.spending = Spending(points, request["lam_max"], context)
        self.theorem, self.order = self.spending.theorem()
        self.numerical: Bound | None = None
        self.clones: Bound | None = None
        self._key = (
            "cldp-sgd",
            "ledger",
            request["eps0"],
            request["k"],
            request["n"],
            request["delta"],
            asked.epochs,
            asked.most,
        )
        self._context = context

    def complete(self) -> None:
        """Add the routes that take longer."""
        self.numerical, self.clones = self._context.memo(
            self._key, lambda: (self.spending.numerical(), self.spending.clones())
        )

    def at(self, bound: Bound | None, epochs: int) -> float:
        """Return a bound's value after so many epochs; NaN if not known."""
        return float("nan") if bound is None else self.at_epochs(bound.value, epochs)

    def bounds_at(self, epochs: int) -> dict[str, Bound]:
        """Return the bounds that are known, each at one number of epochs."""
        place = np.flatnonzero(self.epochs == epochs)[:1]
        known = {"theorem": self.theorem, "numerical": self.numerical, "clones": self.clones}
        return {
            key: replace(
                b, value=b.value[place], valid=b.valid[place], truncated=b.truncated[place]
            )
            for key, b in known.items()
            if b is not None
        }

    def at_epochs(self, values: FloatArray | BoolArray, epochs: int) -> float:
        """Return the entry of an array over `epochs` that belongs to one of them."""
        return float(values[np.flatnonzero(self.epochs == epochs)[0]])


def spent_series(
    points: SweptPoints, asked: Wanted, ledger: Ledger, known: Scores, resting: str
) -> tuple[Series, ...]:
    """Return accuracy against ε, one curve a way of counting ε, and the baseline."""
    series = [_against(points, asked, ledger, known, "theorem", ledger.theorem, resting)]
    low, high = points.sweep.low, points.sweep.high
    last = known.plain[asked.epochs]
    series.append(
        Series(
            "plain",
            "SGD without privacy, after as many epochs",
            Role.BASELINE,
            np.array([low, high]),
            np.full(2, last),
            text.PLAIN_SGD,
            undefined_reason=(asked.missing or resting) if np.isnan(last) else "",
            computing=bool(np.isnan(last)) and not asked.missing,
        )
    )
    if ledger.numerical is not None and ledger.clones is not None:
        series.append(
            _against(points, asked, ledger, known, "numerical", ledger.numerical, resting)
        )
        series.append(_against(points, asked, ledger, known, "clones", ledger.clones, resting))
    return tuple(series)


def _against(
    points: SweptPoints,
    asked: Wanted,
    ledger: Ledger,
    known: Scores,
    key: str,
    bound: Bound,
    resting: str,
) -> Series:
    x = bound.value
    here = np.isfinite(x) & (x >= points.sweep.low) & (x <= points.sweep.high)
    # Two numbers of epochs may need as many rounds where few make an epoch.
    rising = np.ones(x.size, bool)
    rising[1:] = x[1:] > np.fmax.accumulate(np.where(np.isfinite(x), x, -np.inf))[:-1]
    here &= rising
    if not here.any():
        why = asked.missing or bound.reason or "no epoch's ε lies within the axis"
        return Series(
            key,
            _label(key),
            Role.ESTIMATE,
            points.x[:1],
            np.full(1, np.nan),
            text.FIGURE_5,
            undefined_reason=why,
        )
    return _estimate(key, x[here], ledger.epochs[here], asked, known, resting)


def epochs_series(
    points: SweptPoints, asked: Wanted, known: Scores, resting: str
) -> tuple[Series, ...]:
    """Return accuracy against epochs, and the baseline."""
    epochs = points.x.astype(int)
    plain = known.plain[epochs]
    resting = text.not_longer(asked.most) if points.x[-1] > asked.most else resting
    why = (asked.missing or resting) if np.isnan(plain).any() else ""
    return (
        _estimate("private", points.x, epochs, asked, known, resting),
        Series(
            "plain",
            "SGD without privacy",
            Role.BASELINE,
            points.x,
            plain,
            text.PLAIN_SGD,
            undefined_reason=why,
            computing=_coming(plain, epochs, asked),
        ),
    )


def _estimate(
    key: str,
    x: FloatArray,
    epochs: np.ndarray[tuple[int, ...], np.dtype[np.intp]],
    asked: Wanted,
    known: Scores,
    resting: str,
) -> Series:
    mean, spread = known.mean[epochs], known.spread[epochs]
    banded = np.isfinite(spread).any()
    why = (asked.missing or resting) if np.isnan(mean).any() else ""
    return Series(
        key,
        _label(key),
        Role.ESTIMATE,
        x,
        mean,
        text.FIGURE_5,
        low=np.clip(mean - spread, 0, 1) if banded else None,
        high=np.clip(mean + spread, 0, 1) if banded else None,
        undefined_reason=why,
        note=text.SPREAD,
        computing=_coming(mean, epochs, asked),
    )


def _coming(
    values: FloatArray, epochs: np.ndarray[tuple[int, ...], np.dtype[np.intp]], asked: Wanted
) -> bool:
    """Return whether an accuracy that is asked for is not known yet, but will be."""
    return not asked.missing and bool(np.isnan(values[epochs <= asked.most]).any())


def _label(key: str) -> str:
    if key == "private":
        return "CLDP-SGD"
    return f"CLDP-SGD, ε by {text.LABELS[key]}"


def table(asked: Wanted, ledger: Ledger, known: Scores) -> Table:
    """Return accuracy and ε after a few numbers of epochs."""
    rows = []
    for e in sorted({*(e for e in _TABLE_EPOCHS if e <= asked.most), asked.epochs}):
        cells = (
            ledger.at(ledger.theorem, e),
            ledger.at(ledger.numerical, e),
            ledger.at(ledger.clones, e),
            known.mean[e],
            known.spread[e],
            known.plain[e],
        )
        rows.append((float(e), *(float(c) if np.isfinite(c) else None for c in cells)))
    return Table(
        "accuracy",
        "Accuracy and what it costs",
        (
            "epochs",
            "ε, Theorem 1",
            "ε, numerical",
            "ε, clones + KOV",
            "accuracy",
            "± between runs",
            "without privacy",
        ),
        tuple(rows),
        "ε at the δ of the slider, all upper bounds; accuracy on test pictures, mean of the runs. "
        "Empty: not trained so far, fewer than two runs, or too few rounds to compose.",
        (None, *[Role.UPPER] * 3, *[Role.ESTIMATE] * 3),
    )


def readouts(asked: Wanted, ledger: Ledger, known: Scores, bits: int) -> tuple[Readout, ...]:
    """Return the numbers at the sliders."""
    e = asked.epochs
    found = []
    for key, label, value, role, why in (
        ("accuracy", "accuracy", known.mean[e], Role.ESTIMATE, asked.missing or text.NOT_YET),
        ("plain", "without privacy", known.plain[e], Role.BASELINE, asked.missing or text.NOT_YET),
        ("eps_theorem", "ε by Theorem 1", ledger.at(ledger.theorem, e), Role.UPPER, asked.missing),
    ):
        known_here = bool(np.isfinite(value))
        note = "" if known_here else (why or text.MORE_THAN_ALL)
        if key == "accuracy" and np.isfinite(known.spread[e]):
            note = f"± {nearest(known.spread[e])} between {int(known.runs[e])} runs"
        found.append(Readout(key, label, float(value) if known_here else None, role, note=note))
    numerical = ledger.at(ledger.numerical, e)
    if np.isfinite(numerical):
        label = "ε, numerical upper bound"
        found.append(Readout("eps_numerical", label, numerical, Role.UPPER))
    if bits:
        found.append(Readout("bits", "bits of a report", float(bits), unit="bits"))
    return tuple(found)
