"""The loop of `row_pass`, compiled. Importing this imports numba: only `compile_pass` does."""

from __future__ import annotations

from functools import partial

from explorer.privacy.core.compiled import compiled


@partial(compiled, nogil=True)
def walk(  # type: ignore[no-untyped-def]
    y, x, t, starts, ends, low, high, timed, origin, per_step, spread, most, among, one, cells
):
    """Add one/t of every check-in to its cell; return users inside, users counted and their rows.

    Counting comes first, without branches, so that it is done several rows at once; the second walk
    over a user's rows finds them in the nearest cache.
    """
    south, west, first = low[0], low[1], low[2]
    north, east, last = high[0], high[1], high[2]
    y0, x0 = origin[0], origin[1]
    per_row, per_column = per_step[0], per_step[1]
    side = spread.size
    present, used, rows = 0, 0, 0
    for user in range(starts.size):
        begin, end = starts[user], ends[user]
        count = 0
        if timed:
            for i in range(begin, end):
                count += (
                    (y[i] >= south)
                    & (y[i] <= north)
                    & (x[i] >= west)
                    & (x[i] <= east)
                    & (t[i] >= first)
                    & (t[i] <= last)
                )
        else:
            for i in range(begin, end):
                count += (y[i] >= south) & (y[i] <= north) & (x[i] >= west) & (x[i] <= east)
        if count == 0:
            continue
        present += 1
        if used == most or user >= among:
            continue
        used += 1
        rows += count
        mass = one // count
        for i in range(begin, end):
            if y[i] < south or y[i] > north or x[i] < west or x[i] > east:
                continue
            if timed and (t[i] < first or t[i] > last):
                continue
            # exact: see `fixed_point.lines`
            row = int(((y[i] - y0) * side + 0.5) * per_row)
            column = int(((x[i] - x0) * side + 0.5) * per_column)
            row, column = min(row, side - 1), min(column, side - 1)
            cells[(spread[row] << 1) | spread[column]] += mass
    return present, used, rows
