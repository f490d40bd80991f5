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
"$HEDDLE_COMMAND" compare bfs histogram --size small -d "stack dws" -q --json "$folder/results.json" --html "$folder/compare.html"
# The same runs twice, as of two days.
"$HEDDLE_COMMAND" report "$folder/results.json" tests/web/experiments.json "$folder/results.json" -o "$folder/page.html"
# --html writes the same runs.
runs() { grep -oE '"runs":[^\n]*"geometric_means"' "$1" | sed 's/"geometric_means".*//'; }
if [[ $(runs "$folder/compare.html") != "$(runs "$folder/page.html")" ]]; then
    echo "compare --html and report have different runs" >&2
    exit 1
fi
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
((failures == 0))
