"""Missing system libraries and screens, and the choice of Qt's platform."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from explorer.ui.app import launch
from explorer.ui.app.launch import (
    BASE,
    WAYLAND,
    X11,
    choose_platform,
    missing_packages,
    require,
)
from tests.waiting import time_limit

OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}
NOWHERE = {"libnowhere.so.9": "libnowhere9"}


def named(key: str):
    """A screen that responds if named, unless its name contains "dead"."""
    return lambda env: bool(env.get(key)) and "dead" not in env[key]


def screens(x11: Mapping[str, str] = {}, wayland: Mapping[str, str] = {}):
    return {
        "xcb": ("DISPLAY", named("DISPLAY"), x11),
        "wayland": ("WAYLAND_DISPLAY", named("WAYLAND_DISPLAY"), wayland),
    }


def test_nothing_is_missing_here() -> None:
    assert choose_platform(OFFSCREEN) == ("offscreen", "")


def test_missing_libraries_are_named_by_their_packages() -> None:
    fake = {"libEGL.so.1": "libegl1", **NOWHERE, "libno.so": "libno0"}
    assert missing_packages(fake) == ["libnowhere9", "libno0"]
    _, said = choose_platform(OFFSCREEN, base=fake)
    assert said.endswith("sudo apt-get install libnowhere9 libno0")


@pytest.mark.parametrize(
    ("env", "platform"),
    [
        ({"DISPLAY": ":0"}, "xcb"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":dead"}, "wayland"),
        ({"WAYLAND_DISPLAY": "dead", "DISPLAY": ":0", "XDG_SESSION_TYPE": "wayland"}, "xcb"),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0", "XDG_SESSION_TYPE": "wayland"}, "wayland"),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "xcb"),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0", "QT_QPA_PLATFORM": "wayland;xcb"}, "wayland"),
    ],
)
def test_the_screen_that_works_is_chosen(env: dict[str, str], platform: str) -> None:
    assert choose_platform(env, screens=screens()) == (platform, "")


def test_libraries_are_needed_only_of_the_screen_in_use() -> None:
    x11, wayland = screens(x11=NOWHERE), screens(wayland=NOWHERE)
    assert choose_platform(OFFSCREEN, screens=x11)[1] == ""
    assert choose_platform({"WAYLAND_DISPLAY": "w"}, screens=x11) == ("wayland", "")
    assert "libnowhere9" in choose_platform({"DISPLAY": ":0"}, screens=x11)[1]
    assert "libnowhere9" in choose_platform({"WAYLAND_DISPLAY": "w"}, screens=wayland)[1]
    both = {"WAYLAND_DISPLAY": "w", "DISPLAY": ":0", "XDG_SESSION_TYPE": "wayland"}
    assert choose_platform(both, screens=wayland) == ("xcb", "")


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, "DISPLAY and WAYLAND_DISPLAY are not set"),
        ({"DISPLAY": ""}, "DISPLAY and WAYLAND_DISPLAY are not set"),
        ({"QT_QPA_PLATFORM": "xcb"}, "(DISPLAY is not set)"),
        ({"DISPLAY": ":dead"}, "No screen answers at DISPLAY=:dead"),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "wayland"}, "(WAYLAND_DISPLAY is not set)"),
        ({"QT_QPA_PLATFORM": "no-such-platform"}, "QT_QPA_PLATFORM names (no-such-platform)"),
    ],
)
def test_no_screen_is_reported_in_one_sentence(env: dict[str, str], words: str) -> None:
    platform, said = choose_platform(env, screens=screens())
    assert not platform
    assert words in said
    assert "\n" not in said


def test_every_library_has_a_package() -> None:
    assert all(package.startswith("lib") for package in {**BASE, **X11, **WAYLAND}.values())
    assert {"libwayland-cursor0", "libwayland-egl1"} <= set(WAYLAND.values())


@pytest.fixture
def socket_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path has at most 107 characters
        yield Path(folder)


def test_a_compositor_answers_while_it_listens(socket_folder: Path) -> None:
    env = {"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(socket_folder)}
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(socket_folder / "wayland-7"))
        assert not launch.wayland_answers(env)
        compositor.listen()
        assert launch.wayland_answers(env)
        assert launch.wayland_answers({"WAYLAND_DISPLAY": str(socket_folder / "wayland-7")})
    assert not launch.wayland_answers(env)
    assert not launch.wayland_answers({"WAYLAND_DISPLAY": "wayland-7"})


def test_the_program_settles_the_platform_or_ends_with_code_3(monkeypatch, capsys) -> None:
    monkeypatch.setattr(launch, "choose_platform", lambda _: ("wayland", ""))
    env: dict[str, str] = {}
    require(env)
    assert env == {"QT_QPA_PLATFORM": "wayland"}
    monkeypatch.setattr(launch, "choose_platform", lambda _: ("", "Nothing."))
    with pytest.raises(SystemExit) as ended:
        require(env)
    assert ended.value.code == 3
    assert capsys.readouterr().err == "privacy-explorer: Nothing.\n"


DEAD = {"DISPLAY": ":7391"}


@pytest.mark.parametrize(
    ("screen", "words"),
    [
        ({}, "no screen"),
        (DEAD, "No screen answers at DISPLAY=:7391"),
        ({"WAYLAND_DISPLAY": "wayland-7391"}, "No screen answers at WAYLAND_DISPLAY=wayland-7391"),
    ],
)
def test_without_a_screen_the_real_program_ends_with_one_sentence_before_qt(
    screen: dict[str, str], words: str
) -> None:
    env = {
        k: v
        for k, v in os.environ.items()
        if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    } | screen
    code = (
        "import sys\n"
        "from explorer.ui.app.launch import run_window\n"
        "from explorer.ui.app.options import WindowOptions\n"
        "try:\n"
        "    run_window(WindowOptions())\n"
        "finally:\n"
        "    assert 'PySide6' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=time_limit(60),
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
