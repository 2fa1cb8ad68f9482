"""What compute processes import: imported by the server that tests fork them from."""

import gc
import os
from importlib import import_module

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from loky.backend.process import LokyProcess

from explorer.engine.compute import server
from explorer.privacy.heatmaps.row_pass import compile_pass
from explorer.privacy.transport.grid import grid_emd
from explorer.studies.registry import get_study, study_infos
from tests.warm_answers import WarmRuntime, one_at_a_time, slow_results
from tests.warm_processes import WarmWorker

LATER = (
    *server._OF_THE_MAP,
    "scipy.special",
    "explorer.engine.compute_tasks",
    "explorer.privacy.user_metric.user_level",
    "explorer.studies.guarantees.checks",
    "loky.backend.spawn",
    "loky.backend.synchronize",
)
"""What the program imports with an answer that needs it: .15 s of each process."""

LokyProcess._Popen = staticmethod(WarmWorker)
for info in study_infos():
    get_study(info.id)
for name in LATER:
    import_module(name)
with one_at_a_time() as folder:  # the first compiles, which takes 7 s
    compile_pass()
    grid_emd(np.eye(16), np.full((16, 16), 1 / 16))
    if folder is not None:
        WarmRuntime.results = slow_results(folder)
server.StudyRuntime = WarmRuntime  # type: ignore[misc]
gc.collect()
gc.freeze()
