#!/usr/bin/env bash
# Programs by name: PATH, their own options, their environment and folder, and their processes.
set -uo pipefail
n_bad=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect STATUS TEXT COMMAND...: standard output and standard error together contain the text
expect() {
    local status=$1 text=$2 output own
    shift 2
    output=$("$@" 2>&1)
    own=$?
    if [[ $own != "$status" || $output != *"$text"* ]]; then
        printf '%s\n  status %s, expected %s and: %s\n%s\n' "$*" "$own" "$status" "$text" "$output" >&2
        n_bad=$((n_bad + 1))
    fi
}

run() { "$HEDDLE_COMMAND" run --quiet "$@"; }
export PATH=$HEDDLE_PROGRAMS:$PATH
cd "$folder" || exit 1

expect 0 '256 ' run occupancy 256 --functional
expect 0 "$(printf '%s\n' "--unknown 3 -x=4 end")" run echo --unknown 3 -x=4 end
expect 0 '--functional' run echo -- --functional
expect 0 "$folder" run pwd
expect 0 'OWN_VARIABLE=7' env OWN_VARIABLE=7 "$HEDDLE_COMMAND" run --quiet env
expect 3 '' run sh -c 'exit 3'
expect 2 "no workload and no file 'nosuchname'" run nosuchname
expect 2 "unknown option '--functionl'; did you mean '--functional'?" run bfs --functionl
expect 2 "unknown option '--functionl'" run --functionl echo
# A folder of that name does not hide the program, and a file in the current folder comes first.
mkdir occupancy
expect 0 '128 ' run occupancy 128 --functional
printf '#!/bin/sh\necho mine\n' >device && chmod +x device
expect 0 'mine' run device
expect 0 'mine' run ./device

# A shell that starts a CUDA program, processes forked before cuInit, and one forked after it.
expect 0 '64 ' run sh -c 'occupancy 64'
expect 0 'child: 0' run processes before --functional
expect 0 'parent: 0' run processes before --functional
expect 0 'are not in the results, which are those of process' run processes before --functional
expect 0 'child: 3' run processes after --functional
expect 0 'was forked after cuInit and cannot use the device' run processes after --functional
((n_bad == 0))
