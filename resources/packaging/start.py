"""What the program of a frozen build runs."""

import ctypes
import os
import sys
from pathlib import Path

FALLBACK = (
    "libmd.so.0",
    "libbsd.so.0",
    "libXau.so.6",
    "libXdmcp.so.6",
    "libxcb.so.1",
    "libX11.so.6",
    "libGLdispatch.so.0",
    "libGLX.so.0",
    "libGL.so.1",
    "libOpenGL.so.0",
    "libEGL.so.1",
)
"""What Qt links to and a bare system lacks, in the order in which they need each other. Where the
system has one, that is taken: it belongs to its graphics driver."""


def load_fallback() -> None:
    """Load the libraries that the system lacks from the build; Qt then finds them loaded."""
    for name in FALLBACK:
        try:
            ctypes.CDLL(name)
        except OSError:
            own = Path(sys._MEIPASS)  # type: ignore[attr-defined]
            for place in (own / "fallback" / name, own / name):
                if place.exists():
                    ctypes.CDLL(str(place), mode=ctypes.RTLD_GLOBAL)
                    break


def find_fonts() -> None:
    """Let Qt draw with the fonts of the build where the system has none."""
    if not Path("/etc/fonts/fonts.conf").exists():
        own = Path(sys._MEIPASS)  # type: ignore[attr-defined]
        os.environ.setdefault("FONTCONFIG_FILE", str(own / "fallback" / "fonts.conf"))


if __name__ == "__main__":
    load_fallback()
    find_fonts()
    from explorer.__main__ import main

    sys.exit(main())
