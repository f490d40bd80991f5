#!/usr/bin/env bash
# Records the answers of this machine's GPU: tests/matrix/record.sh [FILE]. Needs gcc, an NVIDIA driver and its GPU.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
program=$(mktemp -d)/matrix
trap 'rm -r "$(dirname "$program")"' EXIT
libcuda=$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ && !n++ {print $NF}')
gcc -std=gnu17 -O2 -Iinclude/cuda -Itests -Itests/runner tests/matrix/{matrix,form,inputs,kernel}.c \
    tests/runner/{forms,text,driver}.c "${libcuda:--lcuda}" -lm -o "$program"
"$program" --record "${1:-tests/matrix/answers.bin}"
