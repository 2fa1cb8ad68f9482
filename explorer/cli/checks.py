"""The commands `check` and `errata`: what the program's numbers were held against."""

import json
import textwrap
from contextlib import ExitStack
from dataclasses import asdict

import click


@click.command("check")
@click.option(
    "--runs",
    type=click.IntRange(0, 10_000_000),
    default=4000,
    show_default=True,
    help="Runs of every audit on each of two neighbouring data sets; 0 for no audits.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the audits.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def check_command(runs: int, seed: int, as_json: bool) -> int:
    """Check this installation: its numbers and its mechanisms.

    It reproduces golden values, enumerates small cases, compares lower with upper bounds, and
    audits mechanisms on two neighbouring data sets. The exit code is 1 if a check fails.
    """
    from explorer.cli.running import open_host
    from explorer.engine.compute_tasks import SelfCheck, SelfCheckProgress, run_self_check
    from explorer.studies.guarantees.checks import NOTE

    def say(so_far: SelfCheckProgress) -> None:
        if not as_json:
            item = so_far.found[-1]
            click.echo(f"{'✓' if item.passed else '✗'} {item.group}: {item.name}: {item.said}")

    with ExitStack() as stack:
        host = open_host(stack)
        checks = run_self_check(host, SelfCheck(runs, seed), lambda: None, say).found
    failed = sum(not item.passed for item in checks)
    if as_json:
        click.echo(json.dumps([asdict(item) for item in checks], ensure_ascii=False, indent=1))
    else:
        click.echo(f"{len(checks) - failed} of {len(checks)} passed. {NOTE}")
    return int(failed > 0)


def _labels(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    from explorer.studies.errata import errata

    return [label for label in errata() if label.startswith(begun)]


@click.command("errata")
@click.argument("labels", metavar="[LABEL]…", nargs=-1, shell_complete=_labels)
def errata_command(labels: tuple[str, ...]) -> None:
    """Show an erratum: printed text, correction and reason; without a LABEL, list all."""
    from explorer.studies.errata import errata

    known = errata()
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(
            f"there is no erratum {', '.join(unknown)}; 'privacy-explorer errata' lists them"
        )
    if not labels:
        click.echo("\n".join(f"{e.label:9} {e.title}" for e in known.values()))
    for place, label in enumerate(labels):
        item = known[label]
        lines = ["" for _ in range(min(place, 1))] + [f"{item.label} · {item.title}"]
        for name, sections in (("Printed", item.printed), ("Right", item.right), ("Why", item.why)):
            lines += textwrap.wrap(
                f"{name}: {sections}", 88, initial_indent="  ", subsequent_indent="    "
            )
        click.echo("\n".join(lines))
