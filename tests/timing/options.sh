#!/usr/bin/env bash
# options.sh HEDDLE PROGRAMS: every option of a machine changes the statistics of a run. options.txt lists the runs, and
# `tools/gate unread` checks that it has one for each option.
set -euo pipefail
heddle=$1 programs=$2
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# run_with PROGRAM SETTING...: prints the statistics, without the settings and the host's time, and all that the program prints.
# Status 4: ended by a limit.
run_with() {
    local program=$1 setting words=()
    for setting in sm.count=2 "${@:2}"; do words+=(--set "$setting"); done
    case $program in
        bfs | mum | vecadd) words+=("$program") ;;
        device) words+=("$programs/device") ;;
        streams) words+=("$programs/streams" 1 2) ;;
        host) words+=("$programs/host_memory" 65552 8) ;;
        spin) words+=("$here/../../docs/examples/spin.ptx" --arg 'buf:u32[1]') ;;
        groups) words+=("$here/options.ptx" --kernel groups --grid 8 --block 128 --arg 'buf:u32[1]') ;;
        *) words+=("$here/options.ptx" --kernel "$program" --grid 8 --block 64 --arg 'buf:u32[300000]=iota') ;;
    esac
    "$heddle" run -q --json - "${words[@]}" 2>&1 |
        sed -e '/^  "set": \[/,/^  \],/d' -e '/^  "host": {/,/^  },/d'
}

bad=()
declare -A before=()
while read -r change program settings; do
    [[ -z $change || $change == \#* ]] && continue
    run="$program${settings:+ with $settings}" outcome=0 expected='[04]'
    [[ $settings != *refused ]] || expected=1
    read -ra words <<<"${settings%refused}"
    if [[ ! -v before[$run] ]]; then
        before[$run]=$(run_with "$program" "${words[@]}") || (($? == 4)) || bad+=("$run does not run")
    fi
    after=$(run_with "$program" "${words[@]}" "$change") || outcome=$?
    # shellcheck disable=SC2053 # a pattern
    if [[ $outcome != $expected ]]; then
        bad+=("$run and $change: the exit status is $outcome")
    elif [[ $after == "${before[$run]}" ]]; then
        bad+=("$change changes nothing in $run")
    fi
done <"$here/options.txt"
((${#bad[@]} == 0)) || {
    printf '%s\n' "${bad[@]}" >&2
    exit 1
}
