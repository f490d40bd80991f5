#!/usr/bin/env bash
# What the bundled workloads compute: workloads.sh PROGRAMS COPIES [SIZE...] runs every program of the folder PROGRAMS at the
# sizes (small, medium, paper) with the library COPIES (copies.c) preloaded and prints: name, size, verdict, bytes copied
# back and their hash.
set -euo pipefail
programs=$1 copies=$2
shift 2
for program in "$programs"/*; do
    [[ -f $program && -x $program ]] || continue
    for size in "${@:-small}"; do
        output=$(LD_PRELOAD=$copies "$program" --size "$size" 2>&1) || true
        verdict=$(sed -n "s/^${program##*/}: \([a-z ]*\).*/\1/p" <<<"$output" | head -1)
        echo "${program##*/} $size: $verdict, $(grep ' copies, ' <<<"$output" || tail -1 <<<"$output")"
    done
done
