"""How much memory opening check-ins may use, as an option."""

import re

import click

LEAST_MEMORY = 500_000_000


def parse_memory(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> int | None:
    """Return bytes from ``2GB`` or ``900MB`` (an option's callback)."""
    if raw is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*", raw, re.IGNORECASE | re.ASCII)
    size = float(found[1]) * 1000 ** (1 + "KMGT".index(found[2].upper())) if found else 0
    if size < LEAST_MEMORY:
        raise click.BadParameter(f"{raw!r} is not a size of 500MB or more, such as 2GB")
    return round(size)


memory_option = click.option(
    "--memory",
    callback=parse_memory,
    metavar="SIZE",
    help="Memory that opening check-ins may use, e.g. 2GB; more rows than it holds are sorted on "
    "the disk first. Default: a quarter of what is free, at most 8GB.",
)
