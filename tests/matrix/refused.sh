#!/usr/bin/env bash
# refused.sh HEDDLE [MODEL...]: who cannot run matrix instructions says so in one line: a machine without a matrix unit, and divergence
# models that let lanes run apart, for fragments in global memory. The others run them. Of these, MODELs are tried
# (default: stack dwf tbc multi-pc mimd).
set -euo pipefail
heddle=$1
models=("${@:2}")
((${#models[@]})) || models=(stack dwf tbc multi-pc mimd)

# refuses TEXT COMMAND...: the command fails and its message has the text
refuses() {
    local message
    if message=$("${@:2}" 2>&1) || [[ $message != *"$1"* ]]; then
        echo "'${*:2}' should be refused with '$1'; it says: $message" >&2
        exit 1
    fi
}

"$heddle" run gemm --functional -q -- --code mma
"$heddle" run attention --functional -q -- --code mma
refuses "has no unit for that: set matrix.rate" "$heddle" run gemm -m gtx480 -q -- --code mma
refuses "has no unit for that: set matrix.rate" "$heddle" run attention -m gtx480 -q -- --code mma
global=(tests/kernels/matrix_memory.ptx --kernel global --grid 1 --block 32 --arg 'buf:f32[256]' --set matrix.rate=64)
for model in "${models[@]}"; do
    "$heddle" run gemm -d "$model" --set matrix.rate=64 -q -- --code mma
    "$heddle" run attention -d "$model" --set matrix.rate=64 -q -- --code mma
done
"$heddle" run "${global[@]}" -d stack -q

# wgmma: groups of four whole warps. Few SMs start sooner.
card=(-m h200 --set sm.count=4)
for program in gemm attention; do
    "$heddle" run "$program" --functional -q -- --code groups
    for model in stack barriers; do
        [[ $# == 1 || $model == stack ]] || continue
        "$heddle" run "$program" "${card[@]}" -d "$model" -q -- --code groups
    done
    for model in multi-pc dwf mimd odgs tbc dws slip; do
        refuses "wgmma.mma_async" "$heddle" run "$program" "${card[@]}" -d "$model" -q -- --code groups
    done
done
refuses "shared memory" "$heddle" run gemm -m gtx480 -q -- --code groups
refuses "wmma" "$heddle" run "${global[@]}" -d multi-pc -q
