"""The command `verify`: checks a certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from explorer.cli.options import check_folder
from explorer.cli.running import report_written
from explorer.files import file_sha256, read_bounded

if TYPE_CHECKING:
    from explorer.release.certificate.verify import VerificationReport

MAX_OUTPUT_BYTES = 1_000_000_000

_file = click.Path(path_type=Path, dir_okay=False)


@click.command("verify")
@click.argument("certificate", type=_file, metavar="CERT")
@click.option(
    "--ledger",
    type=_file,
    metavar="FILE",
    help="Its ledger, or an export: verifies chain, gates and every number against the entries.",
)
@click.option(
    "--data",
    type=_file,
    metavar="FILE",
    help="The data file: verifies the keyed tag, which requires the ledger with its key.",
)
@click.option(
    "--also",
    type=_file,
    metavar="CERT",
    help="Another certificate of the ledger, to detect a fork.",
)
@click.option(
    "--output",
    type=_file,
    metavar="FILE.json",
    help="The released numbers, if the certificate does not contain them.",
)
@click.option(
    "--registry",
    type=_file,
    metavar="FILE.yaml",
    help="If the certificate is valid, write an entry for the registry of deployments.",
)
@click.option(
    "--sector", default="", help="Sector for the registry: Technology, Healthcare, Government …"
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def verify_command(
    certificate: Path,
    ledger: Path | None,
    data: Path | None,
    also: Path | None,
    output: Path | None,
    registry: Path | None,
    sector: str,
    as_json: bool,
) -> int:
    """Verify a certificate. Exit code 0: valid; 1: invalid, with the reason.

    Its form, sums, budget, error and output are recomputed. Declarations of the curator can't be
    verified by a program; the certificate marks them.
    """
    from explorer.release.certificate.registry import registry_yaml
    from explorer.release.certificate.schema import read_certificate
    from explorer.release.certificate.verify import VerificationReport, verify
    from explorer.release.errors import ReleaseError
    from explorer.release.ledger.view import read_ledger

    check_folder(registry, "--registry")
    try:
        read = read_certificate(certificate)
        view = None if ledger is None else read_ledger(ledger)
        other = None if also is None else read_certificate(also)
    except ReleaseError as error:
        return _print_report(str(error), VerificationReport(), as_json)
    report = verify(
        read,
        view,
        None if data is None else file_sha256(data),
        other,
        None if output is None else read_bounded(output, MAX_OUTPUT_BYTES),
    )
    failure = f"{certificate.name}: {report.failure}" if report.failure else ""
    if registry is not None and not failure:
        from explorer.files import write_whole

        write_whole(registry, registry_yaml(read, sector=sector).encode())
        report_written(registry)
    return _print_report(failure, report, as_json)


def _print_report(failure: str, report: VerificationReport, as_json: bool) -> int:
    """Print the result of a verification and return the exit code."""
    if as_json:
        result = {
            "valid": not failure,
            "failure": failure,
            "checked": report.checked,
            "notes": report.notes,
            "later": report.later,
        }
        click.echo(json.dumps(result, indent=2, ensure_ascii=False))
        return 1 if failure else 0
    for name in report.checked:
        click.echo(f"holds: {name}")
    for note in report.notes:
        click.echo(f"not checked: {note}")
    for note in report.later:
        click.echo(f"later: {note}")
    if failure:
        raise click.ClickException(failure)
    click.echo("The certificate is what it says.")
    return 0
