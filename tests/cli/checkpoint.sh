#!/usr/bin/env bash
# A run with a checkpoint that is killed at random moments goes on after its last launch, to the same results and output as
# one that was never disturbed; and a checkpoint of anything else is refused with one line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder # what killed commands leave

fail() {
    echo "$*" >&2
    exit 1
}

# heddle run, without the host's own time in the results
run() {
    local name=$1
    shift
    "$HEDDLE_COMMAND" run -q "$@" --json "$folder/$name.json" >"$folder/$name.out"
    sed -i '/"seconds"\|"warp_instructions_per_second"/d' "$folder/$name.json"
}

expect_same() {
    cmp "$folder/$1.json" "$folder/$2.json" && cmp "$folder/$1.out" "$folder/$2.out" || fail "$3"
}

# refused TEXT ARGUMENTS...: one line with the text, status 1 (2: wrong usage), and no output file
refused() {
    local text=$1 status=0
    shift
    "$HEDDLE_COMMAND" run "$@" --json "$folder/refused.json" >"$folder/refused.out" 2>"$folder/refused.err" || status=$?
    ((status == 1 || status == 2)) || fail "heddle run $*: status $status"
    [[ $(wc -l <"$folder/refused.err") == 1 && $(<"$folder/refused.err") == *"$text"* ]] ||
        fail "heddle run $*: expected one line with '$text', not: $(<"$folder/refused.err")"
    [[ ! -e $folder/refused.json ]] || fail "heddle run $*: it has written results"
}

rounds=(--machine gtx480 "$HEDDLE_PROGRAMS/rounds")
run whole "${rounds[@]}" --checkpoint "$folder/whole.run"
run again "${rounds[@]}" --resume "$folder/whole.run"
expect_same whole again "a run that the checkpoint has as a whole is another one"

RANDOM=${HEDDLE_SEED:-1}
set -m # a process group for each command, so that all of it can be killed
for ((i = 0; i < 5; i++)); do
    "$HEDDLE_COMMAND" run -q "${rounds[@]}" --checkpoint "$folder/killed.run" --resume "$folder/killed.run" &>"$folder/log" &
    sleep "0.0$((RANDOM % 10))"
    kill -9 -- -$! 2>/dev/null || true
    wait $! 2>/dev/null || true
done
set +m
run killed "${rounds[@]}" --checkpoint "$folder/killed.run" --resume "$folder/killed.run" --threads 2
expect_same whole killed "a run that was killed and resumed is another one"

# Cut within a record: that launch runs again.
for part in 3 2; do
    cp "$folder/whole.run" "$folder/cut.run"
    truncate -s "$(($(stat -c %s "$folder/whole.run") / part))" "$folder/cut.run"
    run cut "${rounds[@]}" --resume "$folder/cut.run"
    expect_same whole cut "a run from a part of its checkpoint is another one"
done

# A launch that time runs out for is not in the checkpoint.
status=0
"$HEDDLE_COMMAND" run -q "${rounds[@]}" --checkpoint "$folder/late.run" --timeout 0.01 &>"$folder/log" || status=$?
((status == 4)) || fail "--timeout: status $status"
run late "${rounds[@]}" --resume "$folder/late.run"
expect_same whole late "a run that time ran out for, and that was resumed, is another one"

# What kernels print comes from the checkpoint.
printing=(--functional tests/kernels/printf.ptx --kernel formats --block 1 --arg 'out:s32[3]')
run printing "${printing[@]}" --checkpoint "$folder/printing.run"
run printed "${printing[@]}" --resume "$folder/printing.run"
[[ -s $folder/printing.out ]] || fail "printf.ptx prints nothing"
expect_same printing printed "a replayed kernel prints something else"

refused "exists: continue it with --resume" "${rounds[@]}" --checkpoint "$folder/whole.run"
refused "cannot open" "${rounds[@]}" --resume "$folder/none.run"
refused "is no checkpoint of heddle" "${rounds[@]}" --resume "$folder/whole.json"
refused "is a checkpoint of machine gtx480, not of h200" --machine h200 "$HEDDLE_PROGRAMS/rounds" --resume "$folder/whole.run"
refused "of machine gtx480 as it was before it changed" "${rounds[@]}" --scheduler gto --resume "$folder/whole.run"
refused "is a checkpoint of program rounds, not of launches" --machine gtx480 "$HEDDLE_PROGRAMS/launches" --resume "$folder/whole.run"
refused 'with other arguments: [], not ["7"]' "${rounds[@]}" 7 --resume "$folder/whole.run"
refused "with other options" "${rounds[@]}" --launch 2.. --resume "$folder/whole.run"
refused "can only name the same file" "${rounds[@]}" --checkpoint "$folder/new.run" --resume "$folder/whole.run"
refused "has no --trace, --branches" "${rounds[@]}" --lines --checkpoint "$folder/new.run"
refused "cannot write" "${rounds[@]}" --checkpoint "$folder/no/new.run"
printf X | dd of="$folder/whole.run" bs=1 seek=1500 conv=notrunc status=none
refused "is damaged after launch 0" "${rounds[@]}" --resume "$folder/whole.run"
printf '\002' | dd of="$folder/cut.run" bs=1 seek=16 conv=notrunc status=none
refused "is a checkpoint of another version of heddle" "${rounds[@]}" --resume "$folder/cut.run"

# Another build has another driver.
build=$(dirname "$HEDDLE_COMMAND")/..
mkdir -p "$folder/build/bin" "$folder/build/lib"
for entry in "$build"/*; do
    [[ $entry == */bin || $entry == */lib ]] || ln -s "$(realpath "$entry")" "$folder/build/"
done
cp "$HEDDLE_COMMAND" "$folder/build/bin/heddle"
cp -r "$build/lib/cuda" "$folder/build/lib/cuda"
printf X >>"$folder/build/lib/cuda/libcuda.so.1"
HEDDLE_COMMAND=$folder/build/bin/heddle refused "was written by another build" "${rounds[@]}" --resume "$folder/killed.run"
