"""The quantities of one question."""

from dataclasses import replace

from explorer.studies.base.study import Request, default_sweep, quantity
from explorer.studies.registry import get_study


def with_quantity(request: Request, key: str) -> Request:
    """Return a question about another quantity; its x axis stays if it can."""
    study = get_study(request.study)
    chosen = quantity(study, key)
    request = replace(request, quantity=key)
    if request.sweep is None or request.sweep.key not in chosen.sweeps:
        sweep = default_sweep(study, chosen.sweeps[0]) if chosen.sweeps else None
        request = replace(request, sweep=sweep)
    return request
