"""Two data sets: who moved how far, and what α promises about telling them apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.spaces import MetricSpace
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Condition, Mark, Readout, Series, Table
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.users_data import guarantee
from explorer.studies.users_data.algorithms import Drawn, absent
from explorer.studies.users_data.inputs import FILES, ITEM_WISE, Subject
from explorer.studies.users_data.reading import Items, Users

_ROWS = 20


@dataclass(frozen=True)
class Compared:
    """How far apart two data sets are.

    Attributes
    ----------
    names : tuple of str
        Who moved, or what was held against what; the farthest first.
    moved : ndarray of float
        Normalised d_EM of each, descending.
    sizes : tuple of (int, int)
        How many items each had.
    pools : float or None
        d_EM of all items together; None where it is too large to be found.
    missing : tuple of str
        Users in one of the files only.
    """

    names: tuple[str, ...]
    moved: FloatArray
    sizes: tuple[tuple[int, int], ...]
    pools: float | None
    missing: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether nobody's number of items changed."""
        return all(one == two for one, two in self.sizes)


def compared(metric: MetricSpace, first: Users, second: Users) -> Compared:
    """Return the distances between two data sets, user by user (may run in a worker process)."""
    other = dict(zip(second.names, second.items, strict=True))
    own = dict(zip(first.names, first.items, strict=True))
    both = [name for name in own if name in other]
    missing = tuple(name for name in (*own, *other) if name not in own or name not in other)
    if not both:
        raise ValueError("no user is in both files: users go by their names, in the first column")
    far = np.array([distance(metric, own[name], other[name]) for name in both])
    order = np.argsort(-far, kind="stable")
    pools: float | None
    try:
        pools = distance(
            metric,
            np.concatenate([own[name] for name in both]),
            np.concatenate([other[name] for name in both]),
        )
    except ValueError:
        pools = None
    return Compared(
        tuple(both[i] for i in order),
        far[order],
        tuple((len(own[both[i]]), len(other[both[i]])) for i in order),
        pools,
        missing,
    )


def parts_compared(metric: MetricSpace, users: Users, k: int) -> Compared:
    """Return how far the first k users' items lie from the others' (may run in a worker)."""
    one, two = np.concatenate(users.items[:k]), np.concatenate(users.items[k:])
    far = distance(metric, one, two)
    name = f"the first {k:,} users against the other {len(users.names) - k:,}"
    return Compared((name,), np.array([far]), ((len(one), len(two)),), far)


def distance(metric: MetricSpace, one: Items, two: Items) -> float:
    """Return d_EM of two data sets whose items weigh the same in each, normalised, exactly.

    Raises
    ------
    ValueError
        If there is too much to move.
    """
    if one.ndim == 1:
        # Of a finite space only the shares count.
        x, p = np.unique(one, return_counts=True)
        y, q = np.unique(two, return_counts=True)
        if len(one) * len(two) > 250_000:
            return metric.emd(x, y, p, q)
    elif len(one) * len(two) > um.ASSIGNMENT_MAX**2:
        raise ValueError(f"{len(one):,} and {len(two):,} points are too many to be matched")
    return um.transport_plan(metric.cross(one, two)).distance


def _found(subject: Subject) -> Compared | str:
    """Return the distances that are asked for, or why there are none."""
    request, context, metric = subject.request, subject.context, subject.metric
    task: tuple[Any, ...]
    if request["against"] != FILES:
        k = int(request["split"])
        if k >= len(subject.users.names):
            return f"the file has {len(subject.users.names):,} users: choose a smaller k"
        task = (parts_compared, metric, subject.users, k)
    else:
        second = subject.second()
        if second is None:
            return guarantee.NEEDS_SECOND
        task = (compared, metric, subject.users, second)
    space = tuple(
        (key, value)
        for key, value in request.values
        if key.startswith("space")
        or key
        in ("users", "second", "against", "split", "decimal", "left", "bottom", "clamp", "sizes")
    )
    kept: Compared = context.memo(
        ("users-data", "compared", space, request.seed), lambda: context.run_in_worker(*task)
    )
    return kept


def moved(subject: Subject, points: SweptPoints) -> Drawn:
    """Return users by how far their data moved."""
    found = _found(subject)
    if isinstance(found, str):
        return absent("moved", "d_EM of a user's data", points, found)
    rank = np.arange(1, len(found.moved) + 1, dtype=float)
    shown = (rank >= points.sweep.low) & (rank <= points.sweep.high)
    series = (
        Series(
            "moved",
            "d_EM of a user's two data sets",
            Role.EXACT,
            rank[shown],
            found.moved[shown],
            guarantee.DISTANCE,
            mark=Mark.DOTS,
        ),
    )
    alpha, delta = float(subject.request["alpha"]), _delta(subject)
    return Drawn(
        series,
        _readouts(subject, found),
        _notes(subject, found),
        guarantee.compared_guarantee(
            alpha, delta, float(found.moved[0]), _which(subject, found), local=subject.local
        ),
    )


def found_out(subject: Subject, points: SweptPoints) -> Drawn:
    """Return how surely two data sets can be told apart, against wrong accusations."""
    found = _found(subject)
    if isinstance(found, str):
        return absent("one", "told apart", points, found)
    alpha, delta = float(subject.request["alpha"]), _delta(subject)
    f = points.x
    farthest = float(found.moved[0])
    several = subject.request["against"] == FILES
    one = "the user who moved farthest" if several else "the two parts, as one person's data"
    curves = [("one", one, alpha * farthest, delta, guarantee.PROMISE)]
    if several:
        epsilon, total = um.several_users(alpha, found.moved.tolist(), [delta] * len(found.moved))
        curves.append(
            ("all", "all users at once, by adding up", epsilon, min(total, 1.0), guarantee.SEVERAL)
        )
        if not delta and not subject.local and found.equal and found.pools is not None:
            n = len(found.moved)
            curves.append(
                (
                    "pools",
                    "all users at once, by the pools",
                    alpha * n * found.pools,
                    0.0,
                    guarantee.ALGORITHM_1,
                )
            )
    series = [
        Series(
            key,
            label,
            Role.UPPER,
            f,
            np.asarray(um.power_bound(epsilon, d, f)),
            source,
            note=f"ε = {nearest(epsilon)}" + (f", δ = {nearest(d)}" if d else ""),
        )
        for key, label, epsilon, d, source in curves
    ]
    series.append(Series("chance", "chance", Role.BASELINE, f, f.copy(), guarantee.CHANCE))
    which = _which(subject, found)
    levels = tuple(
        Readout(f"eps_{key}", f"ε, {label}", epsilon, Role.UPPER)
        for key, label, epsilon, _, _ in curves
    )
    return Drawn(
        tuple(series),
        (*levels, *_readouts(subject, found)),
        _notes(subject, found),
        guarantee.compared_guarantee(alpha, delta, farthest, which, local=subject.local),
    )


def _delta(subject: Subject) -> float:
    """Return the δ of what releases: Algorithm 1 has none."""
    return float(subject.request["delta"]) if subject.request["promise"] == ITEM_WISE else 0.0


def _which(subject: Subject, found: Compared) -> str:
    if subject.request["against"] != FILES:
        return f"two data sets ({found.names[0]})"
    return f"two data sets of {found.names[0]}" if subject.real else "two data sets of a user"


def _readouts(subject: Subject, found: Compared) -> tuple[Readout, ...]:
    unit, length = subject.space.unit, subject.space.diameter
    moved = int((found.moved > 0).sum())
    some = [
        Readout("farthest", "d_EM of who moved farthest", float(found.moved[0]), Role.EXACT),
        Readout("farthest_unit", "as a length", float(found.moved[0]) * length, Role.EXACT, unit),
    ]
    if found.pools is not None:
        some.append(Readout("pools", "d_EM of all items together", found.pools, Role.EXACT))
    elif found.equal:
        some.append(
            Readout(
                "pools",
                "d_EM of all items together",
                float(found.moved.mean()),
                Role.UPPER,
                note="the users' mean: too many items to match all of them",
            )
        )
    return (*some, Readout("users_moved", "users whose data moved", float(moved)))


def _notes(subject: Subject, found: Compared) -> tuple[str, ...]:
    made = not subject.real and subject.request["against"] == FILES
    return tuple(
        note
        for note in (
            guarantee.only_in_one(found.missing),
            guarantee.NO_SECOND if made and not subject.request["second"] else "",
        )
        if note
    )


def tables(subject: Subject) -> tuple[Table, ...]:
    """Return who moved how far, for the curator."""
    found = _found(subject)
    if isinstance(found, str):
        return ()
    rows = tuple(
        (name, float(w), float(w) * subject.space.diameter, one, two)
        for name, w, (one, two) in list(zip(found.names, found.moved, found.sizes, strict=True))[
            :_ROWS
        ]
    )
    unit = f" ({subject.space.unit})" if subject.space.unit else ""
    return (
        Table(
            "moved",
            "Who moved how far (curator only)",
            ("user", "d_EM", f"as a length{unit}", "items before", "items after"),
            rows,
            f"The {len(rows)} who moved farthest of {len(found.names):,}. Exact, by an optimal "
            "plan of transport.",
            (None, Role.EXACT, Role.EXACT),
        ),
    )


def conditions(subject: Subject) -> tuple[Condition, ...]:
    """Return what the promise about two data sets rests on."""
    found = _found(subject)
    if isinstance(found, str):
        return ()
    return (
        Condition(
            "Every user has as many items in both data sets, as bounded d_EM-DP asks",
            found.equal,
            ""
            if found.equal
            else "draw s of each first (Algorithm 3), or read w as a distance alone",
            short="Both data sets have as many items a user",
        ),
        Condition(
            "What is released is α-private for d_EM, by the algorithm chosen",
            None,
            short="The release is α-private for d_EM",
        ),
    )
