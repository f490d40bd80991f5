#!/usr/bin/env bash
# linking.sh HEDDLE FOLDER NVCC: the ways a program can be linked, and what is said of those that cannot run.
set -euo pipefail
heddle=$1 folder=$2 nvcc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "linking.sh: $*" >&2
    exit 1
}

# expect STATUS TEXT COMMAND...: the command ends with this status and writes this text
expect() {
    local status=0 output
    output=$("${@:3}" 2>&1) || status=$?
    [[ $status == "$1" ]] || fail "${*:3} ended with $status, expected $1: $output"
    [[ $output == *$2* ]] || fail "${*:3} did not say '$2': $output"
}

# Stripped: the runtime inside has no names any more; linked to a shared one it needs none.
strip -o "$work/stripped" "$folder/vector_add"
expect 1 "is stripped: link it with 'nvcc -cudart shared'" "$heddle" run --functional "$work/stripped"
strip -o "$work/stripped.shared" "$folder/constant.shared"
expect 0 "" "$heddle" run --functional "$work/stripped.shared"

# Not position-independent, and the vendor's library by a path inside the program.
"$nvcc" "$folder/vector_add.vector_add.o" -o "$work/fixed" -Xlinker -no-pie
expect 0 "" "$heddle" run --functional "$work/fixed"
"$nvcc" -cudart shared "$folder/vector_add.vector_add.o" -o "$work/rpath" \
    -Xlinker --disable-new-dtags,-rpath="$(dirname "$nvcc")/../lib64"
expect 0 "" "$heddle" run --functional "$work/rpath"

# A shared object with kernels and a runtime of its own.
cat >"$work/library.cu" <<'END'
__global__ void twice(int *x) { *x *= 2; }
extern "C" int twice_on_device(int x) {
    int *d;
    cudaMalloc(&d, 4);
    cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(d);
    cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost);
    return cudaGetLastError() == cudaSuccess ? x : -1;
}
END
echo 'int twice_on_device(int); int main(void) { return twice_on_device(21) == 42 ? 0 : 9; }' >"$work/main.c"
"$nvcc" -shared -Xcompiler -fPIC "$work/library.cu" -o "$work/libtwice.so"
"${CC:-cc}" "$work/main.c" -o "$work/main" -L"$work" -ltwice -Wl,-rpath,"$work"
expect 0 "" "$heddle" run --functional "$work/main"

# The same, opened later: once, and again after it was closed.
cat >"$work/opens.c" <<'END'
#include <dlfcn.h>
int main(int argc, char **argv) {
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        int (*twice)(int) = library ? (int (*)(int))dlsym(library, "twice_on_device") : 0;
        if (!twice || twice(21) != 42 || dlclose(library))
            return 9;
    }
    return 0;
}
END
"${CC:-cc}" "$work/opens.c" -o "$work/opens"
expect 0 "" "$heddle" run --functional "$work/opens" -- "$work/libtwice.so"

# The same with a sanitizer in the program.
"${CC:-cc}" -fsanitize=address "$work/main.c" -o "$work/sanitized" -L"$work" -ltwice -Wl,-rpath,"$work"
ASAN_OPTIONS=detect_leaks=0 expect 0 "" "$heddle" run --functional "$work/sanitized"

# A program that fails on its own, one whose kernel fails, and one whose kernels no machine here can run.
cat >"$work/fails.cu" <<'END'
#include <stdio.h>
#include <string.h>
__global__ void wild(int *p) { p[threadIdx.x] = 1; }
int main(int, char **argv) {
    if (argv[1] && !strcmp(argv[1], "exit"))
        return 7;
    wild<<<1, 32>>>((int *)64);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    printf("error %d %s\n", error, cudaGetErrorName(error));
    return error != cudaSuccess;
}
END
"$nvcc" "$work/fails.cu" -o "$work/fails"
expect 1 "ended with exit status 7" "$heddle" run --functional "$work/fails" -- exit
expect 1 "error 700 cudaErrorIllegalAddress" "$heddle" run "$work/fails"
expect 1 "illegal address 0x40 (4 bytes) in kernel '_Z4wildPi'" "$heddle" run "$work/fails"
"$nvcc" -gencode arch=compute_75,code=sm_75 "$work/fails.cu" -o "$work/binary"
expect 1 "cudaErrorNoKernelImageForDevice" "$heddle" run "$work/binary"
