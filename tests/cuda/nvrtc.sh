#!/usr/bin/env bash
# nvrtc.sh HEDDLE CUDA [TOOLKIT]: programs that compile at run time for the device's own architecture, with a stand-in for NVRTC and,
# where the toolkit has it, with NVRTC. CUDA is the folder of our libcuda.
set -euo pipefail
heddle=$1 cuda=$2 toolkit=${3-}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

fail() {
    echo "nvrtc.sh: $*" >&2
    exit 1
}

# What NVRTC does with an architecture: sm_80 makes PTX and machine code, compute_80 makes PTX.
cat >"$work/nvrtc.c" <<'END_OF_FILE'
#include <string.h>
static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry seven(.param .u64 out) {\n  .reg .b64 %d<2>;\n  ld.param.u64 %d1, [out];\n"
    "  st.global.u32 [%d1], 7;\n  ret;\n}\n";
static const char code[64] = "\177ELF\2\1\1";
static int has_code;
int nvrtcCreateProgram(void **program, const char *text, const char *name, int n, const char *const *h, const char *const *i) {
    *program = (void *)ptx;
    return 0;
}
int nvrtcCompileProgram(void *program, int n, const char *const *option) {
    has_code = n && strstr(option[0], "=sm_") != 0;
    return 0;
}
int nvrtcGetPTXSize(void *program, size_t *bytes) { return *bytes = sizeof ptx, 0; }
int nvrtcGetPTX(void *program, char *to) { return memcpy(to, ptx, sizeof ptx), 0; }
int nvrtcGetCUBINSize(void *program, size_t *bytes) { return *bytes = has_code ? sizeof code : 0, 0; }
int nvrtcGetCUBIN(void *program, char *to) { return memcpy(to, code, sizeof code), 0; }
END_OF_FILE

# program ARCHITECTURE [LIBRARY]: opens NVRTC if it was not linked to it. Loads the cubin as a module, and through the linker.
cat >"$work/program.c" <<'END_OF_FILE'
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OPENS
#define F(name, ...) static int (*name)(__VA_ARGS__);
#else
#define F(name, ...) int name(__VA_ARGS__);
#endif
F(nvrtcCreateProgram, void **, const char *, const char *, int, const char *const *, const char *const *)
F(nvrtcCompileProgram, void *, int, const char *const *)
F(nvrtcGetCUBINSize, void *, size_t *)
F(nvrtcGetCUBIN, void *, char *)
static void check(int line, int result) {
    if (result)
        exit((fprintf(stderr, "line %d: result %d\n", line, result), 2));
}
#define CHECK(call) check(__LINE__, call)
static unsigned run(const void *image) {
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    unsigned value = 0;
    void *parameters[] = {&out};
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&function, module, "seven"));
    CHECK(cuMemAlloc(&out, 4));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0));
    CHECK(cuMemcpyDtoH(&value, out, 4));
    return value;
}
int main(int argc, char **argv) {
    void *program, *image;
    size_t bytes;
    CUdevice device;
    CUcontext context;
    CUlinkState link;
#ifdef OPENS
    void *library = dlopen(argv[2], RTLD_NOW);
    if (!library)
        return 3;
#define G(name) *(void **)&name = dlsym(library, #name);
    G(nvrtcCreateProgram) G(nvrtcCompileProgram) G(nvrtcGetCUBINSize) G(nvrtcGetCUBIN)
    if (dlsym(library, "nvrtcGetCUBINs") || dlsym(RTLD_NEXT, "main"))
        return 4;
#endif
    char option[64] = "--gpu-architecture=";
    const char *options[] = {strcat(option, argv[1])};
    CHECK(nvrtcCreateProgram(&program, "extern \"C\" __global__ void seven(int *x) { *x = 7; }", "seven.cu", 0, 0, 0));
    CHECK(nvrtcCompileProgram(program, 1, options));
    CHECK(nvrtcGetCUBINSize(program, &bytes));
    if (!bytes)
        return puts("no cubin") < 0;
    char *cubin = malloc(bytes);
    CHECK(nvrtcGetCUBIN(program, cubin));
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, 0, device));
    unsigned first = run(cubin);
    CHECK(cuLinkCreate(0, 0, 0, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, cubin, bytes, "seven", 0, 0, 0));
    CHECK(cuLinkComplete(link, &image, &bytes));
    printf("%u %u\n", first, run(image));
    return 0;
}
END_OF_FILE

# expect TEXT COMMAND...: the command succeeds and prints this line alone
expect() {
    local output
    output=$("${@:2}" 2>&1) || fail "${*:2} failed: $output"
    [[ $output == "$1" ]] || fail "${*:2} printed '$output', expected '$1'"
}

# check FOLDER NAME: a program linked to FOLDER/NAME, and one that opens it, by its path and by its name
check() {
    local path=$1/$2
    "$cc" -w -Iinclude/cuda "$work/program.c" -o "$work/linked" "$path" -L"$cuda" -lcuda -Wl,-rpath,"$1"
    "$cc" -w -DOPENS -Iinclude/cuda "$work/program.c" -o "$work/opens" -L"$cuda" -lcuda -ldl -Wl,-rpath,"$1"
    expect "7 7" "$heddle" run -q --functional "$work/linked" -- sm_80
    expect "no cubin" "$heddle" run -q --functional "$work/linked" -- compute_80
    expect "7 7" "$heddle" run -q --functional "$work/opens" -- sm_80 "$path"
    expect "7 7" "$heddle" run -q --functional "$work/opens" -- sm_80 "$2"
    expect "no cubin" "$heddle" run -q --functional "$work/opens" -- compute_80 "$path"
}

mkdir "$work/stand-in"
"$cc" -w -shared -fPIC -Wl,-soname,libnvrtc.so.99 "$work/nvrtc.c" -o "$work/stand-in/libnvrtc.so.99"
check "$work/stand-in" libnvrtc.so.99
for library in ${toolkit:+"$toolkit"/lib64/libnvrtc.so.[0-9]*}; do
    [[ ! -e $library ]] || check "$(dirname "$library")" "$(basename "$library")"
done
