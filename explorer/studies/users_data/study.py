"""What Algorithms 1 to 3 make of users' data, and how far two data sets are apart."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from explorer.studies.base.study import Condition, Context, Fidelity, Request, Result, Study, Table
from explorer.studies.base.sweeping import SweptPoints, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.users_data import compared, released, text
from explorer.studies.users_data.face import FACES, SHORT_NAMES
from explorer.studies.users_data.help import PAGE, PRESETS
from explorer.studies.users_data.parameters import DRAWN, PARAMETERS, QUANTITIES
from explorer.studies.users_data.released import Drawn, absent
from explorer.studies.users_data.subject import Subject
from explorer.studies.users_data.tradeoff import audits

_SHOWN: dict[str, Callable[[Subject, SweptPoints], Drawn]] = {
    "shares": released.shares,
    "map": released.before_and_after,
    "mean": released.average,
    "moved": compared.moved,
    "found_out": compared.found_out,
}
_COMPARED = ("moved", "found_out")


@with_tradeoff(also=("promise",), audits=audits)
class UsersData(Study):
    """Releases of users' items, simulated with exact laws, and distances between data sets."""

    id = "users-data"
    simulated = "metric.sum/1"
    references = text.REFERENCES
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the answer with its tables, then the distance that takes longer."""
        points = swept_points(self, request)
        subject = Subject(request, context)
        context.check()
        notes = (*subject.space.notes, subject.users.said(), "" if subject.real else text.NO_FILE)
        tables: tuple[Table, ...] = ()
        conditions: tuple[Condition, ...] = ()
        if subject.missing:
            drawn = absent("nothing", "nothing to show", points, subject.missing)
            notes = subject.space.notes
        else:
            drawn = _SHOWN[request.quantity](subject, points)
            context.check()
            tables = (text.curators_table(subject.users),)
            if request.quantity in _COMPARED:
                tables += compared.tables(subject)
                conditions = compared.conditions(subject)
            else:
                conditions = text.conditions(drawn=request["sizes"] == DRAWN, real=subject.real)
        only = drawn.apart is None or request.fidelity is Fidelity.COARSE
        result = Result(
            request,
            request.fidelity,
            series=drawn.series,
            tables=tables,
            space=subject.space.picture,
            readouts=drawn.readouts,
            conditions=conditions,
            guarantee=drawn.guarantee,
            notes=tuple(note for note in (*notes, *drawn.notes) if note),
            stamp=subject.stamp,
            complete=only,
        )
        yield result
        if drawn.apart is not None and not only:
            away = released.projected_distance(subject, drawn.apart)
            yield replace(result, readouts=(*result.readouts, away), complete=True)
