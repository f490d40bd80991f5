#!/usr/bin/env bash
# The page in a browser: it draws, its values are those of --json, filters and clicks work, and no script fails. check.js is added to a
# page and writes what it found into it. Skipped where there is no Chromium.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
    echo "skipped: there is no Chromium here; Debian's package is called chromium"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
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
# Three recorded launches, made up, on a small GPU.
printf 'workload,size,cycles\nvecadd,small,1000\nreduction,small,9000\nbfs,small,20000\n' >"$folder/card.csv"
"$HEDDLE_COMMAND" validate h200 --recording "$folder/card.csv" --set sm.count=8 -q --csv "$folder/validate.csv" --html "$folder/validate.html"

# add PAGE EXPECTED CHECK: the page with what is expected of it and the script that compares them
add() {
    cat "$1"
    echo '<script id="expected" type="application/json">'
    sed 's/</\\u003c/g' "$2"
    echo '</script><script>'
    cat "tests/web/$3"
    echo '</script>'
}
add "$folder/page.html" "$folder/results.json" check.js >"$folder/check.html"
add "$folder/validate.html" "$folder/validate.csv" validation.js >"$folder/validation.html"
add "$folder/compare.html" "$folder/compared.json" baseline.js >"$folder/compared.html"
add "$folder/two.html" "$folder/two.json" baseline.js >"$folder/baseline.html"

failures=0
# show PAGE WIDTH: opens the page, and reads what the check wrote into it and what the console says
show() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --enable-logging=stderr --user-data-dir="$folder/profile-$1-$2" --window-size="$2,900" \
        --virtual-time-budget=20000 --dump-dom "file://$folder/$1.html" >"$folder/dom" 2>"$folder/log" || true
    verdict=$(sed -n '/<pre id="verdict">/,/^end$/p' "$folder/dom")
    if [[ $verdict != *$'\nend'* || $verdict == *$'\nnot ok'* ]]; then
        echo "$1 at a width of $2:" >&2
        [[ -n $verdict ]] && grep '^not ok' <<<"$verdict" >&2 || tail -n 5 "$folder/log" >&2
        failures=$((failures + 1))
    fi
    if grep 'CONSOLE' "$folder/log" >&2; then
        failures=$((failures + 1))
    fi
}
show check 1300
show check 500
show validation 1300
show compared 1300
show baseline 1300
((failures == 0))
