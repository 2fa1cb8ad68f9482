#!/bin/sh
# Tries a folder that build.sh made, without Python on the path; in another root if one is named:
#     resources/packaging/check.sh dist/privacy-explorer
#     resources/packaging/check.sh /opt/privacy-explorer /tmp/bare-debian
# A window (its answers come from a process of its own), a map, curves, a simulation in worker
# processes, and a release (drawn in a process of its own) whose certificate is verified.
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
# Without fonts, with boxes in place of letters, it is 44 kB.
test "$(wc -c <"$home/window.png")" -gt 90000
run bounds amplification --set eps0=1 --sweep delta=1e-8:1e-6:3 --output "${home#"$root"}/a.pdf"
run heatmap sample --quiet --json >"$home/map.json"
grep -q '"metrics"' "$home/map.json"
run bounds private-regression --sweep n=1e3:1e4:2 --output "${home#"$root"}/b.csv"
run ledger open --ledger "${home#"$root"}/l.sqlite" --label people --budget 3/1 >"$home/id"
printf 'user,time,lat,lon\na,2026-01-01T00:00:00Z,40.7,-74\n' >"$home/rows.csv"
cat >"$home/plan.json" <<END
{"schema": "privacy-explorer/plan/1", "population": "$(grep -oE '[0-9a-f]{32}' "$home/id" | tail -1)",
 "data": "rows.csv", "mechanism": {"id": "count.users/1", "epsilon": "1/2", "parameters": {
   "box": ["40", "-75", "41", "-73"], "columns": ["user", "time", "lat", "lon"],
   "delimiter": "comma", "header": "yes"}},
 "declared": {"title": "t", "curator": "c", "description": "d", "intended_use": "u", "label": "l",
   "period": "p", "region": "r", "source_type": "Dynamic", "independent_of_data": true,
   "conditions": []}}
END
run release "${home#"$root"}/plan.json" --ledger "${home#"$root"}/l.sqlite" --spend 1/2 \
    --out "${home#"$root"}/count.json"
run verify "${home#"$root"}/count.certificate.json" --ledger "${home#"$root"}/l.sqlite"
echo "works"
