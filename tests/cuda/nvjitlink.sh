#!/usr/bin/env bash
# nvjitlink.sh HEDDLE CUDA [TOOLKIT]: programs that link at run time for the device's own architecture, with a stand-in for nvJitLink
# and, where the toolkit has it, with nvJitLink. CUDA is the folder of our libcuda.
set -euo pipefail
heddle=$1 cuda=$2 toolkit=${3-}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

fail() {
    echo "nvjitlink.sh: $*" >&2
    exit 1
}

# Takes what it is given: PTX by its first byte, as type 2; compiler IR (3), of which it makes PTX, but not together with PTX.
cat >"$work/nvjitlink.c" <<'END_OF_FILE'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry seven(.param .u64 out) {\n  .reg .b64 %d<2>;\n  ld.param.u64 %d1, [out];\n"
    "  st.global.u32 [%d1], 7;\n  ret;\n}\n";
static const char code[64] = "\177ELF\2\1\1";
struct link { int makes_ptx, n; };
int nvJitLinkCreate(struct link **link, unsigned n, const char **option) {
    *link = calloc(1, sizeof(struct link));
    for (unsigned i = 0; i < n; i++)
        (*link)->makes_ptx |= !strcmp(option[i], "-ptx");
    return 0;
}
int nvJitLinkAddData(struct link *link, int type, const char *data, size_t bytes, const char *name) {
    link->n++;
    return type == 2 ? link->makes_ptx || data[0] == 127 : type == 3 ? !link->makes_ptx : 12;
}
int nvJitLinkAddFile(struct link *link, int type, const char *path) { return link->n++, 0; }
int nvJitLinkComplete(struct link *link) { return link->n ? 0 : 3; }
int nvJitLinkDestroy(struct link **link) { return free(*link), 0; }
int nvJitLinkGetLinkedCubinSize(struct link *link, size_t *bytes) { return *bytes = sizeof code, link->makes_ptx; }
int nvJitLinkGetLinkedCubin(struct link *link, char *to) { return memcpy(to, code, sizeof code), link->makes_ptx; }
int nvJitLinkGetLinkedPtxSize(struct link *link, size_t *bytes) { return *bytes = sizeof ptx, !link->makes_ptx; }
int nvJitLinkGetLinkedPtx(struct link *link, char *to) { return memcpy(to, ptx, sizeof ptx), !link->makes_ptx; }
#define A(name) extern __typeof__(name) __##name##_13_0 __attribute__((alias(#name)));
A(nvJitLinkCreate) A(nvJitLinkAddData) A(nvJitLinkAddFile) A(nvJitLinkComplete) A(nvJitLinkDestroy)
A(nvJitLinkGetLinkedCubinSize) A(nvJitLinkGetLinkedCubin)
END_OF_FILE

# program KIND: links two files of PTX, PTX that is called a cubin, or compiler IR, and runs the kernel. OPENS: opens the library.
cat >"$work/program.c" <<'END_OF_FILE'
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* The names in nvJitLink.h have a version. */
#define NAME(name) __nvJitLink##name##_13_0
#ifdef OPENS
#define FUNCTION(name, ...) static int (*NAME(name))(__VA_ARGS__);
#else
#define FUNCTION(name, ...) int NAME(name)(__VA_ARGS__);
#endif
#define FUNCTIONS                                                                                                      \
    FUNCTION(Create, void **, unsigned, const char **)                                                                 \
    FUNCTION(AddData, void *, int, const void *, size_t, const char *)                                                 \
    FUNCTION(AddFile, void *, int, const char *)                                                                       \
    FUNCTION(Complete, void *)                                                                                         \
    FUNCTION(Destroy, void **)                                                                                         \
    FUNCTION(GetLinkedCubinSize, void *, size_t *)                                                                     \
    FUNCTION(GetLinkedCubin, void *, void *)
FUNCTIONS
static void check(int line, int result) {
    if (result)
        exit((fprintf(stderr, "line %d: result %d\n", line, result), 2));
}
#define CHECK(call) check(__LINE__, call)
static char text[1 << 20];
static size_t load(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    check(__LINE__, !n);
    text[n] = 0;
    fclose(file);
    return n;
}
int main(int argc, char **argv) {
    int is_ir = !strcmp(argv[1], "ir"), is_cubin = !strcmp(argv[1], "cubin");
    void *link;
    size_t bytes;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr in, out;
    unsigned value = 5;
    void *parameters[] = {&out, &in};
    const char *options[] = {"-arch=sm_80", "-lto"};
#ifdef OPENS
    void *library = dlopen(argv[2], RTLD_NOW);
    check(__LINE__, !library);
#undef FUNCTION
#define FUNCTION(name, ...) *(void **)&NAME(name) = dlsym(library, "__nvJitLink" #name "_13_0");
    FUNCTIONS
#endif
    CHECK(NAME(Create)(&link, 1 + is_ir, options));
    if (is_ir) {
        bytes = load(argv[argc - 1]);
        CHECK(NAME(AddData)(link, 3, text, bytes, "seven"));
    } else {
        CHECK(NAME(AddFile)(link, is_cubin ? 1 : 2, "tests/fatbins/scale.ptx"));
        bytes = load("tests/fatbins/scaled.ptx");
        CHECK(NAME(AddData)(link, is_cubin ? 1 : 2, text, bytes + 1, "scaled"));
    }
    CHECK(NAME(Complete)(link));
    CHECK(NAME(GetLinkedCubinSize)(link, &bytes));
    char *cubin = malloc(bytes);
    CHECK(NAME(GetLinkedCubin)(link, cubin));
    CHECK(NAME(Destroy)(&link));
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, 0, device));
    CHECK(cuModuleLoadData(&module, cubin));
    CHECK(cuModuleGetFunction(&function, module, is_ir ? "seven" : "scale_all"));
    CHECK(cuMemAlloc(&in, 4));
    CHECK(cuMemAlloc(&out, 4));
    CHECK(cuMemcpyHtoD(in, &value, 4));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0));
    CHECK(cuMemcpyDtoH(&value, out, 4));
    printf("%u\n", value);
    return 0;
}
END_OF_FILE

# expect TEXT COMMAND...: the command succeeds and prints this line alone
expect() {
    local output
    output=$("${@:2}" 2>&1) || fail "${*:2} failed: $output"
    [[ $output == "$1" ]] || fail "${*:2} printed '$output', expected '$1'"
}

# check FOLDER NAME [IR]: a program linked to FOLDER/NAME, and one that opens it; IR is a file
check() {
    "$cc" -w -Iinclude/cuda "$work/program.c" -o "$work/linked" "$1/$2" -L"$cuda" -lcuda -Wl,-rpath,"$1"
    "$cc" -w -DOPENS -Iinclude/cuda "$work/program.c" -o "$work/opens" -L"$cuda" -lcuda -ldl -Wl,-rpath,"$1"
    for kind in ptx cubin ${3:+ir}; do
        local result=15
        [[ $kind != ir ]] || result=7
        expect $result "$heddle" run -q --functional "$work/linked" -- $kind ${3:+"$3"}
        expect $result "$heddle" run -q --functional "$work/opens" -- $kind "$2" ${3:+"$3"}
    done
}

mkdir "$work/stand-in"
"$cc" -w -shared -fPIC -Wl,-soname,libnvJitLink.so.13 "$work/nvjitlink.c" -o "$work/stand-in/libnvJitLink.so.13"
echo IR >"$work/seven.ir"
check "$work/stand-in" libnvJitLink.so.13 "$work/seven.ir"

[[ -n $toolkit && -e $toolkit/lib64/libnvJitLink.so.13 ]] || exit 0
echo 'extern "C" __global__ void seven(int *x) { *x = 7; }' >"$work/seven.cu"
"$toolkit/bin/nvcc" -arch=sm_80 -dlto -ltoir "$work/seven.cu" -o "$work/seven.ltoir" 2>/dev/null || rm -f "$work/seven.ltoir"
ir=$work/seven.ltoir
[[ -e $ir ]] || ir=
check "$toolkit/lib64" libnvJitLink.so.13 "$ir"
