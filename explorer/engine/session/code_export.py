"""Exports an answer as a shell command and as a Python script that compute it again.

Neither names more of files than their names: paths and checksums stay here. Of a map the settings
are those that the export policy of private-only files admits.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pprint import pformat
from typing import Any

from explorer import __version__
from explorer.geography.region import RING, rings_in
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.parameters import Kind, names_of
from explorer.studies.base.study import (
    Parameter,
    Request,
    Result,
    Scale,
    Study,
    Value,
    default_request,
    parameter,
    quantity,
)
from explorer.studies.heatmap.mechanisms import PRIORS, EarlierRelease
from explorer.studies.registry import get_study, study_info

PROGRAM = "privacy-explorer"
FILE = "FILE"
"""Stands for the check-ins, whose name is no setting."""
UNDISCLOSED = {
    "region_from": ("region", "region: found on these check-ins, so it is not told; give --region"),
    "time_from": ("start", "times: found on these check-ins, so they are not told"),
    "n0_from": ("", "n0: found on these check-ins, so it is not told"),
}
"""Origin of a setting → the setting, and the comment where it is left out."""


def bounds_line(result: Result, claim: str = "", hidden: Iterable[str] = ()) -> str:
    """Return a shell command that reproduces an answer exactly.

    Parameters
    ----------
    result : Result
        Of a study that is no map.
    claim : str
        Key of the claimed curve; empty for the tightest valid bound.
    hidden : iterable of str
        Keys of series that are not drawn.
    """
    request = result.request
    study = get_study(request.study)
    words = [PROGRAM, "bounds", study.id]
    if request.quantity and request.quantity != study.quantities[0].key:
        words += ["--quantity", request.quantity]
    if (sweep := request.sweep) is not None:
        ends = f"{_plain(sweep.low)}:{_plain(sweep.high)}:{sweep.points}:{sweep.scale.value}"
        words += ["--sweep", f"{sweep.key}={ends}"]
    for p, value in _changed_parameters(study, request):
        words += ["--set", f"{p.key}={_plain(_named(p, value))}"]
    if request.seed:
        words += ["--seed", str(request.seed)]
    if claim:
        words += ["--claim", claim]
    for key in _there(result, hidden):
        words += ["--hide", key]
    return shlex.join(words)


def map_line(settings: Mapping[str, Any]) -> str:
    """Return a shell command that draws a map again, except for its noise.

    Parameters
    ----------
    settings : mapping
        A recipe that passed `explorer.figures.export` without the true map.

    Raises
    ------
    ValueError
        If it did not.
    """
    words = [PROGRAM, "heatmap", FILE, *(f"{k}={v}" for k, v in _map_words(settings))]
    notes = [f"  # {note}" for note in _undisclosed_note(settings)]
    return shlex.join(words) + "".join(notes)


def bounds_script(result: Result, claim: str = "") -> str:
    """Return a script that prints a request's curves and the claim.

    Parameters are as in `bounds_line`.
    """
    request = result.request
    study = get_study(request.study)
    shown = quantity(study, request.quantity) if request.quantity else None
    about = f"{study_info(study.id).name}: {shown.name if shown else study_info(study.id).question}"
    direct = _direct(result, claim)
    if direct:
        return f'"""{about}, as in Privacy Explorer {__version__}."""\n\n' + direct
    arguments: list[str] = []
    files = []
    for p, value in _changed_parameters(study, request):
        if p.kind is Kind.FILE:
            files.append((p.key, str(_named(p, value))))
        else:
            arguments.append(f"{p.key}={value!r}")
    sweep = request.sweep
    swept = (
        "None"
        if sweep is None
        else (
            f'Sweep("{sweep.key}", {sweep.low!r}, {sweep.high!r}, {sweep.points}, '
            f'Scale("{sweep.scale.value}"))'
        )
    )
    call = ", ".join([f'get_study("{study.id}")', *arguments])
    opened = "".join(
        f'        asked = asked.with_value("{key}", runtime.add_file(Path({name!r})))\n'
        for key, name in files
    )
    return (
        f'"""{about}, as in Privacy Explorer {__version__}."""\n\n'
        "# By the study, which asks explorer.privacy for every curve and checks its conditions.\n"
        "from contextlib import closing\nfrom dataclasses import replace\n"
        + ("from pathlib import Path\n" if files else "")
        + "\nfrom explorer.engine.runtime import StudyRuntime, final_result\n"
        "from explorer.studies.base.claims import evaluate_claim\n"
        "from explorer.studies.base.study import Scale, Sweep, default_request\n"
        "from explorer.studies.registry import get_study\n\n"
        'if __name__ == "__main__":  # processes that compute import this file\n'
        f"    asked = default_request({call})\n"
        f'    asked = replace(asked, quantity="{request.quantity}", sweep={swept}, '
        f"seed={request.seed})\n"
        "    with closing(StudyRuntime()) as runtime:\n"
        f"{opened}"
        "        answer = final_result(runtime, asked)\n"
        "    for series in answer.series:\n"
        "        for x, y in zip(series.x.tolist(), series.y.tolist()):\n"
        "            print(series.key, x, y)\n"
        f"    claim = evaluate_claim(answer, {claim!r})\n"
        "    print(claim.line if claim else 'Nothing is claimed.')\n"
    )


def map_script(settings: Mapping[str, Any]) -> str:
    """Return a script that prints a map's numbers again, except for its noise.

    Raises as `map_line` does.
    """
    words = ["heatmap", FILE, *(f"{k}={v}" for k, v in _map_words(settings)), "--json"]
    notes = "".join(f"# {note}\n" for note in _undisclosed_note(settings))
    return (
        f'"""A private heatmap, as in Privacy Explorer {__version__}: its noise is another."""\n\n'
        "# By the command line's own function: it opens the file, counts and draws the noise.\n"
        f"{notes}from explorer.cli import run\n\n"
        'if __name__ == "__main__":  # processes that compute import this file\n'
        f"    words = {pformat(words, width=84, compact=True)}\n"
        "    raise SystemExit(run(words))\n"
    )


def _map_words(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a map's settings as options with a value each."""
    if settings.get("private_only") is not True:
        raise ValueError("settings: these have not passed the gate of what holds nothing private")
    study, values, part = get_study("heatmap"), settings["values"], settings["selection"]
    words = [
        (f"--{p.key.replace('_', '-')}", _plain(values[p.key]))
        for p in study.parameters
        if p.key in values and values[p.key] != p.default and p.key not in PRIORS
    ]
    words += [("--prior", word) for word in _prior_words(values)]
    if "polygon" in part:
        rings = (";".join(f"{_plain(y)},{_plain(x)}" for y, x in ring) for ring in rings_in(part))
        words.append(("--polygon", RING.join(rings)))
    elif "region" in part:
        south, west, north, east = map(_plain, part["region"])
        ends = (west, south, east, north) if "plane" in part else (south, west, north, east)
        words.append(("--region", ",".join(ends)))
    for key in ("plane", "image", "start", "end", "users", "share", "unit"):
        if part.get(key) is not None:
            words.append((f"--{key}", _plain(part[key])))
    if part.get("data_seed"):
        words.append(("--data-seed", str(part["data_seed"])))
    return [*words, ("--panes", "private")]


def _prior_words(values: Mapping[str, Any]) -> list[str]:
    """Return the public priors of a map, of files their names; empty for the default."""
    study = get_study("heatmap")
    given = {key: values.get(key, parameter(study, key).default) for key in PRIORS}
    if all(given[key] == parameter(study, key).default for key in PRIORS):
        return []
    words = ["cities"] if given["prior_cities"] else []
    words += [
        f"{kind}:{EarlierRelease.parse(name).id if kind == 'release' else name}"
        for kind, value in ((key.removeprefix("prior_"), given[key]) for key in PRIORS[1:])
        for name in names_of(value)
    ]
    return words or ["none"]


def _undisclosed_note(settings: Mapping[str, Any]) -> list[str]:
    """Return a note on settings that may not be disclosed."""
    part = settings["selection"]
    return [
        note for key, (default, note) in UNDISCLOSED.items() if key in part and default not in part
    ]


@dataclass(frozen=True, slots=True)
class _Function:
    """The function that computes one series.

    Attributes
    ----------
    module, name : str
        Module, and imported name.
    call : str
        Of the study's parameters by their keys.
    needs : tuple of str
        Keys of the parameters that the call takes.
    """

    module: str
    name: str
    call: str
    needs: tuple[str, ...]


_CROWD = ("eps0", "n", "delta")
_ROUNDS = ("eps0", "k", "n", "T", "delta", "lam_max")
FUNCTIONS = {
    **{
        ("amplification", "eps", f"exact_{clones}"): _Function(
            "explorer.privacy.shuffling",
            "shuffled_epsilon",
            f'shuffled_epsilon(eps0, n, delta, "{clones}")',
            _CROWD,
        )
        for clones in ("2021", "2023")
    },
    ("shuffle-rdp", "eps", "theorem1"): _Function(
        "explorer.privacy",
        "upper_epsilon",
        "upper_epsilon(eps0, k, n, T, delta, lam_max, capped=True).epsilon",
        _ROUNDS,
    ),
}
"""Study, quantity and series → function that computes that series alone."""


def _direct(result: Result, claim: str) -> str:
    """Return a script that calls the claimed series' function; empty where there is none."""
    request, claim_result = result.request, evaluate_claim(result, claim)
    sweep = request.sweep
    if claim_result is None or sweep is None:
        return ""
    function = FUNCTIONS.get((request.study, request.quantity, claim_result.series.key))
    if function is None or sweep.key not in function.needs or sweep.key == "lam_max":
        return ""
    spaced = "geomspace" if sweep.scale is Scale.LOG else "linspace"
    points = f"np.{spaced}({sweep.low!r}, {sweep.high!r}, {sweep.points})"
    if parameter(get_study(request.study), sweep.key).kind is Kind.INTEGER:
        points = f"np.unique(np.rint({points}))"
    settings = [f"{key} = {request[key]!r}" for key in function.needs if key != sweep.key]
    return (
        f"# By the function behind “{claim_result.series.label}” alone.\n"
        f"import numpy as np\n\nfrom {function.module} import {function.name}\n\n"
        + "\n".join(settings)
        + f"\n{sweep.key} = {points}\n"
        f"for x, y in zip({sweep.key}.tolist(), {function.call}.tolist()):\n"
        f'    print("{claim_result.series.key}", x, y)\n'
    )


def _changed_parameters(study: Study, request: Request) -> list[tuple[Parameter, Value]]:
    """Return the parameters that are not at their defaults, with their values."""
    usual = default_request(study)
    return [(p, request[p.key]) for p in study.parameters if request[p.key] != usual[p.key]]


def _named(p: Parameter, value: Value) -> Value:
    """Return a value as a user types it: of an opened file its name alone."""
    return str(value).rpartition("#")[0] if p.kind is Kind.FILE else value


def _plain(value: object) -> str:
    """Write a value so that reading it gives the same one."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _there(result: Result, keys: Iterable[str]) -> list[str]:
    """Return those of some keys that are of the result's series."""
    present = {series.key for series in result.series}
    return [key for key in sorted(keys) if key in present]
