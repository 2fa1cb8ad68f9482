"""Functions that build the usual kinds of parameters.

Arguments are those of `Parameter` in its order; those given override the defaults of the kind. The
parameters of a randomiser's table, typed or in a CSV file, are here with their reader.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.randomisers.tables import MAX_INPUTS, MAX_OUTPUTS, checked_table
from explorer.studies.base.csv_table import DecimalSign, TableFileError, read_csv
from explorer.studies.base.parameters import Kind, Parameter, Scale, table_rows, table_text
from explorer.studies.base.study import Context, Request

_LATEX = {
    "ε": r"\varepsilon",
    "ε₀": r"\varepsilon_0",
    "α": r"\alpha",
    "α₀": r"\alpha_0",
    "δ₁": r"\delta_1",
    "δ′": r"\delta'",
}

Choices = tuple[tuple[str, str], ...]


class More(TypedDict, total=False):
    """Optional fields of `Parameter`."""

    unit: str
    more_private: str
    latex: str
    quantities: tuple[str, ...]
    relevant_when: tuple[tuple[str, tuple[str, ...]], ...]
    relevant_also: tuple[tuple[str, tuple[str, ...]], ...]
    axis_only: bool
    replaces: tuple[str, ...]
    group: str
    most_files: int
    unit_from: str
    default_unsaid: bool


def real(
    key: str,
    symbol: str,
    name: str,
    help: str,
    default: float,
    low: float,
    high: float,
    scale: Scale = Scale.LOG,
    **more: Unpack[More],
) -> Parameter:
    """Return a real number, on a logarithmic scale."""
    return Parameter(key, symbol, name, help, Kind.REAL, default, low, high, scale, **more)


def share(
    key: str,
    symbol: str,
    name: str,
    help: str,
    default: float,
    low: float = 0.0,
    high: float = 1.0,
    **more: Unpack[More],
) -> Parameter:
    """Return a part of a whole or a probability, on a linear scale."""
    return real(key, symbol, name, help, default, low, high, Scale.LINEAR, **more)


def count(
    key: str,
    symbol: str,
    name: str,
    help: str,
    default: int,
    low: int,
    high: float,
    scale: Scale = Scale.LOG,
    **more: Unpack[More],
) -> Parameter:
    """Return a whole number, on a logarithmic scale."""
    return Parameter(key, symbol, name, help, Kind.INTEGER, default, low, high, scale, **more)


def choice(
    key: str,
    symbol: str,
    name: str,
    help: str,
    default: str,
    choices: Choices,
    **more: Unpack[More],
) -> Parameter:
    """Return one of several values, each with its label."""
    return Parameter(key, symbol, name, help, Kind.CHOICE, default, choices=choices, **more)


def several(
    key: str,
    name: str,
    help: str,
    default: str,
    choices: Choices,
    most: int,
    **more: Unpack[More],
) -> Parameter:
    """Return some of several values, at most so many, joined by commas."""
    return Parameter(key, "", name, help, Kind.SEVERAL, default, high=most, choices=choices, **more)


def epsilon(
    name: str,
    help: str,
    default: float,
    low: float,
    high: float,
    *,
    key: str = "eps",
    symbol: str = "ε",
    **more: Unpack[More],
) -> Parameter:
    """Return a level of privacy: the smaller, the more private."""
    kind: More = {"more_private": "low", "latex": _LATEX.get(symbol, "")}
    return real(key, symbol, name, help, default, low, high, **(kind | more))


def delta(
    default: float,
    low: float = 1e-30,
    high: float = 0.1,
    *,
    key: str = "delta",
    symbol: str = "δ",
    name: str = "failure probability",
    help: str = "With what probability the guarantee may fail. Smaller is more private.",
    **more: Unpack[More],
) -> Parameter:
    """Return the probability with which a guarantee may fail."""
    kind: More = {"more_private": "low", "latex": _LATEX.get(symbol, r"\delta")}
    return real(key, symbol, name, help, default, low, high, **(kind | more))


def orders(
    help: str,
    default: int = 512,
    *,
    key: str = "lam_max",
    symbol: str = "λₘₐₓ",
    name: str = "maximum Rényi order",
    **more: Unpack[More],
) -> Parameter:
    """Return an order of Rényi divergence, from 2."""
    kind: More = {"latex": r"\lambda_{\max}"}
    return count(key, symbol, name, help, default, 2, 2048, **(kind | more))


def simulate(help: str, default: bool = False, **more: Unpack[More]) -> Parameter:
    """Return the switch of a simulation."""
    kind: More = {"group": "simulation"}
    return Parameter("simulate", "", "simulate", help, Kind.FLAG, default, **(kind | more))


def trials(help: str, default: int, high: int, **more: Unpack[More]) -> Parameter:
    """Return how often a simulation is repeated, at least twice."""
    kind: More = {"group": "simulation"}
    return count("trials", "", "trials", help, default, 2, high, **(kind | more))


def file(
    key: str, name: str, help: str, suffixes: tuple[str, ...] = (".csv",), **more: Unpack[More]
) -> Parameter:
    """Return a parameter for a user's file."""
    return Parameter(key, "", name, help, Kind.FILE, "", suffixes=suffixes, **more)


def table(key: str, name: str, help: str, default: str, **more: Unpack[More]) -> Parameter:
    """Return a parameter for numbers typed in rows."""
    kept = table_text(table_rows(default, key))
    return Parameter(key, "", name, help, Kind.TABLE, kept, **more)


def decimal_sign(key: str = "decimal", **more: Unpack[More]) -> Parameter:
    """Return the decimal sign of a file, to be declared by every study that reads one."""
    return choice(
        key,
        "",
        "decimal sign",
        "Decimal sign of the file's numbers. It is found in the file, except where every comma is "
        "followed by three digits and may separate thousands: choose a point or a comma then.",
        DecimalSign.AUTO.value,
        (
            (DecimalSign.AUTO.value, "as the file has it"),
            (DecimalSign.POINT.value, "a point: 1.5"),
            (DecimalSign.COMMA.value, "a comma: 1,5"),
        ),
        **more,
    )


TYPED, FILE = "typed", "file"


def table_parameters(chooser: str, prefix: str, default: str, more: More) -> tuple[Parameter, ...]:
    """Return the parameters of a table that matter where `chooser` is ``typed`` or ``file``.

    Their keys are `prefix`, ``prefix_file`` and ``prefix_decimal``.
    """
    typed: More = {**more, "relevant_when": ((chooser, (TYPED,)),)}
    from_file: More = {**more, "relevant_when": ((chooser, (FILE,)),)}
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
            **from_file,
        ),
        decimal_sign(f"{prefix}_decimal", **from_file),
    )


def table_key(request: Request, kind: str, prefix: str) -> tuple[object, ...]:
    """Return the cache key of a request's table."""
    keys = (prefix,) if kind == TYPED else (f"{prefix}_file", f"{prefix}_decimal")
    return (kind, *(request[key] for key in keys))


def table_of(
    request: Request,
    kind: str,
    prefix: str,
    context: Context,
    most: tuple[int, int] = (MAX_INPUTS, MAX_OUTPUTS),
) -> FloatArray | None:
    """Return the table that a request names; None if its file is not chosen yet.

    It may have at most so many inputs and outputs.

    Raises
    ------
    ValueError
        If it is no randomiser's table; names file or table, line, field and remedy.
    LookupError
        If the file is not open.
    """
    if kind == TYPED:
        rows = table_rows(str(request[prefix]), "typed table")
        return checked_table(rows, "typed table", most=most)
    value = str(request[f"{prefix}_file"])
    if not value:
        return None
    return _from_file(
        context.file(value), value.partition("#")[0], str(request[f"{prefix}_decimal"]), most
    )


def _from_file(
    path: Path, name: str, decimal: str, most: tuple[int, int] = (MAX_INPUTS, MAX_OUTPUTS)
) -> FloatArray:
    read = read_csv(path, name, decimal, comments=True, keep="fewer rows")
    if not read.rows:
        raise TableFileError(f"{name}: there is no row; give a row of probabilities for each input")
    read = replace(read, dialect=replace(read.dialect, fractions=True))
    number = read.dialect.number_like
    if len(read.rows) > 1 and not any(number(field) for field in read.rows[0]):
        read = read.without_header()
    first = 0 if any(number(fields[0]) for fields in read.rows) else 1
    result = read.numbers(
        first,
        len(read.rows[0]) - first,
        "probabilities where the first row has another number; give every input as many",
        "is not a probability; give a number from 0 to 1",
    )
    return checked_table(result, name, lines=tuple(read.lines), most=most)
