#!/usr/bin/env bash
# The results of the bundled workloads: workloads.sh PROGRAMS COPIES [NAME...] runs every program of the folder PROGRAMS,
# or those named, at every size, and at size small with each of its other kernels, with the library COPIES (copies.c)
# preloaded; it prints name, options, verdict, bytes copied back and their hash. With --compare as first argument it
# compares them with workloads.txt, which was recorded on a GPU. SIZES="small medium" leaves out size paper.
set -euo pipefail
compares=false
[[ ${1-} == --compare ]] && compares=true && shift
programs=$1 copies=$2 names=("${@:3}")
read -ra sizes <<<"${SIZES-small medium paper}"
recorded=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/workloads.txt

# `query` is left out: it needs a table from the user, and `heddle query` checks its results.
((${#names[@]})) || for program in "$programs"/*; do
    [[ -f $program && -x $program && ${program##*/} != query ]] && names+=("${program##*/}")
done

# Programs with bytes that may differ from the GPU's: results of approximate instructions, and rows or slots in the order in which
# blocks write them, which varies from run to run on the GPU. The verdict allows for both.
open='blackscholes|cp|lib|nbody|wp|hashjoin|indexjoin|scan|wc'

run() { # NAME OPTION...
    local output verdict unchecked=()
    # Where all bytes are the GPU's, whose run was verified, the CPU reference of the large inputs adds nothing.
    $compares && [[ $3 == paper && ! $1 =~ ^($open)$ ]] && unchecked=(--no-check)
    output=$(LD_PRELOAD=$copies "$programs/$1" "${@:2}" "${unchecked[@]}" 2>&1) || true
    verdict=$(sed -n "s/^$1: \\([a-z ]*\\).*/\\1/p" <<<"$output" | head -1)
    echo "$*: $verdict, $(grep ' copies, ' <<<"$output" || tail -1 <<<"$output")"
}

run_all() {
    local name size code codes
    for name in "${names[@]}"; do
        for size in "${sizes[@]}"; do run "$name" --size "$size"; done
        case $name in
        scan | hashjoin) codes=cond_acc ;;
        index) codes='traverse hint both' ;;
        indexjoin | insert) codes=extended ;;
        lps) codes=progress ;;
        gemm) codes=mma ;;
        *) codes= ;;
        esac
        for code in $codes; do run "$name" --size small --code "$code"; done
    done
}

without_open_bytes() { sed -E "/^($open) /s/, [0-9a-f]*\$//; /^($open) /!s/(--size paper: )verified/\\1not checked/"; }

if $compares; then
    known=()
    for name in "${names[@]}"; do
        if grep -q "^$name " "$recorded"; then known+=("$name"); else echo "$name: not recorded on a GPU yet"; fi
    done
    names=("${known[@]}")
    any() { (IFS='|' && echo "($*)"); }
    diff -u <(grep -E "^$(any "${names[@]}") --size $(any "${sizes[@]}")" "$recorded" | without_open_bytes) <(run_all | without_open_bytes)
else
    run_all
fi
