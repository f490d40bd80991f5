#!/usr/bin/env bash
# Instructions of the host per simulated warp instruction, counted by callgrind: the same on a loaded machine, so that noise cannot
# hide a change of speed. Inputs are small, so the start of the program counts too. It takes two minutes and needs valgrind.
#     bench/instructions.sh [BUILD]            counts, and prints what differs from instructions.csv, which a release records
#     bench/instructions.sh --some [BUILD]     only three of the fifteen, in a few seconds: the test bench/instructions
#     bench/instructions.sh --record [BUILD]   counts, and writes instructions.csv
# Counts depend on the compiler; those in the file are of Debian 12's gcc. 3 % above the file is an error. Two counts of a build differ
# by less than 0.02 %, wherever it lies and however loaded the machine is.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
records=false some=false
[[ ${1-} == --record ]] && records=true && shift
[[ ${1-} == --some ]] && some=true && shift
build=${1:-build}
file=bench/instructions.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v valgrind >/dev/null || { echo "instructions: needs the package valgrind" >&2 && exit 77; }
export HEDDLE_HOST_LEVEL=v3 # valgrind knows no more

# What memory-bound, computing and divergent programs cost, in time under each kind of model, and without time.
cases=(
    "vecadd gtx480 stack" "divergent gtx480 stack" "matmul gtx480 stack" "bfs gtx480 stack" "reduction gtx480 stack" "spmv gtx480 stack"
    "mum gtx480 stack" "bfs narasiman2011 lwm" "bfs narasiman2014 tbc" "short meng2010 dws" "mum malits2012 dwf" "mum malits2012 odgs"
    "mum malits2012 mimd" "matmul - -" "bfs - -"
)

if $some && [[ $(gcc -dumpversion) != 12* ]]; then
    echo "instructions: the recorded numbers are those of gcc 12" >&2
    exit 77
fi
$some && cases=("matmul gtx480 stack" "bfs gtx480 stack" "bfs - -")

# count PROGRAM MACHINE MODEL: prints the host's instructions for each warp instruction
count() {
    local options=(--functional) file host=0 n warps
    [[ $2 == - ]] || options=(-m "$2" -d "$3" --threads 1)
    rm -f "$work"/*
    # How often a program writes its results depends on the clock (up to 3 % of bfs), so the writing is not counted. The order of the
    # last two options matters: the first switches counting off at the start.
    valgrind --tool=callgrind --trace-children=yes --callgrind-out-file="$work/%p" \
        --toggle-collect=cuda_results_write --collect-atstart=yes "$build/bin/heddle" run "$1" "${options[@]}" --no-check -q \
        --json "$work/json" >"$work/out" 2>&1 || { tail -n 5 "$work/out" >&2 && return 1; }
    warps=$(sed -nE '/"total"/,$s/^ *"warp_instructions": ([0-9]+),?$/\1/p' "$work/json")
    for file in "$work"/[0-9]*; do # the program is the process that executes most
        n=$(sed -nE 's/^(summary|totals): ([0-9]+).*/\2/p;T;q' "$file")
        ((n > host)) && host=$n
    done
    echo $((host / warps))
}

status=0
table="program,machine,model,instructions"
for case in "${cases[@]}"; do
    read -r program machine model <<<"$case"
    n=$(count "$program" "$machine" "$model")
    table+=$'\n'"$program,$machine,$model,$n"
    if ! $records; then
        old=$(sed -nE "s/^$program,$machine,$model,([0-9]+)$/\\1/p" "$file")
        printf '%-10s %-14s %-6s %6d, recorded %6d: %+.1f %%\n' "$program" "$machine" "$model" "$n" "${old:-0}" \
            "$(awk -v n="$n" -v old="${old:-$n}" 'BEGIN { print 100 * (n - old) / old }')"
        ((100 * n < 103 * ${old:-$n})) || status=1
    fi
done
$records && echo "$table" >"$file"
exit $status
