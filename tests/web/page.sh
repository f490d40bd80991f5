#!/usr/bin/env bash
# The page in a browser: it draws, its values are those of --json, filters and clicks work, and no script fails. check.js is added to a
# page and writes what it found into it. Skipped where there is no Chromium.
set -euo pipefail
source tests/web/browser.sh
# Four runs with all that a page shows, each in a file of its own.
files=()
for program in bfs histogram; do
    for model in stack dws; do
        files+=("$folder/$program-$model.json")
        "$HEDDLE_COMMAND" run "$program" --size small -d "$model" -q --lines --sample 100 --json "${files[-1]}" >/dev/null
    done
done
# list FILE...: the runs of the files as one object
list() {
    local before='{"runs":['
    for file in "$@"; do
        printf '%s' "$before"
        cat "$file"
        before=,
    done
    echo ']}'
}
list "${files[@]}" >"$folder/results.json"
# The same runs twice, as of two days.
"$HEDDLE_COMMAND" report "${files[@]}" tests/web/experiments.json "${files[@]}" -o "$folder/page.html"
# The same runs compared, and two of them compared alone, in two files.
"$HEDDLE_COMMAND" compare bfs histogram --size small -d "stack dws" -q --json "$folder/compared.json" --html "$folder/compare.html"
"$HEDDLE_COMMAND" compare bfs --size small -s lrr -d stack -q --json "$folder/a.json"
"$HEDDLE_COMMAND" compare bfs --size small -s lrr -d dws -q --json "$folder/b.json"
"$HEDDLE_COMMAND" report "$folder/a.json" "$folder/b.json" -o "$folder/two.html"
list "${files[@]:0:2}" >"$folder/two.json"
# Three recorded launches, made up, on a small GPU, with two metrics.
printf 'workload,size,cycles,registers,warp_inst\nvecadd,small,1000,20,900\nreduction,small,9000,20,900\nbfs,small,20000,20,900\n' >"$folder/card.csv"
"$HEDDLE_COMMAND" validate h200 --recording "$folder/card.csv" --set sm.count=8 -q --csv "$folder/validate.csv"
"$HEDDLE_COMMAND" validate h200 --recording "$folder/card.csv" --set sm.count=8 -q --metrics --html "$folder/validate.html"
"$HEDDLE_COMMAND" report tests/web/names.json -o "$folder/kernels.html"
"$HEDDLE_COMMAND" run histogram --size small -m h200 -q --html "$folder/h200.html" >"$folder/out"

add "$folder/page.html" "$folder/results.json" check.js >"$folder/check.html"
add "$folder/validate.html" "$folder/validate.csv" validation.js >"$folder/validation.html"
add "$folder/compare.html" "$folder/compared.json" baseline.js >"$folder/compared.html"
add "$folder/two.html" "$folder/two.json" baseline.js >"$folder/baseline.html"
add "$folder/kernels.html" tests/web/names.json names.js >"$folder/names.html"
add "$folder/compare.html" tests/web/names.json panels.js >"$folder/panels.html"
add "$folder/h200.html" tests/web/names.json card.js >"$folder/card.html"

show check 1300
show check 500
show validation 1300
show compared 1300
show baseline 1300
show names 1000
show panels 1300
show card 1000
((failures == 0))
