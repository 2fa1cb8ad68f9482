"""Training of models, in pieces that run in worker processes, and the accuracy they reach."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy import learning
from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.privacy.learning import (
    Convolutional,
    Model,
    Perceptron,
    Plan,
    Rates,
    Softmax,
    State,
)
from explorer.studies.base.numbers import nearest
from explorer.studies.base.plots import Curve
from explorer.studies.base.simulation import student_95
from explorer.studies.base.study import Context, Request, ScalarResult, Series, Table
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.cldp_sgd import guarantee as words
from explorer.studies.cldp_sgd.data import (
    DIGIT_CLASSES,
    Examples,
    TableFacts,
    clients_of,
    digits,
    enlarge_digits,
    mnist,
    table as table_examples,
)
from explorer.studies.cldp_sgd.theory import R_2_HALF, Spending, norm_of

IntArray = np.ndarray[Any, np.dtype[np.intp]]

DIGITS, MNIST, TABLE = "digits", "mnist", "table"
SOFTMAX, PERCEPTRON, CONVOLUTIONAL = "softmax", "perceptron", "convolutional"
MAX_EPOCHS = 200
HIDDEN = 32
"""Units of the hidden layer, as many as the paper's network has in its dense one."""
PLAIN_RATE = 0.5
"""Rate of the training without privacy."""
PIECE_S = 0.2
"""Seconds of a piece of training, between which the work can be cancelled."""
_FILES = {MNIST: "folder", TABLE: "table"}
"""Parameter with the file of a source."""
_MAX_MARKS = 60
_TABLE_EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200)
SPREAD, STUDENT = "spread", "student"
"""What stands beside the mean of the runs: their spread, or the interval of the mean."""
_BANDS = {
    SPREAD: (
        "± one standard deviation between runs",
        "± between runs",
        "± {half} between {runs} runs",
    ),
    STUDENT: (
        "the 95 % interval of this mean by Student's t, over trainings on the same examples",
        "± 95 % interval",
        "± {half}, 95 % interval of the mean of {runs} runs",
    ),
}
"""Description of the band, heading of its half width, and note on it at one number of epochs."""
CONSTANT, THEOREM, FIGURE_5A, FIGURE_5B = "constant", "theorem", "figure5a", "figure5b"
_PRINTED = {
    FIGURE_5A: ((0.0, 0.3), (70.0, 0.18)),
    FIGURE_5B: ((0.0, 12.0), (30.0, 4.0), (60.0, 3.5)),
}
"""(after so many epochs, rate), as the paper prints them."""


@dataclass(frozen=True)
class Job:
    """Everything that determines a training, except the number of epochs.

    Attributes
    ----------
    source : str
        ``digits``, ``mnist`` or ``table``.
    path, fingerprint : str
        Where MNIST's files or the table are, and their content; empty for digits.
    data_seed : int
        Of the split into training and test examples, and of who holds which.
    model : str
        ``softmax``, ``perceptron`` or ``convolutional``.
    private : bool
        False trains by plain SGD: no clipping, no randomiser, rate 0.5, no projection.
    p, best_cap, eps0, clip
        The randomiser.
    clients, sampled : int
        n and k.
    diameter, steps, rate
        D, which learning rates, and the rate of `CONSTANT`.
    seed, run : int
        Of the training's randomness.
    label, decimal, held_out
        Of a table: column of the label, decimal sign, and share of the rows to test with.
    """

    source: str
    path: str
    fingerprint: str
    data_seed: int
    model: str
    private: bool
    p: float
    best_cap: bool
    eps0: float
    clip: float
    clients: int
    sampled: int
    diameter: float
    steps: str
    rate: float
    seed: int = 0
    run: int = 0
    label: int = 0
    decimal: str = ""
    held_out: float = 0.0

    def numbered(self, run: int) -> Job:
        """Return the training with the same seed and another run's randomness."""
        return replace(self, run=run)

    def plain(self) -> Job:
        """Return the training without privacy on the same data."""
        return replace(
            self,
            private=False,
            p=2.0,
            best_cap=True,
            eps0=1.0,
            clip=1.0,
            diameter=1.0,
            steps=CONSTANT,
            rate=PLAIN_RATE,
        )


@dataclass(frozen=True)
class Run:
    """State of a training.

    Attributes
    ----------
    state : State or None
        None before the first piece.
    accuracy : tuple of float
        On the test examples after 0, 1, 2, … epochs.
    examples : int
        Number of training examples.
    lipschitz : float
        Largest gradient norm that softmax regression can have on the training examples.
    table : TableFacts or None
        Of a table.
    """

    state: State | None = None
    accuracy: tuple[float, ...] = ()
    examples: int = 0
    lipschitz: float = math.nan
    table: TableFacts | None = None

    @property
    def epochs(self) -> int:
        """Whole epochs trained; −1 before the first piece."""
        return len(self.accuracy) - 1


def examples_of(job: Job) -> Examples:
    """Return the examples of a job."""
    if job.source == TABLE:
        return table_examples(
            job.path, job.fingerprint, job.label, job.decimal, job.held_out, job.data_seed
        )
    if job.source == MNIST:
        return mnist(job.path, job.fingerprint)
    return enlarge_digits(job.data_seed) if job.model == CONVOLUTIONAL else digits(job.data_seed)


def model_of(name: str, features: int, classes: int = DIGIT_CLASSES) -> Model:
    """Return the model for examples of so many features.

    Raises
    ------
    ValueError
        If the convolutional network can't take them.
    """
    if name != CONVOLUTIONAL:
        return (
            Perceptron(features, HIDDEN, classes)
            if name == PERCEPTRON
            else Softmax(features, classes)
        )
    if features != learning.SIDE**2:
        raise ValueError(
            "the convolutional network takes pictures of 28 × 28 pixels, 784 numbers, and these "
            f"examples have {features}; choose another model"
        )
    return Convolutional(classes)


def plan_of(job: Job, features: int, classes: int = DIGIT_CLASSES) -> Plan:
    """Return the plan of a job."""
    model = model_of(job.model, features, classes)
    if not job.private:
        rates = Rates(((0.0, PLAIN_RATE),))
        return Plan(model, job.sampled, math.inf, math.inf, rates, None)
    randomiser = learning.randomiser_for(
        job.p, model.size, job.eps0, job.clip, best_cap=job.best_cap
    )
    if job.steps == THEOREM:
        square = learning.moment(randomiser, model.size, job.clip, job.sampled, job.p)
        rates = learning.theorem_rates(job.diameter, square)
    elif job.steps == CONSTANT:
        rates = Rates(((0.0, job.rate),))
    else:
        an_epoch = job.clients / job.sampled
        rates = Rates(tuple((after * an_epoch, rate) for after, rate in _PRINTED[job.steps]))
    return Plan(model, job.sampled, job.clip, job.diameter, rates, randomiser, job.p)


def _lipschitz(examples: Examples, p: float) -> float:
    result = 0.0
    for begin in range(0, len(examples.x), 4096):
        x = np.asarray(examples.x[begin : begin + 4096] * examples.unit, float)
        result = max(result, learning.lipschitz(x, p))
    return result


def train(job: Job, run: Run, epochs: int, seconds: float) -> Run:
    """Continue a run up to an epoch, or for about so many seconds.

    Splitting a training into pieces does not change its result.

    Parameters
    ----------
    job : Job
    run : Run
        Its present state.
    epochs : int
        Epoch at which it ends.
    seconds : float
        Time limit of this piece; at least one round is run.

    Raises
    ------
    ValueError
        If the data can't be read.
    """
    until = time.perf_counter() + seconds
    examples = examples_of(job)
    plan = plan_of(job, examples.x.shape[1], examples.classes)
    held = clients_of(examples, job.clients, job.data_seed)
    state, scores = run.state, list(run.accuracy)

    def score(theta: FloatArray) -> float:
        return learning.accuracy(plan.model, theta, examples.x_test, examples.y_test)

    if state is None:
        state = learning.start(plan, np.random.default_rng([job.seed, job.run]))
        scores.append(score(state.theta))
        lipschitz = _lipschitz(examples, job.p)
        run = Run(state, (), len(examples.y), lipschitz, examples.table)
    while len(scores) <= epochs:
        target = int(learning.rounds_of(len(scores), job.clients, job.sampled))
        while state.rounds < target:
            state = learning.advance(plan, held, state)
            if time.perf_counter() > until:
                break
        if state.rounds < target:
            break
        scores.append(score(state.theta))
        if time.perf_counter() > until:
            break
    return replace(run, state=state, accuracy=tuple(scores))


def train_piece(task: tuple[Job, Run, int, float]) -> Run:
    """Call `train` with its arguments in one tuple."""
    return train(*task)


@dataclass(frozen=True)
class TrainingPlan:
    """The trainings of a request.

    Attributes
    ----------
    private : tuple of Job
        One a run; empty if nothing can be trained.
    plain : Job or None
    epochs : int
        The sliders' number of epochs.
    max_epochs : int
        Largest number of epochs on the axis.
    missing : str
        Why nothing can be trained.
    band : str
        `SPREAD` or `STUDENT`.
    """

    private: tuple[Job, ...]
    plain: Job | None
    epochs: int
    max_epochs: int
    missing: str = ""
    band: str = SPREAD

    def stages(self) -> Iterator[tuple[Job, int]]:
        """Yield jobs with their epochs: first one run and the baseline, then the others."""
        if self.plain is None:
            return
        for epochs in sorted({self.epochs, self.max_epochs}):
            for job in (self.private[0], self.plain, *self.private[1:]):
                yield job, epochs


def training_plan(request: Request, points: SweptPoints, context: Context) -> TrainingPlan:
    """Return the trainings of a request.

    Raises
    ------
    LookupError
        If MNIST's folder or the table is not open.
    """
    epochs = int(request["epochs"])
    # The whole range is where the axis begins; training so long is not wanted unless chosen.
    narrowed = points.sweep.key == "epochs" and points.sweep.high < MAX_EPOCHS
    most = max(epochs, int(points.x[-1])) if narrowed else epochs
    if request["k"] > request["n"]:
        return TrainingPlan((), None, epochs, most, words.MORE_THAN_ALL)
    source = request["data"]
    file = str(request[_FILES[source]]) if source in _FILES else ""
    if source in _FILES and not file:
        return TrainingPlan((), None, epochs, most, words.NO_FILE[source])
    of_table = {
        "label": request["label_column"],
        "decimal": request["decimal"],
        "held_out": request["held_out"],
    }
    first = Job(
        source=source,
        path=str(context.file(file)) if file else "",
        fingerprint=file,
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
        **(of_table if source == TABLE else {}),
    )
    private = tuple(first.numbered(run) for run in range(request["runs"]))
    return TrainingPlan(private, first.plain(), epochs, most, band=request["band"])


def run_of(job: Job, context: Context) -> Run:
    """Return the state of a training, of this request or an earlier one."""
    cached: list[Run] = context.cached(("cldp-sgd", job), lambda: [Run()])
    return cached[0]


def train_all(plan: TrainingPlan, context: Context) -> Iterator[float]:
    """Train what is not cached, yielding the share of the work that is done after each piece.

    As many trainings run at the same time as there are workers, in the order of the plan.
    """
    stages = list(plan.stages())
    ends = dict(stages)
    runs: dict[Job, list[Run]] = {
        job: context.cached(("cldp-sgd", job), lambda: [Run()]) for job in ends
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
    """Accuracy after each epoch: mean and band of the runs, NaN where not trained.

    Attributes
    ----------
    mean, half, plain : ndarray, shape (MAX_EPOCHS + 1,)
        Indexed by epochs; `half` is the standard deviation between runs, or half of the mean's
        95 % interval, NaN for fewer than 2.
    runs : ndarray of int, shape (MAX_EPOCHS + 1,)
    """

    mean: FloatArray
    half: FloatArray
    plain: FloatArray
    runs: FloatArray


def scores(plan: TrainingPlan, context: Context) -> Scores:
    """Return the accuracies that are known.

    References
    ----------
    Student 1908, *The probable error of a mean*: the interval of normal draws. Accuracies of
    trainings are about normal unless they are near 0 or 1.
    """
    size = MAX_EPOCHS + 1
    rows = np.full((max(len(plan.private), 1), size), np.nan)
    for row, job in zip(rows, plan.private, strict=False):
        result = run_of(job, context).accuracy[: plan.max_epochs + 1]
        row[: len(result)] = result
    runs = np.isfinite(rows).sum(axis=0)
    mean, half = np.full(size, np.nan), np.full(size, np.nan)
    mean[runs > 0] = np.nanmean(rows[:, runs > 0], axis=0)
    half[runs > 1] = np.nanstd(rows[:, runs > 1], axis=0, ddof=1)
    if plan.band == STUDENT:
        for count in np.unique(runs[runs > 1]):
            half[runs == count] *= student_95(int(count) - 1) / math.sqrt(count)
    plain = np.full(size, np.nan)
    if plan.plain is not None:
        result = run_of(plan.plain, context).accuracy[: plan.max_epochs + 1]
        plain[: len(result)] = result
    return Scores(mean, half, plain, runs)


class Ledger:
    """ε at δ after some numbers of epochs, by the accountants of Figure 5 and a sharper one."""

    def __init__(self, request: Request, plan: TrainingPlan, context: Context) -> None:
        # A few dozen epochs are enough for a curve; the table's and the sliders' are among them.
        log_spaced = np.geomspace(1, plan.max_epochs, _MAX_MARKS)
        marks = [*log_spaced, *_TABLE_EPOCHS, plan.epochs]
        self.epochs = np.unique(np.rint([e for e in marks if e <= plan.max_epochs])).astype(int)
        points = {
            key: np.full(self.epochs.size, float(request[key]))
            for key in ("eps0", "k", "n", "delta")
        }
        points["epochs"] = self.epochs.astype(float)
        self._points = points
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
            plan.epochs,
            plan.max_epochs,
        )
        self._context = context

    def complete(self) -> None:
        """Add the accountants that take longer."""
        self.numerical, self.clones = self._context.cached(
            self._key, lambda: (self.spending.numerical(), self.spending.clones())
        )

    def at(self, bound: Bound | None, epochs: int) -> float:
        """Return a bound's value after so many epochs; NaN if not known."""
        return float("nan") if bound is None else self.at_epochs(bound.value, epochs)

    @property
    def bounds(self) -> dict[str, Bound]:
        """The bounds that are computed, by key of the curve."""
        known = {"theorem": self.theorem, "numerical": self.numerical, "clones": self.clones}
        return {key: bound for key, bound in known.items() if bound is not None}

    def bounds_at(self, epochs: int) -> dict[str, Bound]:
        """Return the bounds that are computed, each at one number of epochs.

        The composition of the clones, which is quick at one, is always among them.
        """
        index = np.flatnonzero(self.epochs == epochs)[:1]
        found = {
            key: replace(
                b, value=b.value[index], valid=b.valid[index], truncated=b.truncated[index]
            )
            for key, b in self.bounds.items()
        }
        if self.numerical is None:
            points = {key: values[index] for key, values in self._points.items()}
            spending = Spending(points, self.spending.lam_max, self._context)
            found["numerical"] = spending.numerical()
        return found

    def at_epochs(self, values: FloatArray | BoolArray, epochs: int) -> float:
        """Return the entry of an array over `epochs` at one of them."""
        return float(values[np.flatnonzero(self.epochs == epochs)[0]])


@dataclass(frozen=True)
class Progress:
    """A training as far as it has come.

    Attributes
    ----------
    plan : TrainingPlan
    ledger : Ledger
    known : Scores
    resting : str
        Why an accuracy is not known yet.
    """

    plan: TrainingPlan
    ledger: Ledger
    known: Scores
    resting: str

    @property
    def best_order(self) -> float:
        """Best order of Theorem 1 at the sliders' number of epochs."""
        return self.ledger.at_epochs(self.ledger.order, self.plan.epochs)

    @property
    def at_edge(self) -> bool:
        """Whether it is the largest order searched."""
        return bool(self.ledger.at_epochs(self.ledger.theorem.truncated, self.plan.epochs))

    @property
    def rounds(self) -> float:
        """Rounds at the sliders' number of epochs."""
        return self.ledger.at_epochs(self.ledger.spending.rounds, self.plan.epochs)

    def run(self, context: Context) -> Run:
        """Return the state of the first training."""
        return run_of(self.plan.private[0], context) if self.plan.private else Run()


def draw_spent(
    curve: Curve, swept: SweptPoints, progress: Progress, bound: Bound | None
) -> Series | None:
    """Return accuracy against the ε of one accountant; None while this is not computed."""
    if bound is None:
        return None
    x = bound.value
    inside = np.isfinite(x) & (x >= swept.sweep.low) & (x <= swept.sweep.high)
    # Two numbers of epochs may need as many rounds where few make an epoch.
    rising = np.ones(x.size, bool)
    rising[1:] = x[1:] > np.fmax.accumulate(np.where(np.isfinite(x), x, -np.inf))[:-1]
    inside &= rising
    if not inside.any():
        missing = progress.plan.missing
        return Series(
            curve.key,
            str(curve.label),
            curve.role,
            swept.x[:1],
            np.full(1, np.nan),
            curve.source,
            undefined_reason=missing or bound.reason or "no epoch's ε lies within the axis",
        )
    return _draw_accuracy(
        curve, x[inside], progress.ledger.epochs[inside], progress, progress.resting
    )


def draw_epochs(curve: Curve, swept: SweptPoints, progress: Progress) -> Series:
    """Return accuracy against epochs."""
    epochs = swept.x.astype(int)
    return _draw_accuracy(curve, swept.x, epochs, progress, _resting(swept, progress))


def draw_plain(curve: Curve, swept: SweptPoints, progress: Progress) -> Series:
    """Return the accuracy without privacy, against epochs or as a level over ε."""
    plan, plain = progress.plan, progress.known.plain
    if swept.sweep.key == "spent":
        last = plain[plan.epochs]
        return Series(
            curve.key,
            f"{curve.label}, after as many epochs",
            curve.role,
            np.array([swept.sweep.low, swept.sweep.high]),
            np.full(2, last),
            curve.source,
            undefined_reason=(plan.missing or progress.resting) if np.isnan(last) else "",
            computing=bool(np.isnan(last)) and not plan.missing,
        )
    epochs = swept.x.astype(int)
    values = plain[epochs]
    why = (plan.missing or _resting(swept, progress)) if np.isnan(values).any() else ""
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        swept.x,
        values,
        curve.source,
        undefined_reason=why,
        computing=_is_coming(values, epochs, plan),
    )


def _resting(swept: SweptPoints, progress: Progress) -> str:
    """Return why accuracies on an axis of epochs are not known yet."""
    most = progress.plan.max_epochs
    return words.not_longer(most) if swept.x[-1] > most else progress.resting


def _draw_accuracy(
    curve: Curve, x: FloatArray, epochs: IntArray, progress: Progress, resting: str
) -> Series:
    mean, half = progress.known.mean[epochs], progress.known.half[epochs]
    banded = np.isfinite(half).any()
    why = (progress.plan.missing or resting) if np.isnan(mean).any() else ""
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        x,
        mean,
        curve.source,
        low=np.clip(mean - half, 0, 1) if banded else None,
        high=np.clip(mean + half, 0, 1) if banded else None,
        undefined_reason=why,
        note=f"mean of the runs; the band is {_BANDS[progress.plan.band][0]}",
        computing=_is_coming(mean, epochs, progress.plan),
    )


def _is_coming(values: FloatArray, epochs: IntArray, plan: TrainingPlan) -> bool:
    """Return whether some accuracy within the plan is not known yet."""
    return not plan.missing and bool(np.isnan(values[epochs <= plan.max_epochs]).any())


def table(progress: Progress) -> Table:
    """Return accuracy and ε after a few numbers of epochs."""
    plan, ledger, known = progress.plan, progress.ledger, progress.known
    rows = []
    for e in sorted({*(e for e in _TABLE_EPOCHS if e <= plan.max_epochs), plan.epochs}):
        cells = (
            ledger.at(ledger.theorem, e),
            ledger.at(ledger.numerical, e),
            ledger.at(ledger.clones, e),
            known.mean[e],
            known.half[e],
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
            _BANDS[plan.band][1],
            "without privacy",
        ),
        tuple(rows),
        "ε at the δ of the slider, all upper bounds; accuracy on test examples, mean of the runs. "
        "Empty: not trained so far, fewer than two runs, or too few rounds to compose.",
        (None, *[Role.UPPER] * 3, *[Role.ESTIMATE] * 3),
    )


def column_table(facts: TableFacts) -> Table:
    """Return the use and the scaling of a table's columns."""
    rows = [
        (
            column.name,
            column.use,
            float(column.features),
            column.low if math.isfinite(column.low) else None,
            column.high if math.isfinite(column.high) else None,
            "first line" if column.public else "training rows" * (column.use == "numbers"),
            float(column.clipped),
        )
        for column in facts.columns
    ]
    return Table(
        "columns",
        "Columns",
        ("column", "holds", "features", "minimum", "maximum", "bounds from", "values clipped"),
        tuple(rows),
        "Numbers are scaled to [−1, 1] by these bounds, values beyond them clipped; each word is a "
        "feature of 0 and 1. Curator only.",
    )


def readouts(progress: Progress, bits: int) -> tuple[ScalarResult, ...]:
    """Return the numbers at the sliders; `bits` of a report, 0 if not known."""
    plan, ledger, known = progress.plan, progress.ledger, progress.known
    e = plan.epochs
    result = []
    for key, label, value, role, why in (
        ("accuracy", "accuracy", known.mean[e], Role.ESTIMATE, plan.missing or words.NOT_YET),
        ("plain", "without privacy", known.plain[e], Role.BASELINE, plan.missing or words.NOT_YET),
        ("eps_theorem", "ε by Theorem 1", ledger.at(ledger.theorem, e), Role.UPPER, plan.missing),
    ):
        known_here = bool(np.isfinite(value))
        note = "" if known_here else (why or words.MORE_THAN_ALL)
        if key == "accuracy" and np.isfinite(known.half[e]):
            note = _BANDS[plan.band][2].format(half=nearest(known.half[e]), runs=int(known.runs[e]))
        result.append(
            ScalarResult(key, label, float(value) if known_here else None, role, note=note)
        )
    numerical = ledger.at(ledger.numerical, e)
    if np.isfinite(numerical):
        label = "ε, numerical upper bound"
        result.append(ScalarResult("eps_numerical", label, numerical, Role.UPPER))
    if bits:
        result.append(ScalarResult("bits", "bits of a report", float(bits), unit="bits"))
    return tuple(result)
