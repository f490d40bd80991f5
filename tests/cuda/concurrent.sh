#!/usr/bin/env bash
# concurrent.sh HEDDLE PROGRAM: kernels that run together have the same statistics on one, two and three host threads.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for threads in 1 2 3; do
    "$1" run -m h200 --set sm.count=8 --threads $threads --json "$work/json" "$2" -- c >"$work/out" 2>&1 ||
        { cat "$work/out" && exit 1; }
    sed -E '/second/d' "$work/json" >"$work/$threads"
    cmp "$work/1" "$work/$threads"
done
[[ $(grep -c '"launch":' "$work/1") -ge 7 ]]
