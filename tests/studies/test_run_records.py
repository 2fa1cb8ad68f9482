"""M_LDP and M_mean run on a table of records: levels by column, means, notes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.privacy import coordinates as co
from explorer.studies.base.study import default_request, default_sweep
from explorer.studies.coordinate_mean import CoordinateMean
from explorer.studies.coordinate_mean.guarantee import SIMULATED_PROTOCOL
from tests.studies import walking
from tests.studies.context import Context

STUDY = CoordinateMean()


def ask(context=None, seed=0, **values):
    request = replace(
        default_request(STUDY, **values), quantity="run", sweep=default_sweep(STUDY, "i"), seed=seed
    )
    return list(STUDY.answer(request, context or Context()))[-1]


def records(folder, users=3000):
    rng = np.random.default_rng(2)
    age = rng.uniform(20, 80, users)
    age[0] = 200
    rest = rng.uniform(-1, 1, (users, 2))
    path = folder / "people.csv"
    lines = [f"{a!r};{b!r};{c!r}" for a, (b, c) in zip(age.tolist(), rest.tolist(), strict=True)]
    path.write_text("age [0:120];left;right\n" + "\n".join(lines))
    scaled = np.column_stack([np.clip(age, 0, 120) / 60 - 1, rest])
    return path, scaled


@pytest.mark.full
@pytest.mark.parametrize("channel", co.CHANNELS)
@pytest.mark.parametrize("run_by", ["paper", "best_zeta", "baseline"])
def test_reports_of_a_file_have_the_mean_and_spread_stated(tmp_path, channel, run_by):
    path, scaled = records(tmp_path)
    context = Context()
    value = context.add_file(path)
    settings = {
        "records": value,
        "channel": channel,
        "run_by": run_by,
        "level": 1.0,
        "eps": 4.0,
        "q": 0.05,
        "share": 0.34,
    }
    errors, expected = [], 0.0
    for seed in range(10):
        result = ask(context, seed, **settings)
        errors.append(result.readout("drawn").value)
        expected = result.readout("expected").value
    assert np.mean(errors) == pytest.approx(expected, rel=0.6)
    (table,) = (t for t in result.tables if t.key == "run")
    assert [row[0] for row in table.rows] == ["age", "left", "right"]
    assert [row[1] for row in table.rows] == [1.0, 4.0, 4.0]
    assert table.rows[0][5] == pytest.approx(60 * (scaled[:, 0].mean() + 1))
    budgets = np.array([row[2] for row in table.rows])
    assert result.readout("total").value == pytest.approx(budgets.max())
    certified = co.best_certificate(budgets, 0.05, budgets.max())
    assert (certified <= np.array([1.0, 4.0, 4.0]) + 1e-9).all()
    series = {s.key: s for s in result.series}
    assert series["truth"].y[:3] == pytest.approx(scaled.mean(axis=0))
    assert result.curator_only
    assert "curator only" in result.stamp
    assert SIMULATED_PROTOCOL in result.notes
    assert any(note.startswith("1 values") for note in result.notes)


def test_without_a_file_synthetic_records_are_run():
    result = ask(d=5, n=500)
    assert result.stamp == "synthetic data"
    assert result.readout("users").value == 500
    assert np.isfinite(result.series[0].y[:5]).all()
    assert ask(d=5, n=500).series[0].y[:5].tolist() == result.series[0].y[:5].tolist()
    walking.walk_parameter(STUDY, "run_by")


def test_the_audit_runs_the_reports_that_are_asked_for():
    from explorer.studies.coordinate_mean.simulation import audits

    audited = audits(default_request(STUDY, channel="privunit", eps=8.0, level=6.0), None, None)
    rng = np.random.default_rng(0)
    seen = audited.run(0, 4000, rng)
    assert len(set(np.round(np.abs(seen), 6))) > 2
