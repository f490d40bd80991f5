#!/usr/bin/env bash
# micro.sh HEDDLE HARDWARE: the microbenchmarks find the latencies that the machine file states.
set -euo pipefail
heddle=$1 hardware=$2

# value CSV NAME PARAMETER: a result, rounded down
value() { awk -F, -v name="$2" -v parameter="$3" '$1 == name && $2 == parameter { print int($3) }' <<<"$1"; }

expect() {
    [[ $2 -eq $3 ]] || { echo "$1 is $2, expected $3"; exit 1; }
}

results=$("$heddle" run "$hardware" -m gtx480 --set sm.fp32_cycles=21 --set shared.latency=30 --quiet -- --quick --only op_ffma)
expect "latency of fma" "$(value "$results" op_ffma latency)" 21
results=$("$heddle" run "$hardware" -m gtx480 --set shared.latency=30 --quiet -- --quick --only shared_load_latency)
expect "latency of shared memory" "$(value "$results" shared_load_latency 1)" 30
expect "latency of shared memory with 32 conflicts" "$(value "$results" shared_load_latency 32)" 61
results=$("$heddle" run "$hardware" -m gtx480 --quiet -- --quick --only constant)
[[ $(value "$results" constant_latency 512) -gt 0 ]] || { echo "no latency of constants"; exit 1; }
