#!/usr/bin/env bash
# Records the final memory of random programs on this machine's GPU: record.sh FILE [COUNT [SEED]]
# Each program is compiled twice, without and with full optimization. If the results differ, they depend on the compiler and
# no digest is recorded. Needs gcc, NVIDIA's driver and the CUDA headers (CUDA=/usr/local/cuda).
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
file=$(realpath -m "${1:?usage: record.sh FILE [COUNT [SEED]]}")
count=${2:-10000} seed=${3:-1} cuda=${CUDA:-/usr/local/cuda}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

gcc -O2 -std=gnu17 -I"$cuda/include" -Itests/runner tests/differential/*.c tests/runner/{text,driver}.c \
    -L"$cuda/lib64/stubs" -lcuda -o "$folder/differential"
export CUDA_CACHE_DISABLE=1
options=(--seed "$seed" --count "$count" --jobs "$(nproc)")
"$folder/differential" "${options[@]}" --optimization 0 --record "$folder/plain.bin"
"$folder/differential" "${options[@]}" --agree "$folder/plain.bin" --record "$file"
