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
{
    cat "$folder/page.html"
    echo '<script id="expected" type="application/json">'
    sed 's/</\\u003c/g' "$folder/results.json"
    echo '</script><script>'
    cat tests/web/check.js
    echo '</script>'
} >"$folder/check.html"

# show WIDTH: the page after the check, as HTML, and what the console says
show() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --enable-logging=stderr --user-data-dir="$folder/profile-$1" --window-size="$1,900" \
        --virtual-time-budget=20000 --dump-dom "file://$folder/check.html" >"$folder/dom" 2>"$folder/log" || true
}

failures=0
for width in 1300 500; do
    show "$width"
    verdict=$(sed -n '/<pre id="verdict">/,/^end$/p' "$folder/dom")
    if [[ $verdict != *$'\nend'* || $verdict == *$'\nnot ok'* ]]; then
        echo "at a width of $width:" >&2
        [[ -n $verdict ]] && grep '^not ok' <<<"$verdict" >&2 || tail -n 5 "$folder/log" >&2
        failures=$((failures + 1))
    fi
    if grep 'CONSOLE' "$folder/log" >&2; then
        failures=$((failures + 1))
    fi
done
((failures == 0))
