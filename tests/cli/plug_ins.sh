#!/usr/bin/env bash
# plug_ins.sh: policies of one's own: written by `heddle new`, built, checked, used, and refused in one line when they are broken.
set -euo pipefail
heddle=$HEDDLE_COMMAND
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
command -v cc >/dev/null || { echo "skipped: no C compiler"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "plug_ins.sh: $*" >&2
    exit 1
}

# expect STATUS TEXT COMMAND...: the command ends with this status and writes this text
expect() {
    local status=0 output
    output=$("${@:3}" 2>&1) || status=$?
    [[ $status == "$1" ]] || fail "${*:3} ended with $status, expected $1: $output"
    [[ $output == *$2* ]] || fail "${*:3} did not say '$2': $output"
}

# make_one KIND NAME: writes it and builds it as its output says for those without make
make_one() {
    local output
    output=$("$heddle" new "$1" "$2")
    command=$(sed -n 's/^  \(cc .*\)/\1/p' <<<"$output")
    [[ $command ]] || fail "new $1 does not say how to build it: $output"
    $command -Wall -Wextra -Werror
}

cycles() { "$heddle" run vecadd "$@" --json - --quiet 2>/dev/null | sed -n 's/.*"cycles": \([0-9]*\).*/\1/p' | tail -n 1; }

# A scheduler: its options count, and equal ones are equal.
make_one scheduler mine
expect 0 "200 random programs" "$heddle" check mine/mine.so
one=$(cycles -s mine/mine.so:length=1) lrr=$(cycles -s lrr) many=$(cycles -s mine/mine.so:length=1000)
[[ $one == "$lrr" ]] || fail "round robin of length 1 takes $one cycles, lrr $lrr"
[[ $one != "$many" ]] || fail "the option changes nothing"
expect 2 "did you mean 'length'" "$heddle" run vecadd -s mine/mine.so:lenth=2
expect 1 "cannot make the folder 'mine'" "$heddle" new scheduler mine

# The example of docs/plug-ins.md: it misses less often than round robin, and without a window it is round robin.
include=$(sed -n 's/.*-I\([^ ]*\).*/\1/p' <<<"$command")
sed -n '/^```c file=throttle.c$/,/^```$/p' "$root/docs/plug-ins.md" | sed '1d; $d' >throttle.c
cc -O2 -shared -fPIC -Wall -Wextra -Werror "-I$include" throttle.c -o throttle.so
expect 0 "200 random programs" "$heddle" check throttle.so
of_bfs() { "$heddle" run bfs -m gtx480 --size small -q --json - "$@" 2>/dev/null | sed '/"host"/,$d'; }
misses() { sed -n 's/.*"l1_misses": \([0-9]*\).*/\1/p' <<<"$1" | tail -n 1; }
throttled=$(of_bfs -s throttle.so --threads 1) lrr=$(of_bfs -s lrr)
held=$(misses "$throttled") free=$(misses "$lrr")
((held < free)) || fail "throttle misses $held times, lrr $free"
[[ $(of_bfs -s throttle.so:window=0 | sed -n '/"kernels"/,$p') == "$(sed -n '/"kernels"/,$p' <<<"$lrr")" ]] ||
    fail "throttle without a window is not lrr"
[[ $(of_bfs -s throttle.so --threads 3) == "$throttled" ]] || fail "throttle depends on the host's threads"

# A scheduler that decides about blocks: the last block first, one at a time. Results stay right, and odgs refuses it.
cat >order.c <<'END'
#include "heddle/scheduler.h"
static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)state;
    return view->n_blocks > 1 ? SCHED_NONE : sched_first(candidates); /* with more than one, nothing would issue */
}
static uint32_t blocks(void *state, const struct sched_view *view) { (void)state, (void)view; return 1; }
static uint64_t choose_block(void *state, const struct sched_view *view, const struct sched_blocks_left *left) {
    (void)state, (void)view;
    uint64_t block = left->n_blocks - 1;
    while (left->started[block / 64] >> block % 64 & 1)
        block--;
    return block WRONG;
}
static const struct sched_ops table = {.name = "order", .help = "blocks from the last to the first, one at a time",
                                       .is_strict = true, .pick = pick, .blocks = blocks, .choose_block = choose_block};
HEDDLE_SCHEDULER(table);
END
cc -O2 -shared -fPIC -Wall -Wextra -Werror "-I$include" -DWRONG= order.c -o blocks.so
cc -O2 -shared -fPIC -Wall -Wextra -Werror "-I$include" '-DWRONG=+ 1' order.c -o wrong_block.so
expect 0 "" "$heddle" run reduction -s blocks.so -q
expect 0 "200 random programs" "$heddle" check blocks.so
expect 1 "the scheduler 'order' is broken: choose_block() returned a block that cannot start" "$heddle" run reduction -s wrong_block.so -q
expect 1 "scheduler order decides which blocks run, but under odgs blocks start by other rules" "$heddle" run vecadd -s blocks.so -d odgs
expect 1 "cacp.present is true, but scheduler order does not say which warps are critical: use caws or gcaws" "$heddle" run vecadd -s blocks.so --set cacp.present=true

# A scheduler that gives each block a home: block b runs on SM b modulo their number. Blocks of even SMs take longer, so
# without it SMs that end early take blocks of others. The kernel stops with a trap when a block is not at home.
cat >home.c <<'END'
#include "heddle/scheduler.h"
static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)state, (void)view;
    return sched_first(candidates);
}
static uint64_t choose_block(void *state, const struct sched_view *view, const struct sched_blocks_left *left) {
    (void)state, (void)view;
    uint64_t block = left->sm + left->n_on_sm[left->sm] * left->n_sms;
    return !LAZY && block < left->n_blocks ? block : SCHED_NO_BLOCK;
}
static const struct sched_ops table = {.name = "home", .help = "each block on its own SM", .pick = pick, .choose_block = choose_block};
HEDDLE_SCHEDULER(table);
END
cat >home.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry home(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nsmid;
    rem.u32 %r3, %r1, %r2;
    mov.u32 %r4, %smid;
    setp.ne.u32 %p1, %r3, %r4;
    @%p1 trap;
    and.b32 %r5, %r3, 1;
    xor.b32 %r5, %r5, 1;
    mul.lo.u32 %r5, %r5, 60;
LOOP:
    sub.s32 %r5, %r5, 1;
    setp.gt.s32 %p2, %r5, 0;
    @%p2 bra LOOP;
    ret;
}
END
cc -O2 -shared -fPIC -Wall -Wextra -Werror "-I$include" -DLAZY=0 home.c -o home.so
cc -O2 -shared -fPIC -Wall -Wextra -Werror "-I$include" -DLAZY=1 home.c -o lazy.so
of_home() { "$heddle" run home.ptx --grid 203 --block 1024 --arg 'buf:u32[1]' "$@"; }
of_home -q 2>/dev/null && fail "blocks are at home without a scheduler that brings them there"
expect 0 "" of_home -s home.so -q
expect 0 "" of_home -s home.so -q --set sm.count=4 --threads 3
expect 1 "the scheduler 'home' is broken: choose_block() leaves blocks that no SM takes" of_home -s lazy.so -q

# A divergence model: a copy of stack takes the cycles of stack, and calls functions of Heddle.
make_one divergence paths
under() { of_bfs -d "$1" | sed -n '/"kernels"/,$p'; }
[[ $(under paths/paths.so) == "$(under stack)" ]] || fail "the copy of stack is not stack"

# It needs only the headers that are installed.
cmake -Dsource_folder="$root" -DCMAKE_INSTALL_PREFIX="$work/prefix" -P "$root/cmake/public_headers.cmake" >/dev/null
cp -r "$root/include/heddle" "$work/prefix/include"
cc -Wall -Wextra -Werror -D_GNU_SOURCE -Iprefix/include -Iprefix/include/heddle/src -shared -fPIC paths/paths.c -o paths.so
[[ $(find prefix/include/heddle/src -name internal.h) == '' ]] || fail "a private header is installed"

# A DRAM policy, by its own option and in a machine.
make_one dram-policy order
expect 0 "200 random streams" "$heddle" check order/order.so
expect 0 "policy: \"$work/order/order.so:writes=4\"" "$heddle" run vecadd --dram-policy order/order.so:writes=4 --dump-config
# Without an L2 every store reaches DRAM.
one=$(cycles --set l2.present=false --dram-policy order/order.so:writes=1)
many=$(cycles --set l2.present=false --set "dram.policy=$work/order/order.so:writes=1000")
[[ $one != "$many" ]] || fail "the option changes nothing"
expect 2 "order: writes takes a whole number from 1 to 4294967295, not '0'" "$heddle" run vecadd --dram-policy order/order.so:writes=0
expect 2 "no DRAM policy 'fifo'; there are: fcfs, fcfs-bank, fr-fcfs" "$heddle" run vecadd --set dram.policy=fifo
expect 2 "fcfs has no options" "$heddle" run vecadd --dram-policy fcfs:writes=4

# Broken ones.
echo 'int nothing;' >empty.c
cc -shared -fPIC empty.c -o empty.so
echo text >text.so
include=$(sed -n 's/.*-I\([^ ]*\).*/\1/p' <<<"$command")
sed 's/return sched_next(.*/return 77;/' mine/mine.c >wild.c
sed 's/HEDDLE_SCHEDULER(table)/const struct heddle_plugin heddle_plugin = {9, 1, SCHED_LAYOUT, \&table}/' mine/mine.c >other.c
sed 's/HEDDLE_SCHEDULER(table)/HEDDLE_PLUGIN_DEFINE(1, 5, \&table)/' mine/mine.c >layout.c
sed 's/^ *\.pick = pick,//; s/^static int pick/int pick/' mine/mine.c >none.c
sed 's/^\(static int pick.*\)/static int n_calls;\n\1/; s/    (void)view;\n    if/&/; s/return sched_next(candidates, .*/return sched_next(candidates, (uint32_t)n_calls++ % 24);/' \
    mine/mine.c >moody.c
sed 's/    if (state->left/    *(volatile int *)8 = 1;\n&/' mine/mine.c >crash.c
sed 's/    if (state->left/    for (volatile int i = 1; i; ) {}\n&/' mine/mine.c >endless.c
sed 's/return sched_next(.*/return SCHED_NONE;/; s/^ *\.pick = pick,/&\n    .is_strict = true,/' mine/mine.c >idle.c
sed 's/    if (state->left/    base_arena_alloc(memory, 1, 3);\n&/; s/^static int pick/void *base_arena_alloc(void *, size_t, size_t);\n&/' mine/mine.c >defect.c
# These two wait for ever, but take no processor from the others meanwhile.
sed '1i #include <unistd.h>
    s/    if (state->left/    while (view->n_slots != 24) pause();\n&/' mine/mine.c >in_gpu.c # the trial alone has 24
sed '1i #include <unistd.h>
    s/    if (state->left/    static int n_calls;\n    while (n_calls++ > 200) pause();\n&/' mine/mine.c >late.c
sed 's/^static uint32_t pick.*/&\n    for (volatile int i = 1; i; ) {}/' order/order.c >closed.c
for name in wild other layout none moody crash endless idle defect in_gpu late closed; do cc -O2 -shared -fPIC "-I$include" $name.c -o $name.so; done
expect 2 "empty.so is no plug-in: it does not define heddle_plugin" "$heddle" run vecadd -s empty.so
expect 2 "cannot load the plug-in" "$heddle" run vecadd -s text.so
expect 2 "'missing.so': No such file" "$heddle" run vecadd -s missing.so
expect 2 "order.so is a DRAM policy, not a scheduler" "$heddle" run vecadd -s order/order.so
expect 2 "is a scheduler, not a divergence model" "$heddle" run vecadd -d mine/mine.so
expect 2 "other.so was built for plug-in ABI 9, and this Heddle has ABI 4: build it again" "$heddle" run vecadd -s other.so
expect 2 "was built with other headers" "$heddle" run vecadd -s layout.so
expect 2 "its scheduler has no pick()" "$heddle" run vecadd -s none.so
expect 1 "the scheduler 'mine' is broken: pick() returned a slot that is no candidate" "$heddle" run vecadd -s wild.so
message=$("$heddle" run vecadd -q -s idle.so --set limits.watchdog=20000 2>&1) && fail "a scheduler that picks nothing comes to an end"
[[ $message == *"scheduler mine picks none of the groups that are ready"* ]] || fail "a scheduler that picks nothing is reported so: $message"
[[ $(grep -c 'SM 0 slot' <<<"$message") == 0 ]] || fail "it blames the groups: $message"
expect 3 "pick() returned slot 77, which is no candidate" "$heddle" check wild.so
expect 3 "equal calls" bash -c "'$heddle' check moody.so | sed 's/the same calls lead to other picks/equal calls/'; exit \${PIPESTATUS[0]}"
expect 3 "crash.so crashes in pick() (random program 1): SIGSEGV" env ASAN_OPTIONS=handle_segv=0 UBSAN_OPTIONS=handle_segv=0 "$heddle" check crash.so
expect 1 "'heddle check $work/crash.so' tries your own code" env ASAN_OPTIONS=handle_segv=0 UBSAN_OPTIONS=handle_segv=0 "$heddle" run vecadd -s crash.so
expect 3 "alone: endless.so has not ended after 1 s in pick() (random program 1)" "$heddle" check endless.so --timeout 1
expect 2 "check needs a shared object" "$heddle" check bfs
expect 3 "alone: closed.so has not ended after 1 s in pick() (random requests 1)" "$heddle" check closed.so --timeout 1

# One signal is enough to end a run whose plug-in never returns, with what the earlier launches have measured; and so is the end of heddle.
stuck() { exec "$heddle" run "$HEDDLE_PROGRAMS/stuck" -q -s late.so --json "stopped$1.json" --threads "$1" -- "running$1" 2>"errors$1"; }
await() { for ((i = 0; i < 1200; i++)); do [[ ! -e $1 ]] || return 0; sleep 0.1; done; fail "$1 does not come"; }
for i in 1 2 3; do
    stuck $i &
    process[i]=$!
done
"$heddle" check late.so >check.out 2>&1 &
process[4]=$!
"$heddle" check in_gpu.so --timeout 20 >in_gpu.out 2>&1 & # enough for the trial alone
process[5]=$!
for i in 1 2 3; do await running$i; done
sleep 0.5
for i in 2 4; do child[i]=$(tr -d ' ' <"/proc/${process[i]}/task/${process[i]}/children"); done
kill -KILL "${process[2]}"
kill -TERM "${process[1]}" "${process[3]}" "${process[4]}"
for i in 1 3; do
    status=0
    wait "${process[i]}" || status=$?
    [[ $status == 4 ]] || fail "a run that was asked to stop ends with $status"
    [[ $(<"errors$i") == "heddle: stopped by SIGTERM (Terminated); it did not end and was killed: a hook of $work/late.so may never return" ]] ||
        fail "a run that was killed says: $(<"errors$i")"
    grep -q '"name": "brief"' "stopped$i.json" && grep -q '"stopped": "interrupt"' "stopped$i.json" || fail "results are lost: $(<"stopped$i.json")"
done
for i in 2 4; do
    [[ ${child[i]} ]] || fail "no program runs"
    for ((n = 0; n < 600; n++)); do [[ -e /proc/${child[i]}/exe ]] || break; sleep 0.1; done
    ! [[ -e /proc/${child[i]}/exe ]] || { kill -KILL "${child[i]}"; fail "process $i outlives heddle"; }
done
wait "${process[5]}" && fail "a hook that does not return is no mistake"
[[ $(<in_gpu.out) == *"wrong  bfs: a hook of in_gpu.so has not returned after 20 s" ]] || fail "$(<in_gpu.out)"

# An assertion of Heddle that fails says whose defect it is and what to report; other runs go on. defect.so calls a function of Heddle in a
# way that its assertion refuses.
defect="a defect of Heddle or of $work/defect.so: src/base/arena.c:"
what="with this: heddle $("$heddle" --version | sed 's/heddle //'), vecadd on gtx480 with $work/defect.so and stack, command: heddle"
message=$("$heddle" run vecadd -q -s defect.so --set sm.count=2 --threads 3 2>&1) && fail "a failed assertion is no failure"
[[ $message == "heddle: $defect"*base_arena_alloc*": Assertion 'alignment != 0 "*" failed; please report it $what run vecadd -q "* ]] || fail "$message"
[[ $message == *" --set sm.count=2 --threads 3; --threads 1 is the way round it" && $(wc -l <<<"$message") == 1 ]] || fail "$message"
expect 1 "$what run vecadd -s defect.so --threads 1" "$heddle" run vecadd -s defect.so --threads 1
expect 3 "a defect of Heddle: src/base/arena.c:" "$heddle" check defect.so
expect 1 "vecadd with $work/defect.so on gtx480: $defect" "$heddle" compare vecadd -q -s lrr -s defect.so -s gto --csv rows.csv
[[ $(grep -c '^"vecadd",.*,true,done,' rows.csv) == 2 ]] || fail "the comparison ends at the defect: $(<rows.csv)"
printf 'title: mine\nprograms: [vecadd]\nrun: {size: small}\naxes: [{axis: scheduler, values: [lrr, %s/defect.so, gto], with: {scheduler: $}}]\nmeasures: {cycles: {of: cycles}}\n' \
    "$work" >defect.yaml
expect 1 "vecadd --size small on gtx480 with $work/defect.so and stack: $defect" "$heddle" sweep defect.yaml -q --store defect.db --csv rows.csv
[[ $(grep -cE '^defect,cycles,small,vecadd,(lrr|gto),[0-9]' rows.csv) == 2 ]] || fail "the sweep ends at the defect: $(<rows.csv)"

# A store of results knows it by its content.
printf 'title: mine\nprograms: [vecadd]\nrun: {size: small, scheduler: %s/mine/mine.so}\nmeasures: {cycles: {of: cycles}}\n' "$work" >mine.yaml
measured() { "$heddle" sweep mine.yaml --store mine.db --csv - --quiet; }
before=$(measured)
sed 's/{"length", CONFIG_PLUGIN_UINT, offsetof(struct options, length), 4,/{"length", CONFIG_PLUGIN_UINT, offsetof(struct options, length), 1000,/' \
    mine/mine.c >longer.c
cc -O2 -shared -fPIC "-I$include" longer.c -o mine/mine.so
[[ $(measured) != "$before" ]] || fail "the results of a plug-in that has changed are those of the old one"
