"""Exported files with mutated recipes: each is read, or refused in one sentence."""

from __future__ import annotations

import json
import random
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.figures.formats import Kind, recipe_formats
from explorer.figures.recipes import read_recipe
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region
from explorer.studies.base.study import Selection, default_request, preset_request
from explorer.studies.registry import get_study, study_infos
from tests.figures.samples import exported_map
from tests.fuzz.mutate import changed_bytes, changed_value, json_text
from tests.fuzz.outcome import Outcome

SLOW_S = 5.0
FORMATS = tuple(dict.fromkeys(f.suffix for f in recipe_formats() if f.kind is not Kind.GRID))
SELECTION = Selection("ab" * 32, Region(40.0, -75.0, 41.0, -73.0), "2010-01-01", None, 200, 3)
COLUMNS = {"user": 0, "time": 1, "lat": 2, "lon": 3, "location": 4, "time_format": "iso"}
VIEW = ViewState(title="α & β", x_range=(1.0, 10.0), hidden=("a",), map_box=(1.0, 2.0, 3.0, 4.0))


def recipes() -> Iterator[dict[str, Any]]:
    """Yield a recipe of every study's defaults and presets."""
    for info in study_infos():
        study = get_study(info.id)
        asked = [default_request(study)]
        asked += [preset_request(study, p) for p in study.presets]
        for request in asked:
            columns = COLUMNS if study.needs_data else {}
            if study.needs_data:
                request = replace(request, selection=SELECTION)
            pinned = ({"recipe": Recipe(request).to_dict(), "hidden": ["b"]},)
            view = replace(VIEW, pinned=pinned).to_dict()
            yield Recipe(request, "mine.txt", view=view, columns=columns).to_dict()


def run(count: int, seed: int) -> Outcome:
    """Read `count` mutated files; a fault is anything but a recipe or one sentence."""
    rng, outcome = random.Random(seed), Outcome()
    known = list(recipes())
    exported = cache(partial(exported_map, known[0]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated"
        for _ in range(count):
            if rng.random() < 0.3:
                data = changed_bytes(exported(rng.choice(FORMATS)), rng)
            else:
                data = json_text(changed_value(rng.choice(known), rng), rng)
                if rng.random() < 0.2:
                    data = b"# a\n# recipe: " + data + b"\nx,y\n"
            path.write_bytes(data)
            began = time.monotonic()
            _try(path, data, outcome)
            if time.monotonic() - began > SLOW_S:
                outcome.faults.append(f"took {time.monotonic() - began:.0f} s: {_short(data)}")
    return outcome


def _try(path: Path, data: bytes, outcome: Outcome) -> None:
    try:
        recipe = recipe_from_dict(read_recipe(path))
        ViewState.from_dict(recipe.view)
    except (ValueError, OSError) as error:
        outcome.counts["refused"] += 1
        said = str(error)
        if isinstance(error, UnicodeError) or "\n" in said or not said or len(said) > 400:
            outcome.faults.append(f"no sentence: {said[:200]!r}: {_short(data)}")
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        outcome.faults.append(f"{error!r:.200} in {place.name}: {_short(data)}")
    else:
        outcome.counts["read"] += 1
        again = recipe_from_dict(json.loads(json.dumps(recipe.to_dict())))
        if again != recipe:
            outcome.faults.append(f"does not go there and back: {_short(data)}")


def _short(data: bytes) -> str:
    return repr(data if len(data) < 300 else data[:150] + b" ... " + data[-150:])
