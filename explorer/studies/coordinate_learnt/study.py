"""What somebody who sees a report learns of one coordinate: tests, beliefs, four notions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.study import (
    Context,
    Fidelity,
    Mark,
    Readout,
    Request,
    Result,
    Series,
    Study,
)
from explorer.studies.base.sweeping import SweptPoints, series_from, swept_points
from explorer.studies.coordinate_learnt import text
from explorer.studies.coordinate_learnt.curves import (
    belief_curves,
    level_bounds,
    tradeoff_curves,
)
from explorer.studies.coordinate_learnt.domain import (
    Domain,
    Levels,
    coupling_bound,
    domain_of,
    levels_of,
    processed,
)
from explorer.studies.coordinate_learnt.face import FACES, SHORT_NAMES
from explorer.studies.coordinate_learnt.figure1 import figure_1, step_table
from explorer.studies.coordinate_learnt.help import PAGE, PRESETS
from explorer.studies.coordinate_learnt.own_table import OwnTable, from_files, typed
from explorer.studies.coordinate_learnt.parameters import (
    COUNTS,
    FILES,
    OWN,
    PARAMETERS,
    QUANTITIES,
    SLIDERS_OF_BITS,
)

_COARSE = 17


class CoordinateLearnt(Study):
    """Exact levels on a small domain, as tests and as odds."""

    id = "coordinate-learnt"
    simulated = "local.coordinates/1"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the curves; levels along a sweep first at a few points."""
        context.check()
        points = swept_points(self, request)
        own = self._own(request, context)
        values = dict(request.values)
        before = domain_of(values, own)
        here, why = processed(before, values) if request["step"] else (before, "")
        bound = coupling_bound(here, float(request["beta"]))
        found = levels_of(here, bound)
        whole = _Whole(request, before, here, found, bound, own, why)
        place = min(int(request["coordinate"]), here.d) - 1
        if request.quantity == "tradeoff":
            series = tradeoff_curves(here, found, place, points)
        elif request.quantity == "belief_after":
            series = belief_curves(here, found, place, points)
        else:
            coarse = request.fidelity is Fidelity.COARSE
            few = points.downsampled(_COARSE)
            series = self._levels(request, few, place, context, whole)
            if not coarse and few.x.size < points.x.size:
                yield whole.result(Fidelity.COARSE, place, series, False)
                series = self._levels(request, points, place, context, whole)
            fidelity = Fidelity.COARSE if coarse else Fidelity.FULL
            yield whole.result(fidelity, place, series, True)
            return
        yield whole.result(request.fidelity, place, series, True)

    def _own(self, request: Request, context: Context) -> OwnTable | None:
        """Return the user's tables; the typed ones until both files are open."""
        if request["mechanism"] != OWN:
            return None
        counts = request["prior_is"] == COUNTS
        names = (request["prior_file"], request["channel_file"])
        if request["own_from"] == FILES and all(names):
            paths = [(context.file(name), name.partition("#")[0]) for name in names]
            decimal = request["decimal"]
            read: OwnTable = context.memo(
                ("coordinate-learnt", "own", names, decimal, counts),
                lambda: from_files(paths[0], paths[1], decimal, counts),
            )
            return read
        return typed(request["records" if counts else "prior"], request["channel"], counts)

    def _levels(
        self, request: Request, points: SweptPoints, place: int, context: Context, whole: "_Whole"
    ) -> tuple[Series, ...]:
        values: dict[str, Any] = dict(request.values)
        found: list[Levels] = []
        for j in range(points.x.size + 1):
            context.check()
            swept = {points.sweep.key: float(points[points.sweep.key][j])}
            domain = domain_of(values | swept, whole.own)
            if request["step"]:
                domain, _ = processed(domain, values)
            found.append(levels_of(domain, whole.bound))
        bounds = level_bounds(found, place)
        # Between one report and two there is nothing.
        mark = Mark.DOTS if points.sweep.key == "copies" else Mark.LINE
        return tuple(
            series_from(key, text.LEVELS[key][0], points, bound, mark=mark)
            for key, bound in bounds.items()
        )


@dataclass(frozen=True)
class _Whole:
    """One request's domain and its levels.

    Attributes
    ----------
    request : Request
    before, here : Domain
        Without and with Proposition 5's step.
    found : Levels
    bound : ndarray or None
        Upper confidence bounds on the coupling, where the prior was counted.
    own : OwnTable or None
    why : str
        Why a step that is asked for is left out.
    """

    request: Request
    before: Domain
    here: Domain
    found: Levels
    bound: FloatArray | None
    own: OwnTable | None
    why: str

    def result(
        self, fidelity: Fidelity, place: int, series: tuple[Series, ...], complete: bool
    ) -> Result:
        """Return the answer with these curves."""
        here, found, beta = self.here, self.found, float(self.request["beta"])
        once = found if here.copies == 1 else levels_of(replace(here, copies=1), self.bound)
        tables = [
            text.level_table(here, found, beta),
            figure_1(here, found, place),
            text.domain_table(here),
        ]
        if self.request["step"] and not self.why:
            tables.insert(2, step_table(levels_of(self.before, self.bound), found))
        return Result(
            self.request,
            fidelity,
            series=series,
            tables=tuple(tables),
            readouts=_readouts(here, found, place, self.request.quantity, beta),
            conditions=text.conditions(here, found, once, place),
            guarantee=text.guarantee(here, found, place, beta),
            notes=self._notes(place),
            complete=complete,
        )

    def _notes(self, place: int) -> tuple[str, ...]:
        """Return what is to be said besides."""
        request, here = self.request, self.here
        notes = [self.why] if self.why else []
        if int(request["coordinate"]) > here.d:
            notes.append(f"There are only {here.d} coordinates; the last one is looked at.")
        wanted = request["mechanism"] == OWN and request["own_from"] == FILES
        if wanted and not (request["prior_file"] and request["channel_file"]):
            notes.append(text.NO_FILES)
        if request["mechanism"] == OWN and request.sweep and request.sweep.key in SLIDERS_OF_BITS:
            notes.append(text.FLAT)
        if here.sizes[place] > 2:
            name, pair = text.coordinate(place), " and ".join(text.two_values(here, place))
            notes.append(text.PAIR.format(name=name, count=here.sizes[place], pair=pair))
        return tuple(notes)


def _readouts(
    domain: Domain, found: Levels, place: int, quantity: str, beta: float
) -> tuple[Readout, ...]:
    """Return the levels, under short names of their own beside curves of something else."""
    readouts = []
    for key, bound in level_bounds([found], place).items():
        label, role, _ = text.LEVELS[key]
        own = quantity == "levels"
        known = bool(bound.valid[-1])
        readouts.append(
            Readout(
                key if own else f"level_{key}",
                label if own else text.SHORT[key],
                float(bound.value[-1]) if known else None,
                role,
                "nats",
                note="" if known else text.INFINITE,
            )
        )
    coupling = float(found.coupling[place])
    if domain.records:
        label = f"qᵢ (coupling), at most ({text.confidence(beta)})"
        readouts.append(Readout("coupling", label, coupling, Role.UPPER))
    else:
        readouts.append(Readout("coupling", "qᵢ (coupling)", coupling, Role.EXACT))
    return tuple(readouts)
