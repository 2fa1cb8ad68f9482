"""The commands of the release door: draw, keep the ledger, check a certificate."""

from explorer.cli.release.draw import release_command
from explorer.cli.release.ledger import ledger_command
from explorer.cli.release.ledger_changes import CHANGES
from explorer.cli.release.verify import verify_command

for _change in CHANGES:
    ledger_command.add_command(_change)

__all__ = ["ledger_command", "release_command", "verify_command"]
