# Sourced by nvrtc.sh and nvjitlink.sh, whose arguments are HEDDLE CUDA [TOOLKIT]; CUDA is the folder of our libcuda. Builds stand-ins for
# libraries of the toolkit, and programs that use a stand-in or the library itself.
# shellcheck shell=bash disable=SC2034,SC2164
heddle=$1 cuda=$2 toolkit=${3-}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# run TEXT PROGRAM [-- ARGUMENT...]: the program succeeds and prints this line alone
run() {
    local output
    output=$("$heddle" run -q --functional "${@:2}" 2>&1) || fail "${*:2} failed: $output"
    [[ $output == "$1" ]] || fail "${*:2} printed '$output', expected '$1'"
}

# build_stand_in NAME: makes $work/stand-in/NAME of $work/stand_in.c
build_stand_in() {
    mkdir "$work/stand-in"
    "$cc" -w -shared -fPIC -Wl,-soname,"$1" "$work/stand_in.c" -o "$work/stand-in/$1"
}

# build_programs FOLDER NAME: makes two programs of $work/program.c, one linked to FOLDER/NAME and one that opens it
build_programs() {
    "$cc" -w -Iinclude/cuda "$work/program.c" -o "$work/linked" "$1/$2" -L"$cuda" -lcuda -Wl,-rpath,"$1"
    "$cc" -w -DOPENS -Iinclude/cuda "$work/program.c" -o "$work/opens" -L"$cuda" -lcuda -ldl -Wl,-rpath,"$1"
}

# Headers: the output of the stand-ins, and the start of the programs.
cat >"$work/output.h" <<'END_OF_FILE'
static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry seven(.param .u64 out) {\n  .reg .b64 %d<2>;\n  ld.param.u64 %d1, [out];\n"
    "  st.global.u32 [%d1], 7;\n  ret;\n}\n";
static const char code[64] = "\177ELF\2\1\1";
END_OF_FILE

cat >"$work/check.h" <<'END_OF_FILE'
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void check(int line, int result) {
    if (result)
        exit((fprintf(stderr, "line %d: result %d\n", line, result), 2));
}
#define CHECK(call) check(__LINE__, call)
END_OF_FILE
