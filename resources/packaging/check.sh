#!/bin/sh
# Tries a folder that build.sh made, without Python on the path; in another root if one is named:
#     resources/packaging/check.sh dist/privacy-explorer
#     resources/packaging/check.sh /opt/privacy-explorer /tmp/bare-debian
# A window (its answers come from a process of its own), a map, curves, and a simulation in worker
# processes.
set -eu
folder=$1
root=${2:-}
home=$(mktemp -d "$root/tmp/privacy-explorer-check.XXXXXX")
trap 'rm -rf "$home"' EXIT
run() {
    echo "$*"
    ${root:+chroot "$root"} env -i HOME="${home#"$root"}" PATH=/nowhere LANG=C.UTF-8 \
        QT_QPA_PLATFORM=offscreen "$folder/privacy-explorer" "$@"
}
run --version
run window --study amplification --screenshot "${home#"$root"}/window.png"
test -s "$home/window.png"
run bounds amplification --set eps0=1 --sweep delta=1e-8:1e-6:3 --output "${home#"$root"}/a.pdf"
run heatmap sample --quiet --json >"$home/map.json"
grep -q '"metrics"' "$home/map.json"
run bounds private-regression --sweep n=1e3:1e4:2 --output "${home#"$root"}/b.csv"
echo "works"
