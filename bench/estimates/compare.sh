#!/bin/bash
# Compares estimates with full runs: compare.sh [HEDDLE [JOBS [MACHINE...]]]
#
# Each program runs three times with one thread: every launch timed, with --estimate, and functionally. A row shows the
# launches and blocks of the program, the part of the work that was timed, the cycles, by how much the estimate differs
# and half of its interval, the processor times of these runs with all their processes, and how many times less the
# estimate and the functional run took than the full run. JOBS programs run at a time, and a run is stopped after LIMIT
# seconds (240). If PROGRAMS names the built programs.cu, nvcc is not needed.
set -u
heddle=${1:-./heddle}
jobs=${2:-1}
shift $(($# < 2 ? $# : 2))
machines=${*:-gtx480 h200}
folder=${FOLDER:-$(mktemp -d)} # a given one is kept
[ -n "${FOLDER:-}" ] || trap 'rm -rf "$folder"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
programs=${PROGRAMS:-$folder/programs} # built already, or here
if [ ! -x "$programs" ] && command -v nvcc >/dev/null; then
    nvcc -O2 -cudart shared -gencode arch=compute_80,code=compute_80 "$here/programs.cu" -o "$programs" || exit 1
fi

list() { # the longest first
    local name
    for name in sc lu lu_rows hotspot_rows; do
        echo "$name|$name --size paper --no-check"
    done
    for name in pagerank bc bfs sssp vecadd; do
        echo "$name|$name --size paper --no-check --threads-per-block 32"
    done
    echo "hotspot|hotspot --size paper --no-check -- --iterations 200"
    echo "needleman|needleman --size paper --no-check -- --length 4096"
    [ -x "$programs" ] || return
    for name in collatz mandelbrot bodies life jacobi bitonic far_bfs far_paths gauss stream searches random_reads \
        counts transpose sparse_rows; do
        echo "$name|$programs -- $name"
    done
}

total() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR > 1 { sum += $at } END { printf "%.0f", sum }' "$2"; }

# compare NAME MACHINE ARGUMENTS: prints a row.
compare() {
    local name=$1 machine=$2 files="$folder/$1-$2" full estimate functional text all some error
    TIMEFORMAT='%U %S'
    read -ra arguments <<<"$3"
    local run=("$heddle" run "${arguments[0]}" -m "$machine" --threads 1)
    full=$({ time timeout "${LIMIT:-240}" "${run[@]}" -q --csv "$files.csv" "${arguments[@]:1}" >"$files.full" 2>"$files.error"; } 2>&1) ||
        { echo "$name|$machine|failed or stopped in the full run: $(head -c 100 "$files.error")"; return; }
    estimate=$({ time timeout "${LIMIT:-240}" "${run[@]}" --estimate --csv "$files.some.csv" "${arguments[@]:1}" >"$files.text" 2>"$files.error"; } 2>&1) ||
        { echo "$name|$machine|failed or stopped in the estimate: $(head -c 100 "$files.error")"; return; }
    functional=$({ time timeout "${LIMIT:-240}" "$heddle" run "${arguments[0]}" --functional --threads 1 -q "${arguments[@]:1}" >/dev/null 2>"$files.error"; } 2>&1) ||
        { echo "$name|$machine|failed or stopped in the functional run: $(head -c 100 "$files.error")"; return; }
    all=$(total cycles "$files.csv")
    some=$(total cycles "$files.some.csv")
    text=$(grep '^estimated from' "$files.text")
    [[ $text =~ \(([0-9.]+)\ %\ of\ the\ work\),\ in\ ([0-9]+).*cycles\ \+-\ ([0-9.]+) ]]
    awk -v name="$name" -v machine="$machine" -v launches="$(($(wc -l <"$files.csv") - 1))" \
        -v blocks="$(total blocks "$files.csv")" -v work="${BASH_REMATCH[1]}" -v runs="${BASH_REMATCH[2]}" \
        -v half="${BASH_REMATCH[3]}" -v all="$all" -v some="$some" -v full="$full" -v estimate="$estimate" \
        -v functional="$functional" 'BEGIN {
            split(full, a, " "); split(estimate, b, " "); split(functional, c, " ")
            printf "%s|%s|%d|%d|%s %%|%d|%d|%+.2f %%|%s %%|%.1f|%.1f|%.1f|%.1f|%.1f\n", name, machine, launches, blocks, work,
                   runs, all, 100 * (some / all - 1), half, a[1] + a[2], b[1] + b[2], (a[1] + a[2]) / (b[1] + b[2]),
                   c[1] + c[2], (a[1] + a[2]) / (c[1] + c[2]) }'
}

for machine in $machines; do
    while IFS='|' read -r name arguments; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        compare "$name" "$machine" "$arguments" >"$folder/$name-$machine.row" &
    done < <(list)
done
wait
echo "| program | machine | launches | blocks | timed | runs | all cycles | estimate differs by | interval +- | full, s | estimate, s | times faster | functional, s | times faster |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
for machine in $machines; do
    while IFS='|' read -r name _; do cat "$folder/$name-$machine.row"; done < <(list)
done | tee "$folder/rows" | sed 's/|/ | /g; s/^/| /; s/$/ |/'
awk -F'|' 'NF > 11 { error = $8 + 0; error = error < 0 ? -error : error; sum += error; n++; logs += log($12); covered += error <= $9 + 0.005
               worst = error > worst ? error : worst; least = least == "" || $12 < least ? $12 : least; most = $12 > most ? $12 : most }
           END { if (n) printf "\n%d rows: mean error %.2f %%, worst %.2f %%; %d intervals contain the cycles of the full run; geometric mean %.1f times faster (%.1f to %.1f)\n",
                               n, sum / n, worst, covered, exp(logs / n), least, most }' "$folder/rows"
