/* Runs the kernels of samples.ptx (argument 1), each twice, on a real GPU or on Heddle. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static void check(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "samples: %s failed with %d\n", what, (int)result);
    exit(1);
}

static const struct {
    const char *name;
    unsigned blocks_x, blocks_y, threads;
    int n;
} launches[] = {
    {"stencil", 4, 1024, 256, 1024},         {"transpose", 32, 32, 256, 1024},
    {"scan_block", 1024, 1, 512, 0},         {"count_bytes", 264, 1, 256, 1 << 20},
    {"product", 16, 16, 256, 256},           {"softmax", 256, 1, 256, 1024},
    {"mandelbrot", 4, 256, 256, 1024},       {"mix_bits", 264, 1, 256, 500},
    {"find_sorted", 512, 1, 256, 1 << 18},   {"gather", 1024, 1, 256, 1 << 20},
    {"dot_double", 264, 1, 256, 1 << 20},    {"sort_shared", 512, 1, 256, 0},
    {"copy_strided", 2048, 1, 256, 1 << 20}, {"random_points", 264, 1, 256, 400},
};

int main(int argc, char **argv) {
    enum { FLOATS = 1 << 20 };
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr a, b, c;
    FILE *file = fopen(argc > 1 ? argv[1] : "samples.ptx", "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
        fprintf(stderr, "samples: cannot read the PTX\n");
        return 1;
    }
    fclose(file);
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuModuleLoadData(&module, text), "cuModuleLoadData");
    free(text);
    check(cuMemAlloc(&a, FLOATS * sizeof(float)), "cuMemAlloc");
    check(cuMemAlloc(&b, FLOATS * sizeof(float)), "cuMemAlloc");
    check(cuMemAlloc(&c, FLOATS * sizeof(int)), "cuMemAlloc");
    float *host = calloc(FLOATS, sizeof *host);
    unsigned state = 1;
    for (int i = 0; host && i < FLOATS; i++) {
        state = state * 1664525u + 1013904223u;
        host[i] = (float)(state >> 8) / 16777216.0f;
    }
    check(cuMemcpyHtoD(a, host, FLOATS * sizeof *host), "cuMemcpyHtoD");
    check(cuMemsetD8(c, 0, FLOATS * sizeof(int)), "cuMemsetD8");
    free(host);
    for (unsigned k = 0; k < 2 * (sizeof launches / sizeof *launches); k++) {
        CUfunction function;
        int n = launches[k / 2].n;
        check(cuModuleGetFunction(&function, module, launches[k / 2].name), launches[k / 2].name);
        check(cuLaunchKernel(function, launches[k / 2].blocks_x, launches[k / 2].blocks_y, 1, launches[k / 2].threads,
                             1, 1, 0, NULL, (void *[]){&a, &b, &c, &n}, NULL),
              launches[k / 2].name);
        check(cuCtxSynchronize(), launches[k / 2].name);
    }
    check(cuMemFree(a), "cuMemFree");
    check(cuMemFree(b), "cuMemFree");
    check(cuMemFree(c), "cuMemFree");
    check(cuModuleUnload(module), "cuModuleUnload");
    check(cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
    puts("done");
    return 0;
}
