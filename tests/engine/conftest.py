from __future__ import annotations

from collections.abc import Iterator

import pytest

from explorer.engine.runtime import StudyRuntime
from explorer.studies.registry import register, unregister
from tests.engine.tiny import TinyStudy


@pytest.fixture
def host() -> Iterator[StudyRuntime]:
    host = StudyRuntime()
    yield host
    host.close()


@pytest.fixture
def tiny() -> Iterator[TinyStudy]:
    study = TinyStudy()
    register(study)
    yield study
    unregister(study.id)
