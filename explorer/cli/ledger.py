"""The commands `ledger …`: show, verify, export and change the ledger of releases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.options import check_folder
from explorer.cli.running import report_written
from explorer.files import open_regular

if TYPE_CHECKING:
    from explorer.release.ledger.ledger import Ledger
    from explorer.release.ledger.state import Account
    from explorer.release.ledger.view import View


_ledger_option = click.option(
    "--ledger",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A ledger, or an export of one. Default: the one in the user's data folder.",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


_writable_option = click.option(
    "--ledger",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The ledger. Default: the one in the user's data folder.",
)

_population_option = click.option(
    "--population", metavar="ID", help="Population of the account; required if there are several."
)


@click.group("ledger")
def ledger_command() -> None:
    """Show, verify or export the ledger of releases; open, raise or join accounts.

    If disk and settings are rolled back together (a virtual machine), or the chain is rewritten,
    only certificates issued before can show it.
    """


@ledger_command.command("show")
@_ledger_option
@click.option("--entries", "all_entries", is_flag=True, help="List all entries.")
@click.option(
    "--weekly",
    metavar="P/Q",
    help="Print the total of weekly releases with this ε, and how many still fit.",
)
@_json_option
def show_command(file: Path | None, all_entries: bool, weekly: str | None, as_json: bool) -> int:
    """Print the spent and remaining budget, and the largest release that fits."""
    epsilon = None if weekly is None else positive(weekly)
    view, problem = _read(file)
    if as_json:
        click.echo(json.dumps(_as_json(view, problem, all_entries, epsilon), indent=2))
        return 1 if problem else 0
    click.echo(f"Ledger {view.id}, {len(view.entries)} entries")
    for account in view.state.accounts.values():
        click.echo("\n".join(_account_lines(view, account, epsilon)))
    for remark in sorted(view.state.remarks):
        click.echo(f"Remark: {remark}")
    if all_entries:
        for entry in view.entries:
            body = entry.body
            click.echo(
                f"{entry.seq:>6}  {body.get('at', ''):<20}  {body['kind']:<8}  "
                f"{body.get('epsilon', ''):<12}  {body.get('release', '')}"
            )
    if problem:
        raise click.ClickException(problem)
    return 0


@ledger_command.command("verify")
@_ledger_option
@click.option(
    "--also",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A copy or an export of the same ledger, to detect a fork.",
)
@_json_option
def verify_ledger_command(file: Path | None, also: Path | None, as_json: bool) -> int:
    """Verify the hash chain, replay every gate, and compare with entries stored on this computer.

    Stored outputs and certificates are compared with their hashes in the entries.

    Exit code 0: valid; 1: invalid, with the reason.
    """
    from explorer.release.errors import LedgerError
    from explorer.release.ledger import settings
    from explorer.release.ledger.storage import StoredOutputs
    from explorer.release.ledger.view import check_outputs, compare_copies, read_ledger

    view, problem = _read(file)
    if not problem and isinstance(view.outputs, StoredOutputs):
        try:
            check_outputs(file or settings.default_ledger(), view)
        except LedgerError as error:
            problem = str(error)
    if also is not None and not problem:
        met = compare_copies(view, read_ledger(also))
        if met.diverges_at is not None:
            most = "; ".join(f"{name}: {spent}" for name, spent in met.max_spent.items())
            problem = (
                f"the two ledgers part at entry {met.diverges_at}: heads {_head(view)[:16]}… and "
                f"{_head(read_ledger(also))[:16]}…; spent in all at most {most}"
            )
    if as_json:
        result = {
            "valid": not problem,
            "problem": problem,
            "ledger": view.id,
            "entries": len(view.entries),
            "head": _head(view),
        }
        click.echo(json.dumps(result, indent=2))
        return 1 if problem else 0
    if problem:
        raise click.ClickException(problem)
    click.echo(f"Ledger {view.id}: {len(view.entries)} entries hold, gates replayed")
    click.echo(f"Head: {_head(view)}")
    if view.key is None:
        click.echo("Without its key: which files and people were here can't be checked")
    return 0


@ledger_command.command("export")
@_ledger_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.json",
    help="Output file; default: standard output.",
)
def export_command(file: Path | None, output: Path | None) -> None:
    """Write all entries as JSON for auditors, without key, outputs and user ids.

    Entries contain times in seconds: give an export to auditors only.
    """
    from explorer.files import write_whole
    from explorer.release.ledger.chain import export_entries

    check_folder(output, "--output")
    view, problem = _read(file)
    if problem:
        raise click.ClickException(problem)
    text = json.dumps(export_entries(view.id, view.entries), indent=1) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text.encode("ascii"))
        report_written(output)


@ledger_command.command("open")
@click.option(
    "--ledger",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The ledger; created if missing. Default: the one in the user's data folder.",
)
@click.option("--label", required=True, help="Name of these users in certificates.")
@click.option(
    "--budget", required=True, metavar="P/Q", help="Total that may be spent: ε, or ρ with zcdp."
)
@click.option(
    "--gate",
    type=click.Choice(["sum", "zcdp"]),
    default="sum",
    show_default=True,
    help="How the costs of releases add up; can't be changed.",
)
@click.option("--delta", metavar="P/Q", help="δ of zcdp, can't be changed. Default: 1/1000000000.")
@click.option(
    "--different-people",
    is_flag=True,
    help="Declare that these are not the users of the other accounts; certificates state it.",
)
def open_command(
    file: Path | None,
    label: str,
    budget: str,
    gate: str,
    delta: str | None,
    different_people: bool,
) -> None:
    """Open the account of a population: all files about the same users. Prints its id."""
    from explorer.release.ledger import settings
    from explorer.release.ledger.ledger import Ledger

    limit = positive(budget, "--budget")
    at = positive(delta or "1/1000000000", "--delta") if gate == "zcdp" else None
    if delta is not None and gate == "sum":
        raise click.BadParameter("a sum gate has no δ", param_hint="--delta")
    path = file or settings.default_ledger()
    check_folder(file, "--ledger")
    with Ledger(path, settings.machine_settings()) as ledger:
        for notice in ledger.notices:
            click.echo(notice, err=True)
        others = [account.population for account in ledger.accounts()]
        if others and not different_people:
            raise click.ClickException(
                f"{path.name}: files about the same people belong to population {others[0]}; give "
                "--different-people to declare that these are others"
            )
        click.echo(ledger.open_population(gate, limit, label, delta=at, different_from=others))


@ledger_command.command("raise")
@_writable_option
@_population_option
@click.option("--to", required=True, metavar="P/Q", help="The new total ε.")
def raise_command(file: Path | None, population: str | None, to: str) -> None:
    """Raise the budget of an account with a sum gate. Every later certificate states this.

    It is never lowered, and the ρ of a zcdp budget cannot be raised.
    """
    limit = positive(to, "--to")
    _change(file, population, lambda ledger, whose: ledger.raise_budget(whose, limit))


@ledger_command.command("external")
@_writable_option
@_population_option
@click.option("--epsilon", required=True, metavar="P/Q", help="The ε spent there.")
@click.option("--what", required=True, help="Description of the release, for certificates.")
def external_command(file: Path | None, population: str | None, epsilon: str, what: str) -> None:
    """Record ε spent elsewhere on the same users, with the same unit and neighbours.

    It is recorded in any case. If it overdraws the account, no further release is possible.
    """
    spent, text = positive(epsilon, "--epsilon"), " ".join(what.split())
    if not text:
        raise click.BadParameter("say what was released there", param_hint="--what")
    _change(file, population, lambda ledger, whose: ledger.external(whose, spent, text))


@ledger_command.command("join")
@_writable_option
@click.argument("population", metavar="ID")
@click.argument("other", metavar="OTHER")
@click.option(
    "--beforehand",
    is_flag=True,
    help="They are declared to be the same users; no ids were compared. Certificates state which.",
)
def join_command(file: Path | None, population: str, other: str, beforehand: bool) -> None:
    """Join two accounts permanently, because their users are the same.

    The amounts spent are added and the smaller limit applies, so that further releases may be
    impossible.
    """
    from explorer.release.ledger.state import JOINED_AFTER, JOINED_BEFORE

    how = JOINED_BEFORE if beforehand else JOINED_AFTER
    _change(file, population, lambda ledger, whose: ledger.join(whose, other, how))


@ledger_command.command("forget-ids")
@_writable_option
def forget_command(file: Path | None) -> None:
    """Delete the marks of ids seen in files that were opened.

    A release uses them to report to the curator which files opened before have the same ids.
    Entries, and how often files were opened, are kept.
    """
    from explorer.release.ledger import settings
    from explorer.release.ledger.known_data import forget_ids

    number = forget_ids(file or settings.default_ledger())
    click.echo(f"ids of {number} file{'s' * (number != 1)} forgotten")


def _change(
    file: Path | None, population: str | None, does: Callable[[Ledger, str], object]
) -> None:
    """Change an existing ledger and print the account's new balance."""
    from explorer.release.ledger import settings
    from explorer.release.ledger.ledger import Ledger

    path = file or settings.default_ledger()
    if not path.exists():
        raise click.ClickException(f"{path}: there is no ledger; 'ledger open' makes one")
    with Ledger(path, settings.machine_settings()) as ledger:
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


def _read(file: Path | None) -> tuple[View, str]:
    """Return a verified ledger, and the problem with it by this machine's settings, or ""."""
    from explorer.release.ledger import settings
    from explorer.release.ledger.ledger import behind
    from explorer.release.ledger.settings import ledger_heads
    from explorer.release.ledger.view import read_ledger

    path = file or settings.default_ledger()
    if not path.exists():
        raise click.ClickException(
            f"{path}: there is no ledger; 'privacy-explorer ledger open' makes one, --ledger FILE "
            "names another"
        )
    view = read_ledger(path)
    known = ledger_heads(settings.machine_settings()).get(view.id)
    # An earlier export is shorter, but no rollback.
    with open_regular(path) as start:
        stored = start.read(6) == b"SQLite"
    return view, behind(known, view.entries) if stored else ""


def positive(text: str, option: str = "--weekly") -> Fraction:
    """Parse a positive fraction given to an option."""
    from explorer.release.errors import ReleaseError
    from explorer.release.exact_json import read_fraction

    try:
        value = read_fraction(text, option)
    except ReleaseError as error:
        raise click.UsageError(str(error)) from None
    if not value:
        raise click.UsageError(f"{option}: give more than 0")
    return value


def _head(view: View) -> str:
    from explorer.release.ledger.chain import GENESIS

    return view.entries[-1].hash if view.entries else GENESIS


def _account_lines(view: View, account: Account, weekly: Fraction | None) -> Iterator[str]:
    from explorer.release.rounding import rounded_down, rounded_up

    unit = "ρ" if account.gate == "zcdp" else "ε"
    yield f"\nPopulation {account.population}: {account.label or 'no label'}"
    at = f", δ {account.delta}" if account.delta else ""
    yield (
        f"  gate {account.gate}, {unit} {rounded_down(account.budget)}{at}; "
        f"spent {rounded_up(account.spent)}, remaining {rounded_down(account.remaining)}"
    )
    largest = account.largest_fit()
    yield f"  would fit: ε ≤ {rounded_down(largest)}" if largest else "  nothing more fits"
    if account.joined != "no":
        yield f"  accounts joined: {account.joined}"
    for release in view.state.releases_of(account.population):
        epsilon = rounded_up(release.epsilon)
        yield (
            f"  {release.seq:>5}  {release.date}  {release.mechanism:<20}  ε {epsilon:<8}  "
            f"{release.state:<10}  {release.id}"
        )
    if weekly is not None:
        yield from _weekly_lines(account, weekly)


def _weekly_lines(account: Account, epsilon: Fraction) -> Iterator[str]:
    weekly = _weekly(account, epsilon)
    yield f"  every week ε {epsilon}: {weekly['fit']} more fit, and nothing refills the budget"
    yield f"  {'weeks':>7}  {'sum':>8}  zcdp at δ {weekly['delta']}"
    for row in weekly["adds_up_to"]:
        yield f"  {row['weeks']:>7}  {row['sum']:>8}  {row['zcdp']}"
    yield f"  zCDP is cheaper from {weekly['zcdp_pays_from']} releases on"


def _weekly(account: Account, epsilon: Fraction) -> dict[str, Any]:
    """Return the cumulative cost of weekly releases, and how many of them fit."""
    from explorer.privacy.releases.conversions import periodic_cost, zcdp_break_even
    from explorer.release.rounding import rounded_up

    delta = account.delta or Fraction(1, 1_000_000)
    each = epsilon**2 / 2 if account.gate == "zcdp" else epsilon
    return {
        "epsilon": str(epsilon),
        "fit": int(account.remaining / each),
        "delta": str(delta),
        "adds_up_to": [
            {
                "weeks": row.releases,
                "sum": rounded_up(row.sum_epsilon),
                "zcdp": rounded_up(row.zcdp_epsilon, 2),
            }
            for row in periodic_cost(epsilon, delta, (4, 52, 260))
        ],
        "zcdp_pays_from": zcdp_break_even(epsilon, delta),
    }


def _as_json(
    view: View, problem: str, all_entries: bool, weekly: Fraction | None
) -> dict[str, Any]:
    from explorer.release.exact_json import write_fraction

    return {
        "ledger": view.id,
        "problem": problem,
        "entries": [entry.as_json() for entry in view.entries]
        if all_entries
        else len(view.entries),
        "head": _head(view),
        "remarks": sorted(view.state.remarks),
        "populations": [
            {
                "id": account.population,
                "label": account.label,
                "gate": account.gate,
                "budget": write_fraction(account.budget),
                "delta": None if account.delta is None else write_fraction(account.delta),
                "spent": write_fraction(account.spent),
                "sum_epsilon": write_fraction(account.spent_epsilon),
                "sum_rho": write_fraction(account.spent_rho),
                "remaining": write_fraction(account.remaining),
                "largest_fit": write_fraction(account.largest_fit()),
                "joined": account.joined,
                "releases": [
                    {
                        "id": release.id,
                        "seq": release.seq,
                        "date": release.date,
                        "mechanism": release.mechanism,
                        "epsilon": write_fraction(release.epsilon),
                        "state": release.state,
                    }
                    for release in view.state.releases_of(account.population)
                ],
                **({"weekly": _weekly(account, weekly)} if weekly is not None else {}),
            }
            for account in view.state.accounts.values()
        ],
    }
