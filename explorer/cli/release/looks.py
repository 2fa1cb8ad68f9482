"""Commands that print what is true of a file count as looks at it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


def record_view(data: CheckinData) -> None:
    """Record a view of check-ins in the user's ledger, whose certificates state the count.

    If that fails, a warning is printed and the command goes on.
    """
    if not data.synthetic:
        _record(lambda log: log.record_view(data))


def count_values(values: Collection[str]) -> None:
    """Record a view of the files that a study reads, given as the values of its parameters."""
    if values:
        _record(lambda log: log.record_file_views({v.rpartition("#")[2]: None for v in values}))


def _record(record: Callable[[Any], object]) -> None:
    # imported here: commands start without the release package
    from explorer.release import access_log
    from explorer.release.errors import ReleaseError

    try:
        record(access_log)
    except (ReleaseError, OSError) as error:
        click.echo(
            f"The view of these data could not be recorded ({error}); a certificate about them "
            "will not count it.",
            err=True,
        )
