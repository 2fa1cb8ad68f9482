"""Functions that build the usual kinds of parameters.

Arguments are those of `Parameter` in its order; whatever is given overrides what the kind has.
"""

from typing import TypedDict, Unpack

from explorer.studies.base.csv_table import DecimalSign
from explorer.studies.base.parameters import Kind, Parameter, Scale, table_rows, table_text

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
    name: str = "largest order searched",
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
        "What stands before the decimals of the file's numbers. It is seen from the file, but "
        "where all commas are followed by three digits they may be thousands: then choose.",
        DecimalSign.AUTO.value,
        (
            (DecimalSign.AUTO.value, "as the file has it"),
            (DecimalSign.POINT.value, "a point: 1.5"),
            (DecimalSign.COMMA.value, "a comma: 1,5"),
        ),
        **more,
    )
