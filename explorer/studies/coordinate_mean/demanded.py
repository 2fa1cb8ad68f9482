"""Reads a user's own demand: a level δᵢ for each coordinate, and a coupling qᵢ if there is one.

Typed as a table or in a CSV file, one row a coordinate. Couplings must be public, like q.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from explorer.studies.base.builders import FILE, TYPED, More, decimal_sign, file, table
from explorer.studies.base.csv_table import TableFileError, read_csv
from explorer.studies.base.numbers import nearest
from explorer.studies.base.parameters import Parameter, table_rows
from explorer.studies.base.study import Context, Request

OWN = (TYPED, FILE)
"""Profiles that name a demand of the user's own."""
CHOICES = ((TYPED, "my own, typed"), (FILE, "my own, from a CSV file"))
MAX_COORDINATES = 200
_KEY = "demand"
_LEAST_LEVEL, _MOST_LEVEL = 1e-3, 1e3


@dataclass(frozen=True)
class OwnDemand:
    """Levels of a user's own, in the user's order; hashable.

    Attributes
    ----------
    levels : tuple of float
        δᵢ in nats.
    couplings : tuple of float
        qᵢ; empty where one q is for all.
    names : tuple of str
        Of the coordinates in the file; empty where there are none.
    """

    levels: tuple[float, ...]
    couplings: tuple[float, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def largest_coupling(self) -> float | None:
        """Largest qᵢ that a level rests on: the largest level holds at any; None without any."""
        highest = max(self.levels)
        rests = [
            q for q, level in zip(self.couplings, self.levels, strict=False) if level < highest
        ]
        return max(rests or self.couplings, default=None)


def demand_parameters(what: str, default: str, **more: More) -> tuple[Parameter, ...]:
    """Return the parameters of a demand that matter where ``profile`` is typed or file.

    Parameters
    ----------
    what : str
        What has a level: ``coordinate`` or ``feature``.
    default : str
        Typed rows to begin with.
    """
    typed: More = {"relevant_when": (("profile", (TYPED,)),)}
    from_file: More = {"relevant_when": (("profile", (FILE,)),)}
    return (
        table(
            _KEY,
            f"levels of each {what}",
            f"A row for each {what}: its level δᵢ in nats and, if you know it, its own coupling "
            "qᵢ, a public bound from 0 to 1 that takes the place of q. A line or a semicolon "
            "between rows: 0.2 0.1; 0.5 0; 2 0.3. One row alone lists levels only.",
            default,
            **typed,
        ),
        file(
            f"{_KEY}_file",
            "file of the levels",
            f"A CSV file with a row for each {what}: its name (optional), its level δᵢ in nats "
            "and, optional, its own coupling qᵢ; a first row of names is allowed.",
            **from_file,
        ),
        decimal_sign(f"{_KEY}_decimal", **from_file),
    )


def own_demand(request: Request, context: Context, least: int, most: int) -> OwnDemand | None:
    """Return the demand that a request names; None if it names none or its file is not chosen.

    Parameters
    ----------
    request : Request
    context : Context
    least, most : int
        How many levels there may be.

    Raises
    ------
    ValueError
        If it is no demand; names table or file, row, field and remedy.
    """
    profile = str(request["profile"])
    if profile == TYPED:
        rows = table_rows(str(request[_KEY]), "typed levels")
        if len(rows) == 1:
            rows = tuple((level,) for level in rows[0])
        return _checked(rows, "typed levels", range(1, len(rows) + 1), (), least, most)
    value = str(request[f"{_KEY}_file"]) if profile == FILE else ""
    if not value:
        return None
    name = value.partition("#")[0]
    return _from_file(context.file(value), name, str(request[f"{_KEY}_decimal"]), least, most)


def _from_file(path: Path, name: str, decimal: str, least: int, most: int) -> OwnDemand:
    read = read_csv(path, name, decimal, comments=True, max_rows=most + 2, keep="fewer rows")
    read = replace(read, dialect=replace(read.dialect, fractions=True))
    number = read.dialect.number_like
    if len(read.rows) > 1 and not any(number(field) for field in read.rows[0]):
        read = read.without_header()
    if not read.rows:
        raise TableFileError(f"{name}: there is no row; give a row with a level for each")
    named = len(read.rows[0]) > 1 and not any(number(row[0]) for row in read.rows)
    numbers = read.numbers(
        int(named),
        len(read.rows[0]) - named,
        "numbers where the first row has another number; give every row as many",
        "is not a number; give a level in nats and then, if you know it, a coupling",
    )
    names = tuple(row[0] for row in read.rows) if named else ()
    rows = tuple(map(tuple, numbers.tolist()))
    return _checked(rows, name, read.lines, names, least, most)


def _checked(
    rows: Sequence[Sequence[float]],
    name: str,
    lines: Sequence[int],
    names: tuple[str, ...],
    least: int,
    most: int,
) -> OwnDemand:
    if not least <= len(rows) <= most:
        raise ValueError(f"{name}: {len(rows)} levels; give {least} to {most}, a row for each")
    if len(rows[0]) > 2:
        raise ValueError(
            f"{name}, row {lines[0]}: {len(rows[0])} numbers; give a level and at most one "
            "coupling in each row"
        )
    values = np.array(rows)
    for line, row in zip(lines, rows, strict=True):
        if not _LEAST_LEVEL <= row[0] <= _MOST_LEVEL:
            raise ValueError(
                f"{name}, row {line}: {nearest(row[0])} is no level; give nats from "
                f"{nearest(_LEAST_LEVEL)} to {nearest(_MOST_LEVEL)} (more than ε counts as ε)"
            )
        if len(row) > 1 and not 0.0 <= row[1] <= 1.0:
            raise ValueError(
                f"{name}, row {line}: {nearest(row[1])} is no coupling; give a number from 0 "
                "(independent) to 1 (anything)"
            )
    return OwnDemand(
        tuple(values[:, 0].tolist()),
        tuple(values[:, 1].tolist()) if values.shape[1] > 1 else (),
        names,
    )
