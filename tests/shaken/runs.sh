#!/usr/bin/env bash
# runs.sh HEDDLE SHAKEN SEED...: compares workloads in the shaken build, on more threads than there are processors, with the ordinary
# build on one thread. Their statistics must be equal. The workloads cover stores of several SMs to the same lines, atomics, blocks
# that end early and late, sequences of kernels, SMs that run ahead, and models that move threads between SMs.
set -euo pipefail
heddle=$1 shaken=$2
shift 2
threads=$(($(nproc) + 5))
runs=("bfs -m h200 --size medium" "bfs -d odgs" "histogram" "histogram -m h200" "sort -m a100" "reduction -m rtx4090" "ss -d dws -m meng2010"
    "ray -d dwf" "vecadd -m h200" "needleman -d tbc -s gto")

# Statistics without the host's times.
statistics() {
    local command=$1
    shift
    "$command" run "$@" --json - 2>/dev/null | sed '/"host"/,$d'
}

status=0
for run in "${runs[@]}"; do
    read -ra words <<<"$run"
    one=$(statistics "$heddle" "${words[@]}" --threads 1)
    [[ $one == *'"cycles"'* ]] || { echo "heddle run $run does not run" && exit 1; }
    for seed; do
        if [[ $(HEDDLE_SHAKE=$seed statistics "$shaken/bin/heddle" "${words[@]}" --threads "$threads") != "$one" ]]; then
            echo "HEDDLE_SHAKE=$seed $shaken/bin/heddle run $run --threads $threads: other statistics than one thread"
            status=1
        fi
    done
done
exit $status
