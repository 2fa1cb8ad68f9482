"""Plots of every study: few sliders, few curves and short names by default, all of which exist."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from explorer.engine.runtime import StudyRuntime
from explorer.figures.style import dashes, theme
from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import evaluate_claim, headline_of
from explorer.studies.base.numbers import at_least, at_most
from explorer.studies.base.phrases import chance_of, error_phrase, times_in_100
from explorer.studies.base.plots import (
    MAX_DEFAULT_CURVES,
    MAX_LETTERS,
    MAX_SLIDERS,
    curve_names,
)
from explorer.studies.base.study import (
    Result,
    Statistic,
    default_request,
    default_sweep,
    parameter,
    preset_request,
    quantity,
    relevant,
)
from explorer.studies.catalog import study_ids
from explorer.studies.guarantees.tradeoffs import SHORT_NAMES
from explorer.studies.registry import get_study
from tests.studies.checks import best_valid, last
from tests.studies.context import Context
from tests.studies.preset_answers import PATH

QUANTITIES = [(i, q.key) for i in study_ids() for q in get_study(i).quantities] + [("heatmap", "")]


def test_every_plot_has_few_sliders_and_curves() -> None:
    failures = []
    for study_id, key in QUANTITIES:
        study = get_study(study_id)
        sliders, curves = study.plot_defaults(key)
        unknown = set(sliders) - {p.key for p in study.parameters}
        few = 1 <= len(sliders) <= MAX_SLIDERS and len(curves) <= MAX_DEFAULT_CURVES
        if unknown or not few or len(set(sliders)) < len(sliders):
            failures.append((study_id, key, sliders, curves))
    assert not failures


def test_the_parameter_on_the_x_axis_has_a_slider() -> None:
    failures = []
    for study_id, key in QUANTITIES[:-1]:
        study = get_study(study_id)
        for swept in quantity(study, key).sweeps:
            sweep = default_sweep(study, swept)
            request = replace(default_request(study), quantity=key, sweep=sweep)
            sliders, p = study.default_sliders(request), parameter(study, swept)
            matters = p.in_panel and relevant(p, dict(request.values), key)
            if len(sliders) > MAX_SLIDERS or (matters and swept not in sliders):
                failures.append((study_id, key, swept, sliders))
    assert not failures


def test_short_names_are_short_and_tell_curves_apart() -> None:
    failures = []
    for study_id in study_ids():
        plots = get_study(study_id).plots
        by_key = {c.key: curve_names(c) for plot in plots for c in plot.curves if c.short}
        names = [name for several in by_key.values() for name in several]
        failures += [(study_id, name) for name in names if len(name) > MAX_LETTERS]
        failures += [(study_id, name) for name in set(names) if names.count(name) > 1]
    assert not failures


def test_each_preset_draws_declared_curves_that_its_answer_has() -> None:
    stored = json.loads(PATH.read_text(encoding="utf-8"))["answers"]
    failures = []
    for study_id in CURVE_STUDIES:
        study = get_study(study_id)
        for item in study.presets:
            shown = preset_request(study, item).quantity
            keys = {c.key for p in study.plots if p.quantity.key == shown for c in p.curves}
            if dict(item.values).get("simulate"):  # dots of a curve's name
                keys |= {f"{key}_simulated" for key in (*keys, "least-squares")}
            there = stored.get(f"{study_id}/{item.key}")
            if there is not None and item.status != "▷":
                dots = {key for key in item.curves if key.endswith("_simulated")}
                keys &= {*there["series"], *dots}
            if not item.curves or not keys.issuperset(item.curves):
                failures.append((study_id, item.key, sorted(set(item.curves) - keys)))
    assert not failures


def test_one_name_has_one_colour_and_dash_in_all_studies() -> None:
    looks: dict[str, set[int]] = {}
    patterns: dict[tuple[str, Role], set[tuple[float, ...]]] = {}
    for study_id in CURVE_STUDIES:
        study = get_study(study_id)
        for plot in study.plots:
            named = [(name, c) for c in plot.curves for name in curve_names(c)]
            places = [study.colours[plot.quantity.key, name] for name, _ in named]
            assert len(set(places)) == len(places), (study_id, plot.quantity.key)
            for (name, curve), place in zip(named, places, strict=True):
                looks.setdefault(name, set()).add(place)
                dash = dashes(curve.role, place // len(theme("light").curves))
                patterns.setdefault((name, curve.role), set()).add(dash)
    assert not {name: places for name, places in looks.items() if len(places) > 1}
    assert not {name: found for name, found in patterns.items() if len(found) > 1}


MOST_WORDS = 55
"""Of the answer, numbers counted."""


MOST_IN_SHORT = 40
"""Letters of a condition's short form."""
CURVE_STUDIES = [i for i in study_ids() if i != "heatmap"]
SEEN_ELSEWHERE = {
    "shuffle-rdp": (("epochs", {}), ("own", {}), ("eps", {}), ("rdp", {"eps0": 4.0, "k": 100.0})),
    "histograms": (("error", {}),),
    "itemwise": (("alpha0", {}), ("change", {})),
    "frequency": (("emd", {"space": "typed"}),),
    "coordinate-mean": (("mse", {"projected": True}), ("budget", {})),
    "cldp-sgd": (("eps", {}), ("risk", {})),
    "choose-alpha": (
        ("alpha", {"requirements": "4"}),
        (
            "fraction",
            {"requirements": "4", "eps1": 0.1, "eps2": 0.2, "eps3": 0.3, "eps4": 0.4},
        ),
    ),
    "private-regression": (("rmse", {"trials": 2, "n": 1000, "features": 2}),),
}
"""Questions whose last answer has what no first one at the defaults has."""
QUICKER = {("users-data", key): {"space": "discrete"} for key in ("moved", "found_out")}
"""Settings of questions whose defaults take long: all users' places, moved at the least cost."""


@pytest.fixture(scope="module")
def first_answers() -> Iterator[Callable[[str], dict[str, Result]]]:
    """Return, by quantity, the first answer over the first axis."""
    runtime = StudyRuntime()

    @cache
    def ask(study_id: str) -> dict[str, Result]:
        study, found = get_study(study_id), {}
        for shown in study.quantities:
            sweep = replace(default_sweep(study, shown.sweeps[0]), points=2)
            asked = default_request(study, **QUICKER.get((study_id, shown.key), {}))
            request = replace(asked, quantity=shown.key, sweep=sweep)
            answers = runtime.answer(request, lambda: None)
            found[shown.key] = next(one for one in answers if not one.curve_follows)
        return found

    yield ask
    runtime.close()


@pytest.mark.parametrize("study_id", CURVE_STUDIES)
def test_what_stands_in_front_is_there_and_short(first_answers, study_id: str) -> None:
    study = get_study(study_id)
    for result in first_answers(study_id).values():
        keys = study.default_curves(result.request, [s.key for s in result.series])
        assert 1 <= len(keys) <= MAX_DEFAULT_CURVES
        for condition in result.conditions:
            assert len(condition.short or condition.text) <= MOST_IN_SHORT, condition
        answer = headline_of(study, result, evaluate_claim(result))
        if answer is not None:
            assert len(f"{answer.number} {answer.text}".split()) <= MOST_WORDS, answer.text
            assert answer.text.endswith(".")


SHOWN_STATISTIC = {
    Statistic.MEAN: {"average", "mean"},
    Statistic.MEAN_SQUARE: {"mean squared"},
    Statistic.RMS: {"rms", "root mean square"},
    Statistic.MEDIAN: {"median"},
    Statistic.QUANTILE: {"of 100 runs", "of the releases"},
}
"""Words of which a headline has one, by what its error is over the draws."""


@pytest.mark.parametrize("study_id", CURVE_STUDIES)
def test_a_headline_names_the_statistic_of_its_error(first_answers, study_id: str) -> None:
    study = get_study(study_id)
    for key, result in first_answers(study_id).items():
        answer = headline_of(study, result, evaluate_claim(result))
        declared = quantity(study, key).statistic
        if answer is None or (answer.statistic is None and declared is None):
            continue
        statistic = answer.statistic or declared
        assert declared in (None, statistic)
        text = answer.text.lower()
        others = set().union(*SHOWN_STATISTIC.values()) - SHOWN_STATISTIC[statistic]
        assert any(word in text for word in SHOWN_STATISTIC[statistic]), answer
        assert statistic is Statistic.RMS or not any(f"{word} error" in text for word in others)


@pytest.mark.parametrize("study_id", CURVE_STUDIES)
def test_a_guarantee_says_one_chance(first_answers, study_id: str) -> None:
    """The sentence and the odds shown beside it come from the same number."""
    for key, result in first_answers(study_id).items():
        promise = result.guarantee
        stated_chance = promise and re.search(r"at most ([0-9.]+) % of the time", promise.sentence)
        if stated_chance and chance_of(promise) is not None:
            assert stated_chance[1] == times_in_100(chance_of(promise)), key


@pytest.mark.full
@pytest.mark.parametrize("dots", ["mean", "median"])
def test_the_headline_of_trials_follows_what_their_dots_are(dots: str) -> None:
    study = get_study("private-regression")
    sweep = default_sweep(study, "eps")  # not over users, of whom a million take long
    values = {"trials": 2, "n": 1000, "features": 2, "dots": dots}
    result = last(study, what="excess", sweep=replace(sweep, points=2), **values)
    answer = headline_of(study, result, evaluate_claim(result))
    expected = {"mean": Statistic.MEAN, "median": Statistic.MEDIAN}[dots]
    assert answer is not None
    assert answer.statistic is expected
    assert expected in answer.text.lower()


@pytest.mark.parametrize("statistic", Statistic)
@pytest.mark.parametrize(
    ("role", "shown"),
    [
        (Role.UPPER, "at most 0.1235"),
        (Role.EXACT, "at most 0.1235"),
        (Role.LOWER, "at least 0.1234"),
        (Role.ESTIMATE, "about 0.1235"),
    ],
)
def test_an_error_is_rounded_to_its_side_and_has_its_unit(statistic, role, shown) -> None:
    assert f"{shown} km" in error_phrase(0.123456, statistic, "km", role, runs="95")


@pytest.mark.parametrize("study_id", CURVE_STUDIES)
def test_the_answer_is_the_best_valid_bound_rounded(first_answers, study_id: str) -> None:
    study = get_study(study_id)
    for key, result in first_answers(study_id).items():
        if key not in study.claims:
            continue
        found = evaluate_claim(result)
        assert (None if found is None else found.value) == best_valid(study, result), key
        if found is not None:
            answer = headline_of(study, result, found)
            rounded = at_least if study.claims[key].better == "high" else at_most
            assert answer is not None
            points = at_most(math.nextafter(100 * found.value, math.inf))  # of a frequency
            assert {rounded(found.value), points} & set(answer.number.split()), answer


@pytest.mark.full
@pytest.mark.parametrize("study_id", CURVE_STUDIES)
def test_what_is_declared_of_curves_is_of_curves_there_are(first_answers, study_id: str) -> None:
    """The trade-off's are the same for every study, and tested with it."""
    study = get_study(study_id)
    answers, host = list(first_answers(study_id).values()), Context()
    for key, values in SEEN_ELSEWHERE.get(study_id, ()):
        over = next(s for s in quantity(study, key).sweeps if s != "n")
        sweep = replace(default_sweep(study, over), points=2)
        answers.append(last(study, host, key, sweep, **values))
    there = {s.key: s.label for result in answers for s in result.series}
    assert all(len(study.short_name(*named)) <= MAX_LETTERS for named in there.items()), there
    declared = {k for plot in study.plots for k in plot.primary}
    declared |= {c.key for plot in study.plots for c in plot.curves if c.short}
    assert declared - set(there) - set(SHORT_NAMES) == set()
