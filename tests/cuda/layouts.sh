#!/usr/bin/env bash
# layouts.sh NVCC: our cuda_runtime_api.h has the numbers, sizes and offsets of the toolkit's, which are the binary interface.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
toolkit=$(dirname "$(readlink -f "$1")")/../include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every structure of our header with its fields, and every error.
{
    echo '#include <stddef.h>'
    echo '#include <stdio.h>'
    echo '#include <cuda_runtime_api.h>'
    echo 'int main(void) {'
    sed -nE 's/^    (cuda(Success|Error[A-Za-z]*)) = [0-9]+,$/printf("\1 %d\\n", \1);/p' include/cuda/cuda_runtime_api.h
    awk '/^struct cuda[A-Za-z0-9]+ \{/ { name = $2; print "printf(\"" name " %zu\\n\", sizeof(struct " name "));" }
         name && /^    [a-z].*;/ && !/\}/ {
             gsub(/\/\*.*\*\//, ""); sub(/;.*/, ""); field = $NF; gsub(/[*,]/, "", field); sub(/\[.*/, "", field)
             if (depth == 0 && $0 !~ /,/)
                 print "printf(\"  " field " %zu\\n\", offsetof(struct " name ", " field "));" }
         name && /\{$/ && !/^struct/ { depth++ }
         name && /^ +\}/ { depth-- }
         /^\};/ { name = ""; depth = 0 }' include/cuda/cuda_runtime_api.h
    echo 'return 0; }'
} >"$work/layouts.c"
cc -Iinclude/cuda "$work/layouts.c" -o "$work/ours"
cc -I"$toolkit" "$work/layouts.c" -o "$work/theirs"
"$work/ours" >"$work/ours.txt"
"$work/theirs" >"$work/theirs.txt"
lines=$(wc -l <"$work/ours.txt")
((lines > 300)) || { echo "layouts.sh: only $lines numbers compared" >&2; exit 1; }
diff "$work/ours.txt" "$work/theirs.txt"
