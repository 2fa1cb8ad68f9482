"""Entry point of the console script and of ``python -m explorer``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; without arguments, open the window. Returns the exit code."""
    from explorer.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
