"""Golden vectors of the earth mover's distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.privacy.transport.grid import grid_emd, line_emd, marginal_bound, pyramid_bound


def _emd(p: Any, q: Any, note: str = "") -> dict[str, float]:
    a, b = np.array(p, float), np.array(q, float)
    a, b = a / a.sum(), b / b.sum()
    return {
        "emd": grid_emd(a, b).value,
        "lower_marginals": marginal_bound(a, b),
        "upper_pyramid": pyramid_bound(a, b),
    }


def _emd_grid(K1: list[int], K2: list[int], W: int, H_: int) -> float:
    """Cells by index y·W + x, each point one share; distances over the diameter W + H − 2."""
    a, b = (np.bincount(k, minlength=W * H_).reshape(H_, W) / len(k) for k in (K1, K2))
    step = 1 / (W + H_ - 2)
    return grid_emd(a, b, step, step).value


def _emd_line(xs: list[float], P: list[float], Q: list[float]) -> float:
    return line_emd(xs, P, Q)


ADAPTERS = {"emd": _emd, "emd_grid": _emd_grid, "emd_line": _emd_line}
