"""What somebody who sees a report learns of one coordinate: tests, beliefs, four notions."""

from collections.abc import Iterator
from typing import Any

from explorer.privacy.core.bound import Role
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
from explorer.studies.coordinate_learnt.domain import Domain, Levels, domain_of, levels_of
from explorer.studies.coordinate_learnt.help import PAGE, PRESETS
from explorer.studies.coordinate_learnt.parameters import PARAMETERS, QUANTITIES

_COARSE = 17


class CoordinateLearnt(Study):
    """Exact levels on a small domain, as tests and as odds."""

    id = "coordinate-learnt"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the curves; levels along a sweep first at a few points."""
        context.check()
        points = swept_points(self, request)
        here = domain_of(dict(request.values))
        found = levels_of(here)
        place = min(int(request["coordinate"]), here.d) - 1
        if request.quantity == "tradeoff":
            series = tradeoff_curves(here, found, place, points)
        elif request.quantity == "belief_after":
            series = belief_curves(here, found, place, points)
        else:
            coarse = request.fidelity is Fidelity.COARSE
            few = points.downsampled(_COARSE)
            series = self._levels(request, few, place, context)
            if not coarse and few.x.size < points.x.size:
                yield self._result(request, Fidelity.COARSE, here, found, place, series, False)
                series = self._levels(request, points, place, context)
            fidelity = Fidelity.COARSE if coarse else Fidelity.FULL
            yield self._result(request, fidelity, here, found, place, series, True)
            return
        yield self._result(request, request.fidelity, here, found, place, series, True)

    def _levels(
        self, request: Request, points: SweptPoints, place: int, context: Context
    ) -> tuple[Series, ...]:
        values: dict[str, Any] = dict(request.values)
        found: list[Levels] = []
        for j in range(points.x.size + 1):
            context.check()
            swept = {points.sweep.key: float(points[points.sweep.key][j])}
            found.append(levels_of(domain_of(values | swept)))
        bounds = level_bounds(found, place)
        # Between one report and two there is nothing.
        mark = Mark.DOTS if points.sweep.key == "copies" else Mark.LINE
        return tuple(
            series_from(key, text.LEVELS[key][0], points, bound, mark=mark)
            for key, bound in bounds.items()
        )

    def _result(
        self,
        request: Request,
        fidelity: Fidelity,
        here: Domain,
        found: Levels,
        place: int,
        series: tuple[Series, ...],
        complete: bool,
    ) -> Result:
        once = found if here.copies == 1 else levels_of(Domain(here.d, here.prior, here.channel, 1))
        notes: tuple[str, ...] = ()
        if int(request["coordinate"]) > here.d:
            notes = (f"There are only {here.d} coordinates; the last one is looked at.",)
        return Result(
            request,
            fidelity,
            series=series,
            tables=(text.level_table(found), text.domain_table(here)),
            readouts=_readouts(found, place, request.quantity),
            conditions=text.conditions(here, found, once, place),
            guarantee=text.guarantee(here, found, place),
            notes=notes,
            complete=complete,
        )


def _readouts(found: Levels, place: int, quantity: str) -> tuple[Readout, ...]:
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
    readouts.append(Readout("coupling", "qᵢ (coupling)", coupling, Role.EXACT))
    return tuple(readouts)
