"""What the command heatmap says of its answer: counts, metrics and recipe, as JSON or in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.cli.common import recipe_of

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.checkins.presets import Preset
    from explorer.figures.view_state import ViewState
    from explorer.studies.base.study import Result, Selection

SCHEMA = "privacy-explorer-heatmap/1"
BATCH = "privacy-explorer-heatmap-images/1"
METRICS = ("similarity", "pearson", "kl", "emd")
"""And the distance in the map's unit."""
SENTENCES = {
    "loss_sentence": "loss",
    "noise_warning": "noise_level",
    "weights_sentence": "weights_bias",
}
"""Entry of the metrics → the readout whose note it is."""


def heatmap_summary(result: Result, data: CheckinData, view: ViewState) -> dict[str, Any]:
    """Return counts, metrics and the recipe of a heatmap as JSON values.

    Of a view without the true map all that is not private is left out: its values are null.
    """
    from explorer.figures.gate import gate
    from explorer.figures.map_points import points_document

    there = result.request.selection
    unit = "km" if there is None or there.region.plane is None else "unit"
    result, view, recipe = gate(result, view, recipe_of(result, view, data).to_dict())
    private_only = bool(recipe.get("private_only"))
    numbers = {r.key: r for r in result.readouts}
    return {
        "schema": SCHEMA,
        "stamp": result.stamp,
        "unit": "user" if there is None else there.unit.value,
        **(dict.fromkeys(CURATORS) if private_only else _counted(result, data)),
        "metrics_on": LEFT_OUT if private_only else METRICS_ON,
        "epsilon_per_level": {
            key.removeprefix("epsilon_level_"): r.value
            for key, r in numbers.items()
            if key.startswith("epsilon_level_")
        },
        "centres": [
            point
            for surface in result.surfaces
            if surface.overlay is not None and surface.overlay.numbered
            for point in points_document(surface)["points"]
        ],
        f"centres_{unit}": numbers["centres_cost"].value if "centres_cost" in numbers else None,
        "guarantee": _promised(result),
        "conditions": [
            {"text": c.text, "holds": c.holds, "margin": c.margin} for c in result.conditions
        ],
        "notes": list(result.notes),
        "recipe": dict(recipe),
    }


CURATORS = ("columns", "rows", "users", "contributions", "metrics", "timings_ms", "seed")
"""Entries of the summary that are for the curator only."""
METRICS_ON = "filtered maps, sum-normalised, true against private; curator only"
LEFT_OUT = "left out: only the private map is shown"


def _counted(result: Result, data: CheckinData) -> dict[str, Any]:
    """Return what was read, used, found and spent: for the curator only."""
    from explorer.studies.base.distances import FAR, in_unit
    from explorer.studies.heatmap.contributions.settings import histogram_of

    report = data.report
    numbers = {r.key: r for r in result.readouts}
    region = result.request.selection.region if result.request.selection else None
    far = in_unit(FAR, region)
    metrics: dict[str, float | str | None] = {key: numbers[key].value for key in (*METRICS, far)}
    if region is not None and region.plane is not None:
        metrics["unit"] = region.unit
    metrics["emd_lower"], metrics["emd_upper"] = numbers["emd"].low, numbers["emd"].high
    for key, readout in SENTENCES.items():
        metrics[key] = numbers[readout].note or None if readout in numbers else None
    return {
        "columns": columns_read(data),
        "rows": {
            "read": report.physical_lines - report.header - report.before_header,
            "before_header": report.before_header,
            "kept": report.kept,
            "blank": report.blank,
            "continued": report.continued,
            "set_aside": {str(reason): n for reason, n in report.rejected.items()},
            "merged_ids": report.merged_ids,
            "times_without_offset": report.naive_times,
            "zone": (data.mapping.zone or "UTC") if report.naive_times else None,
        },
        "users": {
            "in_file": None if data.region_only else _count(numbers["users_in_file"].value),
            "in_region": _count(numbers["users_in_region"].value),
            "used": _count(numbers["users_used"].value),
        },
        "contributions": histogram_of(result),
        "metrics": metrics,
        "timings_ms": dict(result.timings_ms),
        "seed": result.request.seed,
    } | ({"asked_once": " ".join(report.notes)} if data.region_only else {})


def _promised(result: Result) -> dict[str, str]:
    """Return the guarantee under either meaning of neighbouring."""
    keys = ("unit", "add_remove", "replace_one", "sentence")
    return {key: getattr(result.guarantee, key) for key in keys}


COLUMNS = ("user", "lat", "lon", "time")
"""Columns that the summary always names, null where there is none; others where they are used."""


def columns_read(data: CheckinData) -> dict[str, dict[str, Any] | None]:
    """Return name and index, counted from 1, of the columns in use; for the curator only."""
    found: dict[str, dict[str, Any] | None] = dict.fromkeys(COLUMNS)
    for role, name in data.names.items():
        found[role] = {"name": name, "index": getattr(data.mapping, role) + 1}
    return found


def beside_the_paper(data: CheckinData, selection: Selection, paper: Preset) -> dict[str, Any]:
    """Return what the paper counted after its filter, beside what we count, sampling aside."""
    whole = data.points(selection.region.box, selection.start, selection.end)
    return {
        what: {"here": ours, "paper": theirs}
        for what, ours, theirs in paper.compare(whole.rows, whole.users_in_region)
    } | {"source": paper.reference}


def _count(value: float | None) -> int:
    return int(value or 0)


def as_text(summary: dict[str, Any]) -> str:
    """Return the summary for a reader at a terminal."""
    from explorer.studies.base.numbers import format_number, nearest
    from explorer.studies.base.request import Unit
    from explorer.studies.heatmap.units import UNITS

    lines = _count_lines(summary) if summary["rows"] is not None else []
    for what, counts in summary.get("paper", {}).items():
        if what != "source":
            lines.append(f"{what}: {counts['here']:,}; the paper reports {counts['paper']:,}")
    lines += [
        f"centre {number}: {north:.5f}, {east:.5f}, nearest of {nearest(100 * share, 2)} %"
        for number, north, east, share in map(dict.values, summary.get("centres", ()))
    ]
    for key, unit in (("centres_km", "km"), ("centres_unit", _unit_of(summary))):
        if summary.get(key) is not None:
            away = format_number(summary[key])
            lines.append(f"{away} {unit} to the nearest centre on average")
    promise = summary["guarantee"]
    one = UNITS[Unit(summary["unit"])].one
    lines += [f"protects {promise['unit']}"]
    lines += [f"add or remove {one}: {promise['add_remove']}"]
    lines += [f"replace {one}: {promise['replace_one']}"]
    for item in summary["conditions"]:
        mark = {True: "✓", False: "✗", None: "○"}[item["holds"]]
        margin = f" ({item['margin']})" if item["margin"] else ""
        lines.append(f"{mark} {item['text']}{margin}")
    lines += summary["notes"]
    return "\n".join(filter(None, [*lines, summary["stamp"]]))


def _count_lines(summary: dict[str, Any]) -> list[str]:
    """Return counts and metrics, for the curator only."""
    from explorer.studies.base.numbers import format_interval, format_number

    rows, users, metrics = summary["rows"], summary.get("users"), summary["metrics"]
    units = f"{summary['unit']}s"
    in_file = "an unknown number" if users and users["in_file"] is None else ""
    aside = ", ".join(f"{n:,} {reason}" for reason, n in rows["set_aside"].items()) or "none"
    lines = [
        f"rows: {rows['kept']:,} kept of {rows['read']:,}; rejected: {aside}",
        *(
            [f"times without an offset: taken as those of {rows['zone']} (--time-zone)"]
            if rows.get("zone")
            else []
        ),
        *([f"ids merged: {rows['merged_ids']:,}"] if rows.get("merged_ids") else []),
        f"{units}: {users['used']:,} used of {users['in_region']:,} in the region "
        f"and {in_file or format(users['in_file'], ',')} in the file"
        if users is not None
        else f"images: {len(summary['images']):,}; means over them:",
    ]
    if summary.get("contributions") is not None:
        lines.append(f"contributions (curator only): {summary['contributions']['note']}")
    if metrics["similarity"] is not None:
        unit = metrics.get("unit")
        far, unit = (metrics["emd_km"], "km") if unit is None else (metrics["emd_unit"], unit)
        distance = metrics["emd"]
        if distance is None:
            shown = format_interval(metrics["emd_lower"], metrics["emd_upper"]) + " of the side"
        else:
            shown = f"{format_number(distance)} of the side" + (
                "" if far is None else f", {format_number(far)} {unit}"
            )
        lines.append(
            f"against the truth (curator only): similarity "
            f"{format_number(metrics['similarity'])}, "
            f"earth mover's distance {shown}"
        )
        lines += filter(None, (metrics.get(key) for key in SENTENCES))
    return lines


def _unit_of(summary: dict[str, Any]) -> str:
    """Return the unit of the plane that a recipe tells of."""
    from explorer.geography.plane import Plane

    plane = summary.get("recipe", {}).get("selection", {}).get("plane")
    return Plane.parse(plane).unit if plane else ""
