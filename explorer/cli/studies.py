"""The command `studies`: lists studies with parameters, quantities and presets."""

from __future__ import annotations

import json
import math
import textwrap
from typing import TYPE_CHECKING, Any

import click

from explorer.cli import completion

if TYPE_CHECKING:
    from explorer.studies.base.study import Parameter, Study


_PLAIN = 12
"""Letters of a label that only repeats its number: ``the first``, ``1024 × 1024``."""


@click.command("studies")
@click.argument("study", metavar="[STUDY]", required=False, shell_complete=completion.studies())
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--figures", is_flag=True, help="List presets, compared with the papers.")
def studies_command(study: str | None, as_json: bool, figures: bool) -> None:
    """List the studies, or one study with its parameters, quantities, curves and presets."""
    from explorer.studies.registry import get_study, study_infos

    if as_json:
        studies = [get_study(c.id) for c in study_infos()] if study is None else [get_study(study)]
        result = {
            "schema": "privacy-explorer-studies/1",
            "studies": [study_as_json(s) for s in studies],
        }
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
    elif figures:
        for chosen_id in [c.id for c in study_infos()] if study is None else [study]:
            for p in get_study(chosen_id).presets:
                click.echo(f"{chosen_id} {p.key}  {p.name}: {p.status} {p.verdict}".rstrip(": "))
    elif study is not None:
        click.echo(_in_words(get_study(study)))
    else:
        width = max(len(c.id) for c in study_infos())
        for info in study_infos():
            click.echo(f"{info.id:{width}}  {info.name}: {info.question}")
        click.echo("\nFor the details of one: privacy-explorer studies STUDY")


def study_as_json(study: Study) -> dict[str, Any]:
    """Return a study's declaration as JSON values.

    Ends of a range are null where there is none.
    """
    from explorer.studies.registry import study_info

    defaults = {q.key: study.plot_defaults(q.key) for q in study.quantities}
    sliders, _ = study.plot_defaults(study.quantities[0].key if study.quantities else "")
    return {
        "id": study.id,
        "name": study.name,
        "question": study.question,
        "family": study_info(study.id).family,
        "workspace": study.workspace,
        "needs_data": study.needs_data,
        "parameters": [_parameter(p, p.key in sliders) for p in study.parameters],
        "quantities": [
            {
                "key": q.key,
                "symbol": q.symbol,
                "name": q.name,
                "unit": q.unit,
                "scale": q.scale.value,
                "sweeps": list(q.sweeps),
                "essential": list(defaults[q.key][0]),
                "primary": list(defaults[q.key][1]),
            }
            for q in study.quantities
        ],
        "presets": [
            {
                "key": p.key,
                "name": p.name,
                "about": p.about,
                "claim": p.published,
                "ours": p.computed,
                "status": p.status,
                "verdict": p.verdict,
                "curves": list(p.curves),
            }
            for p in study.presets
        ],
        "references": [str(r) for r in study.references],
    }


def _parameter(p: Parameter, essential: bool) -> dict[str, Any]:
    return {
        "key": p.key,
        "symbol": p.symbol,
        "name": p.name,
        "kind": p.kind.value,
        "default": p.default,
        "low": p.low if math.isfinite(p.low) else None,
        "high": p.high if math.isfinite(p.high) else None,
        "scale": p.scale.value,
        "unit": p.unit,
        "more_private": p.more_private,
        "choices": [{"value": value, "label": label} for value, label in p.choices],
        "axis_only": p.axis_only,
        "group": p.group,
        "essential": essential,
        "help": p.help,
    }


def declaration(study: Study) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return a study's declaration for help texts: headings with rows of key and meaning."""
    result = [
        ("Parameters (--set KEY=VALUE)", [(p.key, _meaning(p)) for p in study.parameters]),
        (
            "Quantities on the y axis (--quantity KEY), and what each x axis can show (--sweep)",
            [
                (q.key, f"{_named(q.symbol, q.name)}: {', '.join(q.sweeps)}")
                for q in study.quantities
            ],
        ),
        (
            "Curves of each quantity (--for, --claim, --hide CURVE)",
            [
                (plot.quantity.key, ", ".join(curve.key for curve in plot.curves))
                for plot in study.plots
                if plot.quantity.key and plot.curves
            ],
        ),
        ("Presets (--preset KEY)", [(p.key, p.name) for p in study.presets]),
    ]
    return [(heading, rows) for heading, rows in result if rows]


def _meaning(p: Parameter) -> str:
    """Return a parameter's name, range and default, and below them its help."""
    unit = f" {p.unit}" if p.unit else ""
    meaning = p.help
    if p.axis_only:
        allowed = "on the x axis only (--sweep)"
    elif p.choices:
        allowed = " | ".join(value for value, _ in p.choices) + f"; default {p.default or 'none'}"
        meaning += _values(p)
    elif p.kind.value == "flag":
        allowed = f"True | False; default {p.default}"
    elif p.numeric:
        allowed = f"{p.low:g} … {p.high:g}{unit} ({p.scale.value}); default {p.default:g}"
    elif p.suffixes:
        allowed = "a file: " + " ".join(p.suffixes)
    else:
        allowed = "a folder" if p.kind.value == "file" else f"default {p.default or 'empty'}"
    return f"{_named(p.symbol, p.name)}: {allowed}\n{meaning}"


def _values(p: Parameter) -> str:
    """Return what the values of a choice mean; empty where they are numbers that say it."""
    if all(value.isdigit() and len(label) <= _PLAIN for value, label in p.choices):
        return ""
    labels = [
        f"{value} = {label.removeprefix(f'{value}: ')}"
        for value, label in p.choices
        if label != value
    ]
    return f" Values: {'; '.join(labels)}." if labels else ""


def _named(symbol: str, name: str) -> str:
    return f"{symbol}, {name}" if symbol and symbol != name else name


def _in_words(study: Study) -> str:
    lines = [f"{study.id} – {study.name}", study.question]
    for heading, rows in declaration(study):
        lines += ["", heading]
        for key, meaning in rows:
            first, _, help = meaning.partition("\n")
            lines.append(f"  {key:16} {first}")
            indent = " " * 19
            lines += textwrap.wrap(help, 76, initial_indent=indent, subsequent_indent=indent)
    lines += ["", "Sources", *(f"  {r}" for r in study.references)]
    return "\n".join(lines)
