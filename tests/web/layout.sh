#!/usr/bin/env bash
# Pages of several kinds at three widths: no text leaves its card, its chart or its control (layout.js). Skipped where there is no
# Chromium.
set -euo pipefail
source tests/web/browser.sh
"$HEDDLE_COMMAND" compare bfs histogram --size small -d "stack dws" -q --html "$folder/compare.html"
"$HEDDLE_COMMAND" report tests/web/names.json tests/web/experiments.json -o "$folder/kernels.html"
# Thirty kinds of runs, and few blocks for many SMs.
"$HEDDLE_COMMAND" compare vecadd --size small -s "lrr gto two-level srr sticky-rr progress" -d "stack dws tbc dwf lwm" -q --html "$folder/many.html"
"$HEDDLE_COMMAND" run histogram --size small -m h200 -q --html "$folder/card.html" >"$folder/out"
for page in compare kernels many card; do
    add "$folder/$page.html" tests/web/names.json layout.js >"$folder/layout-$page.html"
done
for page in compare kernels; do
    for width in 500 1000 1600; do
        show "layout-$page" "$width"
    done
done
show layout-many 500
show layout-card 1000
((failures == 0))
