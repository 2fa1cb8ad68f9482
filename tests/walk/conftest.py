"""The window's fixtures, and the walker that drives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.ui.conftest import (  # noqa: F401  (fixtures)
    leak_guard,
    open_window,
    own_looks,
    settled,
)
from tests.walk.walker import Walker


@pytest.fixture
def walker(open_window, qtbot, caplog, qtlog) -> Iterator[Callable[[str], Walker]]:  # noqa: F811
    """Open the window at a study; what was logged or said by Qt is a finding in the end."""
    walkers: list[Walker] = []

    def begin(study_id: str, **options: Any) -> Walker:
        # What is made ahead is the same beside every question of curves.
        window = open_window(study=study_id, ahead=study_id in ("heatmap", "unbounded"), **options)
        walkers.append(Walker(window, qtbot, study_id))
        return walkers[-1]

    with caplog.at_level("WARNING", "explorer"):
        yield begin
    logged = [
        f"logged: {r.getMessage()}"
        for r in caplog.get_records("call")
        if r.name.startswith("explorer") and r.levelno >= 30
    ]
    logged += [
        f"Qt said: {r.message}" for r in qtlog.records if "propagateSizeHints" not in r.message
    ]
    if logged:
        pytest.fail("\n".join(logged), pytrace=False)
