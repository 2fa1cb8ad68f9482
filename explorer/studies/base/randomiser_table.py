"""Table of a user's randomiser: typed, or from a CSV file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.randomisers.tables import checked_table
from explorer.studies.base.builders import More, decimal_sign, file, table
from explorer.studies.base.csv_table import TableFileError, read_csv
from explorer.studies.base.parameters import Parameter, table_rows
from explorer.studies.base.study import Context, Request

TYPED, FILE = "typed", "file"


def table_parameters(chooser: str, prefix: str, default: str, more: More) -> tuple[Parameter, ...]:
    """Return the parameters of a table that matter where `chooser` is ``typed`` or ``file``.

    Their keys are `prefix`, and that followed by ``_file`` and ``_decimal``.
    """
    typed: More = {**more, "relevant_when": ((chooser, (TYPED,)),)}
    brought: More = {**more, "relevant_when": ((chooser, (FILE,)),)}
    return (
        table(
            prefix,
            "table of the randomiser",
            "A row for each input, in it the probability of each output; rows add up to 1. Write "
            "0.25 or 1/4, blanks between numbers, a line or a semicolon between rows.",
            default,
            **typed,
        ),
        file(
            f"{prefix}_file",
            "file of the table",
            "A CSV file with a row for each input and a column for each output, probabilities that "
            "add up to 1 in every row; a first row and a first column of names are allowed.",
            **brought,
        ),
        decimal_sign(f"{prefix}_decimal", **brought),
    )


def table_key(request: Request, kind: str, prefix: str) -> tuple[object, ...]:
    """Return the cache key of a request's table."""
    keys = (prefix,) if kind == TYPED else (f"{prefix}_file", f"{prefix}_decimal")
    return (kind, *(request[key] for key in keys))


def table_of(request: Request, kind: str, prefix: str, context: Context) -> FloatArray | None:
    """Return the table that a request names; None if its file is not chosen yet.

    Raises
    ------
    ValueError
        If it is none of a randomiser: naming file or table, line, field and remedy.
    LookupError
        If the file is not open.
    """
    if kind == TYPED:
        return checked_table(table_rows(str(request[prefix]), "typed table"), "typed table")
    value = str(request[f"{prefix}_file"])
    if not value:
        return None
    return _from_file(
        context.file(value), value.partition("#")[0], str(request[f"{prefix}_decimal"])
    )


def _from_file(path: Path, name: str, decimal: str) -> FloatArray:
    read = read_csv(path, name, decimal, comments=True, keep="fewer rows")
    if not read.rows:
        raise TableFileError(f"{name}: there is no row; give a row of probabilities for each input")
    read = replace(read, dialect=replace(read.dialect, fractions=True))
    number = read.dialect.number_like
    if len(read.rows) > 1 and not any(number(field) for field in read.rows[0]):
        read = read.without_header()
    first = 0 if any(number(fields[0]) for fields in read.rows) else 1
    found = read.numbers(
        first,
        len(read.rows[0]) - first,
        "probabilities where the first row has another number; give every input as many",
        "is not a probability; give a number from 0 to 1",
    )
    return checked_table(found, name, lines=tuple(read.lines))
