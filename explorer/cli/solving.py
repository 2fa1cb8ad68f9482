"""What ``bounds --solve`` prints."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from explorer.engine.runtime.runtime import StudyRuntime
    from explorer.studies.base.study import Request


def print_solution(
    host: StudyRuntime,
    request: Request,
    key: str | None,
    series: str | None,
    target: float | None,
    *,
    as_json: bool,
) -> int:
    """Find the value of a parameter at which a curve is the target, and print it.

    The value alone goes to standard output (or everything, as JSON), the sentence to standard
    error. Returns the exit code: 1 if the target can't be reached.

    Raises
    ------
    BadParameter
        If only a part of the question was asked.
    ValueError
        Naming the parameter or curve there is not.
    """
    from explorer.engine.solving.goal import SolveGoal, solution_sentence
    from explorer.engine.solving.solve import solve

    if key is None or series is None or target is None:
        raise click.BadParameter("--solve KEY, --for CURVE and --target Y go together")
    found = solve(host, SolveGoal(request, series, key, target), lambda: None)
    words = solution_sentence(found)
    if as_json:
        document = {
            "study": request.study,
            "values": {k: v for k, v in request.values if k != key},
            "parameter": key,
            "value": found.value,
            "possible": found.possible,
            "series": series,
            "role": found.role.value,
            "quantity": request.quantity,
            "target": target,
            "reached": found.reached if math.isfinite(found.reached) else None,
            "nearest": found.nearest,
            "other_crossings": list(found.others),
            "sentence": words,
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    elif found.value is not None:
        click.echo(str(found.value))
    if not as_json or not found.possible:
        click.echo(words, err=True)
    return 0 if found.possible else 1
