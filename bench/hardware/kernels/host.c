/* kernels [NAME...]: runs the kernels of this folder, all or those that are named, on a real GPU or on Heddle. Each one
 * finds the arrays as if it were alone. Prints a checksum of the results, which are the same on every GPU except where
 * threads add floating-point numbers, or take places, in any order. */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 22, N_FILES = 3 };

extern const char kernels_memory[], kernels_together[], kernels_alone[];

static const struct launch {
    const char *name;
    unsigned file; /* memory.cu, together.cu, alone.cu */
    unsigned blocks_x, blocks_y, threads_x, threads_y;
    int n, times;
} launches[] = {
    {"jacobi", 0, 1, 128 * 128, 128, 1, 128, 2},
    {"blur", 0, 16, 64, 32, 8, 512, 2},
    {"transpose_naive", 0, 32, 128, 32, 8, 1024, 2},
    {"copy_far", 0, 4096, 1, 256, 1, WORDS, 2},
    {"copy_vectors", 0, 528, 1, 256, 1, WORDS, 2},
    {"saxpy", 0, 1056, 1, 256, 1, WORDS, 2},
    {"gather_random", 0, 4096, 1, 256, 1, WORDS, 2},
    {"walk", 0, 132, 1, 64, 1, 64, 2},
    {"rows_times_vector", 0, 256, 1, 256, 1, 2048, 2},
    {"sum_columns", 0, 64, 1, 256, 1, 256, 2},
    {"sparse_rows", 0, 256, 1, 256, 1, WORDS, 2},
    {"transpose_tiles", 1, 32, 32, 32, 8, 1024, 2},
    {"reduce_shared", 1, 264, 1, 512, 1, WORDS, 2},
    {"reduce_shuffles", 1, 528, 1, 256, 1, WORDS, 2},
    {"reduce_atomics", 1, 4096, 1, 256, 1, 1024, 2},
    {"histogram_global", 1, 264, 1, 256, 1, 1 << 20, 2},
    {"histogram_shared", 1, 264, 1, 256, 1, WORDS, 2},
    {"count_wide", 1, 1024, 1, 256, 1, 64, 2},
    {"scan_blocks", 1, 1024, 1, 1024, 1, 0, 2},
    {"compact", 1, 4096, 1, 256, 1, 50, 2},
    {"hash_insert", 1, 2048, 1, 256, 1, 0, 2},
    {"bitonic", 1, 132, 1, 1024, 1, 0, 2},
    {"fft_block", 1, 1024, 1, 256, 1, 0, 2},
    {"lu_block", 1, 132, 1, 256, 1, 0, 2},
    {"gemm_small", 1, 4096, 1, 256, 1, 0, 2},
    {"gemm_tiles", 1, 6, 6, 256, 1, 384, 2},
    {"gemm_plain", 1, 16, 16, 256, 1, 256, 2},
    {"gemm_matrix", 1, 32, 8, 128, 1, 512, 2},
    {"edit_distance", 1, 33, 1, 256, 1, 0, 2},
    {"bodies", 2, 128, 1, 128, 1, 512, 2},
    {"paths", 2, 132, 1, 128, 1, 32, 2},
    {"julia", 2, 1024, 1, 256, 1, 48, 2},
    {"polynomial", 2, 264, 1, 256, 1, 50, 2},
    {"collatz", 2, 128, 1, 256, 1, 200, 2},
    {"divisors", 2, 128, 1, 256, 1, 8, 2},
    {"powers", 2, 128, 1, 128, 1, 100000, 2},
    {"bits", 2, 128, 1, 256, 1, 100, 2},
    {"digest", 2, 264, 1, 256, 1, 200, 2},
    {"find_word", 2, 264, 1, 256, 1, 1 << 22, 2},
    {"own_array", 2, 128, 1, 128, 1, 16, 2},
    {"kinds", 2, 128, 1, 128, 1, 32, 2},
    {"filter_constants", 2, 132, 1, 128, 1, 1024, 2},
    {"look_up", 2, 132, 1, 256, 1, 64, 2},
    {"chain", 2, 132, 1, 32, 1, 500, 2},
    {"spheres", 2, 264, 1, 128, 1, 256, 2},
    {"step", 2, 32, 1, 256, 1, 0, 30},
};
enum { N_LAUNCHES = sizeof launches / sizeof *launches };

static void check(CUresult result, const char *what) {
    const char *name = "an unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "kernels: %s: %s\n", what, name);
    exit(1);
}

static bool is_wanted(const char *name, int n_names, char **names) {
    for (int i = 0; i < n_names; i++)
        if (!strcmp(names[i], name))
            return true;
    return !n_names;
}

struct arrays {
    CUdeviceptr a, b, c;
    float *floats;
    uint32_t *integers, *results;
};

static void fill(struct arrays *arrays) {
    uint32_t state = 1;
    for (int i = 0; i < WORDS; i++) {
        state = state * 1664525u + 1013904223u;
        arrays->floats[i] = (float)(state >> 8) / 16777216.0f;
        state = state * 1664525u + 1013904223u;
        arrays->integers[i] = state >> 4 ^ state << 20;
    }
}

static void run(const struct launch *launch, CUmodule module, struct arrays *arrays) {
    CUfunction function;
    int n = launch->n;
    check(cuMemcpyHtoD(arrays->c, arrays->integers, WORDS * 4), "cuMemcpyHtoD");
    check(cuMemsetD8(arrays->b, 0, WORDS * 4), "cuMemsetD8");
    check(cuMemcpyHtoD(arrays->a, arrays->floats, WORDS * 4), "cuMemcpyHtoD");
    check(cuModuleGetFunction(&function, module, launch->name), launch->name);
    for (int i = 0; i < launch->times; i++)
        check(cuLaunchKernel(function, launch->blocks_x, launch->blocks_y, 1, launch->threads_x, launch->threads_y, 1,
                             0, NULL, (void *[]){&arrays->a, &arrays->b, &arrays->c, &n}, NULL),
              launch->name);
    check(cuCtxSynchronize(), launch->name);
    check(cuMemcpyDtoH(arrays->results, arrays->b, WORDS * 4), "cuMemcpyDtoH");
    uint32_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = (sum << 1 | sum >> 31) + arrays->results[i];
    printf("%s,%08x\n", launch->name, sum);
}

int main(int argc, char **argv) {
    static const char *const text[N_FILES] = {kernels_memory, kernels_together, kernels_alone};
    CUmodule module[N_FILES] = {0};
    CUdevice device;
    CUcontext context;
    struct arrays arrays = {.floats = malloc(WORDS * 4), .integers = malloc(WORDS * 4), .results = malloc(WORDS * 4)};
    if (!arrays.floats || !arrays.integers || !arrays.results)
        abort();
    for (int i = 1; i < argc; i++) {
        bool is_known = false;
        for (int k = 0; k < N_LAUNCHES; k++)
            is_known |= !strcmp(argv[i], launches[k].name);
        if (!is_known) {
            fprintf(stderr, "kernels: no kernel '%s'\n", argv[i]);
            return 2;
        }
    }
    fill(&arrays);
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuMemAlloc(&arrays.a, WORDS * 4), "cuMemAlloc");
    check(cuMemAlloc(&arrays.b, WORDS * 4), "cuMemAlloc");
    check(cuMemAlloc(&arrays.c, WORDS * 4), "cuMemAlloc");
    for (int k = 0; k < N_LAUNCHES; k++) {
        unsigned file = launches[k].file;
        if (!is_wanted(launches[k].name, argc - 1, argv + 1))
            continue;
        if (!module[file])
            check(cuModuleLoadData(&module[file], text[file]), "cuModuleLoadData");
        run(&launches[k], module[file], &arrays);
    }
    for (int f = 0; f < N_FILES; f++)
        if (module[f])
            check(cuModuleUnload(module[f]), "cuModuleUnload");
    check(cuMemFree(arrays.a), "cuMemFree");
    check(cuMemFree(arrays.b), "cuMemFree");
    check(cuMemFree(arrays.c), "cuMemFree");
    check(cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
    free(arrays.floats);
    free(arrays.integers);
    free(arrays.results);
    return 0;
}
