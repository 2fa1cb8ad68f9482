"""Every mechanism's own code, from rows to stored output, on neighbours: the ratio is ≤ e^ε.

What the code adds to its whole numbers is not drawn here but chosen: the sampler that it calls is
replaced by one that returns things which, added to a count s, make a chosen noisy number Y and
note s. As the sampler's law is exact (tests of `base.exact`), the log-ratio of a transcript is
Σ (|Y − s'| − |Y − s|)/scale, with the scale that the code asked for. A term is constant outside
[s, s'], so that few Y reach every value it has; where a Y decides on what is read next, all
combinations of several are enumerated, elsewhere the worst is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from explorer.privacy.releases import selection
from explorer.privacy.releases.selection import permute_and_flip_law
from explorer.release.mechanisms import MECHANISMS, adaptive, base, contributions, select
from explorer.release.mechanisms.base import UserRecords
from tests.release.made_people import BOX, people_of, some_users

Decides = Callable[[int], bool]
"""Whether what is read next may depend on the numbers of the sampler's k-th call."""


@dataclass
class Scripted:
    """A sampler of chosen noisy numbers.

    Attributes
    ----------
    script : iterator of int
        Noisy numbers of calls that decide, in order.
    decides : callable
    calls : list of (scale, counts, noisy numbers)
    """

    script: Iterator[int]
    decides: Decides
    calls: list[tuple[Fraction, list[int], list[int | None]]] = field(default_factory=list)

    def __call__(self, scale: Fraction, size: int, bits: Any) -> np.ndarray:
        decides = self.decides(len(self.calls))
        counts: list[int] = []
        chosen = [next(self.script) if decides else None for _ in range(size)]
        self.calls.append((scale, counts, chosen))

        class Noise:
            def __init__(self, value: int | None) -> None:
                self.value = value

            def __radd__(self, count: int) -> int:
                counts.append(count)
                return 0 if self.value is None else self.value

        found = np.empty(size, object)
        found[:] = [Noise(value) for value in chosen]
        return found


def run(
    name: str,
    records: UserRecords,
    p: Any,
    epsilon: Fraction,
    script: Iterator[int],
    decides: Decides,
) -> tuple[Any, Scripted]:
    sampler = Scripted(script, decides)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "discrete_laplace", sampler)
        patch.setattr(adaptive, "discrete_laplace", sampler)
        output = MECHANISMS[name].draw(records, p, epsilon, no_bytes)
    return output.stored, sampler


def no_bytes(count: int) -> bytes:
    raise AssertionError("a byte was asked for")


def scripts(windows: list[int], reads: Callable[[Iterator[int]], int]) -> Iterator[list[int]]:
    """Every sequence of chosen numbers, as long as each run asks for."""
    path: list[int] = []
    while True:

        def following() -> Iterator[int]:
            k = 0
            while True:
                if k == len(path):
                    path.append(0)
                yield windows[path[k]]
                k += 1

        used = reads(following())
        del path[used:]
        yield [windows[k] for k in path]
        while path and path[-1] + 1 == len(windows):
            path.pop()
        if not path:
            return
        path[-1] += 1


def largest_loss(
    name: str,
    one: UserRecords,
    other: UserRecords,
    p: Any,
    epsilon: Fraction,
    windows: list[int],
    decides: Decides,
) -> Fraction | float:
    """The largest |log-ratio| of all transcripts of two peoples."""
    worst: Fraction | float = Fraction(0)
    last: list[Any] = []

    def reads(script: Iterator[int]) -> int:
        last[:] = run(name, one, p, epsilon, script, decides)
        return sum(len(c) for k, (_, c, _) in enumerate(last[1].calls) if decides(k))

    for script in scripts(windows, reads):
        stored, here = last
        again, there = run(name, other, p, epsilon, iter(script), decides)
        if stored != again:
            return math.inf
        loss = sure = Fraction(0)
        for (scale, counts, chosen), (wide, others, _) in zip(here.calls, there.calls, strict=True):
            if (scale, len(counts)) != (wide, len(others)):
                return math.inf
            for s, t, y in zip(counts, others, chosen, strict=True):
                if y is None:
                    sure += Fraction(abs(s - t)) / scale
                else:
                    loss += Fraction(abs(y - t) - abs(y - s)) / scale
        worst = max(worst, abs(loss + sure), abs(loss - sure))
    return worst


def nothing(call: int) -> bool:
    return False


LAPLACE: list[tuple[str, dict[str, Any], list[int], Decides]] = [
    ("count.users/1", {}, [], nothing),
    ("counts.cells/1", {"side": 2}, [], nothing),
    ("counts.cells/1", {"side": 4}, [], nothing),
    ("histogram/1", {"value_column": "text", "values": ["1", "2"], "units": 3}, [], nothing),
    (
        "histogram/1",
        {"value_column": "number", "edges": ["0", "1.5", "3"], "units": 2},
        [],
        nothing,
    ),
    ("mean/1", {"value_columns": ["number"], "low": ["1"], "high": ["3"], "units": 5}, [], nothing),
    (
        "mean/1",
        {"value_columns": ["number", "text"], "low": ["0", "1"], "high": ["3", "2"], "units": 2},
        [],
        nothing,
    ),
    (
        "heatmap.pyramid/1",
        {"side": 4, "start_level": 0, "assumed_users": 64, "units": 3},
        [],
        nothing,
    ),
    (
        "heatmap.pyramid/1",
        {"side": 4, "start_level": 1, "assumed_users": 64, "units": 2},
        [],
        nothing,
    ),
    # One cell is kept a level: of the four below the start any may be.
    ("heatmap.paper/1", {"side": 4, "kept": 1, "units": 2}, [-9, 1, 9], lambda call: call == 1),
    ("heatmap.paper/1", {"side": 4, "kept": 4, "units": 3}, [], nothing),
    (
        "heatmap.adaptive/1",
        {"side": 2, "start_level": 0, "units": 2},
        [-99, 0, 1, 2, 4, 99],
        lambda call: call == 0,
    ),
    (
        "heatmap.adaptive/1",
        {"side": 4, "start_level": 1, "units": 2},
        [-99, 0, 3, 99],
        lambda call: call == 0,
    ),
    (
        "heatmap.adaptive/2",
        {"side": 2, "start_level": 0, "units": 2, "priors": ["cities:0.1.0"]},
        [-99, 0, 1, 2, 4, 99],
        lambda call: call == 0,
    ),
    # The root, then its quarters where it is split.
    (
        "heatmap.adaptive/1",
        {"side": 4, "start_level": 0, "units": 1},
        [-99, 1, 99],
        lambda call: call in (0, 2),
    ),
]


@pytest.mark.full
@pytest.mark.parametrize(("name", "more", "windows", "decides"), LAPLACE)
def test_laplace_mechanisms_of_up_to_three_users(name, more, windows, decides):
    mechanism = MECHANISMS[name]
    p = mechanism.parse({"box": BOX} | more)
    rng = np.random.default_rng(5)
    epsilon = Fraction(4, 3)
    spent = sum(part.epsilon for part in mechanism.parts(p, epsilon))
    assert spent <= mechanism.price(p, epsilon) == epsilon
    largest: list[Fraction | float] = []
    alone = [[(0, 0, "3"), (0, 0, "3")]]
    sizes = (1, 2, 3, 3, 3) if decides is nothing else (3,)
    for users in [alone, *(some_users(rng, n, ["1", "2", "3", "x"]) for n in sizes)]:
        for left_out in range(len(users)):
            fewer = users[:left_out] + users[left_out + 1 :]
            found = largest_loss(
                name, people_of(users), people_of(fewer), p, epsilon, windows, decides
            )
            assert found <= spent, (users, left_out)
            largest.append(found)
    # One user with all rows in one place attains it, whoever else is there: for the mean if the
    # place is a bound. The check is not slack.
    if name != "mean/1" or len(p.columns) == 1:
        assert max(largest) == spent


@pytest.mark.parametrize("name", ["heatmap.pyramid/1", "heatmap.adaptive/1", "counts.cells/1"])
def test_one_user_for_another_costs_twice(name):
    mechanism = MECHANISMS[name]
    more = {"side": 2} | ({} if name == "counts.cells/1" else {"start_level": 1, "units": 3})
    more |= {"assumed_users": 64} if "pyramid" in name else {}
    p = mechanism.parse({"box": BOX} | more)
    here, there = people_of([[(0, 0, "")]]), people_of([[(7, 7, "")]])
    found = largest_loss(name, here, there, p, Fraction(1), [], nothing)
    assert found == 2 * sum(part.epsilon for part in mechanism.parts(p, Fraction(1)))


def mutant(patch: pytest.MonkeyPatch, kind: str) -> None:
    """Break the code on the way from rows to noise."""
    if kind == "noise of scale 1/ε":
        real = base.noisy
        for module in ("counts", "histogram", "levels", "mean"):
            patch.setattr(
                f"explorer.release.mechanisms.{module}.noisy",
                lambda counts, B, eps, bits: real(counts, 1, eps, bits),
            )
    if kind == "rows, not users":
        patch.setattr(
            contributions,
            "integer_counts",
            lambda user, cell, visits, level, B: integer_counts(
                np.arange(len(cell)), cell, visits, level, B
            ),
        )


integer_counts = contributions.integer_counts


@pytest.mark.parametrize("kind", ["noise of scale 1/ε", "rows, not users"])
def test_mutants_are_caught(kind, monkeypatch):
    mutant(monkeypatch, kind)
    users = [[(0, 0, "1"), (7, 7, "1")], [(2, 2, "2")]]
    more = {"start_level": 1, "assumed_users": 64, "side": 4, "units": 2}
    p = MECHANISMS["heatmap.pyramid/1"].parse({"box": BOX} | more)
    found = largest_loss(
        "heatmap.pyramid/1", people_of(users), people_of(users[1:]), p, Fraction(1), [], nothing
    )
    assert found > 1.5


@pytest.mark.full
@pytest.mark.parametrize(("grid", "chosen"), [([1, 2], 1), ([2, 2], 1), ([2, 2], 2), ([4, 1], 3)])
def test_selection_of_up_to_three_users(grid, chosen, monkeypatch):
    mechanism = MECHANISMS["select.region/1"]
    p = mechanism.parse({"box": BOX, "grid": grid, "chosen": chosen})
    rng = np.random.default_rng(6)
    epsilon = Fraction(2)
    worst = 0.0

    def law(records: UserRecords) -> dict[tuple[int, ...], float]:
        """The probability of every output, of the scores and ε that the code asks for."""
        found: dict[tuple[int, ...], float] = {}
        size = grid[0] * grid[1]
        for picks in product(range(size), repeat=chosen):
            chance, k = 1.0, 0

            def pick(scores, eps, bits, picks=picks):
                nonlocal chance, k
                at = min(picks[k], len(scores) - 1)
                chance *= permute_and_flip_law(scores.tolist(), eps)[at]
                k += 1
                return at

            monkeypatch.setattr(select, "permute_and_flip", pick)
            stored = mechanism.draw(records, p, epsilon, no_bytes).stored
            found[tuple(stored["regions"])] = chance
        assert sum(found.values()) == pytest.approx(1, abs=1e-12)
        return found

    for users in [some_users(rng, n, ["x"]) for n in (1, 2, 3, 3)]:
        for left_out in range(len(users)):
            here = law(people_of(users))
            there = law(people_of(users[:left_out] + users[left_out + 1 :]))
            assert here.keys() == there.keys()
            worst = max(worst, *(abs(math.log(here[k] / there[k])) for k in here))
    assert 0.3 < worst <= float(mechanism.price(p, epsilon)) + 1e-9


@pytest.mark.parametrize("scores", [[3], [0, 0], [2, 1, 0], [7, 7, 2, 0, 6]])
def test_permute_and_flip_enumerated(scores, monkeypatch):
    """All acceptances, with the chances that the code asks for, and all orders."""
    epsilon = Fraction(2, 5)
    law = np.zeros(len(scores))
    gaps = max(scores) - np.array(scores)
    for accepted in product((False, True), repeat=len(scores)):
        if not all(yes for yes, gap in zip(accepted, gaps, strict=True) if gap == 0):
            continue
        chance = 1.0

        def scripted(numerators, denominator, bits, accepted=accepted):
            nonlocal chance
            accept = np.exp(-numerators.astype(float) / denominator)
            chance = float(np.prod(np.where(accepted, accept, 1 - accept)))
            return np.array(accepted)

        class Order:
            def __init__(self, first: int) -> None:
                self.first = first

            def words(self, count: int) -> np.ndarray:
                return np.where(np.arange(count) == self.first, 0, 1 + np.arange(count))

        monkeypatch.setattr(selection, "bernoulli_exp", scripted)
        many = sum(accepted)
        for first in range(many):
            found = selection.permute_and_flip(np.array(scores), epsilon, Order(first))
            law[found] += chance / many
    assert law == pytest.approx(permute_and_flip_law(scores, epsilon), abs=1e-12)
