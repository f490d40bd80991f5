#!/usr/bin/env bash
# Records the copies of this machine's GPU: tests/tensor/record.sh [FILE]. Needs gcc, an NVIDIA driver and its GPU. A copy
# that the GPU refuses as an illegal instruction ends the program; the script leaves it out and goes on with the next one.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
folder=$(mktemp -d) file=${1:-tests/tensor/recorded.txt} from=0
trap 'rm -r "$folder"' EXIT
libcuda=$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ && !n++ {print $NF}')
gcc -std=gnu17 -O2 -Iinclude/cuda -Itests -Itests/runner tests/tensor/{tensor,case,kernel}.c tests/runner/{text,driver}.c \
    "${libcuda:--lcuda}" -lm -o "$folder/tensor"
until "$folder/tensor" --from "$from" --record "$folder/all.txt"; do
    last=$(tail -1 "$folder/all.txt")
    from=$((${last%% *} + 1))
done
grep -v ' 715 ' "$folder/all.txt" >"$file"
