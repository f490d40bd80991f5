#!/usr/bin/env bash
# cards.sh HEDDLE OCCUPANCY HARDWARE: machines from public figures hold as many blocks as NVIDIA's occupancy calculator says, and
# have the rates of the programming guide's table.
set -euo pipefail
heddle=$1 occupancy=$2 hardware=$3

# holds MACHINE THREADS[:BYTES] BLOCKS ...
holds() {
    local machine=$1 found i words=("${@:2}") wanted=
    for ((i = 0; i < ${#words[@]}; i += 2)); do wanted+="${words[i]} ${words[i + 1]}"$'\n'; done
    found=$("$heddle" run "$occupancy" -m "$machine" -q -- $(awk 'NF { print $1 }' <<<"$wanted"))
    [[ $found == "${wanted%$'\n'}" ]] || { diff <(echo "${wanted%$'\n'}") <(echo "$found") && false; }
}
holds a100 1024 2 768 2 256 8 64 32 32 32 128:49152 3 128:33792 4 64:166912 1
holds rtx4090 1024 1 768 2 256 6 64 24 32 24 128:49152 2 128:33792 2 64:101376 1

# rate MACHINE BENCHMARK N: in N cycles the SM takes a hundred warp instructions, at most a tenth more
rate() {
    local found
    found=$("$heddle" run "$hardware" -m "$1" --set sm.count=1 --set l2.present=false --quiet -- --quick --only "$2" |
        awk -F, -v name="$2" '$1 == name && $2 == "full_sm" { print int($3 * 100) }')
    ((found >= $3 && found <= $3 + $3 / 10)) || { echo "$1: $2 takes $found, expected $3"; exit 1; }
}
rate a100 op_ffma 50    # 64 results in a cycle
rate a100 op_imad 50    # 64
rate a100 op_dfma 100   # 32
rate rtx4090 op_ffma 25 # 128
rate rtx4090 op_imad 50
rate rtx4090 op_dfma 1600 # 2
