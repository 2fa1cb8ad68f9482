"""Every golden vector of a function that has an adapter passes; and the checker can fail."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from explorer.privacy.core.bound import Role
from tests import vectors

FOLDER = Path(__file__).parent / "data" / "vectors"


def _by_function() -> list[object]:
    groups: dict[tuple[str, str], list[vectors.Vector]] = defaultdict(list)
    for path in sorted(FOLDER.glob("*.json")):
        for vector in vectors.read(path):
            if vector["function"] in vectors.adapters():
                groups[path.stem, vector["function"]].append(vector)
    return [pytest.param(group, id="-".join(key)) for key, group in groups.items()]


@pytest.mark.full
@pytest.mark.parametrize("group", _by_function())
def test_golden_vectors(group):
    failures = [
        f"{vector['arguments']}: {problems}"
        for vector in group
        if (problems := vectors.check(vector, vectors.adapters()))
    ]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (1.1, 1.0),
        (math.nan, 1.0),
        (math.inf, 1.0),
        (1.0, "inf"),
        (1.0, None),
        (3, 2),
        (1, True),
        ("a", "b"),
        ([1.0], [1.0, 2.0]),
        ({"a": 1.0}, {"b": 1.0}),
        ({"a": [0.0, 1.0]}, {"a": [0.0, 2.0]}),
        (vectors.Argmin(3, lambda x: float(x)), 2),
        (vectors.Certified(0.999, Role.UPPER), 1.0),
        (vectors.Certified(1.001, Role.LOWER), {"value": 1.0}),
        (vectors.Certified(1.011, Role.UPPER), 1.0),
        (vectors.Certified(math.nan, Role.LOWER), 1.0),
    ],
)
def test_differences_are_seen(got, expected):
    assert list(vectors.mismatches(got, expected, 1e-9, 0.0))


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (1.0 + 1e-12, 1.0),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, None),
        (None, None),
        (np.bool_(True), True),
        (np.int64(3), 3),
        (np.array([[1.0, 2.0]]), [[1.0, 2.0]]),
        ({"value": 1.0, "more": 2}, {"value": 1.0}),
        ({"value": 1.0}, 1.0),
        (1.0, {"value": 1.0}),
        (vectors.Argmin(3, lambda x: 7.0), 2),
        (vectors.Certified(1.009, Role.UPPER), 1.0),
        (vectors.Certified(0.991, Role.LOWER), {"value": 1.0}),
    ],
)
def test_agreement_is_seen(got, expected):
    assert not list(vectors.mismatches(got, expected, 1e-9, 0.0))


def test_unknown_functions_and_errors_are_counted():
    def broken(x):
        raise RuntimeError("no")

    tallies = vectors.run(
        [
            {"function": "f", "arguments": {"x": 1}, "expected": 1, "rtol": 0, "atol": 0},
            {"function": "g", "arguments": {"x": 1}, "expected": 1, "rtol": 0, "atol": 0},
            {"function": "h", "arguments": {"x": 1}, "expected": 1, "rtol": 0, "atol": 0},
        ],
        {"f": lambda x: x, "g": broken},
    )
    assert tallies["f"].passed == 1
    assert "RuntimeError" in tallies["g"].failures[0]
    assert tallies["h"].unknown == 1


def test_only_functions_without_an_adapter_are_forgiven(tmp_path, capsys):
    known = {
        "function": "subsample_eps",
        "arguments": {"eps": 0.0, "gamma": 0.5},
        "rtol": 0.0,
        "atol": 0.0,
    }
    nobody = {"function": "nobody_knows", "arguments": {}, "expected": 1, "rtol": 0.0, "atol": 0.0}
    for expected, more, status in (
        (0.0, [], 0),
        (0.0, [nobody], 0),
        (1.0, [], 1),
        (1.0, [nobody], 1),
    ):
        file = tmp_path / "some.json"
        file.write_text(json.dumps({"vectors": [known | {"expected": expected}, *more]}))
        assert vectors.main([str(file), "--known-only"]) == status
        said = capsys.readouterr().out
        assert ("nobody_knows" in said) == bool(more)
        assert f"{len(more)} without an adapter" in said
        assert vectors.main([str(file)]) == (1 if more else status)
        capsys.readouterr()


def test_a_linear_release_is_the_mean_of_the_rows_and_noise() -> None:
    found = vectors.adapters()["linear_release"](
        values=[[1.0, 2.0], [3.0, 4.0]], lip=2.0, alpha=4.0, n=5, gamma=3.0, direction=[1.0, 0.0]
    )
    assert found == pytest.approx([2.0 + 2.0 / (4.0 * 5) * 3.0, 3.0])


def test_no_lower_bound_of_an_audit_is_below_0() -> None:
    for hits in ((0, 100), (40, 60), (50, 50)):
        found = vectors.adapters()["audit_epsilon_lower"](*hits, 100, "1/100")
        assert found["eps_lower"] == 0.0


@pytest.mark.parametrize("function", ["adaptive_tree", "adaptive_tree_exact"])
def test_levels_of_a_tree_are_those_of_its_map(function: str) -> None:
    path = FOLDER / "heatmaps-beyond.json"
    whole = (
        v["arguments"]
        for v in vectors.read(path)
        if v["function"] == function and v["arguments"]["last"] == v["arguments"]["level"]
    )
    asked = next(whole)
    adapter = vectors.adapters()[function]
    deeper = adapter(**{**asked, "last": asked["level"] + 3})
    np.testing.assert_array_equal(deeper["map"], adapter(**asked)["map"])
