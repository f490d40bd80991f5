#!/usr/bin/env bash
# tools/outputs finds the blocks that a page marks, tells those that differ from what their command prints, and writes them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "$*" >&2 && exit 1; }

page() { # NUMBER NUMBER NUMBER: a page with an indented block, a table, and text up to its end, and a number in each
    cat <<END
<!-- output: seq 2 | sed "s/2/  2/" -->

    1
      $1

<!-- output: printf "| a | b |\n| 1 | 2 |\n" -->
| a | b |
| 1 | $2 |
The end.
<!-- output: printf "Text\n\n| a |\n| 5 |\n" -->
Text

| a |
| $3 |
<!-- end -->
END
}
page 2 2 5 >"$folder/right.md"
page 3 4 6 >"$folder/wrong.md"
tools/outputs --check "$folder/right.md" || fail "a page that is right is refused"
if tools/outputs --check "$folder/wrong.md" 2>"$folder/log"; then fail "a page that is wrong passes"; fi
[[ $(grep -c 'is no longer what' "$folder/log") == 3 ]] || fail "not every block is told: $(<"$folder/log")"
tools/outputs --sample "$folder/wrong.md" || fail "a block that is not marked as sampled is compared"
tools/outputs "$folder/wrong.md"
cmp "$folder/right.md" "$folder/wrong.md" || fail "what was written is not what the commands print"

# A sample is a few rows, and of the others their beginnings; --sample is passed on to the command.
cat >"$folder/sampled.md" <<'END'
<!-- output, sampled: printf "| a |\n| b | 2 |\n" # tools/tables -->
| a | 1 |
| b | 2 |
END
tools/outputs --sample "$folder/sampled.md" || fail "a sample that agrees is refused"
sed -i 's/| b | 2 |$/| b | 3 |/' "$folder/sampled.md"
if tools/outputs --sample "$folder/sampled.md" 2>/dev/null; then fail "a row that differs from the sample passes"; fi
printf '| c | 3 |\n' >>"$folder/sampled.md"
if tools/outputs --sample "$folder/sampled.md" 2>/dev/null; then fail "a row that nothing measures passes"; fi
printf '%s\n' '<!-- output: true -->' 'text' >"$folder/none.md"
if tools/outputs --check "$folder/none.md" 2>/dev/null; then fail "a mark without a block passes"; fi
