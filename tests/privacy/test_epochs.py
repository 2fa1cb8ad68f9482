"""Each client once an epoch: enumerated small cases, and what is composed."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.shuffle_rdp import Allocation
from explorer.privacy.shuffling import shuffled_delta

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "shuffle-beyond.json"


def epoch_law(rows, inputs, k):
    """Law of what the rounds of one epoch show: each a multiset of k messages, in order."""
    n, law = len(inputs), {}
    orders = list(itertools.permutations(range(n)))
    for messages in itertools.product(range(rows.shape[1]), repeat=n):
        mass = math.prod(rows[x, y] for x, y in zip(inputs, messages, strict=True))
        for order in orders:
            seen = tuple(
                tuple(sorted(messages[i] for i in order[start : start + k]))
                for start in range(0, n, k)
            )
            law[seen] = law.get(seen, 0.0) + mass / len(orders)
    return law


def hockey_stick(one, other, eps):
    keys = one.keys() | other.keys()
    return sum(max(one.get(y, 0.0) - math.exp(eps) * other.get(y, 0.0), 0.0) for y in keys)


def three_symbols(eps0):
    e = math.exp(eps0)
    return (np.ones((3, 3)) + (e - 1) * np.eye(3)) / (e + 2)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 2), (5, 1), (5, 3)])
def test_an_epoch_of_one_randomiser_is_one_shuffle(n, k):
    rows = three_symbols(2.0)
    own, changed = (0, *[2] * (n - 1)), (1, *[2] * (n - 1))
    split, whole = ([epoch_law(rows, inputs, size) for inputs in (own, changed)] for size in (k, n))
    for eps in (0.0, 0.1, 0.7):
        delta = hockey_stick(*split, eps)
        assert delta == pytest.approx(hockey_stick(*whole, eps), rel=1e-10)
        assert delta <= shuffled_delta(eps, 2.0, n, "2023") * (1 + 1e-10)


def test_the_golden_epoch():
    (vector,) = (
        v
        for v in json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]
        if v["function"] == "epoch_allocation_rr3_delta"
    )
    given = vector["arguments"]
    n, rows = given["n"], three_symbols(given["eps0"])
    own, changed = (0, *[2] * (n - 1)), (1, *[2] * (n - 1))
    laws = (epoch_law(rows, inputs, given["k"]) for inputs in (own, changed))
    found = hockey_stick(*laws, given["eps"])
    assert found == pytest.approx(vector["expected"]["value"], rel=vector["rtol"])


def test_rounds_that_adapt_stay_below_the_unsampled_clones():
    """n = 2, k = 1: what the first round shows chooses the randomiser of the second."""
    eps0, eps = 1.5, 0.4
    e = math.exp(eps0)
    two = np.array([[e, 1.0], [1.0, e]]) / (e + 1)

    def law(inputs):
        out = {}
        for first, second in ((0, 1), (1, 0)):
            for a, b in itertools.product(range(2), repeat=2):
                later = two if a == 0 else two[:, ::-1]
                mass = 0.5 * two[inputs[first], a] * later[inputs[second], b]
                out[a, b] = out.get((a, b), 0.0) + mass
        return out

    found = max(
        hockey_stick(law((x, other)), law((1 - x, other)), eps) for x in (0, 1) for other in (0, 1)
    )
    assert 0 < found <= shuffled_delta(eps, eps0, 1) * (1 + 1e-12)


def test_epochs_are_counted_to_the_safe_side():
    assert rdp.rounds_an_epoch(3, 10) == 3
    assert rdp.epochs_begun(7, 3, 10) == 3
    assert rdp.epochs_begun(6, 3, 10) == 2
    assert rdp.epochs_begun(1, 10, 10) == 1
    assert rdp.epochs_begun(np.array([1000, 1001]), 1000, 10**6).tolist() == [1, 2]


@pytest.mark.parametrize("variant", ["2021", "2023"])
def test_what_is_composed(variant):
    one, delta = {}, 1e-6
    for how, crowd in ((Allocation.FIXED, 10_000), (Allocation.ADAPTIVE, 500)):
        once = rdp.allocation_epsilon(1.5, 500, 10_000, 20, delta, how, variant)
        alone = rdp.clone_epsilon(1.5, crowd, crowd, 1, delta, variant)
        assert once.value == alone.value
        one[how] = float(once.value)
        twice = rdp.allocation_epsilon(1.5, 500, 10_000, 21, delta, how, variant)
        assert float(twice.value) > one[how]
    assert one[Allocation.FIXED] < one[Allocation.ADAPTIVE]
    # Sampled afresh, twenty rounds promise more than a split that adapts, here.
    fresh = float(rdp.clone_epsilon(1.5, 500, 10_000, 20, delta, variant).value)
    assert fresh < one[Allocation.ADAPTIVE]
