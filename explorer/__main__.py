"""Entry point of the console script and of ``python -m explorer``."""

import io
import os
import sys

from explorer import shutdown
from explorer.parent_watchdog import quiet_libraries


def main() -> int:
    """Run the command line; without arguments, open the window. Returns the exit code."""
    shutdown.install()
    try:
        return shutdown.finish(_main())
    except KeyboardInterrupt:  # while modules were imported, or nothing could be written
        return shutdown.finish(130)


def _main() -> int:
    _prepare_output()
    # Before numpy is loaded. A second BLAS thread would spin for a core that the window is painting
    # on: a heatmap's frame then takes 50 ms instead of 2.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if getattr(sys, "frozen", False):
        from explorer.engine.executors.pyinstaller import run_child_command

        if run_child_command(sys.argv):
            return 0
    from explorer.cli import run

    if not sys.warnoptions:  # python -W asks for them
        quiet_libraries()
    return run(sys.argv[1:])


def _prepare_output() -> None:
    """Give every standard stream a file, and let none fail at a character that it lacks.

    What is opened next would else get the number of a stream that was closed, and libraries would
    write their warnings into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
