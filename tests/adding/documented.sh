#!/usr/bin/env bash
# documented.sh HEDDLE: everything that `heddle list` names has its place in the documentation, and every counter has code that bumps it.
# What is missing is named.
set -euo pipefail
heddle=$1
missing=()

# has FILE PATTERN WHAT: a line of the file matches
has() { [[ -f $1 ]] && grep -qE -- "$2" "$1" || missing+=("$3"); }

# names LIST: as in a regular expression
names() { "$heddle" list "$1" --names | sed 's/[.]/\\./g'; }

# symbols FILE MACRO: the names that a list of policies gives them: its symbols, with dashes
symbols() { sed -nE "s/^$2\(([a-z0-9_]+)\)$/\1/p" "$1" | tr _ -; }

[[ $(symbols src/sched/schedulers.def SCHEDULER) == "$("$heddle" list schedulers --names)" ]] ||
    missing+=("a scheduler has another name than its symbol in src/sched/schedulers.def, underscores as dashes")
[[ $(symbols src/divergence/models.def DIVERGENCE_MODEL) == "$("$heddle" list divergence --names)" ]] ||
    missing+=("a model has another name than its symbol in src/divergence/models.def, underscores as dashes")

for name in $(names schedulers); do
    has docs/schedulers.md "^## $name: " "scheduler $name: a section '## $name: ...' in docs/schedulers.md"
done
for name in $(names divergence); do
    has "docs/models/$name.md" "^# $name: " "divergence model $name: a page docs/models/$name.md that begins '# $name: ...'"
    has docs/models/README.md "\($name\.md\)" "divergence model $name: a link in docs/models/README.md"
done
for name in $(names machines); do
    has docs/machines.md "^### $name$" "machine $name: a section '### $name' in docs/machines.md"
done
for name in $(names options); do
    has docs/machines.md "^\| \`$name\` \|" "machine option $name: its row in docs/machines.md (tools/docs machines)"
done
for name in $(names workloads); do
    has docs/workloads.md "^\| $name \|" "workload $name: a row in docs/workloads.md"
    has "workloads/$name/README.md" . "workload $name: workloads/$name/README.md"
done
for name in $(names stats); do
    has docs/statistics.md "^\| \`$name\` \|" "statistic $name: its row in docs/statistics.md (tools/docs statistics)"
done

# A counter that no code mentions would be 0 for ever.
while read -r owner name; do
    grep -rqw --include='*.[ch]' --exclude='*_test.c' -e "$name" -e "STATS_SM_AT_$name" "src/${owner,,}" ||
        missing+=("counter $name: no code in src/${owner,,} bumps it")
done < <(sed -nE 's/^STATS_([A-Z]+)\(([a-z0-9_]+), [A-Z]+, .*/\1 \2/p' src/stats/counters.def)

((${#missing[@]} == 0)) || printf 'missing: %s\n' "${missing[@]}" >&2
exit $((${#missing[@]} > 0))
