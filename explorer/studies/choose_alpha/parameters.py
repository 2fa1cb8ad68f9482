"""What can be set and plotted when α is chosen."""

from explorer.studies.base.builders import choice, real
from explorer.studies.base.study import Parameter, Quantity, Scale
from explorer.studies.metric_space.parameters import UNITLESS, WITH_UNIT, space_parameters

MOST = 4
"""Most requirements."""
FARTHEST = 2.5e7
"""Half the Earth's circumference is 2.004e7 metres."""
_SUBSCRIPTS = "₁₂₃₄"
_DEFAULTS = ((0.2, 1000.0, 0.08, 1 / 30), (0.2, 100.0, 0.008, 1.0), (1.0, 500.0, 0.04, 0.5),
             (0.1, 5.0, 0.001, 1.0))  # fmt: skip
"""ε, distance in the space's unit, q and τ of each requirement; the first two are the paper's."""
_NAMES = ("first", "second", "third", "fourth")


def _requirement(i: int) -> tuple[Parameter, ...]:
    """Return the parameters of requirement i (from 1): shown while at least i are in use."""
    eps, distance, q, tau = _DEFAULTS[i - 1]
    mark, name = _SUBSCRIPTS[i - 1], _NAMES[i - 1]
    used = ("requirements", tuple(str(n) for n in range(i, MOST + 1)))
    return (
        real(
            f"eps{i}",
            f"ε{mark}",
            f"{name} change: privacy asked",
            "The largest privacy parameter that is acceptable for this change of a user's data. "
            "Smaller is more private.",
            eps,
            1e-3,
            20.0,
            more_private="low",
            latex=rf"\varepsilon_{i}",
            relevant_when=(used,),
        ),
        real(
            f"distance{i}",
            f"d{mark}",
            f"{name} change: distance",
            "How far the items moved go on average, in the unit of the space. Asking it of a "
            "longer way is more private.",
            distance,
            1e-3,
            FARTHEST,
            more_private="high",
            latex=f"d_{i}",
            relevant_when=(used, ("space", WITH_UNIT)),
            unit_from="space_unit",
        ),
        real(
            f"q{i}",
            f"q{mark}",
            f"{name} change: distance",
            "How far the items moved go on average, as a share of the largest distance. Asking "
            "it of a longer way is more private.",
            q,
            1e-4,
            1.0,
            more_private="high",
            latex=f"q_{i}",
            relevant_when=(used, ("space", UNITLESS)),
        ),
        real(
            f"tau{i}",
            f"τ{mark}",
            f"{name} change: share of the data",
            "Which part of a user's data moves: 1/30 is one day of a month. Asking it of a "
            "larger part is more private.",
            tau,
            1e-5,
            1.0,
            more_private="high",
            latex=rf"\tau_{i}",
            relevant_when=(used,),
        ),
    )


PARAMETERS = (
    choice(
        "requirements",
        "",
        "requirements",
        "How many kinds of change must be protected. α meets all of them.",
        "2",
        (("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")),
    ),
    *(p for i in range(1, MOST + 1) for p in _requirement(i)),
    real(
        "moved",
        "d",
        "change looked at: distance",
        "Another change of a user's data, to see what α makes of it: how far its items go on "
        "average, in the unit of the space.",
        100.0,
        1e-3,
        FARTHEST,
        quantities=("eps", "fraction"),
        relevant_when=(("space", WITH_UNIT),),
        unit_from="space_unit",
    ),
    real(
        "moved_q",
        "q",
        "change looked at: distance",
        "Another change of a user's data, to see what α makes of it: how far its items go on "
        "average, as a share of the largest distance.",
        0.01,
        1e-4,
        1.0,
        quantities=("eps", "fraction"),
        relevant_when=(("space", UNITLESS),),
    ),
    real(
        "tau",
        "τ",
        "change looked at: share of the data",
        "Which part of a user's data moves in the change looked at.",
        1 / 30,
        1e-5,
        1.0,
        latex=r"\tau",
        quantities=("eps", "fraction"),
    ),
    real(
        "q",
        "q",
        "distance moved, share of the largest",
        "Distance divided by the diameter of the space: an axis.",
        0.01,
        1e-4,
        1.0,
        axis_only=True,
    ),
    *space_parameters(),
)

_OF_REQUIREMENTS = tuple(
    f"{name}{i}" for name in ("eps", "distance", "q", "tau") for i in range(1, MOST + 1)
)
QUANTITIES = (
    Quantity(
        "fraction",
        "τ",
        "share of the data that may move",
        ("q", "moved", "moved_q"),
        scale=Scale.LOG,
        latex=r"\tau",
    ),
    Quantity(
        "eps",
        "ε",
        "privacy of a change",
        ("q", "moved", "moved_q", "tau"),
        scale=Scale.LOG,
        latex=r"\varepsilon",
    ),
    Quantity(
        "alpha",
        "α",
        "largest that meets the requirements",
        _OF_REQUIREMENTS,
        scale=Scale.LOG,
        unit="1/diameter",
        latex=r"\alpha",
    ),
)
