"""What is said of a grid: what is asked, how far it is, where a plot's numbers come from."""

from collections.abc import Collection, Sequence

from explorer.figures.captions import parameter_text
from explorer.figures.grid.panels import shown_quantity
from explorer.studies.base.grid_answer import Cell, GridAnswer
from explorer.studies.base.study import Request, Study, parameter, quantity, with_unit
from explorer.studies.registry import get_study


def question_words(study: Study, request: Request) -> str:
    """Return what is asked in every plot."""
    shown = quantity(study, request.quantity)
    if request.sweep is None:
        return f"{study.name}: {shown.name}"
    p = parameter(study, request.sweep.key)
    return (
        f"{study.name}: {shown.name} over {p.symbol or p.name}; axis and all other parameters are "
        "as in Bounds"
    )


def axis_words(answer: GridAnswer) -> tuple[str, tuple[str, str]]:
    """Return the symbol of what is on the x axis, and the labels of x and y."""
    shown, swept = shown_quantity(answer), answer.request.sweep
    y = ", ".join(filter(None, (shown.name, shown.symbol)))
    if swept is None:
        return "x", ("", y)
    p = parameter(get_study(answer.request.study), swept.key)
    return p.symbol or p.name, (", ".join(filter(None, (p.name, p.symbol))), y)


def state_words(answer: GridAnswer | None, current: bool, busy: bool) -> str:
    """Return how far an answer is, and whether it is one to what is asked now."""
    if answer is None:
        return ""
    if not current:
        return "The question or the grid has changed since: Compute asks it anew."
    known = sum(cell is not None for cell in answer.cells)
    final = sum(cell is not None and cell.final for cell in answer.cells)
    said = f"{len(answer.cells):,} answers"
    if final < len(answer.cells):
        said += f" · {known:,} known, {final:,} of them in full"
    if answer.grid.trials > 1:
        said += f" · {answer.grid.trials:,} trials of what is simulated"
    if not answer.finished:
        said += f" · {answer.done:,} of {answer.total:,} pieces"
        said += "" if busy else " · stopped: Compute goes on"
    return said


def cell_words(
    answer: GridAnswer, cells: Sequence[Cell], hidden: Collection[str]
) -> tuple[str, str]:
    """Return the provenance of a plot's numbers, and the sources of its curves, a line each."""
    cell = cells[0]
    values = dict(cell.request.values)
    said = [
        parameter_text(with_unit(axis.parameter, values), values[axis.parameter.key])
        for axis in answer.axes[: 2 if len(cells) > 1 else 3]
    ]
    if cell.simulates:
        more = len(cell.seeds) - 1
        said.append(f"seed {cell.seeds[0]}" + (f" and {more:,} more" if more else ""))
    said.append("in full" if all(c.final for c in cells) else "coarse so far")
    said += [c.error for c in cells if c.error]
    shown = [s for s in cell.series if s.key not in hidden]
    said += [f"✗ {c.text}" for c in cell.failing(shown)]
    sources = dict.fromkeys(f"{s.role.glyph} {s.label}: {s.reference}" for s in shown)
    return " · ".join(dict.fromkeys(said)), "\n".join(sources)
