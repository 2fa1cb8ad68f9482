"""Error curves of map mechanisms for *Utility*, simulated in worker processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins import CheckinData, Mapping, find_files, open_checkins, sniff_files
from explorer.checkins.loading import refuse_questions
from explorer.engine.executors.base import CHECK_S, Executor, name_of, task_key
from explorer.engine.experiments import Checkpoint, find_trials, trials_file
from explorer.engine.paths import checkins_cache
from explorer.engine.runtime import StudyRuntime
from explorer.geography.plane import Plane
from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.resources import resource_path, samples
from explorer.studies.base.study import Cancelled, Origin, Request
from explorer.studies.heatmap.experiments.error_curves import (
    AXES,
    DRAWS,
    MEASURES,
    NO_CHECKINS_OF_FILE,
    SYNTHETIC_USERS,
    THE_SAME,
    ErrorCurve,
    EvaluationData,
    Found,
    Measure,
    SyntheticUsers,
    axes_of,
    curve_points,
    default_mechanisms,
    error_curves,
    first_curve,
    measure_of,
    parameters_read_by,
    proved_curves,
    search,
    trials_in_order,
)
from explorer.studies.heatmap.experiments.plan import Point, Trials, rows_of
from explorer.studies.heatmap.experiments.samples import Place, place_of
from explorer.studies.heatmap.experiments.trial import ready, run_grey, task_of

HERE, SAMPLE, THEORY = "", "sample", "theory"
"""Judged on the map's own check-ins, on the bundled synthetic ones, or by what is proved; else the
path of a file."""
FIRST_S, LATER_S = 0.1, 0.5
"""Seconds between two reports at least, until every point is there and from then on."""
SEED = 0
"""Of the noise: new noise in the picture does not move the curves."""
NO_DATA = "there are no check-ins; open a file first"
Check = Callable[[], None]


@dataclass(frozen=True)
class Question:
    """Request for error curves.

    Attributes
    ----------
    request : Request
        The map's, with its selection; what is on the axis is read from `AXES`.
    axis, measure : str
        Keys of `AXES` and `MEASURES`.
    judged_on : str
        `HERE`, `SAMPLE`, `THEORY`, a key of `SYNTHETIC_USERS`, or the path of a public file.
    draws : int
    """

    request: Request
    axis: str = "epsilon"
    measure: str = "emd_km"
    judged_on: str = HERE
    draws: int = DRAWS

    @property
    def shown_measure(self) -> Measure:
        """The measure, in the unit of the map's plane."""
        selection = self.request.selection
        return measure_of(self.measure, None if selection is None else selection.region)

    @property
    def here(self) -> bool:
        """Whether the evaluation uses the map's own check-ins (which may be the sample)."""
        selection = self.request.selection
        own = selection is not None and selection.data in {s.sha256 for s in samples()}
        return self.judged_on == HERE or (self.judged_on == SAMPLE and own)

    @property
    def proved(self) -> bool:
        """Whether the curves are proved bounds rather than simulations."""
        return self.judged_on == THEORY

    @property
    def origin(self) -> Origin:
        """Origin recorded for an ε taken from the curves."""
        return Origin.JUDGED if self.here else Origin.THEORY if self.proved else Origin.STAND_IN


@dataclass(frozen=True)
class ErrorCurves:
    """Error curves computed so far.

    Attributes
    ----------
    question : Question
    curves : tuple of ErrorCurve
    grey : ndarray
        Error of a uniform map at every x of the first curve; empty until computed.
    done, total : int
        Trials.
    users : int
        Users that are judged on, or that bounds are for, where they are not on the axis.
    """

    question: Question
    curves: tuple[ErrorCurve, ...]
    grey: FloatArray
    done: int
    total: int
    users: int

    @property
    def finished(self) -> bool:
        """Whether all results are present."""
        return self.done == self.total and (self.question.proved or bool(self.grey.size))


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search: the current ε, and draws done out of those wanted."""

    epsilon: float
    done: int
    wanted: int


class UtilityEvaluator:
    """Computes error curves and searches for ε, one request at a time.

    Work goes to the runtime's processes, or to the cluster that was chosen there.

    Parameters
    ----------
    runtime : StudyRuntime
        Which has the check-ins open.
    """

    def __init__(self, runtime: StudyRuntime) -> None:
        self._runtime = runtime
        self._stack = ExitStack()
        self._executor: Executor | None = None
        self._folder = Path()
        self._sharing = self._stack.enter_context(ExitStack())
        self._stand_ins: dict[tuple[str, Plane | None], CheckinData] = {}
        self._one = threading.Lock()

    def close(self) -> None:
        """Remove the shared folder; no request may be running."""
        self._stack.close()

    def curves(
        self, question: Question, check: Check, report: Callable[[ErrorCurves], object]
    ) -> ErrorCurves:
        """Return the curves; partial results are reported from time to time.

        Every draw is stored on arrival: the same request later resumes from there.

        Raises
        ------
        ValueError
            If there are no users to evaluate on, or a setting is out of range.
        Cancelled, WorkerDied, NoWorker
            As `Executor.batches`.
        """
        request, axis = question.request, AXES[question.axis]
        if question.proved:
            return _proved_curves(question)
        executor = self._executor_for(question, check)
        nearest = self._nearest(executor)
        # While users are counted.
        nearest.submit(name_of(ready))
        place, source = self._source(question, check)
        users = source.present() if axis.key == "users" else source.users
        mechanisms = default_mechanisms(request["mechanism"], axis)
        if axis not in axes_of(question.judged_on):
            raise ValueError(
                f"{axis.key}: only the mixtures of a figure have a share of {axis.symbol}; judge "
                "on those, or choose another axis"
            )
        filled = source.filled if isinstance(source, SyntheticUsers) else {}
        points = curve_points(
            place, source, request, axis, mechanisms, users, question.draws, filled
        )
        sources = self._runtime.context(check)
        rows = list(rows_of(points, SEED, self._folder, sources, (question.measure,)))
        trials = trials_in_order(rows, task_key)
        answer = ErrorCurves(question, (), np.empty(0), 0, len(trials.by_key), rows[0].users)
        first = first_curve(trials)
        with closing(Checkpoint(trials_file())) as checkpoint:
            result: dict[str, Any] = dict(checkpoint.known(trials.by_key))
        following = 0.0
        parts = (
            self._results(batch, where, check)
            for batch, where in ((first, nearest), (trials, executor))
        )
        for part in chain.from_iterable(parts):
            result |= part
            now = time.monotonic()
            # Kept back, the first whole curve would wait for processes that are only starting.
            whole = answer.done < len(first.by_key) <= len(result)
            if now < following and not whole and len(result) < answer.total:
                continue
            following = now + (FIRST_S if len(result) < len(rows) else LATER_S)
            curves = tuple(error_curves(trials, result, question.measure))
            answer = replace(answer, curves=curves, done=len(result))
            if answer.done:
                report(answer)
            if not answer.grey.size and answer.done >= len(first.by_key):
                # The first curve is complete; the error of a uniform map follows.
                answer = replace(answer, grey=self._grey(trials, question.measure, nearest, check))
        return answer

    def search_epsilon(
        self,
        question: Question,
        mechanism: str,
        target: float,
        check: Check,
        report: Callable[[SearchProgress], object],
    ) -> Found:
        """Return a sufficient and an insufficient ε (`utility_search.search`).

        Raises as `curves`, and ValueError for proved curves, which need no search.
        """
        if question.proved:
            raise ValueError("what is proved needs no search; judge on check-ins to search")
        executor = self._executor_for(question, check)
        place, source = self._source(question, check)
        measure = MEASURES[question.measure]
        worst = np.inf if measure.low_is_good else -np.inf
        reads = parameters_read_by(mechanism)
        fixed = {k: v for k, v in question.request.values if k in reads}
        sources = self._runtime.context(check)
        asks = search(target, measure.low_is_good)
        request = next(asks)
        while True:
            epsilon, draws = request
            values = {**fixed, "mechanism": mechanism, "epsilon": epsilon}
            point = Point(place, source, source.users, values, draws)
            rows = list(rows_of([point], SEED, self._folder, sources, (measure.key,)))
            trials = Trials.of(rows, task_key)
            result: dict[str, Any] = {}
            for part in self._results(trials, executor, check):
                result |= part
                report(SearchProgress(epsilon, len(result), draws))
            measured = [result[task_key(trial)][measure.key] for trial in rows[0].trials]
            try:
                request = asks.send([worst if value is None else value for value in measured])
            except StopIteration as end:
                said: Found = end.value
                return said

    @contextmanager
    def one_at_a_time(self, check: Check) -> Iterator[None]:
        """Wait until the previous, cancelled request has ended."""
        while not self._one.acquire(timeout=CHECK_S):
            check()
        try:
            yield
        finally:
            self._one.release()

    def _results(
        self, trials: Trials, executor: Executor, check: Check
    ) -> Iterator[dict[str, Any]]:
        # A connection belongs to the thread that made it.
        with closing(Checkpoint(trials_file())) as checkpoint:
            yield from find_trials(trials, executor, checkpoint, self._folder, check)

    def _grey(self, trials: Trials, measure: str, executor: Executor, check: Check) -> FloatArray:
        """Return the error of the uniform map at every x of the first curve."""
        first = trials.rows[0].point.values["mechanism"]
        rows = [row for row in trials.rows if row.point.values["mechanism"] == first]
        tasks = [task_of(row.trials[0], self._folder) for row in rows]
        alike = [(t["trial"]["counts"], t["trial"]["values"]["sigma"]) for t in tasks]
        places = [alike.index(one) for one in alike]
        distinct = sorted(set(places))
        errors = dict.fromkeys(distinct, np.nan)
        for i, result in executor.map(run_grey, [tasks[j] for j in distinct], check):
            errors[distinct[i]] = np.nan if result[measure] is None else result[measure]
        return np.array([errors[place] for place in places])

    def _source(
        self, question: Question, check: Check
    ) -> tuple[Place, EvaluationData | SyntheticUsers]:
        """Return the place and the users of the evaluation."""
        selection = question.request.selection
        if selection is None:
            raise ValueError(NO_DATA)
        place = place_of(selection.region)
        if question.judged_on == HERE:
            data = self._runtime.data(selection.data)
            return place, EvaluationData.of_selection(data, selection, check)
        figure = SYNTHETIC_USERS.get(question.judged_on)
        if figure is not None:
            return replace(place, name=figure.place), figure
        plane = None if question.judged_on == SAMPLE else selection.region.plane
        data = self._stand_in(question.judged_on, plane, check)
        if data.fingerprint == selection.data and question.judged_on != SAMPLE:
            raise ValueError(THE_SAME.format(name=data.basename))
        listed = {s.sha256: Region(*s.suggested_region) for s in samples()}
        region = listed.get(data.fingerprint, selection.region)
        image = image_like(selection.image, data.images)
        evaluation = EvaluationData(data, region.box, image=image, polygon=region.polygon)
        users = min(int(question.request["n0"]), evaluation.present()) or 1
        nobody = NO_CHECKINS_OF_FILE.format(name=data.basename)
        judged_on = replace(evaluation, users=users, check=check, nobody=nobody)
        return replace(place_of(region), region=selection.region), judged_on

    def _stand_in(self, named: str, plane: Plane | None, check: Check) -> CheckinData:
        """Return the data of a stand-in file, in the range of the map's plane."""

        def cancelled() -> bool:
            try:
                check()
            except Cancelled:
                return True
            return False

        key = (named, plane)
        if key not in self._stand_ins:
            with ExitStack() as stack:
                path = Path(named)
                if named == SAMPLE:
                    path = stack.enter_context(resource_path(samples()[0].file))
                mapping = None if plane is None else mapping_within(plane, path, cancelled)
                cache = checkins_cache()
                data = open_checkins(path, mapping, cache_dir=cache, cancelled=cancelled)
            self._stack.callback(data.close)
            self._stand_ins[key] = data
        return self._stand_ins[key]

    def _nearest(self, executor: Executor) -> Executor:
        """Return the executor for the first tasks: locally the process that is running already.

        The others take a second to start and to load compiled code.
        """
        computing = self._runtime.computing
        return computing.worker if computing.is_here(executor) else executor

    def _executor_for(self, question: Question, check: Check) -> Executor:
        """Return the executor of a request; its workers see `_folder`, which holds the counts."""
        of_data = question.judged_on != SAMPLE
        executor = self._runtime.computing.for_tasks(of_data, check)
        if executor is not self._executor:
            self._sharing.close()
            self._folder = self._sharing.enter_context(executor.shared_folder())
            self._executor = executor
        return executor


def mapping_within(plane: Plane, path: Path, cancelled: Callable[[], bool]) -> Mapping:
    """Return the column mapping of a file, with x and y in the range of a plane.

    Raises
    ------
    CheckinError, LoadCancelled
        As `open_checkins`.
    """
    preview = sniff_files(find_files(path, cancelled), cancelled=cancelled)
    refuse_questions(preview, ("plane", "crs"))
    return replace(preview.mapping, plane=plane.text, crs=None)


def image_like(image: str | None, images: Sequence[str]) -> str | None:
    """Return the image of this name, else the first; None where there are none."""
    return image if image in images else next(iter(images), None)


def find_curves(
    runtime: StudyRuntime, question: Question, check: Check, report: Callable[[ErrorCurves], object]
) -> ErrorCurves:
    """Compute error curves with the evaluator of a runtime (`UtilityEvaluator.curves`)."""
    evaluator = runtime.keep("judge", lambda: UtilityEvaluator(runtime))
    with evaluator.one_at_a_time(check):
        return evaluator.curves(question, check, report)


def search_epsilon(
    runtime: StudyRuntime,
    sought: tuple[Question, str, float],
    check: Check,
    report: Callable[[SearchProgress], object],
) -> Found:
    """Search for an ε on the evaluator of a runtime: question, mechanism and target (`sought`)."""
    evaluator = runtime.keep("judge", lambda: UtilityEvaluator(runtime))
    with evaluator.one_at_a_time(check):
        return evaluator.search_epsilon(*sought, check, report)


def _proved_curves(question: Question) -> ErrorCurves:
    """Return proved error bounds, without opening data."""
    request = question.request
    if request.selection is None:
        raise ValueError(NO_DATA)
    axis, sides_km = AXES[question.axis], place_of(request.selection.region).sides_km
    curves = proved_curves(request, axis, question.measure, sides_km)
    return ErrorCurves(question, curves, np.empty(0), 0, 0, int(request["n0"]))
