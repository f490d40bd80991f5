#!/usr/bin/env bash
# Records the answers of this machine's GPU: tests/conformance/record.sh [FILE]. Needs gcc, an NVIDIA driver and its GPU.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
file=${1:-tests/conformance/answers}
program=$(mktemp -d)/conformance
trap 'rm -r "$(dirname "$program")"' EXIT
libcuda=$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ && !n++ {print $NF}')
gcc -std=gnu17 -O2 -Isrc -Iinclude/cuda -Itests -Itests/runner \
    tests/conformance/{conformance,form,inputs,kernel,device,answers,approx,check}.c tests/differential/edge.c \
    tests/runner/{forms,values,text,driver,level}.c "${libcuda:--lcuda}" -lm -o "$program"
"$program" --record "$file"
if command -v zstd >/dev/null; then
    zstd -19 -q -f --rm "$file" -o "$file.zst"
else
    echo "$file is not compressed: zstd -19 $file -o $file.zst"
fi
