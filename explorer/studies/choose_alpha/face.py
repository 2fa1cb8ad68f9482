"""What choosing α shows first."""

from explorer.studies.base.claims import Claimed
from explorer.studies.base.numbers import at_least
from explorer.studies.base.study import Answer, Face, Result


def _chosen(result: Result, _found: Claimed | None) -> Answer | None:
    here = {r.key: r.value for r in result.readouts}
    alpha, unit, binding = (here.get(k) for k in ("alpha", "per_unit", "binding"))
    if alpha is None or unit is None:
        return None
    many = str(result.request["requirements"]) != "1" and binding is not None
    meets = f"meets all requirements; number {binding:g} binds" if many else "meets the requirement"
    return Answer(f"α = {at_least(alpha)}", f"{at_least(unit)} per unit of distance: it {meets}.")


FACES = {
    "fraction": Face(
        ("requirements", "eps1", "distance1", "tau1"),
        ("requirement_1", "requirement_2", "level_1", "asked"),
        _chosen,
    ),
    "eps": Face(
        ("requirements", "eps1", "distance1", "tau1"),
        ("change", "share_0.010", "share_0.143", "share_1.000", "asked"),
        _chosen,
    ),
    "alpha": Face(
        ("requirements", "eps1", "distance1", "tau1"),
        ("alpha", "alone_1", "alone_2", "alone_3", "alone_4"),
        _chosen,
    ),
}
"""What is shown first, by quantity."""

SHORT_NAMES = {
    "change": "the change looked at",
    "any": "any change: ε = α",
    **{f"requirement_{i}": f"as asked in requirement {i}" for i in range(1, 5)},
    "asked": "your requirements",
    "alpha": "all requirements",
}
