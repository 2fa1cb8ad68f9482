"""The map files of the checkout, and the script that makes them."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from explorer.geography.basemap import Basemap, read_basemap
from explorer.geography.cities import Cities, read_cities

FOLDER = Path(__file__).parents[2] / "resources"


@lru_cache(maxsize=1)
def basemap() -> Basemap:
    return read_basemap((FOLDER / "basemap.bin").read_bytes())


@lru_cache(maxsize=1)
def cities() -> Cities:
    return read_cities((FOLDER / "cities.tsv.z").read_bytes())


@lru_cache(maxsize=1)
def converter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("convert_basemap", FOLDER / "convert_basemap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
