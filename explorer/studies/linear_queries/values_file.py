"""A user's own query from a CSV file, with errors that say what to mend."""

from pathlib import Path

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.csv_dialect import DecimalSign, Dialect
from explorer.studies.base.csv_table import CsvTable, TableFileError, read_csv

COLUMNS_MAX = 64
"""Most numbers of an answer."""


def read_values(
    path: str,
    name: str,
    labels: tuple[str, ...],
    named: bool,
    decimal: str = DecimalSign.AUTO,
) -> tuple[FloatArray, str]:
    """Return the values of a query on every item of a finite space, in the order of the space.

    Where both files have names, rows belong to items by name, whatever their order: by place they
    would make other slopes, and too little noise.

    Parameters
    ----------
    path : str
        Where the file is.
    name : str
        What to call it in messages.
    labels : tuple of str
        The items of the space.
    named : bool
        Whether these are names from the space's own file.
    decimal : str
        A `DecimalSign`.

    Returns
    -------
    values : ndarray of float, shape (items, dim)
    note : str
        Which names were not used; empty if all were.

    Raises
    ------
    TableFileError
        If there are not as many rows as items, names are others than those of the space, or a
        field is no number: naming the file, the line, the field and what to do.
    """
    table = read_csv(Path(path), name, decimal, comments=True, keep="fewer columns")
    size = len(labels)
    # Names may be numbers; then those of the space tell them from values.
    known = {fields[0] for fields in table.rows if len(fields) > 1} & set(labels)
    by_name = named and 2 * len(known) > size
    if len(table.rows) == size + 1 and _is_header(table.rows[0], by_name, table.dialect):
        table = table.without_header()
    if len(table.rows) != size:
        raise TableFileError(
            f"{name}: {len(table.rows)} rows of values where the space has {size:,} items; give "
            "one row an item, in the order of the space or with its names"
        )
    numbers_first = any(table.dialect.number_like(fields[0]) for fields in table.rows)
    first = 1 if by_name or not numbers_first else 0
    count = len(table.rows[0]) - first
    if not 1 <= count <= COLUMNS_MAX:
        raise table.error(
            table.lines[0], None, f"{count} values; give 1 to {COLUMNS_MAX} numbers an item"
        )
    values = table.numbers(
        first,
        count,
        f"values where the first row has {count}; give every item as many",
        "is not a number of the answer",
        advice="; give a number up to 1e100",
    )
    if not first:
        return values, ""
    if not named:
        return values, (
            f"{name} names its rows, the space does not name its items: rows are taken in the "
            "order of the space"
        )
    return values[_order(table, labels)], ""


def _is_header(fields: list[str], by_name: bool, dialect: Dialect) -> bool:
    """Whether the one line too many holds no values, so that no item's is taken for names."""
    if by_name and len(fields) > 1 and fields[0] == "":
        return True
    return not any(dialect.number_like(field) for field in (fields[1:] or fields))


def _order(table: CsvTable, labels: tuple[str, ...]) -> list[int]:
    """Return which row each item of the space has, by name."""
    own = [fields[0] for fields in table.rows]
    if tuple(own) == labels:
        return list(range(len(own)))
    places: dict[str, int] = {}
    for place, (line, label) in enumerate(zip(table.lines, own, strict=True)):
        if label not in labels:
            raise table.error(
                line,
                1,
                f"no item of the space is named {label!r}; use the "
                "names of the space's file, or leave names out and keep its order",
            )
        if label in places or labels.count(label) > 1:
            raise table.error(
                line,
                1,
                f"more than one item is named {label!r}; give every "
                "item a name of its own in both files, or keep the order of the space's file",
            )
        places[label] = place
    return [places[label] for label in labels]
