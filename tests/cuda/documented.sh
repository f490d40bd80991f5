#!/usr/bin/env bash
# documented.sh: what docs/cuda-programs.md says of functions is true. Functions of the driver and runtime API under "What works" are not in
# unsupported.def, and those under "What does not work" are. The same holds for our versions of closed libraries: functions behind
# "Not:" and "except" are missing.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
page=docs/cuda-programs.md n=0

fail() {
    echo "documented.sh: $*" >&2
    exit 1
}

# is_missing LIBRARY NAME: a function of this name, with or without a letter for its type, is in the list of missing functions. Names of
# the interface before version 2, which are those of today without _v2, do not count.
is_missing() {
    local list=src/cublas/unsupported.def version='_v2'
    [[ $1 == curand || $1 == cufft || $1 == cusparse || $1 == cusparse ]] && list=src/$1/unsupported.def
    [[ $1 == curand || $1 == cufft || $1 == cusparse || $2 == *Batched || $2 == *Ex || $2 =~ ^(geam|dgmm|syrkx|herkx|Hgemm)$ ]] && version=
    grep -qE "^C[A-Z]+_UNSUPPORTED\($1(S|D|C)?$2$version\)" "$list"
}

# shellcheck disable=SC2016 # backquotes of Markdown
names() { grep -oE '`[A-Za-z0-9]+`' <<<"$1" | tr -d '`' | grep -vE '^(AUX|curand_kernel)$' || true; }

while IFS= read -r row; do
    library=cublas
    [[ $row == '| cuRAND'* ]] && library=curand
    [[ $row == '| cuFFT'* ]] && library=cufft
    [[ $row == '| cuSPARSE'* ]] && library=cusparse
    works=${row%%Not:*} missing=${row#*Not:}
    excepted=$(grep -oE 'except [^;]*' <<<"$works" || true)
    works=$(sed -E 's/except [^;]*//g' <<<"$works")
    for name in $(names "$works"); do
        [[ $name == cublasLt* || $name == CURAND* ]] && continue
        ! is_missing "$library" "$name" || fail "$page lists $name, which is missing"
        n=$((n + 1))
    done
    for name in $(names "$excepted $missing"); do
        [[ $name == CURAND* ]] && continue
        is_missing "$library" "$name" || fail "$page says that $name is missing"
        n=$((n + 1))
    done
done < <(grep -E '^\| (cuBLAS|cuRAND|cuFFT|cuSPARSE) \|' "$page")

# section TITLE: the functions of the driver and runtime API that a section of the page names
section() {
    # shellcheck disable=SC2016 # backquotes of Markdown
    sed -n "/^## $1\$/,/^## /p" "$page" | grep -oE '`cu(da)?[A-Z][A-Za-z0-9]+`' | tr -d '`' | grep -v '^cudaError' | sort -u
}
is_unsupported() { grep -qE "_UNSUPPORTED\($1(_v[0-9])?\)" src/cuda/symbols/unsupported.def src/cudart/unsupported.def; }
exists() { grep -qE "\b$1" include/cuda/cuda.h include/cuda/cuda_runtime_api.h src/cudart/*.[ch]; } # some are templates over the C function
for name in $(section 'What works'); do
    exists "$name" || fail "$page lists $name, which does not exist"
    ! is_unsupported "$name" || grep -qE "CUresult $name\(" include/cuda/cuda.h || fail "$page lists $name, which is not supported"
    n=$((n + 1))
done
for name in $(section 'What does not work'); do
    [[ $name == cudaDeviceSynchronize ]] && continue # of the device runtime
    is_unsupported "$name" || fail "$page says that $name is not supported"
    n=$((n + 1))
done
((n > 40)) || fail "only $n functions found in $page"
