#!/usr/bin/env bash
# Compares the documentation's tables with the suite's measurements: document.sh PROGRAM checks them, document.sh --write
# PROGRAM replaces them. They are in docs/ptx.md and docs/validation.md between <!-- conformance --> and <!-- end -->.
set -euo pipefail
write=false
[[ ${1-} == --write ]] && write=true && shift
program=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
status=0
for part in ptx:--table validation:--errors; do
    page=docs/${part%%:*}.md
    table=$("$program" --level base "${part#*:}" tests/conformance/answers.zst)
    new=$(TABLE=$table awk '/^<!-- conformance -->$/ { print; print ENVIRON["TABLE"]; skips = 1 }
        /^<!-- end -->$/ { skips = 0 }
        !skips' "$page")
    if $write; then
        printf '%s\n' "$new" >"$page"
    elif ! diff -u "$page" <(printf '%s\n' "$new"); then
        echo "$page is not what the suite measures; run tools/docs ptx" >&2
        status=1
    fi
done
exit $status
