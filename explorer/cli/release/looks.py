"""Commands that print what is true of a file count as looks at it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


def count_look(data: CheckinData) -> None:
    """Keep it in the user's ledger; a certificate will say how many there were.

    A command is not kept from its work where that fails, but says so.
    """
    if not data.synthetic:
        _kept(lambda looks: looks.count_look(data))


def count_values(values: Collection[str]) -> None:
    """Keep the same of files that a study reads, given as the values of its parameters."""
    if values:
        _kept(lambda looks: looks.count_files({value.rpartition("#")[2]: None for value in values}))


def _kept(count: Callable[[Any], object]) -> None:
    """Count with `explorer.release.looks`, imported only now: commands start without releases."""
    from explorer.release import looks
    from explorer.release.errors import ReleaseError

    try:
        count(looks)
    except (ReleaseError, OSError) as error:
        click.echo(
            f"It could not be kept that these data were opened ({error}); a certificate about "
            "them will not say so.",
            err=True,
        )
