"""Priors between studies and releases: released maps for studies, public files for releases.

A study reads files alone, and knows a release by the name of its file, which states its id and ε.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from explorer.engine.paths import cache_folder
from explorer.engine.runtime import StudyRuntime, typed_value
from explorer.files import private_folder, write_whole
from explorer.geography.region import Region
from explorer.release.content_hash import file_digests
from explorer.release.errors import LedgerError, ParameterError
from explorer.release.ledger import settings
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.adaptive import CITIES, EARLIER, PriorMasses, PriorSource
from explorer.release.mechanisms.fields import Area
from explorer.release.pipeline import DECLARED, LedgerLocation, load_plan
from explorer.release.priors import (
    RELEASED,
    check_releases,
    released_grid,
    released_masses,
    total_epsilon,
)
from explorer.release.rounding import rounded_up
from explorer.studies.base.study import Value, parameter
from explorer.studies.heatmap.mechanisms import PRIORS, EarlierRelease
from explorer.studies.heatmap.priors import priors_of
from explorer.studies.registry import get_study
from explorer.user_rows import Box


def usable_releases(
    ledger_file: Path | None, data: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return id and description of the releases that can complete a map, the newest first.

    Parameters
    ----------
    ledger_file : Path or None
        None for the user's own ledger; without that there is no release.
    data : iterable of str
        SHA-256 of the files of the map's check-ins. Where the ledger knows whose they are, releases
        about other people are left out.

    Raises
    ------
    ReleaseError
        If there is no ledger at `ledger_file`, or it can't be read.
    """
    if ledger_file is None and not settings.default_ledger().exists():
        return ()
    with _opened(ledger_file) as ledger:
        usable = []
        for release in reversed(ledger.releases()):
            try:
                _check(ledger, release, data)
            except ParameterError:
                continue
            stated = ledger.attachment(release.id, DECLARED) or {}
            parts = (
                " ".join(str(stated.get("title", "")).split()) or "Release",
                release.date[:10],
                f"ε = {rounded_up(release.epsilon)}",
                f"{release.id[:8]}…",
            )
            usable.append((release.id, ", ".join(parts)))
        return tuple(usable)


def write_release(
    ledger_file: Path | None, release: str, data: Iterable[str] = (), folder: Path | None = None
) -> Path:
    """Write the map of a release as a file for studies; return its path.

    Parameters
    ----------
    ledger_file, data
        As `usable_releases`.
    release : str
        Its id.
    folder : Path, optional
        Default: the user's cache.

    Raises
    ------
    ReleaseError
        If it is not in the ledger or can't complete this map: naming the problem and a remedy.
    OSError
        If the file can't be written.
    """
    with _opened(ledger_file) as ledger:
        state = ledger.state()
        if release not in state.releases:
            raise ParameterError(
                "priors",
                f"release {release} is not in this ledger",
                "choose another release or ledger",
            )
        earlier = ledger.release(release)
        _check(ledger, earlier, data)
        own = load_plan(ledger, release).own_parameters
        grid = released_grid(earlier, ledger.output(release), own)
        named = EarlierRelease(release, earlier.epsilon, total_epsilon(state, release))
    path = (folder or private_folder(cache_folder() / "released", disposable=True)) / named.name
    write_whole(path, grid.to_bytes(), private=True)
    return path


def public_map(
    runtime: StudyRuntime, subject: tuple[str, str, Box, int], check: Callable[[], None]
) -> PriorMasses:
    """Return what a public file, or the bundled cities, put into the cells of a release's map.

    Parameters
    ----------
    runtime : StudyRuntime
        Opens the file.
    subject : (str, str, Box, int)
        Kind of the prior, not a release; path of the file, "" for cities; box in degrees; ℓ of the
        2^ℓ × 2^ℓ cells.
    check : callable
        Raises `Cancelled` when the work is no longer wanted.

    Raises
    ------
    OSError
        If the file can't be read.
    ValueError
        If it is no such file, or has no mass in the box.
    """
    kind, path, box, level = subject
    values: dict[str, Value] = {**dict.fromkeys(PRIORS, ""), "prior_cities": kind == CITIES}
    if kind != CITIES:
        declared = parameter(get_study("heatmap"), f"prior_{kind}")
        values[declared.key] = typed_value(runtime, declared, path)
    (prior,) = priors_of(values, Region(*box), level, runtime.context(check))
    content = file_digests(Path(path))[1] if path else ""
    return PriorMasses(prior.masses, content)


def earlier_map(ledger: Ledger, release: str, area: Area, level: int) -> PriorMasses:
    """Return what an earlier release puts into the cells of a release's map.

    Raises
    ------
    ReleaseError
        If it covers less than half of the map, or has nobody there.
    """
    own = load_plan(ledger, release).own_parameters
    earlier, output = ledger.release(release), ledger.output(release)
    return PriorMasses(released_masses(earlier, output, own, area, 1 << level))


def _opened(ledger_file: Path | None) -> Ledger:
    location = LedgerLocation(ledger_file or settings.default_ledger(), settings.default_settings())
    if not location.ledger.exists():
        raise LedgerError(f"{location.ledger}: there is no ledger; name another one")
    return location.open()


def _check(ledger: Ledger, release: Release, data: Iterable[str]) -> None:
    """Check the rules for a release that completes a map of some files; raises ParameterError.

    Its ε is compared where that of the map is known.
    """
    state = ledger.state()
    whose = {people for one in data for people in ledger.known.populations(one, "")}
    if release.state not in RELEASED:
        whose = set()  # it may have no population: the state is the reason
    for people in whose or {release.population}:
        check_releases(state, people, release.epsilon, (PriorSource(EARLIER, release.id),))
