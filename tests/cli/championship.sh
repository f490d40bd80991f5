#!/usr/bin/env bash
# championship.sh: scores, ranks and files of `heddle championship`, and storage that a plug-in declares. The sets of runs are short
# ones, in a copy of the tree: a few programs of each division instead of all. The last lines try the sets of a release.
set -euo pipefail
release=$(readlink -f "$HEDDLE_COMMAND")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p tree/bin tree/championship
heddle=$work/tree/bin/heddle
cp "$release" "$heddle"
for folder in "${release%/bin/heddle}"/{generated,include,lib,machines,sources,templates,workloads}; do
    [[ -e $folder ]] && ln -s "$folder" tree
done
for set in "${release%/bin/heddle}"/championship/*.yaml; do
    sed 's/^programs: .*/programs: [divergent, histogram, reduction]/' "$set" >"tree/championship/${set##*/}"
done
export HEDDLE_STORE=$work/results.db
command -v cc >/dev/null || exit 77

fail() {
    echo "championship.sh: $*" >&2
    exit 1
}

# expect STATUS TEXT COMMAND...: its last line on standard error is the text
expect() {
    local status=0
    "${@:3}" >out 2>err || status=$?
    ((status == $1)) || fail "status $status of ${*:3}: $(<err)"
    [[ $(tail -n 1 err) == "heddle: $2" && $(wc -l <err) -eq 1 ]] || fail "${*:3} did not say '$2': $(<err)"
}

"$heddle" new divergence model >out
make -C model >out
include=$(sed -n 's/^CPPFLAGS += -I *//p' model/Makefile | cut -d' ' -f1)
# The order of lrr, with a declaration of its storage: a turn of 7 bits, and 2 bits for each warp.
cat >turn.c <<'END'
#include <heddle/scheduler.h>
static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    return sched_next(candidates, *(uint32_t *)state) WRONG;
}
static void issued(void *state, const struct sched_view *view, uint32_t slot) { (void)view, *(uint32_t *)state = slot + 1; }
static const struct sched_ops table = {.name = "turn", .help = "as lrr", .state_bytes = sizeof(uint32_t), .pick = pick,
                                       .issued = issued, .warp_bits = 2, .sm_bits = 7};
HEDDLE_SCHEDULER(table);
END
cc -O2 -shared -fPIC "-I$include" -DWRONG= turn.c -o turn.so
cc -O2 -shared -fPIC "-I$include" '-DWRONG=+ 1' turn.c -o wrong.so

# 48 warps of gtx480.
"$heddle" cost ./turn.so model/model.so --csv costs.csv >out
grep -q '^gtx480,"./turn.so",scheduler,103,13,"declared: 2 bits for each of 48 warps, and 7 bits",' costs.csv || fail "$(<costs.csv)"
grep -q '^gtx480,"model/model.so",divergence,147456,' costs.csv || fail "$(<costs.csv)"

expect 2 "one policy competes at a time, not 'b' as well" "$heddle" championship a b
expect 2 "./turn.so is a scheduler, not a divergence model" "$heddle" championship ./turn.so --division divergence
expect 2 "--division takes scheduler|divergence, not 'dram'" "$heddle" championship --division dram
expect 2 "turn has no options, so 'x' cannot be one" "$heddle" championship ./turn.so:x=1
expect 1 "cannot load the plug-in: ./none.so: cannot open shared object file: No such file or directory" "$heddle" championship ./none.so
status=0
"$heddle" championship ./wrong.so -q 2>err || status=$?
((status == 1)) && [[ $(wc -l <err) -eq 1 && $(<err) == *"the scheduler 'turn' is broken: pick() returned a slot that is no candidate"* ]] ||
    fail "wrong.so: status $status, $(<err)"

# runs_of FILE POLICY: its columns after the name
runs_of() { grep "^[a-z]*,\"$2\"," "$1" | cut -d, -f3-; }

# A copy of the baseline has its runs, its score and its rank. Equal results are equal files, from the store or not.
"$heddle" championship model/model.so --json first.json --csv first.csv -q
[[ $(runs_of first.csv model/model.so) == "$(runs_of first.csv stack)" ]] || fail "a copy of stack differs from stack"
[[ $(runs_of first.csv stack | cut -d, -f2 | sort -u) == 1.0000 ]] || fail "the score of the baseline is not 1"
"$heddle" championship model/model.so --json second.json >out
cmp first.json second.json || fail "results of the store differ"
tail -n 1 out | grep -q "^model/model.so: score 1.0000, rank [0-9]* of [0-9]*$" || fail "no score: $(tail -n 1 out)"
"$heddle" championship model/model.so --json third.json -q --force --threads 1
cmp first.json third.json || fail "repeated runs differ"

"$heddle" championship ./turn.so --csv schedulers.csv -q
[[ $(runs_of schedulers.csv ./turn.so | cut -d, -f2,4-) == "$(runs_of schedulers.csv lrr | cut -d, -f2,4-)" ]] || fail "turn differs from lrr"
[[ $(runs_of schedulers.csv ./turn.so | cut -d, -f3 | sort -u) == 103 ]] || fail "turn has other storage"
# The score from the cycles of the runs, and the order of the ranks.
score=$(join -t, <(runs_of schedulers.csv lrr | awk -F, '{print $4 "/" $5 "," $6}' | sort) <(runs_of schedulers.csv gto | awk -F, '{print $4 "/" $5 "," $6}' | sort) |
    awk -F, '{sum += log($2 / $3); n++} END {printf "%.4f", exp(sum / n)}')
[[ $(runs_of schedulers.csv gto | cut -d, -f2 | sort -u) == "$score" ]] || fail "the score of gto is not $score"
tail -n +2 schedulers.csv | cut -d, -f3,4 | uniq | sort -t, -k2,2gr -c || fail "the ranks are not in the order of the scores"

# A release's sets: all programs on both machines.
for division in scheduler divergence; do
    status=0
    "$release" championship --division $division --time-limit 1 2>err >out || status=$?
    ((status == 4)) && grep -q "time limit" err || fail "$division of a release: status $status, $(<err)"
done
