#!/bin/sh
# Writes the versions that CI installs anew, each with the hashes of its files, for Python 3.11 to
# 3.13 on Linux (x86-64 and aarch64), without the address of an index: resources/constraints.txt
# for the program, constraints-test.txt with the extra "test", constraints-dev.txt with "dev".
# uv is installed into a temporary folder. PYTHON names the interpreter to start with.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet uv

# compile FILE [OPTION …]
compile() {
    file=$work/$1
    shift
    "$work/venv/bin/uv" pip compile "$root/pyproject.toml" --universal --python-version 3.11 \
        --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
        --quiet --output-file "$file" "$@"
    if grep -nE '://|^-|file:|@ ' "$file"; then
        echo "these lines name an index or a path: nothing was written" >&2
        exit 1
    fi
}

# The versions of the largest set hold in all three.
compile constraints-dev.txt --extra dev --upgrade
compile constraints-test.txt --extra test --constraint "$work/constraints-dev.txt"
compile constraints.txt --constraint "$work/constraints-dev.txt"
cp "$work/constraints.txt" "$work/constraints-test.txt" "$work/constraints-dev.txt" "$root/resources"
