#!/usr/bin/env bash
# cross.sh [HEDDLE]: every workload at size small without timing and under every divergence model with four schedulers, on a machine
# with each pipeline; every result is checked. ./test runs a part of this (tests/timing/cross.sh), with every pair of model and workload
# and of model and scheduler.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
heddle=${1:-./heddle}
mapfile -t workloads < <("$heddle" list workloads --names)
failures=0

for workload in "${workloads[@]}"; do
    "$heddle" run "$workload" --functional -q >/dev/null || failures=$((failures + 1))
done
for machine in gtx480 narasiman2011; do
    for model in $("$heddle" list divergence --names); do
        began=$SECONDS
        "$heddle" compare "${workloads[@]}" -m "$machine" -d "$model" -s "lrr gto lfws two-level" -q || failures=$((failures + 1))
        echo "$machine, $model: ${#workloads[@]} workloads under 4 schedulers in $((SECONDS - began)) s"
    done
done
((failures == 0)) && echo "all results agree with the CPU reference"
