#!/usr/bin/env bash
# What the bundled workloads compute: workloads.sh PROGRAMS COPIES runs every program of the folder PROGRAMS at every size
# with the library COPIES (copies.c) preloaded and prints name, size, verdict, bytes copied back and their hash. With
# --compare before them it runs those that workloads.txt has and compares with it; it was printed on a GPU. blackscholes
# uses approximate instructions: its bytes differ, and its verdict, which allows for that, must be the same.
set -euo pipefail
compares=false
[[ ${1-} == --compare ]] && compares=true && shift
programs=$1 copies=$2
recorded=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/workloads.txt

run_all() {
    local program size output verdict
    for program in "$programs"/*; do
        [[ -f $program && -x $program ]] || continue
        if $compares && ! grep -q "^${program##*/} " "$recorded"; then
            echo "not recorded on a GPU yet: ${program##*/}" >&2
            continue
        fi
        for size in small medium paper; do
            output=$(LD_PRELOAD=$copies "$program" --size "$size" 2>&1) || true
            verdict=$(sed -n "s/^${program##*/}: \\([a-z ]*\\).*/\\1/p" <<<"$output" | head -1)
            echo "${program##*/} $size: $verdict, $(grep ' copies, ' <<<"$output" || tail -1 <<<"$output")"
        done
    done
}

without_approximate_bytes() { sed '/^blackscholes/s/, [0-9a-f]*$//'; }

if $compares; then
    diff -u <(without_approximate_bytes <"$recorded") <(run_all | without_approximate_bytes)
else
    run_all
fi
