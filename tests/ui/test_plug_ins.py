"""Studies of installed packages in the window and its compute process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.studies.registry import add_installed, registered_studies, unregister
from tests.test_extension_points import PARTS, TEMPLATE


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The template study as if installed, and a package that fails to import."""
    monkeypatch.syspath_prepend(str(TEMPLATE))
    monkeypatch.syspath_prepend(str(PARTS / "broken"))
    add_installed.cache_clear()
    yield
    unregister("randomized-response")
    sys.modules.pop("randomized_response")
    add_installed.cache_clear()


def test_an_installed_study_is_answered_and_a_broken_one_is_a_sentence(
    installed: None, open_window, settled
) -> None:
    window = open_window(study="randomized-response")
    assert window.banner.problem.sentence.startswith(
        "The study no_such_module:INFO of another package can't be used"
    )
    result = settled(window)
    assert result.request.study == "randomized-response"
    assert window.service.client is not None
    assert window.workspaces["bounds"].plot.curves.keys() == {"error", "truthful"}
    assert any(a.data() == "randomized-response" for a in window.menus.study_actions.actions())
    window.session.set_value("n", 4000)
    assert settled(window).readout("error").value == pytest.approx(
        result.readout("error").value / 2, rel=1e-9
    )


ODD = """
from explorer.studies.catalog import StudyInfo
NOWHERE = StudyInfo("odd", "Odd", "Odd?", "nowhere", "Plug-ins", "odd:Odd")
TWICE = StudyInfo("heatmap", "Odd", "Odd?", "bounds", "Plug-ins", "odd:Odd")
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("StudyInfo", "not a StudyInfo: <class"),
        ("MISSING", "has no attribute 'MISSING'"),
        ("NOWHERE", "there is no workspace 'nowhere'"),
        ("TWICE", "a study 'heatmap' exists already"),
    ],
)
def test_an_unusable_entry_point_is_reported(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[explorer.studies]\nodd = odd:{name}\n")
    (tmp_path / "odd.py").write_text(ODD)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "odd", raising=False)
    (problem,) = add_installed.__wrapped__()
    sys.modules.pop("odd")
    assert problem.startswith(f"The study odd:{name} of another package can't be used: ")
    assert why in problem
    assert registered_studies() == ()
