"""Plan of an experiment: its points, the trials that they need, and rows with intervals.

Means have 95 % intervals of two kinds. The *noise* interval is about these regions and new noise:
regions are fixed, draws vary. The *regions* interval is about other regions like these. Quantiles
are those of a single draw.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import level_of
from explorer.studies.base.simulation import student_95
from explorer.studies.heatmap.contributions import PARAMETERS, RULE, rule_of
from explorer.studies.heatmap.experiments.samples import (
    Place,
    Source,
    write_prior,
    write_sample,
)
from explorer.studies.heatmap.experiments.trial import (
    MEASURE_MINIMA,
    MEASURES,
    Trial,
    TrialValues,
    make_trial,
)
from explorer.studies.heatmap.mechanisms import MECHANISMS, PRIORS
from explorer.studies.heatmap.parameters import PARAMETERS as MAP_PARAMETERS
from explorer.studies.heatmap.priors import Sources, priors_of

QUANTILES = (0.05, 0.1, 0.5, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over draws and regions, and how far it is known.

    Attributes
    ----------
    mean : float
        Mean over regions of the means over draws.
    quantiles : tuple of float
        Those of `QUANTILES` over draws; averaged over regions.
    noise : (low, high) or None
        95 % interval of the mean over new noise, the regions fixed: ± t·√(Σ var/D)/R, with the
        degrees of freedom of Welch and Satterthwaite. None where a region has a single draw.
    regions : (low, high) or None
        95 % interval of the mean over other regions: Student's with R − 1 degrees of freedom on the
        regions' means. None for a single region.
    draws, of_regions : int
        D (the fewest in a region) and R.
    """

    mean: float
    quantiles: tuple[float, ...]
    noise: tuple[float, float] | None
    regions: tuple[float, float] | None
    draws: int
    of_regions: int


def summarise(values: Sequence[ArrayLike], least: float = -math.inf) -> Summary | None:
    """Return mean, quantiles and intervals of draws in several regions.

    Parameters
    ----------
    values : sequence of array_like, one a region
        A number a draw. NaN (a correlation with a constant map) is left out, and so is a region
        with nothing else.
    least : float
        Lower bound of all means: 0 for errors.

    Returns
    -------
    Summary or None
        None if no number is left.

    References
    ----------
    Student 1908, *The probable error of a mean*; Welch 1947, *The generalization of "Student's"
    problem when several different population variances are involved*.
    """
    by_region = [
        region[np.isfinite(region)] for region in (np.asarray(v, dtype=float) for v in values)
    ]
    by_region = [region for region in by_region if region.size]
    if not by_region:
        return None
    means = np.array([region.mean() for region in by_region])
    mean, count = float(means.mean()), len(means)
    quantiles = np.mean([np.quantile(region, QUANTILES) for region in by_region], axis=0)
    noise = regions = None
    draws = min(region.size for region in by_region)
    if draws > 1:
        parts = [float(region.var(ddof=1)) / region.size for region in by_region]
        total = math.fsum(parts)
        half = 0.0
        if total > 0:
            degrees = total**2 / math.fsum(
                part**2 / (region.size - 1) for part, region in zip(parts, by_region, strict=True)
            )
            half = student_95(degrees) * math.sqrt(total) / count
        noise = (max(mean - half, least), mean + half)
    if count > 1:
        half = student_95(count - 1) * float(means.std(ddof=1)) / math.sqrt(count)
        regions = (max(mean - half, least), mean + half)
    return Summary(mean, tuple(float(q) for q in quantiles), noise, regions, draws, count)


def differences(values: Sequence[ArrayLike], others: Sequence[ArrayLike]) -> tuple[FloatArray, ...]:
    """Return draw by draw how much more the first have than the others: what `summarise` takes.

    Both have the same regions and in each the same draws, so that what region and draw have in
    common cancels.

    Raises
    ------
    ValueError
        If numbers of regions or draws differ.
    """
    pairs = [
        (np.asarray(a, dtype=float), np.asarray(b, dtype=float))
        for a, b in zip(values, others, strict=True)
    ]
    for a, b in pairs:
        if a.shape != b.shape:
            raise ValueError(f"others: {b.size} draws where the first have {a.size}")
    return tuple(a - b for a, b in pairs)


SCHEMA = "privacy-explorer-experiment/1"
SETTINGS = ("resolution", "sigma", "w", "n0", "top_percent")
"""Parameters of the map that stand in every row, null where the mechanism does not read them."""
COUNTED = {p.key: p.default for p in PARAMETERS if p.key in RULE}
"""Those that the counts depend on, with their defaults."""


@dataclass(frozen=True)
class Point:
    """A mechanism at one setting on samples of one region: a row to be.

    Attributes
    ----------
    place : Place
    source : Source
    users : int or None
        Number of users; None for all.
    values : mapping
        Parameters of the heatmap study that differ from their defaults; with ``mechanism``.
    draws : int
    resample : bool
        Whether every draw has a sample of its own (number i for draw i), as the paper's trials, or
        all draws the sample number 0.
    axis, x
        Position of the row on the x axis, if it has one.
    panel : str
        To which picture of a figure the row belongs.
    """

    place: Place
    source: Source
    users: int | None
    values: Mapping[str, Any]
    draws: int
    resample: bool = False
    axis: str = ""
    x: float | str | None = None
    panel: str = ""

    @property
    def level(self) -> int:
        """ℓ of the map's 2^ℓ × 2^ℓ cells."""
        return level_of(int(self.values["resolution"]))


@dataclass(frozen=True)
class Row:
    """A row with its trials, in the order of the draws, and the users counted."""

    point: Point
    trials: tuple[Trial, ...]
    users: int


def rows_of(
    points: Sequence[Point],
    seed: int,
    folder: Path,
    sources: Sources,
    measures: Sequence[str] = MEASURES,
) -> Iterator[Row]:
    """Count the samples of points, keep the counts in a folder, and yield rows with their trials.

    The trials measure what is named, or everything. Public priors of the settings are made of
    `sources` and kept in the folder, too.

    Raises
    ------
    ValueError
        If there is nobody in a place, or a parameter is out of its range; the message names it.
    """
    counted: dict[object, tuple[str, int]] = {}
    for point in points:
        trials, used = [], 0
        # Its settings are judged once a point: curves of 1,200 trials waited .15 s for them.
        alike = make_trial(
            data=point.source.data,
            region=point.place.name,
            counts="",
            draw=0,
            seed=seed,
            sides_km=point.place.sides_km,
            values=point.values,
            measures=measures,
            priors=_priors(point, folder, sources),
        )
        for draw in range(point.draws):
            number = draw if point.resample else 0
            sample_arguments = (
                point.place,
                point.users,
                point.level,
                number,
                rule_of(point.values),
            )
            sample_key = (point.source.data, *sample_arguments)
            if sample_key not in counted:
                sample = point.source.sample(*sample_arguments)
                counted[sample_key] = write_sample(sample, folder), sample.counts.users
            digest, users = counted[sample_key]
            used = max(used, users)
            trials.append({**alike, "counts": digest, "draw": draw})
        yield Row(point, tuple(trials), used)


def _priors(point: Point, folder: Path, sources: Sources) -> list[str]:
    """Return the digests of a point's priors, kept in a folder."""
    named = ("mechanism", "epsilon", *PRIORS)
    values = {p.key: point.values.get(p.key, p.default) for p in MAP_PARAMETERS if p.key in named}
    if not set(PRIORS) <= set(MECHANISMS[str(values["mechanism"])].uses):
        return []
    priors = priors_of(values, point.place.region, point.level, sources, point.source.data)
    return [write_prior(prior.masses, folder) for prior in priors]


Draws = dict[str, list[float]]
"""Of a row: by measure a number a draw."""
Variant = tuple[str, float | None]
"""A mechanism, and the share of cells that it keeps, if it reads one (`variant_of`)."""


@dataclass(frozen=True)
class Trials:
    """The trials of some rows, each once, under their keys.

    Attributes
    ----------
    rows : tuple of Row
    key : callable
        From a trial to its key.
    by_key : dict
        In the order in which they are best run: what shares counts and draw lies together.
    """

    rows: tuple[Row, ...]
    key: Callable[[Trial], str]
    by_key: dict[str, Trial]

    @classmethod
    def of(cls, rows: Sequence[Row], key: Callable[[Trial], str]) -> Trials:
        """Return the trials of rows."""
        trials = [trial for row in rows for trial in row.trials]
        order = {digest: i for i, digest in enumerate(dict.fromkeys(t["counts"] for t in trials))}
        trials.sort(key=lambda trial: (order[trial["counts"]], trial["draw"]))
        return cls(tuple(rows), key, {key(trial): trial for trial in trials})

    def report(self, results: Mapping[str, TrialValues]) -> dict[str, Any]:
        """Return what the trials, found under their keys, say: rows, means, differences, digest.

        Returns
        -------
        dict
            ``rows``: a mapping for each row; ``means``: over the regions of otherwise equal rows;
            ``differences``: of these from the first mechanism's; ``pooled``: over all runs in all
            regions, as the paper's figures show them (`pooled`); ``digest``: sha256 of keys and
            numbers in the order of the keys, so that it does not depend on how they were found.
        """
        draws = self.draws(results)
        rows = [
            {
                **_labels(row),
                **_columns({m: summarise([of_row[m]], MEASURE_MINIMA[m]) for m in MEASURES}),
            }
            for row, of_row in zip(self.rows, draws, strict=True)
        ]
        means, compared = _over_regions(self.rows, draws)
        return {
            "rows": rows,
            "means": means,
            "differences": compared,
            "pooled": pooled(self.rows, draws),
            "digest": digest(results),
        }

    def draws(self, results: Mapping[str, TrialValues]) -> list[Draws]:
        """Return what the trials of every row measured: a number a draw, NaN where there is none.

        A measure that the trials leave out has none.
        """
        return [
            {
                m: _numbers([results[self.key(trial)].get(m) for trial in row.trials])
                for m in MEASURES
            }
            for row in self.rows
        ]


def digest(results: Mapping[str, TrialValues]) -> str:
    """Return the sha256 of keys and what was found under them, in the order of the keys."""
    text = json.dumps(dict(sorted(results.items())), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _labels(row: Row) -> dict[str, Any]:
    """Return the columns that identify a row."""
    values, point = row.trials[0]["values"], row.point
    labels = {
        "region": point.place.name,
        "mechanism": values["mechanism"],
        "epsilon": values["epsilon"],
        "users": row.users,
        "draws": point.draws,
        "users_asked": "all" if point.users is None else point.users,
        **{key: values.get(key) for key in SETTINGS},
        **{key: point.values.get(key, default) for key, default in COUNTED.items()},
    }
    labels["resolution"] = int(labels["resolution"])
    if point.axis:
        labels |= {"panel": point.panel, "axis": point.axis, "x": point.x}
    return labels


def _columns(summaries: Mapping[str, Summary | None]) -> dict[str, float | None]:
    """Return every measure's mean, noise interval and quantiles, null where there is none."""
    columns: dict[str, float | None] = {}
    for measure, summary in summaries.items():
        low, high = (summary and summary.noise) or (None, None)
        columns[measure] = summary.mean if summary else None
        columns[f"{measure}_low"], columns[f"{measure}_high"] = low, high
        for i, q in enumerate(QUANTILES):
            columns[f"{measure}_p{round(100 * q):02d}"] = summary.quantiles[i] if summary else None
    return columns


def _over_regions(
    rows: Sequence[Row], draws: Sequence[Draws]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return means over regions, and their differences from the first mechanism's."""
    groups, labels = by_setting(rows, draws)
    means, compared = [], []
    for name, by_mechanism in groups.items():
        first = next(iter(by_mechanism))
        for variant, values in by_mechanism.items():
            label = labels[name, variant]
            result = {m: summarise(v, MEASURE_MINIMA[m]) for m, v in values.items()}
            means.append({**label, **_mean_columns(result)})
            if variant != first:
                against = by_mechanism[first]
                paired = {m: summarise(differences(v, against[m])) for m, v in values.items()}
                compared.append({**label, "against": first[0], **_mean_columns(paired)})
    return means, compared


def by_setting(
    rows: Sequence[Row], draws: Sequence[Draws]
) -> tuple[
    dict[str, dict[Variant, dict[str, list[list[float]]]]],
    dict[tuple[str, Variant], dict[str, Any]],
]:
    """Return draws by setting, mechanism and measure, a list a region, and each group's labels."""
    groups: dict[str, dict[Variant, dict[str, list[list[float]]]]] = {}
    labels: dict[tuple[str, Variant], dict[str, Any]] = {}
    for row, of_row in zip(rows, draws, strict=True):
        label = {**_labels(row), "region": "mean", "users": None}
        variant = variant_of(label)
        setting = {**label, "mechanism": "", **dict.fromkeys(_OF_MECHANISM)}
        varied = {key: row.point.values.get(key) for key in ("w", "n0")}
        name = json.dumps([setting, varied], sort_keys=True)
        labels.setdefault((name, variant), label)
        group = groups.setdefault(name, {}).setdefault(variant, {m: [] for m in MEASURES})
        for measure in MEASURES:
            group[measure].append(of_row[measure])
    return groups, labels


_OF_MECHANISM = ("w", "n0", "top_percent")
"""Settings that are null where a mechanism does not read them, and distinguish no group."""


def variant_of(row: Mapping[str, Any]) -> Variant:
    """Return the mechanism of a row of a report, with the share of cells that it keeps."""
    return str(row["mechanism"]), row["top_percent"]


def pooled(rows: Sequence[Row], draws: Sequence[Draws]) -> list[dict[str, Any]]:
    """Return means over all runs in all regions, with Student's 95 % intervals.

    Each region's draws count alike, as runs of one sample of R·D, which has R·D − 1 degrees of
    freedom: what the figures of the heatmap paper shade (60 runs in Figure 1). The runs of a region
    have its data in common, so that the interval is neither that of new noise alone nor that of
    other regions; both stand in ``means``.

    Returns
    -------
    list of dict
        ``runs``: their number; by measure the mean, ``_low`` and ``_high``, null where there is
        none.
    """
    groups, labels = by_setting(rows, draws)
    result = []
    for name, by_variant in groups.items():
        for variant, values in by_variant.items():
            columns: dict[str, Any] = {"runs": sum(map(len, values["emd"]))}
            for measure, regions in values.items():
                runs = [run for region in regions for run in region]
                summary = summarise([runs], MEASURE_MINIMA[measure])
                low, high = (summary and summary.noise) or (None, None)
                columns[measure] = summary.mean if summary else None
                columns[f"{measure}_low"], columns[f"{measure}_high"] = low, high
            result.append({**labels[name, variant], "region": "all", **columns})
    return result


def _mean_columns(summaries: Mapping[str, Summary | None]) -> dict[str, float | int | None]:
    """Return columns with both intervals of a mean over regions, and how many there are."""
    columns: dict[str, float | int | None] = {}
    for measure, summary in summaries.items():
        columns[measure] = summary.mean if summary else None
        for kind in ("noise", "regions"):
            ends = (getattr(summary, kind) if summary else None) or (None, None)
            columns[f"{measure}_{kind}_low"], columns[f"{measure}_{kind}_high"] = ends
    emd = summaries["emd"]
    return {"regions": emd.of_regions if emd else 0, **columns}
