"""Checks the system for what Qt needs, then runs the application.

Qt aborts without a message where a library or a screen is missing: nothing here imports it before
`require` has returned.
"""

import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path

from explorer import shutdown
from explorer.ui.app.options import WindowOptions
from explorer.ui.base.startup_tuning import gc_deferred, tune_imports

EXIT_CODE = 3
PROBE_S = 20.0
"""Time limit for Qt to start on a platform that has no check of its own here."""

BASE: dict[str, str] = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""Shared libraries required by any Qt window, also off screen, with their packages."""

X11: dict[str, str] = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""Additional libraries for X11."""

WAYLAND: dict[str, str] = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
"""Additional libraries for Wayland."""

_SCREENLESS = ("offscreen", "minimal")


def missing_packages(libraries: Mapping[str, str]) -> list[str]:
    """Return the Debian packages of those libraries that can't be loaded."""
    packages = []
    for soname, package in libraries.items():
        try:
            ctypes.CDLL(soname)
        except OSError:
            packages.append(package)
    return packages


def x_answers(environment: Mapping[str, str]) -> bool:
    """Whether the X server named by DISPLAY accepts a connection."""
    name = environment.get("DISPLAY")
    if not name:
        return False
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # the missing packages provide it
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(name.encode(), None))
    try:
        return bool(xcb.xcb_connection_has_error(connection) == 0)
    finally:
        xcb.xcb_disconnect(connection)


def wayland_answers(environment: Mapping[str, str]) -> bool:
    """Whether the Wayland compositor named by WAYLAND_DISPLAY accepts a connection."""
    if environment.get("WAYLAND_SOCKET"):
        return True  # an inherited connection; a test would consume it
    name = environment.get("WAYLAND_DISPLAY")
    if not name:
        return False
    place = Path(environment.get("XDG_RUNTIME_DIR") or "/nowhere") / name
    with socket.socket(socket.AF_UNIX) as ours:
        try:
            ours.connect(str(place))
        except (OSError, ValueError):
            return False
    return True


def qt_starts(platform: str) -> bool:
    """Whether Qt starts on a platform; tested in a subprocess, which may abort."""
    code = (
        "import sys; from PySide6.QtGui import QGuiApplication as A; "
        "sys.exit(A(['probe']).primaryScreen() is None)"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            env={**os.environ, "QT_QPA_PLATFORM": platform},
            capture_output=True,
            timeout=PROBE_S,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


Answers = Callable[[Mapping[str, str]], bool]
SCREENS: dict[str, tuple[str, Answers, Mapping[str, str]]] = {
    "xcb": ("DISPLAY", x_answers, X11),
    "wayland": ("WAYLAND_DISPLAY", wayland_answers, WAYLAND),
}
"""Qt platforms with a screen: variable, connection test and required libraries."""


def _platforms(environment: Mapping[str, str]) -> list[str]:
    """Return the platforms to try, in order."""
    named = environment.get("QT_QPA_PLATFORM", "")
    if named:
        return [part.split(":")[0] for part in named.split(";") if part]
    first = "wayland" if environment.get("XDG_SESSION_TYPE") == "wayland" else "xcb"
    return sorted(SCREENS, key=lambda name: name != first)


def choose_platform(
    environment: Mapping[str, str],
    base: Mapping[str, str] = BASE,
    screens: Mapping[str, tuple[str, Answers, Mapping[str, str]]] = SCREENS,
) -> tuple[str, str]:
    """Return a usable Qt platform, or an error message if there is none.

    Parameters
    ----------
    environment : mapping
    base : mapping of soname to Debian package
    screens : mapping
        As `SCREENS`.

    Returns
    -------
    (str, str)
        Exactly one of the two is nonempty.
    """
    missing = missing_packages(base)
    if missing:
        return "", _install(missing)
    names, dead, refused = [], [], []
    for platform in _platforms(environment):
        name, answers, libraries = screens.get(platform.removesuffix("-egl"), ("", None, {}))
        if answers is None:
            if platform in _SCREENLESS or qt_starts(platform):
                return platform, ""
            refused.append(platform)
        elif not answers(environment):
            names.append(name)
            dead += [f"{name}={environment[name]}"] if environment.get(name) else []
        elif lacking := missing_packages(libraries):
            missing += lacking
        else:
            return platform, ""
    if missing:
        return "", _install(missing)
    if refused:
        return "", (
            f"Qt can't start on the platform that QT_QPA_PLATFORM names ({', '.join(refused)}); "
            "unset it."
        )
    remedy = "start from a graphical session, or draw off screen with --screenshot."
    if dead:
        return "", f"No screen answers at {' or '.join(dead)}, or it lets nobody in; {remedy}"
    listed = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not set"
    return "", f"There is no screen to show a window on ({listed}); {remedy}"


def _install(packages: list[str]) -> str:
    return (
        "Qt needs system libraries that are not installed; install them with: "
        f"sudo apt-get install {' '.join(packages)}"
    )


def require(environment: MutableMapping[str, str] | None = None) -> None:
    """Select Qt's platform, or exit with code 3 and a one-line message.

    Parameters
    ----------
    environment : mutable mapping, optional
        ``os.environ`` if omitted. QT_QPA_PLATFORM is set if it was not: Qt tries one platform only
        and aborts.

    Raises
    ------
    SystemExit
        After the message was written to stderr.
    """
    env = os.environ if environment is None else environment
    if not sys.platform.startswith("linux"):
        return
    platform, text = choose_platform(env)
    if text:
        print(f"privacy-explorer: {text}", file=sys.stderr)
        raise SystemExit(EXIT_CODE)
    if not env.get("QT_QPA_PLATFORM"):
        env["QT_QPA_PLATFORM"] = platform


def run_window(options: WindowOptions) -> int:
    """Run the window until it is closed; with a screenshot, until that is saved.

    Returns
    -------
    int
        Exit code: 0 on success, 1 if the requested view could not be shown.

    Raises
    ------
    SystemExit
        With code 3 if the system lacks what Qt requires.
    ValueError
        If an option names an unknown study, parameter or theme.
    """
    if options.screenshot is not None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    require()
    tune_imports()
    with gc_deferred():
        with shutdown.interrupts_deferred():
            from explorer.ui.app.application import Application  # imports Qt

            application = Application(options, sys.argv[:1])
        return application.run()
