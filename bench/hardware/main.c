/* hardware [--quick] [--only PREFIX] [--keep FOLDER]: runs the microbenchmarks and prints name,parameter,value. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(void) {
    fprintf(stderr, "usage: hardware [--quick] [--only PREFIX] [--keep FOLDER]\n");
    exit(2);
}

int main(int argc, char **argv) {
    struct bench bench = {.only = ""};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            bench.is_quick = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            bench.only = argv[++i];
        else if (!strcmp(argv[i], "--keep") && i + 1 < argc)
            bench.keep_folder = argv[++i];
        else
            usage();
    }
    CUcontext context;
    int n_sms = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&bench.device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, bench.device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, bench.device));
    bench.n_sms = (unsigned)n_sms;
    bench.data_bytes = bench.is_quick ? 128u << 20 : 1u << 30;
    CHECK(cuMemAlloc(&bench.data, bench.data_bytes));
    CHECK(cuMemAlloc(&bench.times, BENCH_MOST_WARPS * sizeof(struct bench_time)));
    CHECK(cuMemsetD8(bench.data, 0, bench.data_bytes));

    printf("name,parameter,value\n");
    bench_arithmetic(&bench);
    bench_control(&bench);
    bench_matrix(&bench);
    bench_wgmma(&bench);
    bench_mbarriers(&bench);
    bench_shared(&bench);
    bench_quarters(&bench);
    bench_latency(&bench);
    bench_operators(&bench);
    bench_lines(&bench);
    bench_bandwidth(&bench);
    bench_patterns(&bench);
    bench_split(&bench);
    bench_atomics(&bench);
    bench_sums(&bench);
    bench_retries(&bench);
    bench_launches(&bench);
    bench_constants(&bench);
    bench_waiting(&bench);
    bench_strides(&bench);
    bench_clusters(&bench);
    bench_copies(&bench);
    bench_slices(&bench);
    bench_dispatch(&bench);
    bench_sectors(&bench);
    bench_joins(&bench);
    bench_meets(&bench);
    bench_calls(&bench);

    CHECK(cuMemFree(bench.data));
    CHECK(cuMemFree(bench.times));
    CHECK(cuDevicePrimaryCtxRelease(bench.device));
    return 0;
}
