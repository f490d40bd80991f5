/* Launches geo::scale<float, 3> and step(float *, int) in turn, three times each, from a fat binary's PTX. With an
 * argument: `wide` adds a launch that no device can take, `graphics` calls a function that is not supported, `mask`
 * and `multiply` add a launch that some models and machines refuse. A second argument is the exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry _ZN3geo5scaleIfLi3EEEvPT_(.param .u64 p) { ret; }\n"
                          ".visible .entry _Z4stepPfi(.param .u64 p, .param .u32 n) {\n"
                          "  .reg .b32 %r<4>;\n  mov.u32 %r1, %tid.x;\n  add.u32 %r2, %r1, %r1;\n  ret;\n}\n"
                          ".visible .entry mask() {\n  .reg .b32 %r;\n  activemask.b32 %r;\n  ret;\n}\n"
                          ".visible .entry multiply() {\n  .reg .b32 %r<3>;\n  .reg .f32 %f<4>;\n"
                          "  mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, "
                          "{%r2}, {%f0, %f1, %f2, %f3};\n  ret;\n}\n";

CUresult cuGraphicsUnregisterResource(void *resource);

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction scale, step;
    CUdeviceptr memory;
    int n = 1;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) || cuMemAlloc(&memory, 4096) ||
        cuModuleGetFunction(&scale, module, "_ZN3geo5scaleIfLi3EEEvPT_") ||
        cuModuleGetFunction(&step, module, "_Z4stepPfi"))
        return 9;
    void *parameters[] = {&memory, &n};
    for (unsigned i = 0; i < 3; i++) {
        cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL);
        cuLaunchKernel(step, 2 + i, 1, 1, 8, 8, 1, 0, NULL, parameters, NULL);
    }
    if (argc > 1 && strcmp(argv[1], "wide") == 0)
        cuLaunchKernel(step, 1, 1, 1, 4096, 1, 1, 0, NULL, parameters, NULL);
    if (argc > 1 && cuModuleGetFunction(&step, module, argv[1]) == CUDA_SUCCESS) /* mask, multiply */
        cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "graphics") == 0)
        cuGraphicsUnregisterResource(NULL);
    if (argc > 1 && strcmp(argv[1], "lookup") == 0) {
        void *function;
        cuGetProcAddress("cuFunctionOfTheFuture", &function, 13000, 0, NULL);
    }
    return argc > 2 ? atoi(argv[2]) : 0;
}
