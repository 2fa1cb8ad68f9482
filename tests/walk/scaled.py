"""Every question at 125 %, as a process: ``QT_SCALE_FACTOR`` is read when Qt starts.

Writes a line for everything that is wrong.
"""

import sys
import time
from dataclasses import replace
from itertools import cycle

from explorer.studies.base.study import default_request
from explorer.studies.registry import get_study, study_infos
from tests.waiting import time_limit
from tests.walk import rules
from tests.walk.asking import asked

SIZES = ((1024, 720), (1280, 800))


def main() -> None:
    """Ask each question once, small, and look at it in a size, the next one in the other."""
    from explorer.ui.app.application import Application
    from explorer.ui.app.options import WindowOptions

    begin = WindowOptions(study="heatmap", values=(("resolution", "16"),), theme="light")
    launch = Application(begin, ["scaled"])
    launch.show()
    window, app = launch.window, launch.app

    def until(done) -> None:
        end = time.monotonic() + time_limit(60)
        while not done() and time.monotonic() < end:
            app.processEvents()
            time.sleep(0.01)

    until(lambda: window.data.current is not None)
    for info, size in zip(study_infos(), cycle(SIZES)):
        study = get_study(info.id)
        request = asked(study) if study.quantities else default_request(study, resolution="16")
        selection = window.session.state.selection if study.needs_data else None
        window.session.follow(replace(request, selection=selection))
        until(lambda: not window.busy and window.current_result is not None)
        window.resize(*size)
        end = time.monotonic() + time_limit(1.0)
        app.processEvents()
        while (found := list(rules.of_window(window))) and time.monotonic() < end:
            app.processEvents()
            time.sleep(0.01)
        for text in dict.fromkeys((*found, *rules.of_fit(window))):
            print(f"{info.id}, {size[0]}×{size[1]}: {text}")
    print(
        f"looked at {len(study_infos())} questions at {window.devicePixelRatio():g}",
        file=sys.stderr,
    )
    window.close()


if __name__ == "__main__":
    main()
