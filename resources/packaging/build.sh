#!/bin/sh
# Makes dist/privacy-explorer, a folder that runs on Linux without Python, and an archive of it.
# Further packages, such as those of studies, are named behind it and go in as well:
#     resources/packaging/build.sh './my-study'
# PYTHON names the interpreter to build with, WORK a folder for what is only needed meanwhile,
# OUT one for the result.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
work=${WORK:-$root/build/package}
out=${OUT:-$root/dist}
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$root[package]" "$@"
# what is built is what is installed, not what happens to lie in the checkout
cd "$work"
"$work/venv/bin/python" -m PyInstaller --noconfirm --clean --log-level WARN \
    --workpath "$work/pyinstaller" --distpath "$out" "$root/resources/packaging/privacy-explorer.spec"
tar -C "$out" -czf "$out/privacy-explorer-linux-$(uname -m).tar.gz" privacy-explorer
du -sh "$out/privacy-explorer" "$out"/privacy-explorer-linux-*.tar.gz
