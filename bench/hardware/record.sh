#!/usr/bin/env bash
# record.sh PROGRAMS OUT [PROGRAM...]: records a GPU for `heddle validate`, on a machine with the GPU and Nsight Compute.
#   PROGRAMS  folder of the workloads, built for a GPU: cmake -S workloads -B BUILD && cmake --build BUILD; BUILD/workloads.
#             Copy `kernels` and `hardware` of build/bench there to record them too; they find the GPU's driver just as well.
#   OUT       writes OUT_workloads.csv (counters of every launch, at most 40 of a program, sizes medium and paper); of the
#             program `kernels` OUT_patterns.csv, OUT_applications.csv and OUT_suites.csv; of `hardware` OUT_microbenchmarks.csv.
#             OUT_metrics.csv has the metrics of metrics.txt, of workloads at size medium (12 launches each) and of `kernels`.
#   PROGRAM   only these programs, where any are named
# Clocks and caches are left as they are found.
set -euo pipefail
programs=${1:?folder of the workloads} out=${2:?name of the recording}
shift 2
metrics=(launch__registers_per_thread sm__cycles_elapsed.max smsp__inst_executed.sum smsp__thread_inst_executed.sum
    dram__bytes_read.sum lts__t_sectors.sum sm__warps_active.avg.pct_of_peak_sustained_active)
header=workload,size,kernel,grid,block,registers,cycles,warp_inst,thread_inst,dram_read,l2_sectors,warps_active_pct
command -v ncu >/dev/null || { echo "record: no ncu: Nsight Compute is needed" >&2; exit 1; }

mapfile -t all_metrics < <(grep -v '^#' "$(dirname "${BASH_SOURCE[0]}")/metrics.txt")

join() { local IFS=$1; echo "${*:2}"; }

# columns WORKLOAD SIZE METRIC...: picks columns of Nsight Compute's CSV by name; its second line has the units. Without a workload
# the kernel's name takes its place.
columns() {
    awk -v workload="$1" -v size="$2" -v names="Kernel Name;Grid Size;Block Size;$(join ';' "${@:3}")" '
        BEGIN { FS = "\",\""; n = split(names, name, ";") }
        !/^"/ { next }
        { row++; for (i = 1; i <= NF; i++) { field[i] = $i; gsub(/"/, "", field[i]) } }
        row == 1 { for (i = 1; i <= NF; i++) column[field[i]] = i; next }
        row == 2 { next }
        {
            line = (workload ? workload : field[column[name[1]]]) "," size
            for (k = 1; k <= n; k++) {
                value = field[column[name[k]]]
                if (k == 2 || k == 3) value = "\"" value "\""
                else gsub(/,/, "", value)
                line = line "," value
            }
            print line
        }'
}

# profile WORKLOAD SIZE LAUNCHES PROGRAM...: lines of a recording of the array `metrics`, on standard output
profile() {
    local name=$1 size=$2 launches=$3
    shift 3
    timeout 120 ncu --clock-control none --cache-control none --launch-count "$launches" --csv --page raw \
        --metrics "$(join , "${metrics[@]}")" "$@" 2>/dev/null | columns "$name" "$size" "${metrics[@]}" ||
        echo "record: ${name:-kernels} $size failed" >&2
}

is_wanted() {
    local name=$1
    shift
    [[ $# -eq 0 || " $* " == *" $name "* ]]
}

# workloads SIZE LAUNCHES [PROGRAM...]: lines of a recording, on standard output
workloads() {
    for program in "$programs"/*; do
        name=${program##*/}
        case $name in *.ptx | hardware | kernels | query | index | insert | indexjoin) continue ;; esac
        ! is_wanted "$name" "${@:3}" || profile "$name" "$1" "$2" "$program" --size "$1"
    done
}

echo "$header" >"${out}_workloads.csv"
workloads medium 40 "$@" >>"${out}_workloads.csv"
workloads paper 40 "$@" >>"${out}_workloads.csv"
# kernels GROUP FILE...: the kernels of these files of bench/hardware/kernels
kernels() {
    echo "$header" >"${out}_$1.csv"
    profile "" - 1000 "$programs/kernels" "${@:2}" >>"${out}_$1.csv"
}
if [[ -x $programs/kernels ]] && is_wanted kernels "$@"; then
    kernels patterns memory together alone
    kernels applications science data layers
    kernels suites suites courses
fi
[[ ! -x $programs/hardware ]] || ! is_wanted hardware "$@" || "$programs/hardware" >"${out}_microbenchmarks.csv"
metrics=("${all_metrics[@]}")
{
    echo "workload,size,kernel,grid,block,$(join , "${metrics[@]}")"
    workloads medium 12 "$@"
    [[ ! -x $programs/kernels ]] || ! is_wanted kernels "$@" || profile "" - 1000 "$programs/kernels"
} >"${out}_metrics.csv"
