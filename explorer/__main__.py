"""Entry point of the console script and of ``python -m explorer``."""

import os
import sys


def main() -> int:
    """Run the command line; without arguments, open the window. Returns the exit code."""
    # Before numpy is loaded. A second BLAS thread would spin for a core that the window is painting
    # on: a heatmap's frame then takes 50 ms instead of 2.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if getattr(sys, "frozen", False):
        from explorer.engine.executors.frozen import ran_child

        if ran_child(sys.argv):
            return 0
    from explorer.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
