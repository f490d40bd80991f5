# What the scripts share that measure for the documentation: tables, claims, results, truth. Sourced by them, not run. Starts in the
# root of the checkout, with `build` (HEDDLE_BUILD, default build), its `heddle`, and a temporary `folder`.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
build=${HEDDLE_BUILD:-build}
heddle=$build/bin/heddle
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# grouped NUMBER: with commas between thousands
grouped() { sed -E ':a; s/^([+-]?[0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }

# total COLUMN: of the CSV of a run on standard input, the sum over all launches
total() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR > 1 { sum += $at } END { printf "%.0f\n", sum }'
}

# cycles WORKLOAD OPTION...: of all launches
cycles() { "$heddle" run "$@" --no-check --csv - -q 2>"$folder/log" | total cycles || { cat "$folder/log" >&2 && return 1; }; }
