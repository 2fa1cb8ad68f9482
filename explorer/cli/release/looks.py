"""Commands that print what is true of a file count as looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from explorer.checkins import CheckinData


def count_look(data: CheckinData) -> None:
    """Keep it in the user's ledger; a certificate will say how many there were.

    A command is not kept from its work where that fails, but says so.
    """
    if data.synthetic:
        return
    from explorer.release import looks
    from explorer.release.errors import ReleaseError

    try:
        looks.count_look(data)
    except (ReleaseError, OSError) as error:
        click.echo(
            f"It could not be kept that these data were opened ({error}); a certificate about "
            "them will not say so.",
            err=True,
        )
