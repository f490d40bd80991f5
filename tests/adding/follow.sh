#!/usr/bin/env bash
# follow.sh PAGE: does what a page of the documentation says, in the current folder. A block ```c file=PATH is that file, a block
# ```c append=PATH goes to the end of one, and the lines of a block ```sh are commands, which have to succeed.
set -euo pipefail
blocks=$(mktemp -d)
trap 'rm -rf "$blocks"' EXIT

# One file for each block: its first line is what stands after the backquotes.
awk -v folder="$blocks" '
    /^```/ && !name { name = sprintf("%s/%03d", folder, ++n); print substr($0, 4) >name; next }
    /^```/ { close(name); name = ""; next }
    name { print >name }' "$1"
for block in "$blocks"/*; do
    IFS= read -r kind <"$block"
    case $kind in
    *" file="*)
        [[ ! -e ${kind#* file=} ]]
        tail -n +2 "$block" >"${kind#* file=}"
        ;;
    *" append="*)
        [[ -f ${kind#* append=} ]]
        tail -n +2 "$block" >>"${kind#* append=}"
        ;;
    sh)
        tail -n +2 "$block" >"$block.sh"
        echo "follow: $(tr '\n' ';' <"$block.sh")"
        bash -euo pipefail "$block.sh"
        ;;
    *)
        echo "follow: $1: no such kind of block: '$kind'" >&2
        exit 1
        ;;
    esac
done
