# Sourced by the tests of the page: finds a browser, and opens pages in it with a script that checks them.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
    echo "skipped: there is no Chromium here; Debian's package is called chromium"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# add PAGE EXPECTED CHECK: the page with what is expected of it and the script that compares them
add() {
    cat "$1"
    echo '<script id="expected" type="application/json">'
    sed 's/</\\u003c/g' "$2"
    echo '</script><script>'
    cat "tests/web/$3"
    echo '</script>'
}
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
