#!/usr/bin/env bash
# validate.sh HEDDLE: real beside simulated cycles, from a recording of one launch.
set -euo pipefail
heddle=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "$*"; exit 1; }

printf 'workload,size,kernel,grid,cycles\nvecadd,small,vecadd,"(192, 1, 1)",1000\n' >"$folder/card.csv"
rows=$("$heddle" validate h200 --recording "$folder/card.csv" --set sm.count=8 --csv - --svg "$folder/picture.svg")
cycles=$("$heddle" run vecadd -m h200 --set sm.count=8 --size small --no-check --csv - --quiet |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "cycles") column = i } NR == 2 { print $column }')
[[ $rows == *"vecadd,small,1,1000,$cycles,"* ]] || fail "expected $cycles simulated cycles in: $rows"
grep -c '<svg' "$folder/picture.svg" >/dev/null || fail "no picture"
table=$("$heddle" validate h200 --recording "$folder/card.csv" --set sm.count=8)
[[ $table == *"1 workload: mean error"* ]] || fail "no summary in: $table"
[[ $table != *correlation* && $table != *median* ]] || fail "one point has no correlation: $table"
# Counters instead of cycles, with Nsight Compute's names.
printf 'workload,size,sm__cycles_elapsed.max,smsp__inst_executed.sum\nvecadd,small,1000,50\n' >"$folder/metrics.csv"
rows=$("$heddle" validate h200 --recording "$folder/metrics.csv" --metrics --set sm.count=8 --csv -)
[[ $rows == "program,size,metric,real,simulated,difference"$'\n'"vecadd,small,instructions,50,"*",0."* ]] || fail "no metrics in: $rows"
table=$("$heddle" validate h200 --recording "$folder/metrics.csv" --metrics --set sm.count=8)
[[ $table == *"metric "*"instructions "*"The largest differences"* && $table != *"mean error"* ]] || fail "no metrics in: $table"
if "$heddle" validate a100 --metrics 2>"$folder/error"; then fail "a machine without recorded metrics is taken"; fi
[[ $(<"$folder/error") == "heddle: there is no recording of the metrics of a100; "* ]] || fail "wrong message: $(<"$folder/error")"
# The same of local memory, registers, occupancy and stalls; the page shows them.
printf 'workload,size,cycles,registers,warps_active_pct,dram_read,l2_sectors\nvecadd,small,1000,16,50,64,400\n' >"$folder/few.csv"
rows=$("$heddle" validate "$folder/few.csv" h200 --metrics --set sm.count=8 --csv - --html "$folder/metrics.html")
[[ $rows == *"vecadd,small,registers,16,"*"vecadd,small,occupancy,0.5,"*"vecadd,small,sectors at the L2 from DRAM,0.005,"* ]] || fail "no metrics in: $rows"
grep -c '"metric": *"occupancy"' "$folder/metrics.html" >/dev/null || fail "the page has no metrics"
# Programs of the user's: kernels, launches in any order.
printf 'workload,size,kernel,cycles\nvecadd,own,add them,1000\n' >"$folder/own.csv"
rows=$("$heddle" validate "$folder/own.csv" --programs "$(dirname "$heddle")/../workloads" --set sm.count=8 --csv -)
[[ $rows == *"vecadd,add them,1,1000,"* ]] || fail "no kernel in: $rows"
table=$("$heddle" validate "$folder/own.csv" --programs "$(dirname "$heddle")/../workloads" --set sm.count=8)
[[ $table == *"program  kernel "*"vecadd   add them "*"1 kernel: mean error"* ]] || fail "no kernel in: $table"
printf 'workload,size,kernel,cycles\nvecadd,own,first,1000\nvecadd,own,second,1000\n' >"$folder/many.csv"
if "$heddle" validate "$folder/many.csv" --programs "$(dirname "$heddle")/../workloads" --set sm.count=8 -q 2>"$folder/error"; then
    fail "more recorded launches than the run has are taken"
fi
[[ $(<"$folder/error") == "heddle: "*"/vecadd: 2 launches were recorded, but the run has 1" ]] || fail "wrong message: $(<"$folder/error")"
if "$heddle" validate "$folder/own.csv" --programs "$folder" 2>"$folder/error"; then fail "a program that is not there is taken"; fi
# A run that comes to no end has no error, and there is no mean of none.
if table=$("$heddle" validate h200 --recording "$folder/card.csv" --set sm.count=8 --set limits.max_cycles=10 2>/dev/null); then
    fail "a run that was stopped is good: $table"
fi
[[ $table == *failed* && $table != *mean* ]] || fail "a mean of nothing: $table"
printf 'workload,size,kernel,grid,cycles\nlib,paper,lib,"(1, 1, 1)",1000\n' >"$folder/long.csv"
"$heddle" validate h200 --recording "$folder/long.csv" >"$folder/table" 2>"$folder/error" &
pid=$!
until [[ ! -e /proc/$pid || -n $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) ]]; do sleep 0.05; done # a program runs
kill -TERM "$pid"
wait "$pid" && fail "an interrupt is no error"
[[ $(<"$folder/table") == *"not run"* && $(<"$folder/table") != *mean* ]] || fail "after an interrupt: $(<"$folder/table")"
if "$heddle" validate h200 nothing --recording "$folder/card.csv" 2>"$folder/error"; then
    fail "a workload that was not recorded is taken"
fi
[[ $(<"$folder/error") == *"no workload 'nothing'"* ]] || fail "wrong message: $(<"$folder/error")"
if "$heddle" validate h200 --recording "$folder/none.csv" 2>/dev/null; then fail "a missing recording is taken"; fi
if "$heddle" validate a100 2>"$folder/error"; then fail "a machine without a recording is taken"; fi
[[ $(<"$folder/error") == "heddle: there is no recording of a100; "* ]] || fail "wrong message: $(<"$folder/error")"

# Files that cannot be written are found before anything runs.
for option in --csv --svg; do
    for path in "$folder/no/where" /dev/full; do
        if "$heddle" validate h200 --recording "$folder/card.csv" --set sm.count=8 "$option" "$path" >"$folder/table" 2>"$folder/error"; then
            fail "$option $path is taken"
        fi
        [[ $(<"$folder/error") == "heddle: cannot write '$path': "* && ! -s $folder/table ]] || fail "wrong message: $(<"$folder/error")"
    done
done
if "$heddle" validate h200 --recording "$folder/card.csv" --csv - --svg - 2>/dev/null; then fail "two files in one are taken"; fi
