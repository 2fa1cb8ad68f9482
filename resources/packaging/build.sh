#!/bin/sh
# Makes dist/privacy-explorer, a folder that runs on Linux without Python, and an archive of it.
# Further packages, such as those of studies, are named behind it and go in as well:
#     resources/packaging/build.sh './my-study'
# PYTHON names the interpreter to build with, WORK a folder for what is only needed meanwhile,
# OUT one for the result.
# Debian's packages binutils, libopengl0 and, with Debian's Python 3.11, libpython3.11 are needed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
work=${WORK:-$root/build/package}
out=${OUT:-$root/dist}
missing=
command -v objdump >/dev/null || missing="$missing binutils"
/sbin/ldconfig -p | grep -q 'libOpenGL\.so\.0 ' || missing="$missing libopengl0"
# PyInstaller takes the interpreter's shared library along, if it has one or was not built with it
"$python" -c '
import ctypes, sys, sysconfig
name = sysconfig.get_config_var("INSTSONAME") or ""
if ".so" in name or sys.prefix == "/usr":
    ctypes.CDLL(name if ".so" in name else "libpython%d.%d.so.1.0" % sys.version_info[:2])
' 2>/dev/null || missing="$missing libpython$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
if [ -n "$missing" ]; then
    echo "build.sh needs what these Debian packages hold: sudo apt-get install$missing" >&2
    exit 1
fi
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$root[package]" "$@"
# what is built is what is installed, not what happens to lie in the checkout
cd "$work"
"$work/venv/bin/python" -m PyInstaller --noconfirm --clean --log-level WARN \
    --workpath "$work/pyinstaller" --distpath "$out" "$root/resources/packaging/privacy-explorer.spec"
tar -C "$out" -czf "$out/privacy-explorer-linux-$(uname -m).tar.gz" privacy-explorer
du -sh "$out/privacy-explorer" "$out"/privacy-explorer-linux-*.tar.gz
