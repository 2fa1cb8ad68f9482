"""Results made up for tests: curves with holes, maps with one hot cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.figures.animation_frames import Animation, with_frames
from explorer.figures.export import ExportJob, render
from explorer.figures.formats import Kind, by_suffix, of_kind
from explorer.figures.view_state import ViewState
from explorer.files import write_whole
from explorer.geography.region import Region
from explorer.privacy.core.bound import Reference, Role
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Guarantee,
    Origin,
    Request,
    Result,
    ScalarResult,
    Scale,
    Selection,
    Series,
    Surface,
    Sweep,
    all_sides,
    default_request,
)
from explorer.studies.heatmap.study import HeatmapStudy

PICTURES = tuple(f.suffix for f in of_kind(Kind.PICTURE))
TABLES = tuple(f.suffix for f in of_kind(Kind.NUMBERS))
ALL_OF_MAPS = tuple(f.suffix for f in of_kind(maps=True))
CELLS = tuple(f.suffix for f in of_kind(Kind.NUMBERS, maps=True) if f.maps_only)
STAMP = "not private: computed from real data without accounting"
PAPER = Reference("Author and Writer, A paper on curves", "Theorem 2", "constant corrected")
REGION = Region(40.5, -74.3, 41.0, -73.6)
RECIPE = {
    "schema": "privacy-explorer-recipe/1",
    "version": "0.1.0",
    "study": "made-up",
    "values": {"ε₀": 2.0, "quote": 'she said "no" & left <b>\'s</b> \\ 東京 🎉'},
    "data": {"name": "gowalla “NY” ünï.txt", "sha256": "ab" * 32},
    "seed": 7,
}


def file_bytes(result, view, recipe, suffix: str, **size) -> bytes:
    """Return what is exported in a format, maps on the shipped basemap, two frames the same."""
    job = ExportJob(result, view, recipe, by_suffix(suffix), **size)
    return render(with_frames(job, Animation(frames=2), lambda *_: iter([result])))


def export(result, view, recipe, path, **size) -> None:
    """Write what is exported; the extension chooses the format."""
    write_whole(path, file_bytes(result, view, recipe, path.suffix, **size))


def series(key: str, role: Role, y, x=None, **more) -> Series:
    x = np.geomspace(1, 1e6, len(y)) if x is None else np.asarray(x, float)
    return Series(
        key, more.pop("label", f"Curve {key}"), role, x, np.asarray(y, float), PAPER, **more
    )


def curves(*extra: Series, stamp: str = "", log: bool = True) -> Result:
    x = np.geomspace(1, 1e6, 60)
    upper = np.where(x < 2e5, 0.01 * np.sqrt(x), np.nan)
    return Result(
        request=Request(
            "made-up",
            (("eps0", 2.0), ("n", 1_000_000), ("T", 1000)),
            quantity="epsilon",
            sweep=Sweep("T", 1.0, 1e6, 60, Scale.LOG if log else Scale.LINEAR),
        ),
        fidelity=Fidelity.FULL,
        series=(
            series("paper", Role.UPPER, upper, x, undefined_reason="T is larger than n allows"),
            series("exact", Role.EXACT, 0.006 * np.sqrt(x), x),
            series("lower", Role.LOWER, np.maximum(0, 0.002 * np.sqrt(x) - 0.05), x),
            series(
                "simulated",
                Role.ESTIMATE,
                0.005 * np.sqrt(x),
                x,
                low=0.004 * np.sqrt(x),
                high=0.0065 * np.sqrt(x),
                note="95 % of 100 runs",
            ),
            *extra,
        ),
        conditions=(
            Condition("n is at least 2", True, "by 999,998"),
            Condition("The shuffler is honest", None),
            Condition("ε₀ is below log(n)", False, "2 > 1.5"),
        ),
        guarantee=Guarantee(
            "one record",
            "not covered: the number of messages tells",
            "ε-DP",
            "The shuffler.",
            "Nobody learns more than the odds 2 : 1 about one record.",
            (PAPER,),
        ),
        readouts=(ScalarResult("order", "Best order λ", 17.0),),
        notes=("Made up for a test.",),
        stamp=stamp,
        complete=True,
    )


def hot_map(row: int, column: int, cells: int, value: float = 1.0) -> np.ndarray:
    values = np.zeros((cells, cells), np.float32)
    values[row, column] = value
    return values


def maps(
    true: np.ndarray | None = None,
    private: np.ndarray | None = None,
    region: Region = REGION,
    came_from: Origin = Origin.TYPED,
) -> Result:
    """The truth has its hot cell in the south-west, the private map its own in the north-east."""
    true = hot_map(1, 2, 16, 0.8) if true is None else true
    private = hot_map(13, 11, 16, 0.5) if private is None else private
    return Result(
        request=replace(
            default_request(HeatmapStudy()),
            selection=Selection(
                "cd" * 32,
                region,
                "2010-01-01T00:00:00Z",
                None,
                200,
                3,
                region_from=all_sides(came_from),
                time_from=came_from,
            ),
            seed=7,
        ),
        fidelity=Fidelity.FULL,
        surfaces=(
            Surface("true", "True heatmap", true, region, True, f"curator only — {STAMP}"),
            Surface(
                "private",
                "Private heatmap: pyramid, ε = 1",
                private,
                region,
                False,
                f"demonstration noise — {STAMP}",
            ),
        ),
        readouts=(
            ScalarResult("similarity", "Similarity", 0.834, Role.EXACT, curator_only=True),
            ScalarResult("emd", "EMD", None, low=0.1, high=0.2, unit="sides", curator_only=True),
            ScalarResult("cells_read", "Noisy counts read", 512),
        ),
        conditions=(Condition("Region was chosen without the data", None),),
        guarantee=Guarantee("one user", "ε-DP", "2ε-DP", "The curator.", "Odds change by e^ε."),
        stamp=f"demonstration noise — {STAMP}",
        complete=True,
    )


def exported_map(recipe, suffix: str) -> bytes:
    """Return the curator's file of the made-up map in any format that has a recipe inside."""
    result = maps()
    view = ViewState.for_result(result, surfaces=("true", "private"))
    job = ExportJob(result, view, recipe, by_suffix(suffix), size_px=(300, 200), dpi=50)
    return render(with_frames(job, Animation(frames=2), lambda request, check: iter([result])))
