/* kernels [--seconds S] [NAME|FILE...]: runs the kernels of this folder on a real GPU or on Heddle: all, those that are
 * named, or those of a file, such as `science`. Each one finds the arrays as if it were alone. Prints a checksum of the
 * results, which are the same on every GPU except where threads add floating-point numbers, or take places, in any
 * order.
 *
 * With --seconds each kernel is then launched again and again for so long. The line has the number of launches, the
 * seconds and, if the GPU counts it, the energy in joules. */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../nvml.h"
#include "inputs.h"
#include "kernels.cuh"

enum { WORDS = 1 << 22, N_FILES = 8 };

enum file { memory, together, alone, science, data, layers, suites, courses };
static const char *const file_name[N_FILES] = {"memory", "together", "alone",  "science",
                                               "data",   "layers",   "suites", "courses"};
extern const char kernels_memory[], kernels_together[], kernels_alone[], kernels_science[], kernels_data[],
    kernels_layers[], kernels_suites[], kernels_courses[];

static const struct launch {
    const char *name;
    enum file file;
    unsigned blocks_x, blocks_y, blocks_z, threads_x, threads_y;
    int n, times;
} launches[] = {
#define LAUNCH(name, ...) {#name, __VA_ARGS__},
#include "launches.def"
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

static bool is_named(const struct launch *launch, const char *name) {
    return !strcmp(name, launch->name) || !strcmp(name, file_name[launch->file]);
}

static bool is_wanted(const struct launch *launch, int n_names, char **names) {
    for (int i = 0; i < n_names; i++)
        if (is_named(launch, names[i]))
            return true;
    return !n_names;
}

struct arrays {
    CUdeviceptr a, b, c, prepared;
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

static void start(const struct launch *launch, CUfunction function, struct arrays *arrays) {
    int n = launch->n;
    for (int i = 0; i < launch->times; i++)
        check(cuLaunchKernel(function, launch->blocks_x, launch->blocks_y, launch->blocks_z, launch->threads_x,
                             launch->threads_y, 1, 0, NULL,
                             (void *[]){&arrays->a, &arrays->b, &arrays->c, &n, &arrays->prepared, &i}, NULL),
              launch->name);
}

/* Launches for so many seconds, after a third of a second in which the card's power settles. */
static void repeat(const struct launch *launch, CUfunction function, struct arrays *arrays, double seconds) {
    static struct nvml nvml;
    enum { AT_ONCE = 32 };
    if (!nvml.device)
        nvml = nvml_open();
    double begin = nvml_seconds(), end, from = 0, until = begin + 0.33;
    unsigned long n_launches = 0;
    for (bool is_settled = false;; n_launches += AT_ONCE) {
        if (nvml_seconds() > until && !is_settled) {
            from = nvml_next(&nvml, &begin);
            until = begin + seconds;
            n_launches = 0;
            is_settled = true;
        } else if (nvml_seconds() > until) {
            break;
        }
        for (int k = 0; k < AT_ONCE; k++)
            start(launch, function, arrays);
        check(cuCtxSynchronize(), launch->name);
    }
    double to = nvml_next(&nvml, &end);
    printf("%s,%lu,%.4f,%.3f\n", launch->name, n_launches * (unsigned long)launch->times, end - begin, to - from);
    fflush(stdout);
}

static void run(const struct launch *launch, CUmodule module, struct arrays *arrays, double seconds) {
    CUfunction function;
    check(cuMemcpyHtoD(arrays->c, arrays->integers, WORDS * 4), "cuMemcpyHtoD");
    check(cuMemsetD8(arrays->b, 0, WORDS * 4), "cuMemsetD8");
    check(cuMemcpyHtoD(arrays->a, arrays->floats, WORDS * 4), "cuMemcpyHtoD");
    check(cuModuleGetFunction(&function, module, launch->name), launch->name);
    start(launch, function, arrays);
    check(cuCtxSynchronize(), launch->name);
    check(cuMemcpyDtoH(arrays->results, arrays->b, WORDS * 4), "cuMemcpyDtoH");
    uint32_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = (sum << 1 | sum >> 31) + arrays->results[i];
    if (seconds > 0)
        repeat(launch, function, arrays, seconds);
    else
        printf("%s,%08x\n", launch->name, sum);
}

int main(int argc, char **argv) {
    static const char *const text[N_FILES] = {kernels_memory, kernels_together, kernels_alone,  kernels_science,
                                              kernels_data,   kernels_layers,   kernels_suites, kernels_courses};
    CUmodule module[N_FILES] = {0};
    CUdevice device;
    CUcontext context;
    struct arrays arrays = {.floats = malloc(WORDS * 4), .integers = malloc(WORDS * 4), .results = malloc(WORDS * 4)};
    if (!arrays.floats || !arrays.integers || !arrays.results)
        abort();
    double seconds = 0;
    if (argc > 2 && !strcmp(argv[1], "--seconds")) {
        seconds = strtod(argv[2], NULL);
        argv += 2;
        argc -= 2;
    }
    for (int i = 1; i < argc; i++) {
        bool is_known = false;
        for (int k = 0; k < N_LAUNCHES; k++)
            is_known |= is_named(&launches[k], argv[i]);
        if (!is_known) {
            fprintf(stderr, "kernels: no kernel and no file of kernels '%s'\n", argv[i]);
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
    check(cuMemAlloc(&arrays.prepared, WORDS * 4), "cuMemAlloc");
    inputs_fill(arrays.results);
    check(cuMemcpyHtoD(arrays.prepared, arrays.results, WORDS * 4), "cuMemcpyHtoD");
    for (int k = 0; k < N_LAUNCHES; k++) {
        unsigned file = launches[k].file;
        if (!is_wanted(&launches[k], argc - 1, argv + 1))
            continue;
        if (!module[file])
            check(cuModuleLoadData(&module[file], text[file]), "cuModuleLoadData");
        run(&launches[k], module[file], &arrays, seconds);
    }
    for (int f = 0; f < N_FILES; f++)
        if (module[f])
            check(cuModuleUnload(module[f]), "cuModuleUnload");
    check(cuMemFree(arrays.a), "cuMemFree");
    check(cuMemFree(arrays.b), "cuMemFree");
    check(cuMemFree(arrays.c), "cuMemFree");
    check(cuMemFree(arrays.prepared), "cuMemFree");
    check(cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
    free(arrays.floats);
    free(arrays.integers);
    free(arrays.results);
    return 0;
}
