"""The command `fetch`: downloads public check-in files."""

import sys
from pathlib import Path

import click


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
