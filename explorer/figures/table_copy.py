"""Tables as text: tab-separated, CSV, Markdown or LaTeX."""

import io
import math
import re
from collections.abc import Sequence
from itertools import groupby

from explorer.csv_rows import CsvRows
from explorer.privacy.core.bound import Role
from explorer.studies.base.numbers import DIGITS, PARAMETER_DIGITS, format_number
from explorer.studies.base.result import Roles, role_of_cell

Cell = str | float | None
COPY_FORMATS = ("tsv", "csv", "markdown", "latex")

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_MATH = {sign: rf"\{name}" for sign, name in zip(_GREEK, _GREEK_NAMES.split(), strict=True)} | {
    "≤": r"\le",
    "≥": r"\ge",
    "±": r"\pm",
    "×": r"\times",
    "∞": r"\infty",
    "≈": r"\approx",
    "·": r"\cdot",
    "→": r"\to",
    "ℓ": r"\ell",
    "√": r"\surd",
    "≠": r"\ne",
    "−": "-",
    "∈": r"\in",
    "✓": r"\surd",
    "✗": r"\times",
}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_SUBSCRIPTS_TO_PLAIN = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢₖₘₙₒₚᵣₛₜₓ", "0123456789aehikmnoprstx", strict=True))
"""Unicode subscripts and their plain characters: ``λₘₐₓ``, ``nₕ``."""
_PIECES = re.compile(f"[{''.join(_RAISED)}]+|[{''.join(_SUBSCRIPTS_TO_PLAIN)}]+|.", re.DOTALL)
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "…": r"\dots{}",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def format_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    fmt: str,
    title: str = "",
    note: str = "",
    roles: Roles = (),
) -> str:
    """Return a table as text.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences of str, float or None
        None is an empty cell.
    fmt : str
        One of `COPY_FORMATS`. Numbers have full precision in tab-separated values and CSV, and
        are rounded in Markdown and LaTeX.
    title, note : str
        Above and below the table, if the format allows.
    roles : sequence
        As `Table.roles`; rounded bounds are rounded to their safe side.

    Raises
    ------
    ValueError
        Naming the formats there are.
    """
    if fmt == "tsv":
        lines = [columns, *([_plain(cell) for cell in row] for row in rows)]
        return "".join("\t".join(map(_one_line, line)) + "\n" for line in lines)
    if fmt == "csv":
        out = io.StringIO()
        writer = CsvRows(out)
        writer.write_row(columns)
        writer.write_rows([_plain(cell) for cell in row] for row in rows)
        return out.getvalue()
    if fmt in ("markdown", "latex"):
        read = [
            [readable(cell, role_of_cell(roles, i, j)) for j, cell in enumerate(row)]
            for i, row in enumerate(rows)
        ]
        sides = [_numeric(rows, place) for place in range(len(columns))]
        write = _markdown if fmt == "markdown" else _latex
        return write(columns, read, sides, title, note)
    raise ValueError(f"fmt: {fmt!r} is not one of {', '.join(COPY_FORMATS)}")


def readable(cell: Cell, role: Role | None = None, digits: int | None = None) -> str:
    """Return a cell as text, with numbers rounded according to their role."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return format_number(cell, role, digits or (PARAMETER_DIGITS if role is None else DIGITS))


def plain_number(value: float) -> str:
    """Return the shortest text that parses to the same number; empty if it is not finite."""
    value = float(value)
    if not math.isfinite(value):
        return ""
    if value == round(value) and abs(value) < 1e15:
        return str(round(value))
    return repr(value)


def _plain(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return plain_number(cell) if math.isfinite(cell) else readable(cell)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _numeric(rows: Sequence[Sequence[Cell]], place: int) -> bool:
    return all(not isinstance(row[place], str) for row in rows)


def _markdown(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[bool],
    title: str,
    note: str,
) -> str:
    def line(cells: Sequence[str]) -> str:
        escaped = (_one_line(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
        return "| " + " | ".join(escaped) + " |\n"

    text = f"**{_one_line(title)}**\n\n" if title else ""
    text += line(columns)
    rules = ["---:" if numeric else ":---" for numeric in right]
    text += "|" + "|".join(rules) + "|\n"
    text += "".join(map(line, rows))
    return text + (f"\n{_one_line(note)}\n" if note else "")


def _latex(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[bool],
    title: str,
    note: str,
) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(tex(_one_line(cell)) for cell in cells) + r" \\" + "\n"

    shape = "".join("r" if numeric else "l" for numeric in right)
    text = f"% {_one_line(title)}\n" if title else ""
    text += rf"\begin{{tabular}}{{{shape}}}" + "\n\\hline\n" + line(columns) + "\\hline\n"
    text += "".join(map(line, rows))
    text += "\\hline\n\\end{tabular}\n"
    return text + (f"% {_one_line(note)}\n" if note else "")


def tex(text: str) -> str:
    """Return text as LaTeX: special characters escaped, missing glyphs as mathematics."""
    parts: list[tuple[bool, str]] = []
    for piece in _PIECES.findall(text):
        if piece[0] in _SUBSCRIPTS_TO_PLAIN:
            parts.append((True, f"_{{{''.join(_SUBSCRIPTS_TO_PLAIN[sign] for sign in piece)}}}"))
        elif piece[0] in _RAISED:
            parts.append((True, f"^{{{''.join(_RAISED[sign] for sign in piece)}}}"))
        elif piece in _MATH:
            parts.append((True, _MATH[piece]))
        else:
            parts.append((False, _ESCAPES.get(piece, piece)))
    out = []
    for mathematics, run in groupby(parts, key=lambda part: part[0]):
        joined = (" " if mathematics else "").join(part for _, part in run)
        out.append(f"${joined}$" if mathematics else joined)
    return "".join(out)
