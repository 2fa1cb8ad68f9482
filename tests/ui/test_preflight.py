"""What is said where Qt's system libraries or a screen are missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from explorer.ui.preflight import BASE, X11, complaint, missing_packages, require
from tests.waiting import time_limit

OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}


def test_nothing_is_missing_here() -> None:
    assert complaint(OFFSCREEN) == ""


def test_missing_libraries_are_named_by_their_packages() -> None:
    fake = {"libEGL.so.1": "libegl1", "libnowhere.so.9": "libnowhere9", "libno.so": "libno0"}
    assert missing_packages(fake) == ["libnowhere9", "libno0"]
    assert complaint(OFFSCREEN, base=fake).endswith("sudo apt-get install libnowhere9 libno0")


def test_libraries_of_x11_are_needed_only_there() -> None:
    fake = {"libnowhere.so.9": "libnowhere9"}
    assert complaint(OFFSCREEN, x11=fake) == ""
    assert complaint({"WAYLAND_DISPLAY": "wayland-0"}, x11=fake) == ""
    assert "libnowhere9" in complaint({"DISPLAY": ":0"}, x11=fake)
    assert complaint({"DISPLAY": ":0", "QT_QPA_PLATFORM": "wayland"}, x11=fake) == ""


@pytest.mark.parametrize("env", [{}, {"DISPLAY": ""}, {"QT_QPA_PLATFORM": "xcb"}])
def test_no_screen_is_said_in_one_sentence(env: dict[str, str]) -> None:
    said = complaint(env)
    assert "DISPLAY" in said
    assert "\n" not in said


def test_every_library_has_a_package() -> None:
    assert all(package.startswith("lib") for package in {**BASE, **X11}.values())


def test_the_program_ends_with_code_3(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        require(OFFSCREEN, base={"libnowhere.so.9": "libnowhere9"})
    assert ended.value.code == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_without_a_screen_the_real_program_ends_with_one_sentence_before_qt() -> None:
    env = {
        k: v
        for k, v in os.environ.items()
        if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    code = (
        "import sys\n"
        "from explorer.ui.app import WindowOptions, run_window\n"
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
    assert "no screen" in done.stderr
