#!/usr/bin/env bash
# A sweep on a real Slurm of one node, which this script starts on loopback and stops: 48 runs, the controller's jobs cancelled and
# a task killed in the middle, submitted again until all are done. Each result is counted once, and they are those of an ordinary
# sweep. Skipped where Slurm is not installed or cannot be started.
set -euo pipefail
for tool in munged mungekey slurmctld slurmd sbatch; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || { echo "skipped: no $tool (packages slurm-wlm and munge)" && exit 77; }
done
((EUID == 0)) || { echo "skipped: starting Slurm needs root" && exit 77; }
export PATH=$PATH:/usr/sbin
folder=$(mktemp -d)
daemons=()
stop_all() {
    local id
    for id in "${daemons[@]}"; do kill "$id" 2>/dev/null || true; done
    for id in "${daemons[@]}"; do wait "$id" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap stop_all EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# ---- Slurm ----

chmod 755 "$folder"
mkdir "$folder/munge" "$folder/state" "$folder/spool"
mungekey --create --keyfile "$folder/munge/key"
chmod 400 "$folder/munge/key"
host=$(hostname -s)
port=$((20000 + $$ % 20000))
cat >"$folder/slurm.conf" <<END
ClusterName=heddle
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
END
export SLURM_CONF=$folder/slurm.conf
munged --foreground --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >"$folder/munge/out" 2>&1 &
daemons+=($!)
for ((i = 0; i < 50; i++)); do [[ -S $folder/munge/socket ]] && break; sleep 0.1; done
slurmctld -D >"$folder/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >"$folder/slurmd.log" 2>&1 &
daemons+=($!)
is_up() { grep -qE 'idle|mix|alloc' <<<"$(sinfo -h -o %T 2>/dev/null)"; }
for ((i = 0; i < 100; i++)); do is_up && break; sleep 0.2; done
is_up || { tail -n 5 "$folder"/*.log && echo "skipped: Slurm does not start here" && exit 77; }

# ---- The sweep ----

workloads=$(dirname "$HEDDLE_COMMAND")/../workloads
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
  - {axis: seed, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], with: {arguments: --seed $}}
  - {axis: scheduler, values: [lrr, gto, two-level, lfws], with: {scheduler: $}}
measures: {cycles: {of: cycles, places: 0}}
END
runs=48
sweep() { "$HEDDLE_COMMAND" sweep "$folder/sweep.yaml" "$@"; }
on_slurm() { sweep --store "$folder/shared.db" --slurm "$@"; }
status() { on_slurm --status; }
count() { sed -nE "s/.*[:,] ([0-9]+) $1.*/\\1/p" <<<"$(status)"; }

[[ $(status) == "$runs runs: 0 done, 0 running, 0 waiting, 0 failed, $runs not submitted" ]] || fail "at first: $(status)"
on_slurm >"$folder/out"
grep -q "submitted $runs runs as job" "$folder/out" || fail "$(cat "$folder/out")"
for ((i = 0; i < 150; i++)); do (($(count done) >= 5)) && break; sleep 0.2; done
[[ $(on_slurm) == *"in jobs already"* ]] || (($(count done) == runs)) || fail "runs that are waiting were submitted again"
scancel --signal=KILL --full --name heddle --state RUNNING # kill -9 of the tasks that run
scancel --name heddle                                      # and the rest of the job
for ((i = 0; i < 100; i++)); do [[ -z $(squeue -h) ]] && break; sleep 0.2; done
done=$(count done)
((done >= 5 && done <= runs)) || fail "after the kill: $(status)"
for ((round = 0; round < 5 && $(count done) < runs; round++)); do
    on_slurm >/dev/null
    for ((i = 0; i < 300; i++)); do [[ -z $(squeue -h) ]] && break; sleep 0.2; done
done
[[ $(status) == "$runs runs: $runs done, 0 running"* ]] || fail "in the end: $(status)"
started=$(wc -l <"$folder/log")
((started <= runs + 2 * $(nproc))) || fail "$started runs were started for $runs results"

sweep --store "$folder/alone.db" -q --csv "$folder/alone.csv"
rm "$folder/log"
on_slurm -q --csv "$folder/shared.csv" # nothing is left to run: the results are shown
[[ ! -f $folder/log ]] || fail "a complete sweep ran $(wc -l <"$folder/log") runs again"
cmp "$folder/alone.csv" "$folder/shared.csv"
[[ -z $(find "$folder/shared.db.slurm" -name '*.json' -o -name '*.runs') ]] || fail "files are left in the folder"

# ---- A run that fails ----

sed -i 's/--nodes 1024/--nodes no-number/; s/values: \[1, .*12\]/values: [1]/; s/lrr, gto, two-level, lfws/lrr/' "$folder/sweep.yaml"
on_slurm >/dev/null
for ((i = 0; i < 100; i++)); do [[ -z $(squeue -h) ]] && break; sleep 0.2; done
[[ $(status) == *"failed: "*"1 runs: 0 done, 0 running, 0 waiting, 1 failed, 0 not submitted" ]] || fail "a failure: $(status)"
