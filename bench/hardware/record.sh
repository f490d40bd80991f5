#!/usr/bin/env bash
# record.sh [-p FOLDER] NAME [PROGRAM...]: records a GPU for `heddle validate`, on a machine with the GPU and Nsight Compute.
#   FOLDER   of the workloads, built for a GPU. Without it they are built in build/gpu, which needs cmake, clang and the CUDA
#            toolkit. `kernels` and `hardware` of build/bench are recorded too if they are there; they find the GPU's driver.
#   NAME     writes NAME_workloads.csv (counters of every launch, at most 40 of a program, sizes medium and paper); of the
#            program `kernels` NAME_patterns.csv, NAME_applications.csv and NAME_suites.csv; of `hardware`
#            NAME_microbenchmarks.csv. NAME_metrics.csv has the metrics of metrics.txt, of workloads at size medium (12 launches
#            each) and of `kernels`.
#   PROGRAM  only these programs, where any are named. A name with a slash, such as ./app, is a program of yours, started
#            without arguments: NAME_programs.csv and NAME_programs_metrics.csv have its first 24 launches, for
#            `heddle validate NAME_programs.csv --programs FOLDER`.
# Clocks and caches are left as they are found. A recording of few metrics takes one pass, so it finds the caches as the program
# left them; one of all metrics repeats each launch, with warm caches.
set -euo pipefail
fail() { echo "record: $*" >&2; exit 1; }
misused() { echo "record: $*; usage: record.sh [-p FOLDER] NAME [PROGRAM...]" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
programs=
while getopts :p: option; do
    case $option in
        p) programs=$OPTARG ;;
        :) misused "-p needs the folder of the workloads" ;;
        *) misused "no option -$OPTARG" ;;
    esac
done
shift $((OPTIND - 1))
[[ $# -gt 0 ]] || misused "the name of the recording is missing"
out=$1
shift
own=() wanted=()
for name in "$@"; do
    if [[ $name == */* ]]; then own+=("$name"); else wanted+=("$name"); fi
done
metrics=(launch__registers_per_thread sm__cycles_elapsed.max smsp__inst_executed.sum smsp__thread_inst_executed.sum
    dram__bytes_read.sum lts__t_sectors.sum sm__warps_active.avg.pct_of_peak_sustained_active dram__bytes_write.sum)
header=workload,size,kernel,grid,block,registers,cycles,warp_inst,thread_inst,dram_read,l2_sectors,warps_active_pct,dram_write
[[ -z $programs || -d $programs ]] || fail "no folder $programs"
[[ -d $(dirname "$out") ]] || fail "no folder $(dirname "$out") for the recording"
for name in "${own[@]}"; do [[ -x $name && -f $name ]] || fail "no program $name"; done
command -v ncu >/dev/null || fail "no ncu: Nsight Compute is needed, on the machine with the GPU"

mapfile -t all_metrics < <(grep -v '^#' "$here/metrics.txt")

join() { local IFS=$1; echo "${*:2}"; }
all_header=workload,size,kernel,grid,block,$(join , "${all_metrics[@]}")

# columns WORKLOAD SIZE METRIC...: picks columns of Nsight Compute's CSV by name; its second line has the units. Without a workload
# the kernel's name takes its place. Of a C++ name only the template's arguments stay.
columns() {
    awk -v workload="$1" -v size="$2" -v names="Kernel Name;Grid Size;Block Size;$(join ';' "${@:3}")" '
        BEGIN { FS = "\",\""; n = split(names, name, ";") }
        !/^"/ { next }
        { row++; for (i = 1; i <= NF; i++) { field[i] = $i; gsub(/"/, "", field[i]) } }
        row == 1 { for (i = 1; i <= NF; i++) column[field[i]] = i; next }
        row == 2 { next }
        {
            kernel = field[column[name[1]]]
            sub(/^void /, "", kernel)
            gsub(/\([A-Za-z_:]*\)/, "", kernel) # casts of template arguments
            sub(/\(.*/, "", kernel)
            field[column[name[1]]] = kernel
            line = (workload ? workload : kernel) "," size
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

if ((${#own[@]})); then
    own_programs() { for program in "${own[@]}"; do profile "${program##*/}" own 24 "$program"; done; }
    { echo "$header" && own_programs; } >"${out}_programs.csv"
    few=("${metrics[@]}") metrics=("${all_metrics[@]}")
    { echo "$all_header" && own_programs; } >"${out}_programs_metrics.csv"
    metrics=("${few[@]}")
    ((${#wanted[@]})) || exit 0
fi

if [[ ! $programs ]]; then
    command -v cmake clang >/dev/null || fail "cmake and clang build the workloads; or name their folder: -p FOLDER"
    root=$here/../..
    cmake -S "$root/workloads" -B "$root/build/gpu" >/dev/null && cmake --build "$root/build/gpu" -j >/dev/null ||
        fail "the workloads cannot be built"
    programs=$root/build/gpu/workloads
    for program in kernels hardware; do
        [[ ! -x $root/build/bench/$program ]] || cp "$root/build/bench/$program" "$programs"
    done
fi

is_wanted() {
    [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $1 "* ]]
}

# workloads SIZE LAUNCHES: lines of a recording, on standard output
workloads() {
    for program in "$programs"/*; do
        name=${program##*/}
        case $name in *.ptx | hardware | kernels | query | index | insert | indexjoin) continue ;; esac
        ! is_wanted "$name" || profile "$name" "$1" "$2" "$program" --size "$1"
    done
}

# kernels GROUP FILE...: the kernels of these files of bench/hardware/kernels
kernels() {
    echo "$header" >"${out}_$1.csv"
    profile "" - 1000 "$programs/kernels" "${@:2}" >>"${out}_$1.csv"
}

{ echo "$header" && workloads medium 40 && workloads paper 40; } >"${out}_workloads.csv"
if [[ -x $programs/kernels ]] && is_wanted kernels; then
    kernels patterns memory together alone
    kernels applications science data layers
    kernels suites suites courses
fi
[[ ! -x $programs/hardware ]] || ! is_wanted hardware || "$programs/hardware" >"${out}_microbenchmarks.csv"
metrics=("${all_metrics[@]}")
{
    echo "$all_header"
    workloads medium 12
    [[ ! -x $programs/kernels ]] || ! is_wanted kernels || profile "" - 1000 "$programs/kernels"
} >"${out}_metrics.csv"
