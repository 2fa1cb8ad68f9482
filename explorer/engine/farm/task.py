"""One piece of a grid's work: a study's answer for one cell and one seed, found by a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from explorer.engine.executors.base import Task, task_key, task_seed
from explorer.engine.executors.in_place import InPlaceExecutor
from explorer.engine.runtime.runtime import FileNotOpenError, StudyRuntime
from explorer.engine.session.recipe import Recipe, request_from_dict
from explorer.studies.base.grid import MOST_TYPED
from explorer.studies.base.grid_answer import answer_to_dict
from explorer.studies.base.study import Kind, Request
from explorer.studies.registry import StudyInfo, get_study, registered, set_registered

FIRST, BEST, AGAIN = "first", "best", "again"
"""A study's first answer, its last one, and of another trial the last one's simulated curves."""


def known_as(request: Request, part: str) -> Task:
    """Return what a piece of work depends on, and is kept under."""
    return {"question": Recipe(request).to_dict(), "part": part}


def sent_as(known: Task, files: Mapping[str, Path]) -> Task:
    """Return a piece of work with all that a worker needs: files' places, studies of others."""
    study = get_study(known["question"]["study"])
    values = known["question"]["values"]
    needed = [values[p.key] for p in study.parameters if p.kind is Kind.FILE and values[p.key]]
    return {
        **known,
        "files": {value: str(files[value]) for value in needed if value in files},
        "cards": [asdict(info) for info in registered()],
    }


def seeded(request: Request, trial: int) -> Request:
    """Return the question of a trial: its own seed for the first, which is the study's own answer.

    The others have 53 bits of the hash of the question and their number (`task_seed`).
    """
    if not trial:
        return request
    key = task_key({"question": Recipe(request).to_dict(), "trial": trial})
    return replace(request, seed=int(task_seed(key).random_raw()) >> 11)


@cache
def _runtime() -> StudyRuntime:
    """Return this worker's runtime: what trials share is computed once."""
    return StudyRuntime(worker=InPlaceExecutor())


def run_cell(task: Task) -> dict[str, Any]:
    """Return a study's answer as JSON values, or why it has none (in a worker).

    Raises
    ------
    FileNotOpenError
        If it needs a file that was not open when the grid was asked.
    """
    infos = [StudyInfo(**info) for info in task["cards"]]
    if set(infos) != set(registered()):
        set_registered(infos)
    runtime = _runtime()
    for value, path in task["files"].items():
        runtime.register_file(value, Path(path))
    try:
        request = request_from_dict(task["question"], "question", MOST_TYPED)
        # What is kept under a task's key may not depend on what this worker did before.
        answers = runtime.fresh_answer(request, lambda: None)
        result = next(answers)
        if task["part"] != FIRST:
            result = deque(answers, maxlen=1)[-1] if not result.complete else result
    except FileNotOpenError:
        raise  # what is lacking here and now must not be kept as the answer
    except (ValueError, LookupError) as error:
        return {"error": " ".join(str(error).split()) or type(error).__name__}
    return answer_to_dict(result, only_simulated=task["part"] == AGAIN)
