"""Draw the small pictures of all presets: ``python resources/make_thumbnails.py [WORD …]``.

With words only those of presets whose name, ``study/key``, has one of them are drawn anew. An
answer that is not complete after `LIMIT_S` is drawn as far as it is.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from explorer.cli.common import open_file, open_host
from explorer.figures.thumbnails import drawn_curves, drawn_map, packed
from explorer.studies.base.face import primary_keys
from explorer.studies.base.help_page import Preset, sampled_for
from explorer.studies.base.study import Cancelled, Result, Selection, Study, preset_request
from explorer.studies.registry import cards, get_study

FILE = "thumbnails.json.z"
POINTS = 24
LIMIT_S = 15.0
FEWER = {"trials": 4, "runs": 1}
"""Values of parameters that say how often something is drawn at random."""


def best_answer(host, study: Study, item: Preset, selection: Selection) -> Result | None:
    """Return the best answer that comes in time; None if none does."""
    request = preset_request(study, item)
    own = {p.key for p in study.parameters}
    for key, value in FEWER.items():
        if key in own:
            request = request.with_value(key, value)
    if request.sweep is not None:
        points = min(POINTS, request.sweep.points)
        request = replace(request, sweep=replace(request.sweep, points=points))
    if study.needs_data:
        request = replace(request, selection=sampled_for(item, selection))
    best = None
    try:
        for result in host.answer(request, _until(time.monotonic() + LIMIT_S)):
            best = result
    except Cancelled:
        pass
    return best


def _until(end: float) -> Callable[[], None]:
    def check() -> None:
        if time.monotonic() > end:
            raise Cancelled

    return check


def main(words: list[str]) -> None:
    """Write the file."""
    path = Path(__file__).with_name(FILE)
    pictures = json.loads(zlib.decompress(path.read_bytes())) if words else {}
    with ExitStack() as stack:
        host = open_host(stack, quiet=True)
        data, region = open_file(stack, (Path("sample"),), None, use_cache=True, quiet=True)
        host.add_data(data)
        assert region is not None
        selection = Selection(data.fingerprint, region)
        for study in (get_study(card.id) for card in cards()):
            for item in study.presets:
                name = f"{study.id}/{item.key}"
                if words and not any(word in name for word in words):
                    continue
                pictures.pop(name, None)
                result = best_answer(host, study, item, selection)
                drawn = None
                if result is not None and study.workspace == "map":
                    private = next(s for s in result.surfaces if s.key.startswith("private"))
                    drawn = drawn_map(private)
                elif result is not None:
                    there = [s.key for s in result.series if s.present.any()]
                    keys = item.curves or primary_keys(study, result.request, there)
                    drawn = drawn_curves(study, result, keys)
                if drawn is not None:
                    pictures[name] = drawn
                print(f"{name}: {'none' if drawn is None else 'drawn'}", flush=True)
    path.write_bytes(packed(pictures))
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
