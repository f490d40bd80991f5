#!/usr/bin/env bash
# documented.sh HEDDLE: checks that the documentation has everything that `heddle list` names, and that every counter has code that
# increments it. Lists what is missing.
set -euo pipefail
heddle=$1
missing=()

# read_page FILE: its text, between two newlines, into page
read_page() {
    page=$'\n'
    [[ ! -f $1 ]] || page+=$(<"$1")
    page+=$'\n'
}

# has BEGINNING WHAT: a line of the page begins so
has() { [[ $page == *$'\n'"$1"* ]] || missing+=("$2"); }

names() { "$heddle" list "$1" --names; }

# symbols FILE MACRO: the names of the policies in a list: their symbols, with dashes
symbols() { sed -nE "s/^$2\(([a-z0-9_]+)\)$/\1/p" "$1" | tr _ -; }

[[ $(symbols src/sched/schedulers.def SCHEDULER) == "$("$heddle" list schedulers --names)" ]] ||
    missing+=("a scheduler has another name than its symbol in src/sched/schedulers.def, underscores as dashes")
[[ $(symbols src/divergence/models.def DIVERGENCE_MODEL) == "$("$heddle" list divergence --names)" ]] ||
    missing+=("a model has another name than its symbol in src/divergence/models.def, underscores as dashes")
[[ $(symbols src/mem/dram_policies.def DRAM_POLICY) == "$("$heddle" list dram --names)" ]] ||
    missing+=("a DRAM policy has another name than its symbol in src/mem/dram_policies.def, underscores as dashes")

read_page docs/schedulers.md
for name in $(names schedulers); do
    has "## $name: " "scheduler $name: a section '## $name: ...' in docs/schedulers.md"
done
read_page docs/dram.md
for name in $(names dram); do
    has "## $name: " "DRAM policy $name: a section '## $name: ...' in docs/dram.md"
done
for name in $(names divergence); do
    read_page "docs/models/$name.md"
    has "# $name: " "divergence model $name: a page docs/models/$name.md that begins '# $name: ...'"
    read_page docs/models/README.md
    has "| [\`$name\`]($name.md) |" "divergence model $name: a row in docs/models/README.md"
done
read_page docs/machines.md
for name in $(names machines); do
    has "### $name"$'\n' "machine $name: a section '### $name' in docs/machines.md"
done
for name in $(names options); do
    has "| \`$name\` |" "machine option $name: its row in docs/machines.md (tools/docs machines)"
done
read_page docs/workloads.md
for name in $(names workloads); do
    has "| $name |" "workload $name: a row in docs/workloads.md"
    [[ -s workloads/$name/README.md ]] || missing+=("workload $name: workloads/$name/README.md")
done
read_page docs/statistics.md
for name in $(names stats); do
    has "| \`$name\` |" "statistic $name: its row in docs/statistics.md (tools/docs statistics)"
done

read_page docs/report.md
for name in $(sed -nE 's/^STATS_LINE\(([a-z0-9_]+), .*/\1/p' src/stats/lines.def); do
    has "| \`$name\` |" "counter $name of lines: its row in docs/report.md"
done

read_page docs/statistics.md
for name in $(sed -nE 's/^STATS_(SM_|LINE_)?STALL\(([a-z]+), .*/\2/p' src/stats/stalls.def); do
    has "| $name |" "stall $name: its row in the table of stalls of docs/statistics.md"
done

# A counter that no code names would be 0 for ever.
for owner in GPU SM DIVERGENCE MEM; do
    words=$(find "src/${owner,,}" -name '*.[ch]' ! -name '*_test.c' -exec grep -hoE '[A-Za-z0-9_]+' {} + | sort -u)
    for name in $(sed -nE "s/^STATS_$owner\(([a-z0-9_]+), [A-Z]+, .*/\1/p" src/stats/counters.def); do
        [[ $'\n'$words$'\n' == *$'\n'"$name"$'\n'* || $'\n'$words$'\n' == *$'\n'"STATS_SM_AT_$name"$'\n'* ]] ||
            missing+=("counter $name: no code in src/${owner,,} bumps it")
    done
done

((${#missing[@]} == 0)) || printf 'missing: %s\n' "${missing[@]}" >&2
exit $((${#missing[@]} > 0))
