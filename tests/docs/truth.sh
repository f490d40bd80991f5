#!/usr/bin/env bash
# tools/truth tells what a page names and what does not exist, each on a line with its place, and nothing else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "$*" >&2 && exit 1; }

cat >"$folder/right.md" <<'END'
# A page
`sm/prepare.c`, `wait_for_operands()`; `mem_l1_access()` (`mem/l1.c`); `tools/gate`, `tools/gate layers` and `tools/docs machines`.
| `src/mem` | the L1 (`l1.c`) and its `mshr.c` |
The machine `h200`, the scheduler `gto`, the workload `bfs` and the model `dws`; `two-level:group=4`, `dws:size=64`; `l1.size=32K`,
`energy.*`; the test `ptx/parser/lexer`; `--estimate 1%`; [here](#a-page).

    heddle run bfs -m h200 --size small      an explanation --with-no-option
    heddle run ./mine --checkpoint FILE -- --own
    heddle: livelock in kernel 'k' at cycle 7: every group repeats itself and nothing changes (the waiting groups are listed above)
END
tools/truth "$folder/right.md" || fail "a page that is right is refused"

# Each of these lines is wrong in one thing.
wrong=(
    '`sm/operands.c`'
    '`gpu/timed.c`, `report_no_progress()`'
    '`mem_l1_access()` (`mem/l2.c`)'
    '`mem_l1_look_up()`'
    '| `src/mem` | the cycle (`cycle.c`) |'
    'see `tests/nothing`'
    '`tools/gate truthfulness`'
    '`--sample-lunches 20`'
    '`heddle runs bfs`'
    '`heddle run bfs --sizes small`'
    '`heddle list machine`'
    '`heddle paper liu2023-fig99`'
    '`heddle compare bfs -s gtoo`'
    'the machine `gtx481`'
    'the scheduler `gtoo`'
    'the workload `bsf`'
    'the model `dwss`'
    '`two-level:grup=4`'
    '`l1.sizes=32K`'
    'the test `ptx/lex`'
    '[there](nowhere.md)'
    '[there](#no-heading)'
    $'text\n\n    heddle: livelock in kernel 7: every group repeats itself (who waits for what is listed above)'
)
number=1
for line in "${wrong[@]}"; do
    printf '\n%s\n' "$line"
    number=$((number + 1 + $(wc -l <<<"$line")))
    echo "$number" >>"$folder/places"
done >"$folder/body"
{ echo '# A page' && cat "$folder/body"; } >"$folder/wrong.md"
if tools/truth "$folder/wrong.md" 2>"$folder/log"; then fail "a page that is wrong passes"; fi
cut -d : -f 2 "$folder/log" | diff "$folder/places" - || fail "of the lines on the left some were not told: $(cat -n "$folder/wrong.md" "$folder/log")"
