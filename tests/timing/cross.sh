#!/usr/bin/env bash
# cross.sh schedulers|machines|repeat HEDDLE: bundled workloads at size small in time; `heddle compare` fails when a check does.
set -euo pipefail
part=$1 heddle=$2
workloads=$("$heddle" list workloads --names)
machines=$("$heddle" list machines --names)

case $part in
schedulers) # all of them, on a machine with each pipeline
    for machine in gtx480 narasiman2011; do
        # shellcheck disable=SC2086 # one word per workload
        "$heddle" compare $workloads -m "$machine" -s "$("$heddle" list schedulers --names | tr '\n' ' ')"
    done
    ;;
machines) # meng2010 holds 64 threads and no shared memory: the workloads that need more say so
    for machine in $machines; do
        [[ $machine == meng2010 ]] && continue
        # shellcheck disable=SC2086
        "$heddle" compare $workloads -m "$machine"
    done
    "$heddle" compare vecadd divergent bfs blackscholes fft filter lu short svm -m meng2010 -- --threads-per-block 64
    ! "$heddle" run matmul -m meng2010 2>/dev/null
    ;;
repeat)
    for workload in bfs histogram mergesort; do
        first=$("$heddle" run "$workload" --json - 2>/dev/null | sed '/"host"/,$d')
        second=$("$heddle" run "$workload" --json - 2>/dev/null | sed '/"host"/,$d')
        [[ -n $first && $first == "$second" ]]
        echo "$workload: the same statistics twice"
    done
    ;;
esac
