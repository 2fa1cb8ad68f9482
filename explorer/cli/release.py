"""The command `release`: draws a planned release, or resumes, gives back and withdraws one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.opening import public_prior, release_prior_option
from explorer.cli.options import check_folder
from explorer.cli.running import report_written

if TYPE_CHECKING:
    from fractions import Fraction

    from explorer.release.ledger.ledger import Ledger
    from explorer.release.mechanisms.adaptive import PriorMasses, PriorSource
    from explorer.release.outputs import OutputDocument
    from explorer.release.pipeline import LedgerLocation
    from explorer.release.plan import Plan
    from explorer.release.simulations import SimulationOnlyError


@click.command("release")
@click.argument("plan_file", type=click.Path(path_type=Path), metavar="PLAN.json")
@click.option(
    "--spend",
    metavar="P/Q",
    help="Draw, and spend this price, a fraction or a decimal. Without it the price, readable "
    "rows, known ids and overlaps are printed, and nothing is drawn.",
)
@release_prior_option
@click.option(
    "--prior-label",
    "labels",
    multiple=True,
    metavar="TEXT",
    help="What a file of --prior is called in the certificate, for each file in their order; "
    "unless the plan names its public maps itself.",
)
@click.option(
    "--ledger",
    "ledger_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The ledger. Default: the one in the user's data folder.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Output file: .json (the stored numbers), .csv or .geojson (computed from them). Default: "
    "release-ID.json. The certificate is written next to it, as NAME.certificate.json.",
)
@click.option(
    "--resume",
    metavar="ID",
    help="Continue an interrupted release: draw it if it was not drawn yet; otherwise write its "
    "output again, at no cost.",
)
@click.option(
    "--give-back", metavar="ID", help="Return the budget of a release that was not drawn."
)
@click.option(
    "--withdraw", metavar="ID", help="Record that an output is not published; its cost stays spent."
)
@click.option(
    "--rehearse",
    type=click.IntRange(1, 1_000_000),
    metavar="USERS",
    help="Draw for this number of synthetic users. The data file is not read, no budget is spent "
    "and nothing is released.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="For the curator only: print how many ids of the file are known in other populations. "
    "Nothing is drawn.",
)
def release_command(
    plan_file: Path,
    spend: str | None,
    priors: tuple[tuple[str, str], ...],
    labels: tuple[str, ...],
    ledger_file: Path | None,
    out: Path | None,
    resume: str | None,
    give_back: str | None,
    withdraw: str | None,
    rehearse: int | None,
    compare: bool,
) -> int:
    """Release statistics of real users, as declared in PLAN.json.

    The numbers are drawn with exact noise in a separate process, stored in the ledger, and written
    with their certificate. Spent budget is never returned. For local and shuffle protocols, and
    noise in floating point, only a document stamped "simulation" is written. Exit code 0: released;
    1: refused or failed; 2: wrong options.
    """
    from explorer.release.ledger import settings
    from explorer.release.outputs import writer_for
    from explorer.release.pipeline import LedgerLocation
    from explorer.release.plan import read_plan
    from explorer.release.simulations import SimulationOnlyError

    modes = {
        "--spend": spend,
        "--give-back": give_back,
        "--withdraw": withdraw,
        "--rehearse": rehearse,
        "--compare": compare or None,
    }
    given = [name for name, value in modes.items() if value is not None]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} don't go together")
    if out is not None:
        writer_for(out)
        check_folder(out, "--out")
    try:
        plan = read_plan(plan_file)
    except SimulationOnlyError as error:
        return _write_simulation(error, out or Path(plan_file.name))
    location = LedgerLocation(ledger_file or settings.default_ledger(), settings.default_settings())
    draws = resume is None and give_back is None and withdraw is None and not compare
    if draws:
        plan = _with_priors(plan, priors, labels, location)
    elif priors or labels:
        raise click.UsageError("--prior is only for a new release or a rehearsal: a plan keeps it")
    if rehearse is not None:
        return _rehearse(plan, rehearse, out)
    if not location.ledger.exists():
        raise click.ClickException(
            f"{location.ledger}: there is no ledger; open a population first, or give --ledger"
        )
    if give_back is not None or withdraw is not None:
        return _end(location, give_back, withdraw)
    if compare:
        return _compare(location, plan)
    return _release(location, plan, spend, resume, out)


def _with_priors(
    plan: Plan,
    typed: tuple[tuple[str, str], ...],
    labels: tuple[str, ...],
    location: LedgerLocation,
) -> Plan:
    """Return the plan with its public maps: those of --prior, or those without a file it names."""
    from explorer.release.mechanisms.adaptive import CITIES, EARLIER, priors_in
    from explorer.release.priors import with_priors

    stated = priors_in(plan.own_parameters)
    if not typed and not labels:
        if not stated or any(prior.label for prior in stated):
            return plan  # a file may be stored with a plan that was entered
        typed = tuple((prior.kind, "" if prior.kind == CITIES else prior.key) for prior in stated)
    plan = with_priors(plan, (), ())  # refuses a mechanism that takes none
    files = [kind for kind, _ in typed if kind not in (CITIES, EARLIER)]
    names = {(prior.kind, prior.key): prior for prior in stated}
    if not stated and len(labels) != len(files):
        raise click.UsageError(
            f"--prior names {len(files)} files and --prior-label {len(labels)}: give each file a "
            "name for the certificate"
        )
    if stated and labels:
        raise click.UsageError("the plan names its public maps itself: leave out --prior-label")
    left, found = list(labels), {}
    for kind, rest in typed:
        has_label = kind in files and not stated
        prior, given = _prior(plan, kind, rest, left.pop(0) if has_label else "", location)
        if stated and (prior.kind, prior.key) not in names:
            raise click.ClickException(
                f"--prior: the plan does not name {prior.kind}:{prior.key}; its public maps are "
                f"{', '.join(names[key].text for key in names)}"
            )
        found[names.get((prior.kind, prior.key), prior)] = given
    if missing := [prior.text for prior in stated if prior not in found]:
        raise click.ClickException(f"--prior: {missing[0]} of the plan is missing; give it too")
    ordered = stated or tuple(found)
    return with_priors(plan, ordered, tuple(found[prior] for prior in ordered))


def _prior(
    plan: Plan, kind: str, rest: str, label: str, location: LedgerLocation
) -> tuple[PriorSource, PriorMasses]:
    """Return the declaration of a public map, and what it holds on the plan's cells."""
    from explorer import __version__
    from explorer.engine.release_priors import earlier_map
    from explorer.release.content_hash import unpacked_sha256
    from explorer.release.mechanisms.adaptive import CITIES, EARLIER, PriorSource
    from explorer.release.priors import check_releases, degrees_of

    own = plan.own_parameters
    if kind == EARLIER:
        source = PriorSource.parse(f"{kind}:{rest}")
        if not location.ledger.exists():
            raise click.ClickException(f"{location.ledger}: there is no ledger with release {rest}")
        with location.open() as ledger:
            check_releases(ledger.state(), plan.population, plan.epsilon, (source,))
            return source, earlier_map(ledger, rest, own.area, own.level)
    given = public_prior(kind, rest, degrees_of(own.area), own.level)
    if kind == CITIES:
        return PriorSource(CITIES, __version__), given
    key = unpacked_sha256(Path(rest))
    return (PriorSource.parse(f"{kind}:{key}:{label}") if label else PriorSource(kind, key)), given


def _compare(location: LedgerLocation, plan: Plan) -> int:
    """Print how many ids of the file are known in other populations."""
    from explorer.release.subprocess_runner import compare_in_subprocess

    result = compare_in_subprocess(location, plan)
    for population, number in result.items():
        click.echo(
            f"Curator only: {number:,} ids of this file are known in population {population}. If "
            "they are the same people, join the two, or what is promised to them does not hold."
        )
    if not result:
        click.echo("Curator only: no id of this file is known in another population.")
    return 0


def _release(
    location: LedgerLocation, plan: Plan, spend: str | None, resume: str | None, out: Path | None
) -> int:
    """Draw the release if it is not drawn, then write output and certificate."""
    from explorer.release.errors import RefusedError
    from explorer.release.messages import (
        price_text,
        priors_text,
        refusal_text,
        result_text,
        shared_lines,
        zone_text,
    )
    from explorer.release.outputs import OutputDocument
    from explorer.release.pipeline import find_or_plan_release, publish, resume_plan
    from explorer.release.priors import check_priors, stored_priors
    from explorer.release.subprocess_runner import draw_in_subprocess

    with location.open() as ledger:
        for notice in ledger.notices:
            click.echo(notice, err=True)
        state, typed = "planned", plan.epsilon
        if resume is not None:
            state, plan = ledger.release(resume).state, resume_plan(ledger, resume, plan)
        if state in ("planned", "reserved"):
            check_priors(ledger, plan)
            account = ledger.account(plan.population)
            earlier = ledger.view().state.releases_of(plan.population)
            known = [price_text(plan, account), *shared_lines(plan, earlier)]
            known += filter(None, [zone_text(plan), priors_text(plan)])
            if spend is None:
                _print_for_curator(known, location, plan, resume or "")
                raise click.UsageError(f"give --spend {_fraction(plan)} to draw it")
            _check_spend(spend, plan, typed)
            _print_unfinished(ledger, resume)
            try:
                release = resume or find_or_plan_release(ledger, plan)
            except RefusedError as error:
                raise click.ClickException(refusal_text(plan, error)) from None
        else:
            release = str(resume)
    if state in ("planned", "reserved"):
        _print_for_curator(known, location, plan, release, err=True)
        draw_in_subprocess(location, plan, release)
    with location.open() as ledger:
        plan = stored_priors(ledger, release, plan)
        certificate = publish(ledger, plan, release)
        stored = ledger.output(release)
    target = out or Path(f"release-{release}.json")
    _write(target, OutputDocument(plan, stored, f"certificate {release}"))
    _write_certificate(target, certificate)
    click.echo(result_text(plan))
    click.echo(release)
    return 0


def _print_for_curator(
    known: list[str], location: LedgerLocation, plan: Plan, release: str, *, err: bool = False
) -> None:
    """Print price, file check and overlaps for the curator. Nothing is refused because of them."""
    from explorer.release.errors import ReleaseError
    from explorer.release.messages import check_lines
    from explorer.release.subprocess_runner import check_in_subprocess

    price, *shared = known
    try:
        result = check_lines(check_in_subprocess(location, plan, release))
    except ReleaseError as error:
        result = [f"the file was not checked: {error}"]
    for line in (price, *result, *shared):
        end = "" if line[-1] in ".?!" else "."
        click.echo(f"Curator only: {line}{end}", err=err)


def _check_spend(spend: str, plan: Plan, typed: Fraction) -> None:
    """Raise an error unless the text equals the price, or the ε in PLAN.json."""
    from explorer.release.errors import ReleaseError
    from explorer.release.exact_json import read_amount

    try:
        given = read_amount(spend, "--spend")
    except ReleaseError as error:
        raise click.UsageError(str(error)) from None
    if given not in (plan.epsilon, typed):
        raise click.ClickException(
            f"--spend: {spend} is not the price; this plan costs {_fraction(plan)}"
        )


def _end(location: LedgerLocation, give_back: str | None, withdraw: str | None) -> int:
    """Give a release back, or withdraw it."""
    with location.open() as ledger:
        if give_back is not None:
            ledger.abandon(give_back)
            click.echo("Given back: nothing was drawn, and nothing is spent.")
        elif withdraw is not None:
            ledger.withdraw(withdraw)
            click.echo("Withdrawn. What it cost stays spent.")
    return 0


def _write_simulation(error: SimulationOnlyError, beside: Path) -> int:
    """Write the document of a simulation, and name the release to plan instead."""
    from explorer.files import write_whole

    target = beside.with_name(f"{beside.stem}.simulation.json")
    write_whole(target, f"{json.dumps(error.document, indent=1, ensure_ascii=False)}\n".encode())
    report_written(target)
    raise click.ClickException(str(error))


def _rehearse(plan: Plan, users: int, out: Path | None) -> int:
    """Draw on synthetic users and write the output."""
    from explorer.release.dry_run import STAMP, dry_run
    from explorer.release.outputs import OutputDocument

    output = dry_run(plan, users)
    target = out or Path("rehearsal.csv")
    if target.suffix.lower() == ".json":
        raise click.UsageError("a rehearsal is written as .csv or .geojson, which say what it is")
    _write(target, OutputDocument(plan, output.stored, STAMP))
    click.echo(f"{STAMP[0].upper()}{STAMP[1:]}.")
    return 0


def _write(target: Path, written: OutputDocument) -> None:
    from explorer.files import write_whole
    from explorer.release.outputs import writer_for

    write_whole(target, writer_for(target)(written))
    report_written(target)


def _write_certificate(target: Path, certificate: dict[str, Any]) -> None:
    """Write the certificate next to the output: the exact bytes whose hash the ledger has."""
    from explorer.files import write_whole
    from explorer.release.exact_json import canonical

    path = target.with_name(f"{target.stem}.certificate.json")
    write_whole(path, canonical(certificate))
    report_written(path)


def _print_unfinished(ledger: Ledger, resumed: str | None) -> None:
    """Print interrupted releases and the options to finish them."""
    for one in ledger.releases():
        if one.id == resumed or one.state not in ("reserved", "committed"):
            continue
        if one.state == "reserved":
            text = f"Prepared, not drawn: give --resume {one.id}, or --give-back {one.id}."
        else:
            text = f"Finished, not published: give --resume {one.id}, or --withdraw {one.id}."
        click.echo(text, err=True)


def _fraction(plan: Plan) -> str:
    from explorer.release.exact_json import write_fraction

    return write_fraction(plan.epsilon)
