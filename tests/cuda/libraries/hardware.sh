#!/usr/bin/env bash
# hardware.sh [BINARIES] [OUTPUT]: runs the programs of this folder on a GPU with NVIDIA's libraries and writes what they print into
# OUTPUT (default: standard output). nvcc builds them; without it, BINARIES is a folder of programs that nvcc built elsewhere.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" || exit
binaries=${1-} output=${2:-/dev/stdout}
declare -A libraries=([products]=-lcublas [vectors]=-lcublas [matrices]=-lcublas [legacy]=-lcublas [random]=-lcurand [fourier]=-lcufft [sparse]=-lcusparse [light]="-lcublasLt -lcublas")

nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -n 1)
# The libraries may be those of a Python package.
for folder in /usr/local/cuda*/lib64 /usr/lib/python3*/*-packages/nvidia/*/lib /usr/local/lib/python3*/*-packages/nvidia/*/lib; do
    [[ -d $folder ]] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
done
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH-}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for name in products vectors matrices legacy random light fourier sparse; do
    [[ -e $name.c ]] || continue
    program=$binaries/library_$name.nvcc
    if [[ -n $nvcc ]]; then
        # shellcheck disable=SC2086 # several options
        "$nvcc" -x cu "$name.c" -o "$work/$name" ${libraries[$name]} && program=$work/$name
    fi
    echo "== $name" >>"$output"
    "$program" card >>"$output" 2>&1 || { echo "$name: exit status $?" >>"$output" && status=1; }
done
exit $status
