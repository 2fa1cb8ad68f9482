"""The command `users`: runs the algorithms for users' data on a file, or compares two files."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.cli.options import check_folder
from explorer.cli.running import compute, open_host
from explorer.csv_rows import CsvRows

if TYPE_CHECKING:
    from explorer.engine.runtime import StudyRuntime
    from explorer.studies.base.study import Request, Result

_QUANTITIES = {"1": "mean", "2": "shares"}


@click.command("users")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--second",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Second data set of the same users: print how far each user's data moved, and the "
    "guarantee of α.",
)
@click.option(
    "--algorithm",
    type=click.Choice(sorted(_QUANTITIES)),
    default="2",
    show_default=True,
    help="Algorithm 2 answers item by item, 1 releases an average. For Algorithm 3, which samples "
    "items first, add --set sizes=drawn.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the study users-data: the space, model, alpha …",
)
@click.option(
    "--seed",
    type=int,
    help="Seed of a repeatable demonstration. Default: the system's random source.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.csv",
    help="Write the released answers.",
)
def users_command(
    file: Path,
    second: Path | None,
    algorithm: str,
    settings: tuple[str, ...],
    seed: int | None,
    output: Path | None,
) -> None:
    """Run Algorithms 1 to 3 on users' data, FILE with one item a line: user,item or user,x,y.

    For example: privacy-explorer users places.csv --set space_cells=8 --set space_side=20
    --set alpha=20 --output answers.csv

    With --second two data sets of the same users are compared. The printed numbers are for the
    curator only. All parameters: privacy-explorer bounds users-data --help
    """
    from explorer.cli.bounds import bounds_request
    from explorer.files import write_whole
    from explorer.studies.registry import get_study

    if output is not None:
        if second is not None or output.suffix != ".csv":
            why = "a comparison writes none" if second is not None else "name a file .csv"
            raise click.BadParameter(why, param_hint="--output")
        check_folder(output, "--output")
    study = get_study("users-data")
    files = [f"users={file}"] + ([] if second is None else [f"second={second}"])
    with ExitStack() as stack:
        host = open_host(stack)
        quantity = "found_out" if second is not None else _QUANTITIES[algorithm]
        if second is not None:
            files.append(f"promise={'itemwise' if algorithm == '2' else 'linear'}")
        request = bounds_request(host, study, [*settings, *files], quantity, None)
        request = replace(request, seed=seed or 0)
        rows = None
        if second is None:
            # Drawn before the seeded result, on which the answers must not depend.
            rows = _rows(host, request, algorithm == "2", seed is None)
        result = compute(host, request)
    if output is not None:  # the answers written are of another draw than the one computed here
        from explorer.studies.users_data.algorithms import OF_ONE_DRAW

        readouts = tuple(one for one in result.readouts if one.key not in OF_ONE_DRAW)
        result = replace(result, readouts=readouts)
    click.echo(_as_text(result))
    if output is not None and rows is not None:
        text = io.StringIO()
        text.write(f"# {result.stamp}\n")
        CsvRows(text).write_rows([rows[0], *rows[1]])
        write_whole(output, text.getvalue().encode())
        click.echo(f"written: {output}", err=True)


def _rows(
    host: StudyRuntime, request: Request, item_wise: bool, system: bool
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the rows of answers of one draw, computed in this process."""
    from explorer.privacy.noise.bits import SystemBits
    from explorer.studies.users_data.algorithms import answer_rows
    from explorer.studies.users_data.inputs import Inputs

    here: Any = _InProcess(host)
    return answer_rows(Inputs(request, here, SystemBits() if system else None), item_wise)


class _InProcess:
    """Study runtime that computes in this process, so that no draw is sent to another one."""

    def __init__(self, host: StudyRuntime) -> None:
        self.file = host.file

    def check(self) -> None:
        """Never cancel."""

    def checkins_of_file(self, value: str, *, public: bool = False) -> Any:
        """Refuse: answers are drawn exactly in spaces of finitely many items only."""
        raise ValueError(
            f"{value.partition('#')[0]}: answers on the Earth are not drawn exactly; use bounds "
            "users-data instead of users"
        )

    def run_in_worker(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Return what the function gives."""
        return function(*args)

    def cached(self, _key: object, make: Callable[[], Any]) -> Any:
        """Return what is made."""
        return make()


def _as_text(result: Result) -> str:
    """Return tables, numbers, guarantee and notes of a result as text."""
    from explorer.figures.table_copy import format_table
    from explorer.studies.base.numbers import format_number

    parts = [
        format_table(t.columns, t.rows, "markdown", t.title, t.note, t.roles) for t in result.tables
    ]
    numbers = [
        f"{r.label}: {r.role.glyph + ' ' if r.role else ''}{format_number(r.value, r.role)} "
        f"{r.unit}".rstrip()
        for r in result.readouts
    ]
    absent = [s.undefined_reason for s in result.series if s.undefined_reason]
    parts.append("\n".join([*numbers, *dict.fromkeys(absent)]))
    if result.guarantee is not None:
        g = result.guarantee
        parts.append("\n".join([g.replace_one, g.sentence, g.trust]))
    parts.append("\n".join([*result.notes, result.stamp]))
    return "\n\n".join(part.strip() for part in parts if part)
