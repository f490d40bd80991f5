#!/usr/bin/env bash
# measured.sh HEDDLE [PAGE]: the table "What is measured" of docs/machines.md agrees with the machines. An option without a row has
# the same value on all three cards, a copied option has h200's, and every name in the table is an option's.
set -euo pipefail
heddle=$1 page=${2:-docs/machines.md}
cards=(h200 a100 rtx4090)
declare -A value options column
status=0
fail() { echo "$page: $*" >&2 && status=1; }

for card in "${cards[@]}"; do
    while read -r option text; do
        value[$card:$option]=$text options[$option]=
    done < <("$heddle" run vecadd -m "$card" --dump-config |
        awk '{ is_inside = /^ /; sub(/ +# .*/, ""); name = $1; sub(/:$/, "", name) }
             NF == 1 && /:$/ { group = name; next }
             { $1 = ""; print (is_inside ? group "." : "") name $0 }')
done
unset "options[name]" "options[description]"

# Cells of the table, by pattern and card.
while IFS='|' read -r _ names h200 a100 rtx4090 _; do
    for pattern in $(grep -o '`[^`]*`' <<<"${names%%:*}" | tr -d '`'); do
        column[h200:$pattern]=$h200 column[a100:$pattern]=$a100 column[rtx4090:$pattern]=$rtx4090
        compgen -W "${!options[*]}" -X "!$pattern" >/dev/null || fail "no option is called $pattern"
    done
done < <(sed -n '/^## What is measured/,/^## Mechanisms/p' "$page" | grep '^| `')

# An option's own row counts, otherwise that of its group.
row_of() {
    local pattern
    [[ -n ${column[h200:$1]-} ]] && echo "$1" && return
    for pattern in "${!column[@]}"; do
        pattern=${pattern#*:}
        # shellcheck disable=SC2053
        [[ $1 == $pattern ]] && echo "$pattern" && return
    done
    return 0
}

for option in "${!options[@]}"; do
    row=$(row_of "$option")
    for card in a100 rtx4090; do
        [[ ${value[$card:$option]-} != "${value[h200:$option]-}" ]] || continue
        if [[ -z $row ]]; then
            fail "$option differs on $card and has no row"
        elif [[ -n ${value[$card:$option]-} && ${column[$card:$row]} == *copied* ]]; then
            fail "$option is ${value[$card:$option]} on $card, not copied from h200 (${value[h200:$option]})"
        fi
    done
done
exit $status
