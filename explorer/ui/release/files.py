"""Renders a stored output as a picture and as files that carry the certificate id. No Qt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.figures.pages.released import (
    Released,
    certificate_bytes,
    released_bytes,
    released_geotiff,
)
from explorer.privacy.releases.means import exact_decimal
from explorer.release.certificate.registry import registry_file, registry_yaml
from explorer.release.certificate.report import PROGRAM, sections
from explorer.release.exact_json import canonical
from explorer.release.messages import sentence
from explorer.release.outputs import FORMATS, OutputDocument, heatmap, weight_lines
from explorer.release.rounding import rounded_up
from explorer.studies.base.numbers import nearest
from explorer.ui.release.controller import Result

PICTURES = ("png", "svg", "pdf")
EXPORTS = {
    "PNG picture": "png",
    "SVG picture": "svg",
    "PDF picture": "pdf",
    "CSV (cells or rows)": "csv",
    "GeoJSON (cells)": "geojson",
    "GeoTIFF (cells)": "tif",
    "JSON (stored numbers)": "json",
}
CERTIFICATES = {
    "Certificate (JSON, the original)": "json",
    "Certificate (PDF)": "pdf",
    "Entry for the deployments registry (YAML)": "yaml",
}


def draw_release(result: Result, *, blocks: bool = False) -> Released:
    """Return the picture of a release, from its stored output and plan only.

    With `blocks` a map shows the cells as they were measured, without smoothing.
    """
    plan, shown = result.plan, _write(result).shown()
    sides = plan.parameters().get("box")
    south, west, north, east = (
        (float(exact_decimal("box", str(side))) for side in sides)
        if isinstance(sides, list)
        else (0.0, 0.0, 0.0, 0.0)
    )
    grid = shown.grid
    if blocks:
        grid = grid if shown.blocks is None else shown.blocks
    elif grid is not None and plan.mechanism.id.startswith("heatmap"):
        grid = heatmap(shown)
    title = str(result.certificate["title"]["text"]) or plan.mechanism.label
    notes = (
        f"{plan.mechanism.label}, ε = {rounded_up(plan.epsilon)}.",
        *map(sentence, shown.steps),
        *(
            f"Weight of the public maps on level {level}: {nearest(weight, 3)} (estimate)."
            for level, weight in shown.prior_weights[-1:]
        ),
        *["Shown here: blocks as measured, not smoothed."] * blocks,
    )
    box = (south, west, north, east + 360 * (east < west)) if sides else None
    return Released(
        title,
        about(result),
        notes,
        grid,
        box,
        shown.table,
        plan.mechanism.label if grid is None or shown.table else "share of all people",
        shown.total,
        tuple(weight_lines(shown)),
    )


def about(result: Result) -> str:
    """Return the description embedded in each file of a release."""
    return f"certificate {result.release.id}"


def export_output(result: Result, path: Path) -> bytes:
    """Return a release's output in the format of a file name's suffix.

    Raises
    ------
    ValueError
        If the format is unknown or cannot hold this output.
    """
    suffix = path.suffix.lower().removeprefix(".")
    if suffix in PICTURES:
        return released_bytes(draw_release(result), suffix)
    if suffix in ("tif", "tiff"):
        return released_geotiff(draw_release(result))
    if f".{suffix}" not in FORMATS:
        raise ValueError(
            f"{path.name}: choose a name that ends with .{', .'.join(EXPORTS.values())}"
        )
    return FORMATS[f".{suffix}"](_write(result))


def export_certificate(result: Result, path: Path) -> bytes:
    """Return a release's certificate in the format of a file name's suffix."""
    certificate = dict(result.certificate)
    original = canonical(certificate)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return original
    if suffix == ".yaml":
        if not (certificate["title"]["text"] and certificate["curator"]["text"]):
            raise ValueError(
                "A registry entry needs “Title” and “Published by”, which were empty on page 5."
            )
        return registry_yaml(certificate).encode()
    if suffix == ".pdf":
        return certificate_bytes(
            certificate_rows(certificate),
            f"Certificate {result.release.id}",
            "certificate.json",
            original,
        )
    raise ValueError(f"{path.name}: choose a name that ends with .json, .pdf or .yaml")


def name_of(result: Result, suffix: str) -> str:
    """Return the file name required by the registry, or that of the certificate."""
    if suffix == "yaml":
        return registry_file(dict(result.certificate))
    return f"release-{result.release.id}.certificate.{suffix}"


def certificate_rows(certificate: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the certificate's rows by heading, as printed."""
    return [
        (
            section.title,
            [
                f"{row.name}: {row.text}" + (f" [{row.source}]" if row.source != PROGRAM else "")
                for row in section.rows
                if row.text
            ],
        )
        for section in sections(certificate)
    ]


def _write(result: Result) -> OutputDocument:
    return OutputDocument(result.plan, result.stored, about(result))
