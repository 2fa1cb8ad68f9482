#!/bin/sh
# Writes resources/constraints.txt anew: the versions that CI installs, each with the hashes of its
# files, for Python 3.11 to 3.13 on Linux (x86-64 and aarch64), without the address of an index.
# uv comes into a temporary folder. PYTHON names the interpreter to start with.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet uv
"$work/venv/bin/uv" pip compile "$root/pyproject.toml" --extra test --universal \
    --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
    --no-header --upgrade --quiet --output-file "$work/constraints.txt"
if grep -nE '://|^-|file:|@ ' "$work/constraints.txt"; then
    echo "these lines name an index or a path: nothing was written" >&2
    exit 1
fi
cp "$work/constraints.txt" "$root/resources/constraints.txt"
