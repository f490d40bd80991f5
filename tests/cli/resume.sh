#!/usr/bin/env bash
# A sweep that is killed several times at random moments goes on where it was: no finished run is repeated or lost, and its
# results are those of a sweep that was never disturbed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
workloads=$(dirname "$HEDDLE_COMMAND")/../workloads

# A program that leaves a line whenever it is started.
cat >"$folder/bfs" <<END
#!/bin/sh
echo started >>"$folder/log"
exec "$workloads/bfs" "\$@"
END
chmod +x "$folder/bfs"
cat >"$folder/sweep.yaml" <<END
title: many short runs
run: {machine: narasiman2011, program: $folder/bfs, arguments: --size small --nodes 1024}
axes:
  - {axis: seed, values: [1, 2, 3, 4, 5, 6, 7, 8], with: {arguments: --seed $}}
  - {axis: scheduler, values: [lrr, gto, two-level, lfws], with: {scheduler: $}}
measures: {cycles: {of: cycles, places: 0}}
END
runs=32 at_once=2 kills=5
sweep() { exec "$HEDDLE_COMMAND" sweep "$folder/sweep.yaml" -q -j $at_once --store "$folder/$1.db" --csv "$folder/$1.csv"; }  # in a subshell, whose process it becomes

fail() {
    echo "$*" >&2
    exit 1
}

(sweep quiet)
[[ $(wc -l <"$folder/log") == "$runs" ]] || fail "$(wc -l <"$folder/log") runs instead of $runs"

rm "$folder/log"
RANDOM=${HEDDLE_SEED:-1}
for ((i = 0; i < kills; i++)); do
    (sweep killed) 2>/dev/null &
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
done
(sweep killed)
cmp "$folder/quiet.csv" "$folder/killed.csv" || fail "a sweep that was killed has other results"
started=$(wc -l <"$folder/log")
((started <= runs + kills * at_once)) ||
    fail "$started runs were started; $runs and at most $at_once for each of $kills kills would do"

rm "$folder/log"
(sweep killed)
[[ ! -f $folder/log ]] || fail "$(wc -l <"$folder/log") runs of a complete sweep were repeated"
