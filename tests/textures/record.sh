#!/usr/bin/env bash
# Records the results of this machine's GPU: tests/textures/record.sh [FILE]. Needs gcc, an NVIDIA driver and its GPU.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
file=${1:-tests/textures/recorded}
program=$(mktemp -d)/textures
trap 'rm -r "$(dirname "$program")"' EXIT
libcuda=$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ && !n++ {print $NF}')
gcc -std=gnu17 -O2 -Iinclude/cuda -Itests/runner tests/textures/*.c tests/runner/{text,driver}.c "${libcuda:--lcuda}" -lm \
    -o "$program"
"$program" --record "$file" 64
if command -v zstd >/dev/null; then
    zstd -19 -q -f --rm "$file" -o "$file.zst"
else
    echo "$file is not compressed: zstd -19 $file -o $file.zst"
fi
