#!/usr/bin/env bash
# libraries.sh HEDDLE NVCC: programs that link libraries whose kernels cannot run. They run as long as they launch none of them; the
# refusal names the library, and the kernel where it is known.
set -euo pipefail
heddle=$1 nvcc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "libraries.sh: $*" >&2
    exit 1
}

# expect STATUS TEXT COMMAND...: the command ends with this status and writes this text; '' stands for no line of Heddle's
expect() {
    local status=0 output
    output=$("${@:3}" 2>&1) || status=$?
    [[ $status == "$1" ]] || fail "${*:3} ended with $status, expected $1: $output"
    if [[ -z $2 ]]; then
        [[ $output != *heddle:* ]] || fail "${*:3} is not quiet: $output"
    else
        [[ $output == *$2* ]] || fail "${*:3} did not say '$2': $output"
    fi
}

run() { expect "$1" "$2" "$heddle" run -q --functional "${@:3}"; }

# A library with machine code alone, and a program that has a kernel of its own. It prints what the library's call returns, passes
# over it and ends well.
cat >"$work/library.cu" <<'END_OF_FILE'
__global__ void thrice(int *x) { *x *= 3; }
extern "C" int thrice_on_device() {
    thrice<<<1, 1>>>(nullptr);
    return cudaGetLastError();
}
END_OF_FILE
cat >"$work/program.cu" <<'END_OF_FILE'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
extern "C" int thrice_on_device() __attribute__((weak));
__global__ void twice(int *x) { *x *= 2; }
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int x = 21, *d, (*thrice)() = thrice_on_device;
    if (argc > 2) /* the library is opened later */
        thrice = (int (*)())dlsym(dlopen(argv[2], RTLD_NOW), "thrice_on_device");
    if (!thrice)
        return 8;
    if (!strcmp(what, "before"))
        printf("error %d\n", thrice());
    cudaMalloc(&d, 4);
    cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(d);
    cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost);
    if (!strcmp(what, "after"))
        printf("error %d\n", thrice());
    return x == 42 ? 0 : 9;
}
END_OF_FILE
library=("$nvcc" -shared -Xcompiler -fPIC -gencode "arch=compute_90,code=sm_90" "$work/library.cu" -o)
"$nvcc" -arch=compute_80 -c "$work/program.cu" -o "$work/program.o"
mkdir "$work/stripped" "$work/whole" "$work/shared"
"${library[@]}" "$work/whole/libthrice.so"
"${library[@]}" "$work/shared/libthrice.so" -cudart shared
strip -o "$work/stripped/libthrice.so" "$work/whole/libthrice.so"
for kind in stripped whole shared; do
    "$nvcc" "$work/program.o" -o "$work/$kind/program" -L"$work/$kind" -Xlinker --no-as-needed -lthrice -Xlinker -rpath="$work/$kind"
    run 0 '' "$work/$kind/program"
done

# 209: cudaErrorNoKernelImageForDevice
for kind in whole shared; do
    run 1 "kernel '_Z6thricePi' of libthrice.so holds machine code and no PTX" "$work/$kind/program" -- after
    run 1 "error 209" "$work/$kind/program" -- before
done

# The runtime in the stripped one cannot be replaced, so its first call is refused.
for when in before after; do
    run 1 "libthrice.so is stripped and has a CUDA runtime inside" "$work/stripped/program" -- $when
done
[[ $("$heddle" run -q --functional "$work/stripped/program" -- after 2>/dev/null) != "error 0" ]] || fail "the call succeeded"

# Opened later.
"$nvcc" "$work/program.o" -o "$work/opens"
run 0 '' "$work/opens" -- never "$work/stripped/libthrice.so"
run 1 "libthrice.so is stripped and has a CUDA runtime inside" "$work/opens" -- after "$work/stripped/libthrice.so"

# Files of one program, linked as device code: one has machine code alone.
cat >"$work/main.cu" <<'END_OF_FILE'
#include <stdio.h>
__global__ void code(int *x);
__global__ void twice(int *x) { *x *= 2; }
int main(int argc, char **) {
    int x = 21, *d;
    cudaMalloc(&d, 4);
    cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(d);
    if (argc > 1)
        code<<<1, 1>>>(d);
    printf("error %d\n", cudaGetLastError());
    cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost);
    return x == 42 ? 0 : 9;
}
END_OF_FILE
echo '__global__ void code(int *x) { *x = 1; }' >"$work/code.cu"
"$nvcc" -rdc=true -arch=sm_80 -c "$work/main.cu" -o "$work/main.o"
"$nvcc" -rdc=true -gencode arch=compute_80,code=sm_80 -c "$work/code.cu" -o "$work/code.o"
"$nvcc" -rdc=true -arch=sm_80 "$work/main.o" "$work/code.o" -o "$work/mixed"
run 0 '' "$work/mixed"
run 1 "kernel '_Z4codePi' has no PTX" "$work/mixed" -- code
run 1 "error 98" "$work/mixed" -- code

# The toolkit's own libraries, where they are installed.
toolkit=$(dirname "$(readlink -f "$nvcc")")/../lib64
[[ -e $toolkit/libcusolver.so ]] || exit 0
cat >"$work/closed.cu" <<'END_OF_FILE'
#include <cusolverDn.h>
__global__ void twice(int *x) { *x *= 2; }
int main(int argc, char **) {
    int x = 21, *d, version;
    cusolverDnHandle_t handle;
    cudaMalloc(&d, 4);
    cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(d);
    cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost);
    if (x != 42 || cusolverGetVersion(&version))
        return 9;
    return argc == 2 && cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS ? 6 : 0;
}
END_OF_FILE
"$nvcc" -arch=compute_80 "$work/closed.cu" -o "$work/closed" -lcusolver -Xlinker -rpath="$toolkit"
run 0 '' "$work/closed"
run 1 "heddle: libcusolver.so" "$work/closed" -- create
