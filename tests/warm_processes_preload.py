"""What compute processes import: imported by the server that tests fork them from."""

import gc
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import explorer.engine.compute.server  # noqa: F401
from explorer.privacy.heatmaps.pyramid.row_pass import compile_pass
from explorer.studies.registry import cards, get_study

for card in cards():
    get_study(card.id)
compile_pass()
gc.collect()
gc.freeze()
