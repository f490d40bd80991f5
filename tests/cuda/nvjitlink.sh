#!/usr/bin/env bash
# nvjitlink.sh HEDDLE CUDA [TOOLKIT]: programs that link at run time for the device's own architecture, with a stand-in for nvJitLink
# and, if the toolkit has it, with nvJitLink itself.
set -euo pipefail
# shellcheck source=tests/cuda/stand_ins.sh
source "$(dirname "$0")/stand_ins.sh"

# Accepts PTX, recognised by its first byte, as type 2, and compiler IR as type 3. Makes PTX of IR, but not together with PTX.
cat >"$work/stand_in.c" <<'END_OF_FILE'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "output.h"
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
#include "check.h"
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

# check FOLDER NAME [IR]: a program linked to FOLDER/NAME, and one that opens it; IR is a file
check() {
    build_programs "$1" "$2"
    for kind in ptx cubin ${3:+ir}; do
        local result=15
        [[ $kind != ir ]] || result=7
        run $result "$work/linked" -- "$kind" ${3:+"$3"}
        run $result "$work/opens" -- "$kind" "$2" ${3:+"$3"}
    done
}

build_stand_in libnvJitLink.so.13
echo IR >"$work/seven.ir"
check "$work/stand-in" libnvJitLink.so.13 "$work/seven.ir"

[[ -n $toolkit && -e $toolkit/lib64/libnvJitLink.so.13 ]] || exit 0
echo 'extern "C" __global__ void seven(int *x) { *x = 7; }' >"$work/seven.cu"
"$toolkit/bin/nvcc" -arch=sm_80 -dlto -ltoir "$work/seven.cu" -o "$work/seven.ltoir" 2>/dev/null || rm -f "$work/seven.ltoir"
ir=$work/seven.ltoir
[[ -e $ir ]] || ir=
check "$toolkit/lib64" libnvJitLink.so.13 "$ir"
