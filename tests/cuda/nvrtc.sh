#!/usr/bin/env bash
# nvrtc.sh HEDDLE CUDA [TOOLKIT]: programs that compile at run time for the device's own architecture, with a stand-in for NVRTC and,
# if the toolkit has it, with NVRTC itself.
set -euo pipefail
# shellcheck source=tests/cuda/stand_ins.sh
source "$(dirname "$0")/stand_ins.sh"

# Like NVRTC, makes PTX and machine code for sm_80, and PTX for compute_80.
cat >"$work/stand_in.c" <<'END_OF_FILE'
#include <string.h>
#include "output.h"
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
#include "check.h"
#ifdef OPENS
#define F(name, ...) static int (*name)(__VA_ARGS__);
#else
#define F(name, ...) int name(__VA_ARGS__);
#endif
F(nvrtcCreateProgram, void **, const char *, const char *, int, const char *const *, const char *const *)
F(nvrtcCompileProgram, void *, int, const char *const *)
F(nvrtcGetCUBINSize, void *, size_t *)
F(nvrtcGetCUBIN, void *, char *)
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

# check FOLDER NAME: a program linked to FOLDER/NAME, and one that opens it, by its path and by its name
check() {
    local path=$1/$2
    build_programs "$1" "$2"
    run "7 7" "$work/linked" -- sm_80
    run "no cubin" "$work/linked" -- compute_80
    run "7 7" "$work/opens" -- sm_80 "$path"
    run "7 7" "$work/opens" -- sm_80 "$2"
    run "no cubin" "$work/opens" -- compute_80 "$path"
}

build_stand_in libnvrtc.so.99
check "$work/stand-in" libnvrtc.so.99

# One thread asks for a size while another opens and closes a library: the two take the loader's locks at the same time.
cat >"$work/threads.c" <<'END_OF_FILE'
#include "check.h"
#include <pthread.h>
#include <unistd.h>
static volatile int is_done;
static void *open_and_close(void *path) {
    while (!is_done)
        CHECK(dlclose(dlopen(path, RTLD_NOW)));
    return 0;
}
int main(int argc, char **argv) {
    int (*get_size)(void *, size_t *) = dlsym(dlopen(argv[1], RTLD_NOW), "nvrtcGetCUBINSize");
    pthread_t thread;
    size_t bytes;
    alarm(300); /* not for ever, if they wait for each other */
    CHECK(pthread_create(&thread, 0, open_and_close, argv[2]));
    for (int i = 0; i < 500; i++)
        CHECK(get_size(0, &bytes));
    is_done = 1;
    CHECK(pthread_join(thread, 0));
    return puts("done") < 0;
}
END_OF_FILE
echo 'int variable;' >"$work/other.c"
"$cc" -shared -fPIC "$work/other.c" -o "$work/libother.so"
"$cc" -w -Iinclude/cuda "$work/threads.c" -o "$work/threads" -ldl -pthread
run "done" "$work/threads" -- "$work/stand-in/libnvrtc.so.99" "$work/libother.so"

for library in ${toolkit:+"$toolkit"/lib64/libnvrtc.so.[0-9]*}; do
    [[ ! -e $library ]] || check "$(dirname "$library")" "$(basename "$library")"
done
