#!/usr/bin/env bash
# record.sh PROGRAMS OUT: records a GPU for `heddle validate`, on a machine with the GPU and Nsight Compute.
#   PROGRAMS  folder of the workloads, built for a GPU: cmake -S workloads -B BUILD && cmake --build BUILD; BUILD/workloads
#   OUT       writes OUT_launches.csv (counters of every launch, at most 40 of a program, sizes medium and paper) and, if
#             PROGRAMS has the program `hardware` of bench/hardware, OUT_micro.csv
# Clocks and caches are left as they are found.
set -euo pipefail
programs=${1:?folder of the workloads} out=${2:?name of the recording}
metrics=(sm__cycles_elapsed.max smsp__inst_executed.sum smsp__thread_inst_executed.sum dram__bytes_read.sum lts__t_sectors.sum
    launch__registers_per_thread sm__warps_active.avg.pct_of_peak_sustained_active)

# Picks columns of Nsight Compute's CSV by name; its second line has the units.
columns() {
    awk -v workload="$1" -v size="$2" -v names="Kernel Name;Grid Size;Block Size;launch__registers_per_thread;sm__cycles_elapsed.max;smsp__inst_executed.sum;smsp__thread_inst_executed.sum;dram__bytes_read.sum;lts__t_sectors.sum;sm__warps_active.avg.pct_of_peak_sustained_active" '
        BEGIN { FS = "\",\""; n = split(names, name, ";") }
        !/^"/ { next }
        { row++; for (i = 1; i <= NF; i++) { field[i] = $i; gsub(/"/, "", field[i]) } }
        row == 1 { for (i = 1; i <= NF; i++) column[field[i]] = i; next }
        row == 2 { next }
        {
            line = workload "," size
            for (k = 1; k <= n; k++) {
                value = field[column[name[k]]]
                if (k == 2 || k == 3) value = "\"" value "\""
                else gsub(/,/, "", value)
                line = line "," value
            }
            print line
        }'
}

echo 'workload,size,kernel,grid,block,registers,cycles,warp_inst,thread_inst,dram_read,l2_sectors,warps_active_pct' >"${out}_launches.csv"
for size in medium paper; do
    for program in "$programs"/*; do
        name=${program##*/}
        case $name in *.ptx | hardware | query | index | insert | indexjoin) continue ;; esac
        timeout 120 ncu --clock-control none --cache-control none --launch-count 40 --csv --page raw \
            --metrics "$(IFS=,; echo "${metrics[*]}")" "$program" --size "$size" 2>/dev/null |
            columns "$name" "$size" >>"${out}_launches.csv" || echo "record: $name $size failed" >&2
    done
done
[[ ! -x $programs/hardware ]] || "$programs/hardware" >"${out}_micro.csv"
