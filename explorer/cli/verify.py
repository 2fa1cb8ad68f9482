"""The command `verify`: checks a certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.opening import public_prior, release_prior_option
from explorer.cli.options import check_folder
from explorer.cli.running import report_written
from explorer.files import file_sha256, read_bounded

if TYPE_CHECKING:
    from explorer.privacy.core.bound import FloatArray
    from explorer.release.certificate.verify import VerificationReport
    from explorer.release.ledger.view import View

MAX_OUTPUT_BYTES = 1_000_000_000

_file = click.Path(path_type=Path, dir_okay=False)


@click.command("verify")
@click.argument("certificate", type=_file, metavar="CERT")
@click.option(
    "--ledger",
    type=_file,
    metavar="FILE",
    help="Ledger of the certificate, or an export: verifies the chain, the gates and every number "
    "against the entries.",
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
@release_prior_option
@click.option(
    "--map",
    "map_file",
    type=_file,
    metavar="FILE",
    help="The map exported as .csv, .geojson or .tif: with --prior, the weights of the public maps "
    "that it states are recomputed.",
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
    priors: tuple[tuple[str, str], ...],
    map_file: Path | None,
    registry: Path | None,
    sector: str,
    as_json: bool,
) -> int:
    """Verify a certificate. Exit code 0: valid; 1: invalid, with the reason.

    The program checks its form and recomputes sums, budget, error and output. Declarations of the
    curator can't be verified by a program; they are marked in the certificate.
    """
    from explorer.release.certificate.registry import registry_yaml
    from explorer.release.certificate.schema import read_certificate
    from explorer.release.certificate.verify import PublicMaps, VerificationReport, verify
    from explorer.release.errors import ReleaseError
    from explorer.release.ledger.view import read_ledger
    from explorer.release.outputs import read_prior_weights

    check_folder(registry, "--registry")
    if map_file is not None and not priors:
        raise click.UsageError("--map is compared with what the files of --prior give: give them")
    try:
        read = read_certificate(certificate)
        view = None if ledger is None else read_ledger(ledger)
        other = None if also is None else read_certificate(also)
        public = None
        if priors:
            shown = None if map_file is None else read_bounded(map_file, MAX_OUTPUT_BYTES)
            weights = None if shown is None else read_prior_weights(shown)
            public = PublicMaps(_public_maps(read, view, priors), weights)
    except ReleaseError as error:
        return _print_report(str(error), VerificationReport(), as_json)
    report = verify(
        read,
        view,
        None if data is None else file_sha256(data),
        other,
        None if output is None else read_bounded(output, MAX_OUTPUT_BYTES),
        public,
    )
    failure = f"{certificate.name}: {report.failure}" if report.failure else ""
    if registry is not None and not failure:
        from explorer.files import write_whole

        write_whole(registry, registry_yaml(read, sector=sector).encode())
        report_written(registry)
    return _print_report(failure, report, as_json)


def _public_maps(
    certificate: dict[str, Any], view: View | None, priors: tuple[tuple[str, str], ...]
) -> dict[tuple[str, str], FloatArray]:
    """Return what public maps hold on the cells of a certificate's release, by kind and key.

    Those of an earlier release's own public maps serve to make its map.

    Raises
    ------
    ReleaseError
        If the release takes none, one is of neither release, or an earlier release is not in the
        ledger.
    """
    from explorer import __version__
    from explorer.release.errors import ReleaseError
    from explorer.release.exact_json import read_json
    from explorer.release.mechanisms import mechanism_of
    from explorer.release.mechanisms.adaptive import CITIES, EARLIER, PriorMasses, priors_in
    from explorer.release.priors import degrees_of, released_masses

    keys = {
        (kind, rest if kind == EARLIER else __version__ if kind == CITIES else _hash(rest)): rest
        for kind, rest in priors
    }
    unused = set(keys)

    def on_cells(own: Any, later: tuple[str, ...] = ()) -> dict[tuple[str, str], FloatArray]:
        found = {}
        for prior in priors_in(own):
            at = prior.kind, prior.key
            if at not in keys:
                continue  # named by the verification, or where an earlier map is made
            unused.discard(at)
            if prior.kind == EARLIER:
                found[at] = earlier_map(prior.key, own, later)
            else:
                box = degrees_of(own.area)
                found[at] = public_prior(prior.kind, keys[at], box, own.level).masses
        return found

    def earlier_map(release: str, own: Any, later: tuple[str, ...]) -> FloatArray:
        data = None if view is None else view.outputs.get(release)
        if view is None or data is None:
            raise ReleaseError(
                f"--prior: the numbers of release {release} are not here; give --ledger with the "
                "ledger itself"
            )
        if release in later:
            raise ReleaseError(f"priors: release {release} can't complete its own map")
        earlier = view.state.release(release)
        known = mechanism_of(earlier.mechanism).parse(earlier.parameters or {})
        maps = on_cells(known, (*later, release))
        if priors_in(known) and len(maps) == len(priors_in(known)):
            known = known.with_given(tuple(map(PriorMasses, maps.values())))
        output = read_json(data, f"release {release}")
        return released_masses(earlier, output, known, own.area, 1 << own.level)

    mechanism = certificate["mechanism"]
    result = on_cells(mechanism_of(mechanism["id"]).parse(mechanism["parameters"]))
    if unused:
        raise ReleaseError(f"--prior: {':'.join(min(unused))} is not a map of this certificate")
    return result


def _hash(path: str) -> str:
    """Return the SHA-256 of a public file's unpacked bytes."""
    from explorer.release.content_hash import unpacked_sha256

    try:
        return unpacked_sha256(Path(path))
    except OSError as error:
        raise click.BadParameter(f"{path}: {error.strerror}", param_hint="--prior") from error


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
