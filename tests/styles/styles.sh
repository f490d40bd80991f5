#!/usr/bin/env bash
# styles.sh HEDDLE [--list] TARGET... [-- NVCC-OPTION...]: the share of the programs here whose PTX loads, and what the others need.
#
# Compiles every program (or those of $STYLES) to PTX for each target, such as sm_90, and loads it with `heddle ptx`. Prints a row
# for each target, without the programs that nvcc does not compile for it; then every refused instruction or call with the number of
# programs that need it. --list names these programs. $PTX_FOLDER keeps the PTX between runs. Exit status 1 if a program is refused
# that refused.txt does not name, 77 without nvcc.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
heddle=$1
shift
lists=false
if [[ ${1-} == --list ]]; then
    lists=true
    shift
fi
targets=() options=()
while (($# > 0)) && [[ $1 != -- ]]; do
    targets+=("$1")
    shift
done
(($# == 0)) || options=("${@:2}")
command -v nvcc >/dev/null || { echo "skipped: no nvcc" && exit 77; }
folder=${PTX_FOLDER:-$(mktemp -d)}
[[ -n ${PTX_FOLDER-} ]] || trap 'rm -r "$folder"' EXIT
read -r -a names <<<"${STYLES:-$(cd "$here" && echo *.cu)}"

# compile NAME TARGET: the PTX's path on standard output
compile() {
    local ptx=$folder/$2${options[*]+-${options[*]// /}}/${1%.cu}.ptx linked=()
    [[ $1 != dynamic_* ]] || linked=(-rdc=true)
    mkdir -p "$(dirname "$ptx")"
    [[ -s $ptx ]] || nvcc -std=c++17 -w -ptx "-arch=$2" "${linked[@]}" "${options[@]}" -o "$ptx" "$here/$1" >/dev/null 2>&1 || return
    echo "$ptx"
}

echo "| target | programs | load | share |"
echo "|---|---|---|---|"
refusals= unexpected=()
for target in "${targets[@]}"; do
    n=0 n_loaded=0 refused=()
    for name in "${names[@]}"; do
        ptx=$(compile "${name%.cu}.cu" "$target") || continue
        n=$((n + 1))
        if message=$("$heddle" ptx "$ptx" 2>&1 >/dev/null); then
            n_loaded=$((n_loaded + 1))
        else
            refused+=("${name%.cu}")
            grep -qxF "${name%.cu}" "$here/refused.txt" || unexpected+=("$target: ${name%.cu}")
            refusals+=$(sed -nE "s/^.*: error: (call of )?'([^']*)'.*/\2/p" <<<"$message" | sort -u)$'\n'
        fi
    done
    ((n > 0)) || { echo "nvcc compiles nothing for $target" >&2 && exit 1; }
    echo "| $target${options[*]+ ${options[*]}} | $n | $n_loaded | $(((1000 * n_loaded + n / 2) / n / 10)).$(((1000 * n_loaded + n / 2) / n % 10)) % |"
    ! $lists || printf '%s\n' "${refused[@]/#/$target: }"
done
refusals=$(sed '/^$/d' <<<"$refusals" | sort | uniq -c | sort -rn)
[[ -z $refusals ]] || printf '\n%s\n' "$refusals"
((${#unexpected[@]} == 0)) || { printf 'refused, and not in refused.txt: %s\n' "${unexpected[@]}" >&2 && exit 1; }
