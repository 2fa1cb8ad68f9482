"""Earlier releases of a ledger as priors of the map: which can be used, and their maps as files.

A study reads files alone, and knows a release by the name of its file, which states its id and ε.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from explorer.engine.paths import cache_folder
from explorer.files import private_folder, write_whole
from explorer.release.errors import LedgerError, ParameterError
from explorer.release.ledger import settings
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.adaptive import EARLIER, PriorSource
from explorer.release.pipeline import DECLARED, LedgerLocation, load_plan
from explorer.release.priors import RELEASED, check_releases, released_grid, total_epsilon
from explorer.release.rounding import rounded_up
from explorer.studies.heatmap.mechanisms import EarlierRelease


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
