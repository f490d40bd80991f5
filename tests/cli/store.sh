#!/usr/bin/env bash
# store.sh: where results are kept, a store that can only be read, and what a killed command leaves behind.
set -euo pipefail
heddle=$HEDDLE_COMMAND
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

fail() {
    echo "store.sh: $*" >&2
    exit 1
}

# is_status STATUS COMMAND...: leaves what it says in $work/out and $work/err
is_status() {
    local status=0
    "${@:2}" >"$work/out" 2>"$work/err" || status=$?
    ((status == $1)) || fail "status $status of ${*:2}: $(<"$work/err")"
}

# The default: the user's folder for data, never the checkout.
unset HEDDLE_STORE XDG_DATA_HOME
export HOME=$work/home
is_status 0 env XDG_DATA_HOME="$work/data" "$heddle" paper liu2023-fig1
[[ -f $work/data/heddle/results.db ]] || fail "no store in XDG_DATA_HOME"
is_status 0 env XDG_DATA_HOME=relative "$heddle" paper liu2023-fig1
[[ -f $work/home/.local/share/heddle/results.db ]] || fail "no store in the home folder"
is_status 0 env XDG_DATA_HOME="$work/data" HEDDLE_STORE="$work/variable.db" "$heddle" paper liu2023-fig1
[[ -f $work/variable.db ]] || fail "HEDDLE_STORE names no store"

# A page shows the noise at its own size, if the store has it.
cat >"$work/noise.yaml" <<'EOF'
title: noise
run: {machine: gtx480}
programs: [vecadd]
measures: {cycles: {of: cycles, title: cycles}}
claims:
  - {says: It takes time., check: "cycles[vecadd] > 0"}
EOF
noise=(sweep "$work/noise.yaml" --size small --store "$work/noise.db" -q)
is_status 0 "$heddle" "${noise[@]}" --report "$work/noise.md"
grep -q 'Noise: ' "$work/noise.md" && fail "a page shows noise that nobody has measured"
is_status 0 "$heddle" "${noise[@]}" --noise
is_status 0 "$heddle" "${noise[@]}" --report "$work/noise.md"
grep -q '^  - Noise: in 7 of 7 neighbours' "$work/noise.md" || fail "a page without the noise of its store: $(grep -A1 '^- ' "$work/noise.md")"

# A user who may only read another's store.
export HEDDLE_STORE=
cat >"$work/mine.yaml" <<'EOF'
title: two
run: {machine: gtx480, size: small}
programs: [vecadd]
measures: {cycles: {of: cycles, title: cycles}}
EOF
mkdir "$work/theirs"
is_status 0 "$heddle" sweep "$work/mine.yaml" --store "$work/theirs/results.db" --csv "$work/first.csv" -q
chmod 555 "$work/theirs"
chmod 444 "$work/theirs/results.db"
chmod 755 "$work"
other=()
if [[ $(id -u) == 0 ]]; then other=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
before=$(sha256sum <"$work/theirs/results.db")
if "${other[@]}" "$heddle" --version >/dev/null 2>&1; then
    is_status 0 "${other[@]}" "$heddle" sweep "$work/mine.yaml" --store "$work/theirs/results.db" --csv - -q
    diff "$work/first.csv" "$work/out" || fail "the run of a store that can only be read differs"
    [[ $(<"$work/err") == "heddle: the store of results '$work/theirs/results.db' is read-only: new runs are not kept; --store FILE names another" ]] ||
        fail "a store that can only be read: $(<"$work/err")"
    sed 's/vecadd/reduction/' "$work/mine.yaml" >"$work/other.yaml"
    is_status 0 "${other[@]}" "$heddle" sweep "$work/other.yaml" --store "$work/theirs/results.db" --csv - -q
    [[ $(wc -l <"$work/out") == 2 && $(wc -l <"$work/err") == 1 ]] || fail "a new run: $(<"$work/out") $(<"$work/err")"
    is_status 0 "${other[@]}" "$heddle" report "$work/theirs/results.db" -o /dev/null
    is_status 1 "${other[@]}" "$heddle" sweep "$work/mine.yaml" --store "$work/theirs/new.db"
    [[ $(<"$work/err") == "heddle: the store of results '$work/theirs/new.db' cannot be opened: "*"; --store FILE names another" ]] ||
        fail "a store that cannot be made: $(<"$work/err")"
else
    echo "store.sh: another user cannot start $heddle, so nobody tries to read a store"
fi
[[ $(sha256sum <"$work/theirs/results.db") == "$before" ]] || fail "a store that can only be read has changed"
echo "no database" >"$work/text.db"
is_status 1 "$heddle" paper liu2023-fig1 --store "$work/text.db"
[[ $(<"$work/err") == *"'$work/text.db'"*"--store FILE"* && $(wc -l <"$work/err") == 1 ]] || fail "no database: $(<"$work/err")"

# What a killed command leaves, the next one removes, and nothing else.
mkdir -p "$work/tmp/heddle-run-abcdef" "$work/tmp/heddle-run-other" "$work/tmp/other"
export TMPDIR=$work/tmp
start() { # leaves its process and its folder in the array
    local known
    known=$(ls "$TMPDIR")
    "$heddle" run /bin/sleep 100 --functional -q &
    started=($!)
    until started[1]=$(comm -13 <(echo "$known") <(ls "$TMPDIR")) && [[ ${started[1]} && -d $TMPDIR/${started[1]}/0 ]]; do sleep 0.05; done
}
start && killed=("${started[@]}")
start && alive=("${started[@]}")
kill -KILL "${killed[0]}"
wait "${killed[0]}" || true
[[ -d $TMPDIR/${killed[1]} ]] || fail "a killed command leaves nothing: this test is for nothing"
is_status 0 "$heddle" run /bin/true --functional -q
[[ ! -e $TMPDIR/${killed[1]} ]] || fail "the folder of a killed command stays"
[[ -d $TMPDIR/${alive[1]}/0 ]] || fail "the folder of another command is gone"
kill -TERM "${alive[0]}"
wait "${alive[0]}" || true
[[ $(ls "$TMPDIR") == $'heddle-run-abcdef\nheddle-run-other\nother' ]] || fail "in TMPDIR there is: $(ls "$TMPDIR")"

# A store travels: a stripped copy of the build in another place has run what this one then need not.
build=$(dirname "$(dirname "$(readlink -f "$heddle")")")
mkdir -p "$work/elsewhere"/{bin,lib/cuda,workloads}
cp "$heddle" "$work/elsewhere/bin"
cp -r "$build/machines" "$work/elsewhere"
cp "$build"/lib/cuda/libcuda.so.1 "$work/elsewhere/lib/cuda"
cp "$build"/workloads/vecadd "$work/elsewhere/workloads"
strip "$work/elsewhere"/{bin/heddle,lib/cuda/libcuda.so.1,workloads/vecadd}
! cmp -s "$build/lib/cuda/libcuda.so.1" "$work/elsewhere/lib/cuda/libcuda.so.1" || fail "nothing was stripped"
is_status 0 "$work/elsewhere/bin/heddle" sweep "$work/mine.yaml" --store "$work/travels.db" -q
is_status 0 "$heddle" sweep "$work/mine.yaml" --store "$work/travels.db" --slurm --status
[[ $(<"$work/out") == "1 runs: 1 done, "* ]] || fail "a run of a stripped build: $(<"$work/out")"
