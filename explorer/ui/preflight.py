"""Look for what Qt needs of the system before Qt does: it aborts where it could have told."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping

EXIT_CODE = 3

BASE: dict[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""Shared libraries that any Qt window needs, drawn on a screen or not, and their packages."""

X11: dict[str, str] = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What an X server needs besides."""

_SCREENLESS = ("offscreen", "minimal", "vnc", "eglfs", "linuxfb")


def missing_packages(libraries: Mapping[str, str]) -> list[str]:
    """Return the Debian packages of those libraries that can't be loaded."""
    packages = []
    for soname, package in libraries.items():
        try:
            ctypes.CDLL(soname)
        except OSError:
            packages.append(package)
    return packages


def complaint(
    environment: Mapping[str, str] | None = None,
    base: Mapping[str, str] = BASE,
    x11: Mapping[str, str] = X11,
) -> str:
    """Return one sentence on why no window can be shown here; empty if one can.

    Parameters
    ----------
    environment : mapping, optional
        ``os.environ`` if omitted.
    base, x11 : mapping of soname to Debian package
    """
    env = os.environ if environment is None else environment
    if not sys.platform.startswith("linux"):
        return ""
    platform = env.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    needed = dict(base)
    if platform not in _SCREENLESS:
        if not (env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")):
            return (
                "There is no screen to show a window on (neither DISPLAY nor WAYLAND_DISPLAY is "
                "set); start from a graphical session, or draw off screen with --screenshot."
            )
        if platform != "wayland" and env.get("DISPLAY"):
            needed |= x11
    packages = missing_packages(needed)
    if not packages:
        return ""
    return (
        "Qt needs system libraries that are not installed; install them with: "
        f"sudo apt-get install {' '.join(packages)}"
    )


def require(
    environment: Mapping[str, str] | None = None,
    base: Mapping[str, str] = BASE,
    x11: Mapping[str, str] = X11,
) -> None:
    """End the program with exit code 3 and one sentence if no window can be shown.

    Raises
    ------
    SystemExit
        After the sentence went to stderr.
    """
    said = complaint(environment, base, x11)
    if said:
        print(f"privacy-explorer: {said}", file=sys.stderr)
        raise SystemExit(EXIT_CODE)
