"""PLAN.json: strict, and one sentence that names field and remedy where it is not."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from explorer.release.errors import ReleaseError
from explorer.release.mechanisms import MECHANISMS as KNOWN
from explorer.release.plan import build_plan, read_plan
from tests.release.plans import MECHANISMS, content, write_plan

POPULATION = "fedcba9876543210fedcba9876543210"
MALFORMED = int(os.environ.get("PRIVACY_EXPLORER_MALFORMED", "400"))
"""Plans that are damaged at random; the specification's 10,000 by this variable."""


def test_every_mechanism_is_planned(tmp_path: Path) -> None:
    assert set(MECHANISMS) == set(KNOWN)
    for name in MECHANISMS:
        path = write_plan(tmp_path, content(POPULATION, mechanism=name, epsilon="1/3"))
        plan = read_plan(path)
        assert plan.data == tmp_path / "rows.csv"
        assert plan.epsilon == Fraction(1, 3)
        # what ledger and certificate hold is the same plan again
        parameters = plan.parameters()
        again = build_plan(POPULATION, plan.data, name, parameters, plan.epsilon, plan.declared)
        assert again == plan


def _set(*path: str, to: object) -> Callable[[dict[str, Any]], None]:
    def change(said: dict[str, Any]) -> None:
        at = said
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = to

    return change


def _without(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(said: dict[str, Any]) -> None:
        at = said
        for name in path[:-1]:
            at = at[name]
        del at[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_set("schema", to="privacy-explorer/plan/2"), "schema: 'privacy-explorer/plan/2' is not"),
        (_set("seed", to=1), "seed: is not known; leave it out; plan has schema, population"),
        (_without("data"), "data: is missing; add it"),
        (_set("data", to=""), "data: '' is not a path; give the path of the file"),
        (_set("data", to="a\0b"), "data: has characters that can't be printed"),
        (
            _set("population", to="x"),
            "population: 'x' is not the id of a population; give its 32 digits",
        ),
        (
            _set("mechanism", to=[]),
            "mechanism: is not an object; give one with id, parameters, eps",
        ),
        (_set("mechanism", "noise", to=0), "mechanism.noise: is not known; leave it out"),
        (_set("mechanism", "id", to="laplace/1"), "mechanism.id: 'laplace/1' is not known here"),
        (_set("mechanism", "epsilon", to=1), "mechanism.epsilon: 1 is not a fraction p/q"),
        (
            _set("mechanism", "epsilon", to="-1/2"),
            "mechanism.epsilon: '-1/2' is not a fraction p/q",
        ),
        (_set("mechanism", "epsilon", to="2/4"), "mechanism.epsilon: '2/4' is not reduced"),
        (_set("mechanism", "epsilon", to="half"), "mechanism.epsilon: 'half' is not a fraction"),
        (_set("mechanism", "epsilon", to="1/0"), "mechanism.epsilon: '1/0' is not a fraction"),
        (_set("mechanism", "epsilon", to="0/1"), "mechanism.epsilon: is 0; give more"),
        (_set("mechanism", "epsilon", to="1/" + "9" * 999), "mechanism.epsilon: '1/999"),
        (_set("mechanism", "epsilon", to="1/" + "9" * 300), "mechanism.epsilon: "),
        (_set("mechanism", "parameters", "box", to=["1"]), "mechanism.parameters.box: "),
        (_set("mechanism", "parameters", "rows", to=9), "mechanism.parameters.rows: "),
        (_set("mechanism", "parameters", "header", to=True), "mechanism.parameters.header: True"),
        (_set("mechanism", "parameters", "start", to=None), "mechanism.parameters.start: None is"),
        (_set("mechanism", "parameters", "x", to=1 << 62), "mechanism.parameters.x: is too large"),
        (_set("mechanism", "parameters", "x", to={"a": 1}), "mechanism.parameters.x: {'a': 1} i"),
        (
            _set("mechanism", "parameters", "columns", to=["user", "lat", "lon"]),
            "mechanism.parameters.columns: has no 'time', which count.users/1 reads",
        ),
        (
            _without("mechanism", "parameters", "delimiter"),
            "mechanism.parameters.delimiter: is missing; declare it",
        ),
        (_without("declared", "title"), "declared.title: is missing; add it"),
        (_set("declared", "title", to="x" * 4001), "declared.title: is longer than 4000"),
        (_set("declared", "title", to="\x07"), "declared.title: has characters that can't be"),
        (_set("declared", "independent_of_data", to="yes"), "declared.independent_of_data: is n"),
        (
            _set("declared", "conditions", to="none"),
            "declared.conditions: is not a list of at most",
        ),
        (_set("declared", "conditions", to=[1]), "declared.conditions[0]: is not a text"),
    ],
)
def test_what_is_wrong_is_named_with_its_remedy(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    said = content(POPULATION)
    change(said)
    with pytest.raises(ReleaseError) as caught:
        read_plan(write_plan(tmp_path, said))
    told = str(caught.value)
    assert told.startswith(f"PLAN.json: {sentence}")
    assert "\n" not in told
    assert "; " in told


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"schema": "a", "schema": "b"}', "'schema' is given twice"),
        ('{"schema": 1.5}', "'1.5' is a decimal number"),
        ('{"schema": NaN}', "'NaN' is a decimal number"),
        ("[" * 100_000, "nested"),
        ('{"schema": ' + "9" * 5000 + "}", "it holds a number of too many digits"),
        ("{'schema': 1}", "it is not valid JSON; correct line 1, column 2"),
        ("", "it is not valid JSON; correct line 1, column 1"),
        ("[]", "plan: is not an object; give one with schema, population, data"),
    ],
)
def test_json_is_read_strictly(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "PLAN.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError) as caught:
        read_plan(path)
    assert str(caught.value).startswith("PLAN.json: ")
    assert sentence in str(caught.value)
    path.write_bytes(b'{"schema": "\xff"}')
    with pytest.raises(ReleaseError, match=r"^PLAN\.json: .*UTF-8"):
        read_plan(path)


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"^none\.json: .*; give the path"):
        read_plan(tmp_path / "none.json")


def _damaged(draw: random.Random, said: dict[str, Any]) -> bytes:
    """Return a plan's text with one thing wrong with it, or a few."""
    kind = draw.randrange(6)
    text = json.dumps(said)
    if kind == 0:
        return text.encode()[: draw.randrange(len(text))]
    if kind == 1:
        at = draw.randrange(len(text))
        return text.encode()[:at] + draw.randbytes(draw.randint(1, 3)) + text.encode()[at + 1 :]
    if kind == 2:
        at = text.index('"', draw.randrange(len(text) - 300))
        return (text[:at] + '"title": "a", "title": "b", ' + text[at:]).encode()
    odd = draw.choice(
        [
            0.5,
            -1,
            None,
            True,
            "",
            "0/0",
            "1/0",
            "-1/2",
            "1e9",
            "9" * 500 + "/7",
            10**400,
            [],
            {},
            [[]],
            "nan",
            "\ud800",
            "\x00",
            {"a": {"b": []}},
            ["user"] * 3,
            "x" * 10_000,
        ]
    )
    at: Any = said
    while True:
        name = draw.choice(list(at)) if isinstance(at, dict) else draw.randrange(len(at))
        deeper = at[name]
        if kind == 3 or not isinstance(deeper, dict | list) or not deeper or draw.random() < 0.3:
            break
        at = deeper
    if kind == 4 and isinstance(at, dict):
        at[draw.choice(["seed", "noise", "Epsilon", "", "schema "])] = odd
    elif draw.random() < 0.3:
        del at[name]
    else:
        at[name] = odd
    return json.dumps(said).encode()


def test_malformed_plans_get_one_sentence_and_no_release(tmp_path: Path) -> None:
    draw, names = random.Random(3), list(MECHANISMS)
    path, refused = tmp_path / "PLAN.json", 0
    for _ in range(MALFORMED):
        path.write_bytes(_damaged(draw, content(POPULATION, mechanism=draw.choice(names))))
        try:
            read_plan(path)
        except ReleaseError as error:
            told = str(error)
            assert told.startswith("PLAN.json: ")
            assert "\n" not in told
            assert len(told) < 1500, told
            refused += 1
    assert refused > MALFORMED * 0.8  # a few are another plan, and as good
