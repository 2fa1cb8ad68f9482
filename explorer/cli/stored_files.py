"""The commands `cache` and `fetch`: files that the program keeps and downloads."""

import sys
from pathlib import Path

import click


@click.group("cache")
def cache_command() -> None:
    """Show or clear the cache of check-in files and experiments."""


@cache_command.command("show")
def show_command() -> None:
    """Print the size and location of the cache."""
    from explorer.checkins import cache_use
    from explorer.checkins.memory import format_bytes
    from explorer.engine.experiments import trials_folder
    from explorer.engine.paths import checkins_cache

    folder = checkins_cache()
    use = cache_use(folder)
    click.echo(
        f"{format_bytes(use.size)} of {use.files:,} file{'s' * (use.files != 1)} in {folder}"
    )
    trial_bytes = sum(path.stat().st_size for path in trials_folder().iterdir())
    if trial_bytes:
        click.echo(f"{format_bytes(trial_bytes)} of experiments in {trials_folder()}")


@cache_command.command("clear")
def clear_command() -> None:
    """Clear the cache, except entries in use; the check-in files themselves are not touched."""
    from explorer.checkins import cache_size, clear_cache
    from explorer.checkins.memory import format_bytes
    from explorer.engine.experiments import clear_trials
    from explorer.engine.paths import checkins_cache

    folder = checkins_cache()
    freed, left = clear_cache(folder) + clear_trials(), cache_size(folder)
    stays = f"; {format_bytes(left)} in use stay" if left else ""
    click.echo(f"{format_bytes(freed)} freed{stays}")


@click.command("fetch")
@click.argument("source", metavar="gowalla|brightkite")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for the file. Default: the current folder.",
)
def fetch_command(source: str, folder: Path) -> None:
    """Download a public check-in file (SNAP), or continue an interrupted download."""
    from explorer.checkins.errors import FetchError
    from explorer.checkins.public_files import SOURCES, fetch_source, preset

    def show(here: int, whole: int | None) -> None:
        share = f" of {whole / 1e6:.1f}" if whole else ""
        print(f"\r\x1b[K{here / 1e6:.1f}{share} MB", end="", file=sys.stderr, flush=True)

    on_terminal = sys.stderr.isatty()
    try:
        got = fetch_source(source, folder, progress=show if on_terminal else None)
    except FetchError as error:
        raise ValueError(str(error)) from error
    finally:
        if on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    how = "the hash recorded before agrees" if got.verified else "hash recorded for later calls"
    p = preset(source)
    click.echo(f"{got.path}: {got.size:,} bytes, sha256 {got.sha256} ({how})")
    click.echo(f"please cite: {SOURCES[source].citation}")
    click.echo(
        f"the heatmap paper's part of it ({p.name}; it reports {p.expected_rows:,} check-ins of "
        f"{p.expected_users:,} users): privacy-explorer heatmap {got.path} --preset {source}"
    )
