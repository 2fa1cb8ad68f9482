"""Verdicts on the experiments of Figures 1, 10 and 11, from their stored numbers.

Figures 10 and 11 are judged by how errors change as more cells are filled.
"""

from __future__ import annotations

from explorer.studies.base.help_page import preset_numbers, trend
from explorer.studies.base.numbers import nearest
from explorer.studies.heatmap.mechanisms import MECHANISMS

FILLED = (4, 15, 30, 75)
"""Per cent of the cells."""

MEASURES = {
    "emd": ("earth mover's distance", "EMD", 1),
    "similarity": ("similarity", "similarity", -1),
    "pearson": ("Pearson correlation", "Pearson", -1),
    "kl": ("KL divergence", "KL", 1),
}
"""Name, short name, and the direction that is worse."""

_WORDS = {1: "worse", 0: "no change beyond the 95 % intervals", -1: "better"}


def trends(figure: str, mechanism: str) -> dict[str, int]:
    """Return of each measure whether it gets worse (1), better (−1) or neither (0).

    Parameters
    ----------
    figure : str
        ``figure-10`` or ``figure-11``.
    mechanism : str
        ``pyramid`` or ``laplace``.
    """
    found = preset_numbers("heatmap", figure)

    def mean(measure: str, filled: int) -> tuple[float, float, float]:
        mean, low, high = (
            found[f"{mechanism}_{measure}{end}_{filled}"] for end in ("", "_low", "_high")
        )
        return mean, low, high

    return {
        measure: worse * trend(mean(measure, FILLED[0]), mean(measure, FILLED[-1]))
        for measure, (_, _, worse) in MEASURES.items()
    }


def trends_judged(figure: str) -> str:
    """Return the verdict: by which measures the algorithm gets worse, as the paper says."""
    found = trends(figure, "pyramid")
    worse = [short for key, (_, short, _) in MEASURES.items() if found[key] > 0]
    if len(worse) > 2:
        return f"worse by {len(worse)} of {len(found)} measures"
    return f"worse by {', '.join(worse) or 'no measure'}"


def trends_said(figure: str) -> str:
    """Return what comes out, measure by measure, with the means at each share of filled cells."""
    found = preset_numbers("heatmap", figure)
    said = []
    for mechanism, name in (("pyramid", "the algorithm"), ("laplace", "the baseline")):
        moves = trends(figure, mechanism)
        parts = []
        for key, (measure, _, _) in MEASURES.items():
            means = ", ".join(nearest(found[f"{mechanism}_{key}_{f}"], 2) for f in FILLED)
            parts.append(f"{measure} {means} ({_WORDS[moves[key]]})")
        said.append(f"Of {name}: {'; '.join(parts)}.")
    shares = ", ".join(map(str, FILLED[:-1]))
    return (
        f"“experiment {figure}”, ten sets of data, means at {shares} and {FILLED[-1]} % filled. "
        + " ".join(said)
    )


def figure_1_said() -> str:
    """Return what the experiment of Figure 1 prints for the bundled check-ins at ε = 1."""
    found = preset_numbers("heatmap", "figure-1")
    means = ", ".join(
        f"{row.label} {nearest(found[f'{key}_emd'], 2)}"
        for key, row in MECHANISMS.items()
        if f"{key}_emd" in found
    )
    return (
        " For the bundled synthetic check-ins (“--data sample”) it prints these mean earth mover's "
        f"distances at ε = 1: {means}."
    )


def figure_1_judged() -> str:
    """Return the verdict: the algorithm's mean error at ε = 1 beside the baseline's."""
    found = preset_numbers("heatmap", "figure-1")
    ours, laplace = found["pyramid_emd"], found["laplace_emd"]
    return f"mean EMD {nearest(ours, 2)}; Laplace {nearest(laplace, 2)}"
