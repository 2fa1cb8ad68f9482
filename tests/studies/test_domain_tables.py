"""Domains from typed tables and files: errors, Figure 1, Proposition 5, counted priors."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import default_request, default_sweep
from explorer.studies.coordinate_learnt import CoordinateLearnt
from explorer.studies.coordinate_learnt.domain_tables import from_files, parse_tables
from tests import snapshots
from tests.studies import walking
from tests.studies.context import Context

STUDY = CoordinateLearnt()


def ask(what="levels", key="copies", points=2, context=None, **values):
    request = default_request(STUDY, mechanism="own", **values)
    sweep = replace(default_sweep(STUDY, key), points=points)
    request = replace(request, quantity=what, sweep=sweep)
    return list(STUDY.answer(request, context or Context()))[-1]


def table(result, key):
    return next(t for t in result.tables if t.key == key)


def files(folder, prior, channel):
    paths = folder / "prior.csv", folder / "channel.csv"
    for path, text in zip(paths, (prior, channel), strict=True):
        path.write_text(text)
    return [(path, path.name) for path in paths]


def random_domain(sizes, outputs, seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(math.prod(sizes))), rng.dirichlet(
        np.ones(outputs), size=math.prod(sizes)
    )


WORDS = [("young", "middle", "old"), ("no", "yes"), ("a", "b", "c", "d"), ("p", "q")]


def test_all_four_levels_of_a_loaded_table(tmp_path):
    sizes = [len(words) for words in WORDS]
    prior, channel = random_domain(sizes, 5, 3)
    names = ";".join(("age", "smokes", "town", "flag"))
    # Rows in any order, with decimal commas.
    points = list(itertools.product(*WORDS))
    order = np.random.default_rng(1).permutation(len(points))

    def line(i, numbers):
        return ";".join([*points[i], *(repr(float(x)).replace(".", ",") for x in numbers)])

    first, second = files(
        tmp_path,
        "\n".join([f"{names};prior", *(line(i, [prior[i]]) for i in range(len(points)))]),
        "\n".join([f"{names};y1;y2;y3;y4;y5", *(line(i, channel[i]) for i in order)]),
    )
    context = Context()
    opened = {
        "own_from": "files",
        "prior_file": context.add_file(first[0]),
        "channel_file": context.add_file(second[0]),
    }
    for i in range(4):
        result = ask(context=context, coordinate=str(i + 1), **opened)
        assert result.readout("ldp").value == pytest.approx(co.ldp_level(channel))
        assert result.readout("bdp").value == pytest.approx(co.bdp_level(prior, channel))
        assert result.readout("cdp").value == pytest.approx(co.cdp_levels(sizes, channel)[i])
        level = co.bcdp_levels(sizes, prior, channel)[i]
        assert result.readout("bcdp").value == pytest.approx(level)
        assert result.readout("coupling").value == pytest.approx(co.coupling(sizes, prior)[i])
        twice = co.composed_bcdp_levels(sizes, prior, channel)[i]
        more = ask(context=context, coordinate=str(i + 1), copies=2, **opened)
        assert more.readout("bcdp").value == pytest.approx(twice)
    assert "p or q" in result.guarantee.sentence
    assert table(result, "domain").rows[0][0].split() == ["young", "no", "a", "p"]
    # The test drawn of a coordinate of four values is between those that attain its level.
    for what, key in (("tradeoff", "type1"), ("belief_after", "belief")):
        shown = ask(what, key, 9, context, coordinate="3", **opened)
        assert any("4 values" in note for note in shown.notes)
    shown = ask("belief_after", "belief", 9, context, coordinate="3", **opened)
    curves = {s.key: s for s in shown.series}
    # One of the two values drawn attains the region's border.
    above = np.abs(curves["most"].y - curves["region"].high).max()
    below = np.abs(curves["least"].y - curves["region"].low).max()
    assert min(above, below) < 1e-9
    waiting = ask(context=context, own_from="files", prior_file=opened["prior_file"])
    assert any("not both" in note for note in waiting.notes)


@pytest.mark.parametrize(
    ("prior", "channel", "message"),
    [
        ("0 .5; 1 .4", "0 .5 .5; 1 .5 .5", "prior, row 2: .* −0.1"),
        ("0 .5; 1 .5", "0 .5 .5; 1 .5 .4", "channel, row 2: .* −0.1"),
        ("0 0 .5; 0 1 .25; 1 0 .25", "0 0 1; 0 1 1; 1 0 1", "record 1 1"),
        ("0 .5; 1 .5", "0 1; 0 1", "channel, row 2: .* twice"),
        ("0 .5; 1 .5", "0 1; 2 1", "row 2: .* '2'"),
        ("0 1.5; 1 -.5", "0 1; 1 1", "row 2: −0.5"),
        ("; ".join(f"{i} .125" for i in range(8)), "0 1; 1 1", "8 values"),
        ("0 0 0 0 0 1", "0 0 0 0 0 1", "^prior.*5 coordinates"),
    ],
)
def test_invalid_laws_are_refused_by_row(prior, channel, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parse_tables(prior, channel, False)


def test_files_are_refused_by_line(tmp_path):
    good = "x1,prior\na,0.5\nb,0.5\n"
    for prior, channel, message in (
        (good, "x1,y1,y2\na,0.5,0.5\nb,0.5,0.6\n", "channel.csv, line 3: the sum of its"),
        (good, "x2,y1,y2\na,0.5,0.5\nb,0.5,0.5\n", "channel.csv, line 1: its first columns are x2"),
        (good, "x1,y1,y2\na,0.5,zero\nb,1,0\n", "channel.csv, line 2, field 3: 'zero'"),
        (
            "x1,prior\na,0.5\nb,0.4\n",
            "x1,y1\na,1\nb,1\n",
            "prior.csv, line 3: the sum of the prior",
        ),
        ("x1,prior\na,0.5\nb,0.5,3\n", "x1,y1\na,1\nb,1\n", "prior.csv, line 3: 3 fields"),
    ):
        with pytest.raises(ValueError, match=message):
            from_files(*files(tmp_path, prior, channel), "auto", False)


def test_zero_against_more_is_infinite_and_unreachable_outputs_do_not_count():
    own = {
        "prior": "0 0 .5; 0 1 .5; 1 0 0; 1 1 0",
        "channel": "0 0 1 0 0; 0 1 .5 .5 0; 1 0 .2 .8 0; 1 1 .5 .5 0",
    }
    result = ask(**own, coordinate="2")
    assert result.readout("bcdp").value is None
    first = ask(**own, coordinate="1")
    # x₁ has one value under this prior.
    assert first.readout("bcdp").value == 0.0
    assert "always 0" in first.guarantee.sentence
    arrows = {(row[0], row[1]): row for row in table(result, "figure1").rows}
    snapshots.check(arrows["LDP", "BDP"][2])


def test_figure_1_holds_for_random_tables():
    for seed in range(40):
        prior, channel = random_domain([3, 2], 3, seed)
        points = list(np.ndindex(3, 2))
        rows = [
            "; ".join(
                " ".join(map(repr, [*map(float, p), *numbers]))
                for p, numbers in zip(points, law, strict=True)
            )
            for law in (prior[:, None].tolist(), channel.tolist())
        ]
        figure = table(ask(prior=rows[0], channel=rows[1]), "figure1")
        ends = [(row[0], row[1]) for row in figure.rows]
        assert ("CDP", "LDP") in ends
        assert not any(start == "BCDP" for start, _ in ends)
        for row in figure.rows:
            assert row[5] <= row[4] + 1e-9
            assert row[6] == pytest.approx(row[4] - row[5], abs=1e-9)
        assert figure.rows[0][6] == 0.0
        assert all(arrow.holds for arrow in figure.diagram.arrows)
        assert {node.key for node in figure.diagram.nodes} == {"LDP", "BDP", "CDP", "BCDP"}


@pytest.mark.parametrize("kernel", ["1 1 2", "0.9 0.1; 0.5 0.5; 0.2 0.8", "1 2 3"])
def test_postprocessing_never_raises_levels(kernel):
    plain, after = ask(), ask(step=True, kernel=kernel)
    step = table(after, "step")
    for _, before, now in step.rows:
        assert now <= before + 1e-12
        assert (now == pytest.approx(before)) or kernel != "1 2 3"
    assert step.rows[0][1] == pytest.approx(plain.readout("bcdp").value)
    assert step.rows[0][2] == pytest.approx(after.readout("bcdp").value)
    if kernel == "1 1 2":
        assert table(after, "domain").columns[2].endswith("y1|y2 | x)")


def test_postprocessing_of_wrong_size_is_skipped_and_noted():
    result = ask(step=True, kernel="1 2")
    assert len(result.notes) == 1 + len(ask().notes)
    assert not any(t.key == "step" for t in result.tables)
    with pytest.raises(ValueError, match="kernel, row 2:"):
        ask(step=True, kernel="1 0; 0.5 0.6; 0 1")
    walking.walk_parameter(STUDY, "step", mechanism="example2")


def test_counted_priors_give_an_upper_bound_and_its_sentence():
    counts = [800, 200, 200, 800]
    prior = "; ".join(f"{x} {y} {n}" for (x, y), n in zip(np.ndindex(2, 2), counts, strict=True))
    result = ask(records=prior, prior_is="counts", beta=0.01, coordinate="1")
    cells = list(np.ndindex(2, 2))
    upper = co.coupling_upper_of_counts(cells, counts, [2, 2], 0.01)
    coupling = result.readout("coupling")
    assert coupling.role is Role.UPPER
    assert coupling.value == pytest.approx(upper[0])
    assert upper[0] > 0.6
    certified = result.readout("certified").value
    c, ldp = result.readout("cdp").value, result.readout("ldp").value
    mixed = (1 - upper[0]) * math.exp(c) + upper[0] * math.exp(ldp)
    assert certified == pytest.approx(math.log(mixed))
    assert result.guarantee.sentence.startswith("With confidence 99 %")
    levels = table(result, "levels")
    assert levels.roles[1] is Role.UPPER
    assert levels.roles[3] is Role.ESTIMATE
    with pytest.raises(ValueError, match="must be whole"):
        ask(records="0 0 1.5; 0 1 1; 1 0 1; 1 1 1", prior_is="counts")
    # A value without records may be coupled in any way.
    empty = ask(records="0 0 10; 0 1 10; 1 0 0; 1 1 0", prior_is="counts")
    assert empty.readout("coupling").value == 1.0
