#!/usr/bin/env bash
# The committed page was made from the sources beside it, has all it needs inside, and stays small.
set -euo pipefail
cd web
sources=$(cat build.mjs package-lock.json package.json $(LC_ALL=C ls -d src/*) | sha256sum | cut -d ' ' -f 1)
page=$(<dist/page.html)
if [[ $page != *"<!-- sources $sources"* ]]; then
    echo "web/dist/page.html is older than its sources: cd web && npm ci && npm run build" >&2
    exit 1
fi
if grep -nE '(src|href)="?(https?:)?//' dist/page.html | cut -c 1-200 >&2; then
    echo "web/dist/page.html loads something from elsewhere" >&2
    exit 1
fi
size=$(stat -c %s dist/page.html)
((size < 3000000)) || { echo "web/dist/page.html has $size bytes, more than 3 MB" >&2 && exit 1; }
