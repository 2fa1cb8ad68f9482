"""``bounds --solve`` as a user types it."""

from __future__ import annotations

import json

import pytest

from explorer.cli import run
from explorer.privacy import upper_epsilon
from explorer.studies.base.study import default_request
from explorer.studies.registry import get_study
from tests import snapshots

QUESTION = ("bounds", "shuffle-rdp", "--set", "T=1000", "--for", "theorem1")
SIMPLE = ("bounds", "choose-alpha", "--solve", "eps1")


@pytest.mark.full
def test_the_value_alone_is_printed_and_gives_the_target(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*QUESTION, "--solve", "eps0", "--target", "1"]) == 0
    printed = capsys.readouterr()
    value = float(printed.out)
    assert printed.err.startswith("ε₀ = ")
    assert printed.err.strip().endswith("(Theorem 1 (upper bound)), where it jumps over 1")
    asked = default_request(get_study("shuffle-rdp"))
    k, n, delta, most = (asked[key] for key in ("k", "n", "delta", "lam_max"))
    # The theorem counts whole messages: its bound has steps.
    assert 0.98 < upper_epsilon(value, k, n, 1000, delta, most, capped=True).epsilon <= 1


@pytest.mark.full
def test_json_says_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUESTION, "--solve", "T", "--target", "1.5", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["possible"] is True
    assert isinstance(printed["value"], int)
    assert printed["reached"] <= 1.5
    assert printed["parameter"] == "T"
    assert "T" not in printed["values"]
    assert printed["role"] == "upper bound"


@pytest.mark.full
def test_an_impossible_target_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUESTION, "--solve", "eps0", "--target", "-1", "--json"]) == 1
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert printed["value"] is None
    assert printed["nearest"] > 0
    assert captured.err.startswith("Impossible: ε = −1 is not reached for ε₀ from ")


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--solve", "eps0"), 2, "go together"),
        (("--json",), 2, "go together"),
        (("--solve", "clones", "--target", "1"), 1, "can't be solved for"),
        (("--solve", "gamma", "--target", "1"), 1, "can't be solved for"),
        (("--solve", "eps0", "--target", "nan"), 1, "not a finite number"),
        ((*SIMPLE, "--target", "1", "--for", "moon"), 1, "no curve is called 'moon'"),
    ],
)
def test_half_a_question_is_refused(capsys, words, code, why) -> None:
    assert run([*(() if words[0] == "bounds" else QUESTION), *words]) == code
    assert why in capsys.readouterr().err


def test_a_curve_that_names_the_parameter_is_named_as_it_is_at_the_solution(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["bounds", "choose-alpha", "--solve", "eps1", "--for", "requirement_1"]
    assert run([*words, "--target", "0.5"]) == 0
    printed = capsys.readouterr()
    assert float(printed.out) == pytest.approx(0.1)
    snapshots.check(printed.err)
    assert "(ε = 0.1," in printed.err
    assert "requirement 1" in printed.err
