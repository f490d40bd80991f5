#!/usr/bin/env bash
# signatures.sh NVCC CUDA: our versions of closed libraries have the interface of the toolkit's. A compiler compares every function with the
# declaration in the toolkit's header, and every symbol that a library of the toolkit exports is in ours (CUDA is their folder).
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
toolkit=$(dirname "$(readlink -f "$1")")/.. ours=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "signatures.sh: $*" >&2
    exit 1
}

for library in cublas curand cufft cusparse; do
    [[ -e $toolkit/include/$library.h && -d src/$library ]] || continue
    while read -r file; do
        "${CC:-cc}" -std=gnu17 -fsyntax-only -DHEDDLE_TOOLKIT_HEADERS -DCUBLAS_MAJOR=13 -I"$toolkit/include" -Isrc -Werror "$file" ||
            fail "$file differs from the toolkit's header"
    done < <(find "src/$library" -name '*.c' ! -name '*_test.c')
done

symbols() { nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' | sort -u; }
for library in libcublas.so.13 libcublasLt.so.13 libcurand.so.10 libcufft.so.12 libcusparse.so.12; do
    [[ -e $toolkit/lib64/$library && -e $ours/$library ]] || continue
    symbols "$toolkit/lib64/$library" >"$work/theirs"
    symbols "$ours/$library" >"$work/ours"
    missing=$(comm -23 "$work/theirs" "$work/ours")
    [[ -z $missing ]] || fail "$library lacks" "$missing"
    (($(wc -l <"$work/ours") > 20)) || fail "$library exports too little"
done
