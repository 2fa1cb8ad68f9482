"""No float between a user's rows and the stored output: whole numbers that refuse to become one.

Counts are traced from where users are mixed on: what is made of a traced number is traced, adding
noise to it makes it a plain one, and any attempt to make it a float, or to divide it so that it
becomes one, fails.
"""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pytest

from explorer.privacy.heatmaps import integers
from explorer.privacy.noise.exact import bernoulli_exp, discrete_laplace
from explorer.privacy.releases import budgets, means, selection
from explorer.release.mechanisms import MECHANISMS, adaptive, base, contributions, fields, select
from tests.release.made_people import BOX, people_of, some_users


class Traced(int):
    """A whole number that is about users."""

    def refuse(self, *others: object) -> NoReturn:
        raise AssertionError("a number about users became a float")

    __float__ = __truediv__ = __rtruediv__ = __complex__ = __round__ = refuse


class Noise(int):
    """A draw: added to a traced number it makes a plain one."""


noised = 0


def _traced(name: str) -> Any:
    plain = getattr(int, name)

    def method(self: Traced, *others: Any) -> Any:
        global noised
        found = plain(self, *others)
        if others and isinstance(others[0], Noise):
            noised += 1
            return found
        return Traced(found) if type(found) is int else found

    return method


for operation in (
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "neg",
    "pos",
    "abs",
    "lshift",
    "rshift",
    "or",
    "and",
):
    setattr(Traced, f"__{operation}__", _traced(f"__{operation}__"))


def traced(values: Any) -> np.ndarray:
    """The same whole numbers, traced."""
    assert np.asarray(values).dtype.kind in "iO"
    found = np.empty(len(values), object)
    found[:] = [Traced(value) for value in np.asarray(values).tolist()]
    return found


def drawn(scale: Fraction, size: int, bits: Any) -> np.ndarray:
    found = np.empty(size, object)
    found[:] = [Noise(value) for value in discrete_laplace(scale, size, bits).tolist()]
    return found


def trace(patch: pytest.MonkeyPatch) -> None:
    """Have all that mixes users, and what follows, work on traced numbers."""
    floors, summed, value = (
        integers._floors,
        contributions.sum_by_index,
        contributions.centred_value,
    )
    patch.setattr(integers, "_floors", lambda *given: traced(floors(*given)))
    patch.setattr(
        contributions, "sum_by_index", lambda at, v, size: traced(summed(at, traced(v), size))
    )
    patch.setattr(contributions, "centred_value", lambda *given: Traced(value(*given)))
    patch.setattr(contributions, "_pack", traced)
    patch.setattr(base, "discrete_laplace", drawn)
    patch.setattr(adaptive, "discrete_laplace", drawn)


PARAMETERS: dict[str, dict[str, Any]] = {
    "heatmap.adaptive/1": {"box": BOX, "side": 8},
    "heatmap.adaptive/2": {"box": BOX, "side": 8},
    "heatmap.paper/1": {"box": BOX, "side": 8, "kept": 4},
    "heatmap.pyramid/1": {"box": BOX, "side": 8, "assumed_users": 100},
    "counts.cells/1": {"box": BOX, "side": 8},
    "count.users/1": {"box": BOX},
    "select.region/1": {"box": BOX, "grid": [3, 2], "chosen": 2},
    "histogram/1": {"value_column": "text", "values": ["1", "2"]},
    "mean/1": {"value_columns": ["number"], "low": ["0"], "high": ["3"]},
}


def test_all_are_traced():
    assert PARAMETERS.keys() == MECHANISMS.keys()


@pytest.mark.parametrize("name", PARAMETERS)
def test_counts_never_become_floats(name, monkeypatch):
    global noised
    trace(monkeypatch)
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    records = people_of(some_users(np.random.default_rng(3), 40, ["1", "2.5", "x"]))
    scores: list[Any] = []

    def flips(numerators, denominator, bits):
        scores.extend(numerators.tolist())
        return bernoulli_exp(numerators, denominator, bits)

    monkeypatch.setattr(selection, "bernoulli_exp", flips)
    noised = 0
    stored = mechanism.draw(records, p, Fraction(1), os.urandom).stored
    numbers: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                walk(inner)
        else:
            numbers.append(value)

    walk(stored)
    assert {type(number) for number in numbers} == {int}
    if name == "select.region/1":
        assert scores
        assert all(type(score) is Traced for score in scores)
    else:
        assert noised > 0


def test_a_float_would_be_seen(monkeypatch):
    trace(monkeypatch)
    monkeypatch.setattr(
        "explorer.release.mechanisms.counts.noisy",
        lambda counts, B, eps, bits: (counts.astype(float) + 1).tolist(),
    )
    mechanism = MECHANISMS["count.users/1"]
    records = people_of([[(0, 0, "")]])
    with pytest.raises(AssertionError, match="became a float"):
        mechanism.draw(records, mechanism.parse({"box": BOX}), Fraction(1), os.urandom)


def _written_floats(tree: ast.AST) -> list[str]:
    """What makes, or names, a float in code; annotations are not looked at."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            found.append(f"{node.lineno}: {node.value}")
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if "float" in name.lower() or name in ("mean", "average", "true_divide"):
                found.append(f"{node.lineno}: {name}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            found.append(f"{node.lineno}: /")
    return found


@pytest.mark.parametrize("module", [contributions, fields, budgets])
def test_no_float_is_written_before_noise(module):
    # `brief` names the type in an error message
    source = inspect.getsource(module).replace(inspect.getsource(fields.brief), "")
    found = _written_floats(ast.parse(source))
    # Divisions of fractions by fractions.
    allowed = {"fields": 1, "budgets": 8}.get(module.__name__.rpartition(".")[2], 0)
    assert len(found) <= allowed, found
    assert all(one.endswith("/") for one in found), found


@pytest.mark.parametrize(
    "function",
    [
        means.read_decimal,
        means.centred_value,
        base.noisy,
        selection.permute_and_flip,
        select.RegionSelection.draw,
        integers._floors,
        integers._merge,
        integers.floors_by_user,
        integers.integer_counts,
        integers.IntegerCounts.at,
    ],
)
def test_no_float_is_written_in_functions_of_counts(function):
    found = _written_floats(ast.parse(textwrap.dedent(inspect.getsource(function))))
    # The scale of noise is a fraction.
    assert [one[-1] for one in found] == (["/"] if function is base.noisy else []), found
