#!/usr/bin/env bash
# One word for each stall: the tables, the listing, the JSON, the timeline and the page's data have those of src/stats/stalls.def, and no
# others.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sm=$(sed -nE 's/^STATS_(SM_)?STALL\((\w+),.*/\2/p' src/stats/stalls.def)
line=$(sed -nE 's/^STATS_(LINE_)?STALL\((\w+),.*/\2/p' src/stats/stalls.def)
failures=0

# expect WHAT WORDS FOUND: both have the same words, in the same order
expect() {
    [[ "$(xargs <<<"$2")" == "$(xargs <<<"$3")" ]] && return
    printf '%s: expected the words %s, found %s\n' "$1" "$(xargs <<<"$2")" "$(xargs <<<"$3")" >&2
    failures=$((failures + 1))
}

# expect_some WHAT WORDS FOUND: at least two words, and each is one of WORDS
expect_some() {
    local word n=0
    for word in $3; do
        n=$((n + 1))
        grep -qx -- "$word" <<<"$2" || expect "$1" "$2" "$3"
    done
    ((n >= 2)) || expect "$1" "two of $2" "$3"
}

"$HEDDLE_COMMAND" run reduction --size small --lines --json "$folder/run.json" --trace "$folder/trace.json" \
    --html "$folder/page.html" >"$folder/table"
expect "the shares of the cycles" "active $sm" "$(sed -nE '/^where the cycles went: /{s///; s/ [0-9.]+ %,?//gp}' "$folder/table")"
stalls() { sed -nE 's/^ *"stall_(\w+)":.*/\1/p' | awk '!seen[$0]++'; }
expect "the JSON's total" "$sm" "$(sed -n '/"total": {/,/}/p' "$folder/run.json" | stalls)"
expect "the JSON's lines" "$line" "$(sed -n '/"lines": \[/,$p' "$folder/run.json" | stalls)"
# The word of a line stands after the share of its stalls, the last share of the line before its text.
listed=$(awk '/ main stall / { at = index($0, "main stall"); next } /^[0-9-]/ && at { print substr($0, at, 10) }' "$folder/table")
expect_some "the listing" "$line" "$(sort -u <<<"$listed" | xargs -n 1)"
expect_some "the timeline" "$line" "$(grep -oE '"name":"stall: [^"]*"' "$folder/trace.json" | sed -E 's/.*: (.*)"/\1/' | sort -u)"
expect "the page's stalls" "$sm $line" "$(grep -oE '"stalls":\{"sm":\[[^]]*\],"line":\[[^]]*\]' "$folder/page.html" | sed -E 's/"(stalls|sm|line)"://g' | grep -oE '\w+')"
# A heading is the word, or its beginning and a full stop; a stall that no run has is left out.
"$HEDDLE_COMMAND" compare reduction bfs --size small -s "lrr gto" >"$folder/compare"
for heading in $(sed -nE '/ SIMD /{s/.* SIMD +active +//; s/ +speed-up.*//p}' "$folder/compare"); do
    grep -q "^${heading%.}" <<<"$sm" || expect "the heading $heading" "$sm" "$heading"
done
((failures == 0))
