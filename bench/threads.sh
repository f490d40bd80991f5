#!/usr/bin/env bash
# How much faster eight programs run on several host threads than on one. The computer must be idle and have as many processors.
#     bench/threads.sh [--copies] [MACHINE [SIZE [THREADS...]]]     gtx480, medium, 1 2 4 8 16
# --copies shows what the computer allows: it starts as many runs of one thread at the same time instead. They share nothing, so a
# parallel engine can hardly gain more than all of them together.
# Each number is the best of three runs, in time inside the launches. The statistics of all runs must be equal. BUILD=FOLDER is another
# build; HEDDLE=FILE its command.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
is_copies=false
if [[ ${1-} == --copies ]]; then
    is_copies=true
    shift
fi
heddle=${HEDDLE:-${BUILD:-build}/bin/heddle} machine=${1:-gtx480} size=${2:-medium}
shift $(($# < 2 ? $# : 2))
threads=("$@") programs=(vecadd divergent matmul bfs reduction sort spmv mum)
((${#threads[@]})) || threads=(1 2 4 8 16)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure PROGRAM THREADS: sets `best` to the seconds of the fastest run
measure() {
    local seconds
    best=
    for _ in 1 2 3; do
        "$heddle" run "$1" -m "$machine" --size "$size" --threads "$2" -q --json "$work/json" >/dev/null
        seconds=$(sed -n '/"host"/,$s/^ *"seconds": \([0-9.e+-]*\).*/\1/p' "$work/json")
        sed '/"host"/,$d' "$work/json" >"$work/now"
        [[ -e $work/$1 ]] || cp "$work/now" "$work/$1"
        cmp -s "$work/now" "$work/$1" || { echo "threads: the statistics of $1 depend on the number of threads" >&2 && exit 1; }
        best=$(awk -v a="${best:-$seconds}" -v b="$seconds" 'BEGIN { print a < b ? a : b }')
    done
}

# measure_copies PROGRAM N: sets `best` to the seconds that one of N runs at the same time takes per run
measure_copies() {
    local seconds i
    best=
    for _ in 1 2 3; do
        for ((i = 0; i < $2; i++)); do
            "$heddle" run "$1" -m "$machine" --size "$size" --threads 1 -q --no-check --json "$work/json.$i" >/dev/null &
        done
        wait
        seconds=$(for ((i = 0; i < $2; i++)); do sed -n '/"host"/,$s/^ *"seconds": \([0-9.e+-]*\).*/\1/p' "$work/json.$i"; done |
            awk -v n="$2" '{ sum += $1 } END { print sum / n / n }')
        best=$(awk -v a="${best:-$seconds}" -v b="$seconds" 'BEGIN { print a < b ? a : b }')
    done
}

if $is_copies; then
    measure=measure_copies
    printf '%-8s' runs
else
    measure=measure
    printf '%-8s' threads
fi
printf '%10s' "${programs[@]}" mean
echo
declare -A first
for n in "${threads[@]}"; do
    printf '%-8s' "$n"
    all=
    for program in "${programs[@]}"; do
        "$measure" "$program" "$n"
        first[$program]=${first[$program]:-$best}
        ratio=$(awk -v a="${first[$program]}" -v b="$best" 'BEGIN { printf "%.2f", a / b }')
        printf '%10s' "$ratio"
        all+=" $ratio"
    done
    awk '{ for (i = 1; i <= NF; i++) sum += log($i); printf "%10.2f\n", exp(sum / NF) }' <<<"$all"
done
