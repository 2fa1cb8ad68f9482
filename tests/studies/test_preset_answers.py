"""No rewriting moves a number: presets are compared with what once came out of them."""

from __future__ import annotations

import json
import math

import pytest

from explorer.studies.registry import get_study, study_infos
from tests.studies.preset_answers import PATH, answer, numbers

KEPT = json.loads(PATH.read_text(encoding="utf-8"))


TOLERANCE = 1e-5
"""Relative. Processors differ in the last bits of exp and log, and searches for a root or a least
error, whose ends depend on these, by up to 1e-6."""


def _different(now, then, where=""):
    """Yield where two trees of numbers differ by more than `TOLERANCE`."""
    if isinstance(then, float) and isinstance(now, float):
        if not math.isclose(now, then, rel_tol=TOLERANCE, abs_tol=1e-300):
            yield f"{where}: {now} now, {then} then"
    elif isinstance(then, dict | list) and type(now) is type(then) and len(now) == len(then):
        for key in then if isinstance(then, dict) else range(len(then)):
            if isinstance(then, dict) and key not in now:
                yield f"{where}/{key} is gone"
            else:
                yield from _different(now[key], then[key], f"{where}/{key}")
    elif now != then:
        yield f"{where}: {now} now, {then} then"


SLOW = {
    "amplification/known-randomiser",
    "cldp-sgd/figure-5a-epsilon",
    "coordinate-mean/many-levels",
    "histograms/least-users",
    "histograms/noise-count",
    "histograms/table-2",
    "histograms/theorem-4-1",
    "histograms/truncation",
    "itemwise/central",
    "itemwise/one-item",
    "itemwise/second-branch",
    "itemwise/three",
    "shuffle-rdp/figure-2a",
    "shuffle-rdp/figure-2c",
    "shuffle-rdp/figure-3b",
    "shuffle-rdp/figure-3c",
    "shuffle-rdp/figure-4a",
    "shuffle-rdp/figure-4b",
    "shuffle-rdp/figure-4c",
    "shuffle-rdp/figure-5a",
    "shuffle-rdp/figure-5b",
    "shuffle-rdp/renyi-order",
}
"""Presets that took more than half a second of processor time."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full] * (name in SLOW)) for name in KEPT["answers"]],
)
def test_a_preset_still_has_the_numbers_it_had(name):
    found = numbers(answer(*name.split("/")))
    assert list(_different(found, KEPT["answers"][name])) == []


def test_every_preset_is_kept_or_left_out_with_its_reason():
    there = {f"{info.id}/{p.key}" for info in study_infos() for p in get_study(info.id).presets}
    assert there == set(KEPT["answers"]) | set(KEPT["left_out"])
    assert len(KEPT["answers"]) > len(KEPT["left_out"])
    assert all(KEPT["left_out"].values())


def test_a_moved_number_is_found():
    then = KEPT["answers"]["amplification/million"]
    curve = next(iter(then["series"]))
    moved = json.loads(json.dumps(then))
    moved["series"][curve]["y"][0] *= 1 + 3 * TOLERANCE
    assert next(_different(moved, then)).startswith(f"/series/{curve}/y/0: ")
    assert list(_different({**then, "readouts": {}}, then))
