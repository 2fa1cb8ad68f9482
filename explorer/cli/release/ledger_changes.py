"""The commands that write to a ledger what no release does: a raise, a join, ε spent elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer.cli.release.ledger import positive

if TYPE_CHECKING:
    from explorer.release.ledger.ledger import Ledger
    from explorer.release.ledger.state import Account

_ledger_option = click.option(
    "--ledger",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The ledger. Default: the one in the user's data folder.",
)
_population_option = click.option(
    "--population", metavar="ID", help="Whose account; needed where there are several."
)


@click.command("raise")
@_ledger_option
@_population_option
@click.option("--to", required=True, metavar="P/Q", help="The ε that may be spent from now on.")
def raise_command(file: Path | None, population: str | None, to: str) -> None:
    """Raise the budget of a sum gate, openly: every later certificate says so.

    It is never lowered, and the ρ of a zcdp gate is never raised.
    """
    limit = positive(to, "--to")
    _change(file, population, lambda ledger, whose: ledger.raise_budget(whose, limit))


@click.command("external")
@_ledger_option
@_population_option
@click.option("--epsilon", required=True, metavar="P/Q", help="What was spent there.")
@click.option("--what", required=True, help="What was released, as certificates list it.")
def external_command(file: Path | None, population: str | None, epsilon: str, what: str) -> None:
    """Enter ε spent elsewhere on the same people: same unit, same neighbours.

    No gate refuses a fact: it may overdraw the account, and nothing fits any more.
    """
    spent, said = positive(epsilon, "--epsilon"), " ".join(what.split())
    if not said:
        raise click.BadParameter("say what was released there", param_hint="--what")
    _change(file, population, lambda ledger, whose: ledger.external(whose, spent, said))


@click.command("join")
@_ledger_option
@click.argument("population", metavar="ID")
@click.argument("other", metavar="OTHER")
@click.option(
    "--beforehand",
    is_flag=True,
    help="They are declared to be the same people; no ids were compared. Certificates say which.",
)
def join_command(file: Path | None, population: str, other: str, beforehand: bool) -> None:
    """Join two accounts, for good, whose people turn out to be the same.

    What was spent adds, the smaller limit holds, and nothing may fit any more.
    """
    from explorer.release.ledger.state import JOINED_AFTER, JOINED_BEFORE

    how = JOINED_BEFORE if beforehand else JOINED_AFTER
    _change(file, population, lambda ledger, whose: ledger.join(whose, other, how))


@click.command("forget-ids")
@_ledger_option
def forget_command(file: Path | None) -> None:
    """Delete the marks of ids seen in files that were opened.

    They serve what a release tells the curator of ids in files opened before. Entries, and how
    often files were opened, stay.
    """
    from explorer.release import locations
    from explorer.release.ledger.known_data import forget_ids

    number = forget_ids(file or locations.default_ledger())
    click.echo(f"ids of {number} file{'s' * (number != 1)} forgotten")


CHANGES = (raise_command, external_command, join_command, forget_command)


def _change(
    file: Path | None, population: str | None, does: Callable[[Ledger, str], object]
) -> None:
    """Write to a ledger that is there, and say what the account has then."""
    from explorer.release import locations
    from explorer.release.ledger.ledger import Ledger

    path = file or locations.default_ledger()
    if not path.exists():
        raise click.ClickException(f"{path}: there is no ledger; 'ledger open' makes one")
    with Ledger(path, locations.machine_settings()) as ledger:
        for notice in ledger.notices:
            click.echo(notice, err=True)
        account = ledger.state("").account_of(population)
        does(ledger, population or account.population)
        click.echo(_balance(ledger.account(account.population)))


def _balance(account: Account) -> str:
    from explorer.release.rounding import rounded_down, rounded_up

    largest = account.largest_fit()
    unit = "ρ" if account.gate == "zcdp" else "ε"
    fits = f"would fit: ε ≤ {rounded_down(largest)}" if largest else "nothing more fits"
    return (
        f"Population {account.population}: {unit} {rounded_down(account.budget)}, spent "
        f"{rounded_up(account.spent)}; {fits}"
    )
