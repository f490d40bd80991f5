#!/usr/bin/env bash
# Builds the workloads separately, as for a real GPU, without Heddle's instructions, and compares the results of those
# that use such instructions with the recording: standard_ptx.sh SOURCE LIBCUDA COPIES. LIBCUDA is Heddle's.
set -euo pipefail
source=$1 libcuda=$2 copies=$3 names=(hashjoin index indexjoin insert lps scan)
build=$(mktemp -d)
trap 'rm -r "$build"' EXIT
cmake -G Ninja -S "$source/workloads" -B "$build" -DCUDA_INCLUDE="$source/include/cuda" -DCUDA_LIBRARY="$libcuda" >"$build/log"
cmake --build "$build" --target "${names[@]/#/workload_}" >>"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
if grep -HnE '(cond_acc|tree_traverse)\.sync|heddle::row|^[^/]*\bprogress\.' "$build"/workloads/*.ptx; then exit 1; fi
SIZES="small medium" "$source/tests/conformance/workloads.sh" --compare "$build/workloads" "$copies" "${names[@]}"
