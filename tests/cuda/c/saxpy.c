/* A host program in C on the runtime API, built by gcc with Heddle's header: it registers a fat binary of its own
 * making and launches by a function, as code from nvcc does. Exit status 3: a wrong result. */
#include <stdio.h>
#include <string.h>

#include "cuda_runtime_api.h"

static const char ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .const .align 4 .f32 factor;\n"
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
    "  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %d<7>;\n"
    "  ld.param.u64 %d1, [x];\n  ld.param.u64 %d2, [y];\n  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n  mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n  @%p1 ret;\n"
    "  mul.wide.u32 %d3, %r5, 4;\n  add.u64 %d4, %d1, %d3;\n  add.u64 %d5, %d2, %d3;\n"
    "  ld.global.f32 %f1, [%d4];\n  ld.global.f32 %f2, [%d5];\n  ld.const.f32 %f3, [factor];\n"
    "  fma.rn.f32 %f4, %f1, %f3, %f2;\n  st.global.f32 [%d5], %f4;\n  ret;\n}\n";

/* src/cuda/modules/fatbin.h has the format. */
static struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t payload_bytes;
        uint32_t zero[3], architecture, more_zero[8];
    } entry;
    char text[sizeof ptx];
} container = {0xba55ed50, 1, 16, 64 + sizeof ptx, {1, 0x101, 64, sizeof ptx, {0}, 70, {0}}, {0}};

static struct {
    uint32_t magic, version;
    const void *container, *linked;
} wrapper = {0x466243b1, 1, &container, NULL};

static char saxpy, factor; /* what stands for the kernel and the variable here */

__attribute__((constructor)) static void register_kernels(void) {
    memcpy(container.text, ptx, sizeof ptx);
    void **binary = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(binary, &saxpy, &saxpy, "saxpy", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(binary, &factor, &factor, "factor", 0, sizeof(float), 1, 0);
    __cudaRegisterFatBinaryEnd(binary);
}

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

int main(void) {
    enum { N = 1000 };
    static float x[N], y[N];
    const float a = 2.5f;
    void *dx, *dy;
    unsigned n = N;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(i % 10);
    }
    check(cudaMalloc(&dx, sizeof x), "cudaMalloc");
    check(cudaMalloc(&dy, sizeof y), "cudaMalloc");
    check(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(dy, y, sizeof y, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpyToSymbol(&factor, &a, sizeof a, 0, cudaMemcpyHostToDevice), "cudaMemcpyToSymbol");
    void *arguments[] = {&dx, &dy, &n};
    check(cudaLaunchKernel(&saxpy, (dim3){8, 1, 1}, (dim3){128, 1, 1}, arguments, 0, NULL), "cudaLaunchKernel");
    check(cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (int i = 0; i < N; i++)
        if (y[i] != 2.5f * (float)i + (float)(i % 10))
            return 3;
    return 0;
}
