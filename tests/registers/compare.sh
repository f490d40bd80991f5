#!/usr/bin/env bash
# compare.sh REGISTERS WORKLOADS [--record]: compares the registers that src/isa estimates with those of ptxas, for the kernels
# of bench/hardware and the workloads. With --record it writes ptxas.csv, the numbers of the installed ptxas, instead.
#   REGISTERS  the program of registers.c
#   WORKLOADS  folder with the workloads' PTX
# Fails if fewer kernels than before are within two registers, or let an SM hold as many warps.
set -euo pipefail
program=$1 workloads=$2 folder=$(dirname "${BASH_SOURCE[0]}")
least_near=50 least_warps=85 # percent; 53 and 88 on 2026-11-18
files=(bench/hardware/kernels/*.ptx bench/hardware/samples/samples.ptx "$workloads"/*.ptx)

numbers_of_ptxas() {
    local file
    for file in "${files[@]}"; do
        ptxas -v -arch=sm_90 "$file" -o /dev/null 2>&1 | awk -v file="${file##*/}" '
            /Compiling entry/ { split($0, part, "\047"); kernel = part[2] }
            / Used / { for (i = 1; i < NF; i++) if ($i == "Used") print file "," kernel "," $(i + 1) }' || true
    done
}

if [[ ${3-} == --record ]]; then
    numbers_of_ptxas >"$folder/ptxas.csv"
    exit
fi
recorded=$folder/ptxas.csv
if command -v ptxas >/dev/null; then
    recorded=$(mktemp)
    trap 'rm -f "$recorded"' EXIT
    numbers_of_ptxas >"$recorded"
fi
"$program" "${files[@]}" | awk -F, -v least_near=$least_near -v least_warps=$least_warps '
    function warps(registers) { n = int(65536 / (32 * 8 * int((registers + 7) / 8))); return n < 64 ? n : 64 }
    NR == FNR { real[$1 "," $2] = $3; next }
    ($1 "," $2) in real {
        count++
        off = $3 - real[$1 "," $2]
        near += off >= -2 && off <= 2
        same += warps($3) == warps(real[$1 "," $2])
    }
    END {
        printf "%d kernels: %.0f %% within two registers, %.0f %% with as many warps on an SM\n",
            count, 100 * near / count, 100 * same / count
        exit !(count > 200 && 100 * near >= least_near * count && 100 * same >= least_warps * count)
    }' "$recorded" -
