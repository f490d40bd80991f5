#!/usr/bin/env bash
# cross.sh PART HEDDLE: bundled workloads at size small in time, every result checked. Not every combination runs: from model
# to model the schedulers and machines move on by one workload, so that each pair of them runs many workloads. bench/cross.sh
# runs the whole product.
#     models FIRST STEP   half of the workloads under every STEP-th divergence model from number FIRST on, each with one scheduler;
#                         the other half runs under other models; refused.txt lists what a model must refuse
#     variants FIRST STEP its part with other kernels of the workloads
#     schedulers          every workload under a third of the schedulers, in turn on a machine with each pipeline
#     machines            half of the workloads on every machine, and the other half on the next
#     repeat              the same statistics twice, the second time on several host threads
#     threads FIRST STEP  every STEP-th workload from number FIRST on, each under one scheduler, on one and on 2, 3 or 7 host
#                         threads: every byte the same
set -euo pipefail
part=$1 heddle=$2
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
mapfile -t workloads < <("$heddle" list workloads --names)
cards=(a100 h200 rtx4090) # more than 100 SMs take long, and so does a large L2
mapfile -t machines < <("$heddle" list machines --names | grep -vxF "$(printf '%s\n' "${cards[@]}")")
mapfile -t models < <("$heddle" list divergence --names)
mapfile -t schedulers < <("$heddle" list schedulers --names)
partners=(lrr gto lfws two-level) # the schedulers that models are run with
variants=("scan --code cond_acc" "index --code both" "lps --code progress" "hashjoin --code cond_acc" "indexjoin --code extended"
    "insert --code extended")
matrix_variants=("gemm --code mma" "attention --code mma") # on a machine with a matrix unit
# What runs on machines for small blocks: meng2010 holds 64 threads of one, and no shared memory.
small_blocks=(bc bfs blackscholes cp divergent epp fft filter gemv hotspot ii kmeans lib lu mum nn nnei pagerank picture ray short spmv
    ss sssp svm vecadd wc wp
    fft_rows filter_rows hotspot_rows kmeans_rows lu_rows merge_rows short_rows svm_rows)

has_small_blocks() { "$heddle" list machines "$1" | grep -E '^ *threads_per_block: [0-9]{1,2} ' >/dev/null; }

# is_refused MODEL PROGRAM [ARGUMENT...]
is_refused() { grep -qxF "$*" "$here/refused.txt"; }

# run_variant MODEL PROGRAM [ARGUMENT...]: expects it to be verified, or refused by a rule of the model
run_variant() {
    local message
    if ! is_refused "$@"; then
        "$heddle" run "$2" -q -d "$1" -- "${@:3}"
    elif message=$("$heddle" run "$2" -q -d "$1" -- "${@:3}" 2>&1) || [[ $message != *"kernel '"*"': $1 "* ]]; then
        echo "${*:2} should be refused by a rule of $1; it says: $message" >&2
        return 1
    else
        echo "${*:2}: refused by $1"
    fi
}

# rotate N: half of the workloads under model number N. Four models in a row have the same half, so that each workload meets every
# scheduler.
rotate() {
    local model=${models[$1]} s place i words places=(gtx480 narasiman2011 meng2010) at
    for s in "${!partners[@]}"; do
        for place in "${places[@]}"; do
            words=()
            for i in "${!workloads[@]}"; do
                (((i + $1) % ${#partners[@]} == s && (i / 12 + $1 / 4) % 2 == 0)) || continue
                at=${places[(i / ${#partners[@]} + $1) % 3]}
                [[ $at != meng2010 || " ${small_blocks[*]} " == *" ${workloads[i]} "* ]] || at=${places[(i + $1) % 2]}
                [[ $at != "$place" ]] || is_refused "$model" "${workloads[i]}" || words+=("${workloads[i]}")
            done
            ((${#words[@]} == 0)) || "$heddle" compare "${words[@]}" -m "$place" -d "$model" -s "${partners[s]}"
        done
    done
}

run_variants() {
    local model=${models[$1]} variant words
    for variant in "${variants[@]}"; do
        read -r -a words <<<"$variant"
        run_variant "$model" "${words[@]}"
    done
    for variant in "${matrix_variants[@]}"; do
        read -r -a words <<<"$variant"
        "$heddle" run "${words[0]}" -q -d "$model" --set matrix.rate=64 -- "${words[@]:1}"
    done
}

case $part in
models)
    for ((n = $3; n < ${#models[@]}; n += $4)); do
        rotate "$n"
        run_variants "$n"
    done
    ;;
variants)
    for ((n = $3; n < ${#models[@]}; n += $4)); do run_variants "$n"; done
    ;;
schedulers)
    pipelines=(gtx480 narasiman2011)
    for m in "${!pipelines[@]}"; do
        for s in "${!schedulers[@]}"; do
            words=()
            for i in "${!workloads[@]}"; do
                (((i + s) % 6 != 3 * m)) || words+=("${workloads[i]}")
            done
            "$heddle" compare "${words[@]}" -m "${pipelines[m]}" -s "${schedulers[s]}"
        done
    done
    ;;
machines)
    turn=0
    half() { # WORKLOAD...: every other one, in turn the odd and the even ones
        local i
        words=()
        for ((i = 1 + turn % 2; i <= $#; i += 2)); do words+=("${!i}"); done
        turn=$((turn + 1))
    }
    for machine in "${machines[@]}"; do
        if has_small_blocks "$machine"; then half "${small_blocks[@]}"; else half "${workloads[@]}"; fi
        "$heddle" compare "${words[@]}" -m "$machine" -s lrr
    done
    for machine in "${cards[@]}"; do # an L2 of as many ways, with 32 sets for each slice
        size=$("$heddle" list machines "$machine" | awk '/^[a-z0-9]+:/ { group = $1 } group == "l2:" && $1 == "ways:" { ways = $2 }
            group == "l2:" && $1 == "banks:" { banks = $2 } END { print ways * banks }')
        half "${workloads[@]}"
        "$heddle" compare "${words[@]}" -m "$machine" -s gto --set sm.count=4 --set l2.size="${size}K"
    done
    ! "$heddle" run matmul -m meng2010 2>/dev/null
    ;;
repeat)
    for program in bfs histogram mergesort nqueens "$here/../../bench/fma.ptx --grid 64 --block 256 --arg buf:f32[16384] --arg u32:60"; do
        read -r -a words <<<"$program"
        first=$("$heddle" run "${words[@]}" --threads 1 --json - 2>/dev/null | sed '/"host"/,$d')
        second=$("$heddle" run "${words[@]}" --threads 3 --json - 2>/dev/null | sed '/"host"/,$d')
        [[ -n $first && $first == "$second" ]]
        echo "${words[0]##*/}: the same statistics twice"
    done
    for workload in matmul reduction scan mum; do # instruction counts are the same with and without time
        first=$("$heddle" run "$workload" --functional --json - 2>/dev/null | grep -E '"(thread|memory|long|long_thread)_instructions"')
        second=$("$heddle" run "$workload" --json - 2>/dev/null | grep -E '"(thread|memory|long|long_thread)_instructions"')
        [[ -n $first && $first == "$second" ]]
        echo "$workload: the same instructions with and without time"
    done
    # dyncta asks for a block when its SM is ahead of the others and the SM's stores are still on their way
    words=(blackscholes --size medium --set sm.count=30 -s dyncta)
    first=$(timeout 600 "$heddle" run "${words[@]}" --threads 1 --json - 2>/dev/null | sed '/"host"/,$d')
    second=$(timeout 600 "$heddle" run "${words[@]}" --threads 3 --json - 2>/dev/null | sed '/"host"/,$d')
    [[ -n $first && $first == "$second" ]]
    # warps that wait for room in the load/store unit for a long time, and are no livelock
    "$heddle" run ss --size medium -m rogers2012 -s lrr -q
    ;;
threads)
    for ((n = $3; n < ${#workloads[@]}; n += $4)); do
        first='' many=(2 3 7) scheduler=${schedulers[n % ${#schedulers[@]}]}
        for threads in 1 ${many[n / $4 % 3]}; do
            found=$("$heddle" run "${workloads[n]}" -s "$scheduler" --threads "$threads" --json - 2>/dev/null | sed '/"host"/,$d')
            [[ -n $found && ($threads == 1 || $found == "$first") ]] || {
                diff <(echo "$first") <(echo "$found") >&2 || true
                echo "${workloads[n]}: other statistics on $threads threads under $scheduler" >&2
                exit 1
            }
            first=$found
        done
        echo "${workloads[n]}: the same on 1 and $threads threads under $scheduler"
    done
    ;;
esac
