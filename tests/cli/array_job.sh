#!/usr/bin/env bash
# --slurm without Slurm: an `sbatch` of ours runs the tasks of the array at once, so that what Heddle does of it is tested everywhere.
# (slurm.sh uses a real one.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/place with 'quotes'"
cat >"$folder/bin/sbatch" <<END
#!/usr/bin/env bash
# Leaves out the task \$LOST, as if it had been killed.
for word; do case \$word in --array=0-*) last=\${word#--array=0-} ;; esac; done
printf '%s\n' "\$*" >>"$folder/sbatch.log"
for ((i = 0; i <= last; i++)); do
    [[ \$i == "\${LOST-}" ]] || SLURM_ARRAY_TASK_ID=\$i sh "\${!#}" >>"$folder/tasks.log" 2>&1 || true
done
echo "77;cluster"
END
cat >"$folder/bin/squeue" <<END
#!/bin/sh
cat "$folder/queue" 2>/dev/null
END
chmod +x "$folder"/bin/*
cat >"$folder/sweep.yaml" <<END
title: eight runs
run: {machine: narasiman2011, program: vecadd, arguments: --size small}
axes:
  - {axis: seed, values: [1, 2, 3, 4], with: {arguments: --seed $}}
  - {axis: scheduler, values: [lrr, gto], with: {scheduler: $}}
measures: {cycles: {of: cycles, places: 0}}
END
store="$folder/place with 'quotes'/a.db"
sweep() { "$HEDDLE_COMMAND" sweep "$folder/sweep.yaml" --store "$store" "$@"; }
fail() {
    echo "$*" >&2
    exit 1
}

export PATH=$folder/bin:$PATH
said=$(LOST=3 sweep --slurm --sbatch '--partition=short --time=9')
[[ $said == "submitted 8 runs as job 77, 8 tasks; "* ]] || fail "$said"
grep -q -- '--array=0-7 .*--partition=short --time=9 ' "$folder/sbatch.log" || fail "$(cat "$folder/sbatch.log")"
[[ $(find "$store.slurm" -name '*.json' | wc -l) == 7 ]] || fail "$(cat "$folder/tasks.log"; ls "$store.slurm")"
echo "3 PD" >"$folder/queue"
said=$(sweep --slurm --status)
[[ $said == "8 runs: 7 done, 0 running, 1 waiting, 0 failed, 0 not submitted" ]] || fail "$said"
said=$(sweep --slurm)
[[ $said == "all 1 runs that are not done are in jobs already; "* ]] || fail "$said"
rm "$folder/queue"
said=$(sweep --slurm)
[[ $said == "submitted 1 runs as job 77, 1 tasks; "* ]] || fail "$said"
sweep --slurm --csv "$folder/a.csv" >/dev/null
[[ $(wc -l <"$folder/sbatch.log") == 2 ]] || fail "a complete sweep was submitted"
[[ -z $(find "$store.slurm" -name '*.json' -o -name '*.runs') ]] || fail "files are left: $(ls "$store.slurm")"
store=$folder/b.db sweep -q --csv "$folder/b.csv"
cmp "$folder/a.csv" "$folder/b.csv"

# What goes wrong is said.
refuses() { # MESSAGE COMMAND...
    local told
    if told=$("${@:2}" 2>&1) || [[ $told != *"$1"* ]]; then fail "'${*:2}' should have said '$1': $told"; fi
}
refuses "belongs to --slurm" sweep --status
refuses "takes no --force" sweep --slurm --force
refuses "SLURM_ARRAY_TASK_ID" sweep --slurm-task "$folder/none"
SLURM_ARRAY_TASK_ID=0 refuses "cannot read" sweep --slurm-task "$folder/none"
echo "0123456789abcdef0123456789abcdef" >"$folder/old.runs"
SLURM_ARRAY_TASK_ID=0 refuses "has changed since it was submitted" sweep --slurm-task "$folder/old.runs"
store=$folder/c.db
echo '{' >"$folder/half.json"
mkdir "$store.slurm" && mv "$folder/half.json" "$store.slurm"
refuses "is not the result of a run" sweep
rm -r "$store.slurm"
PATH=/usr/bin:/bin
command -v sbatch >/dev/null || refuses "no sbatch here" sweep --slurm
