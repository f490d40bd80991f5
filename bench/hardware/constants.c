/* Constants whose address all lanes share: at a place that the text names, and one cache line after the other for the
 * first time. `constant_latency` and `constant_lanes` (latency.c) read through registers instead. */
#include "bench.h"

#include <stdio.h>

static const char globals[] = ".const .align 256 .b32 table[16384];\n";

/* A chain of multiply-adds, each with a word of the table: up to 2 KB, which the smallest cache holds. */
static void fixed(struct bench *bench) {
    enum { PER_ROUND = 256 };
    struct text body = {0};
    if (!bench_wants(bench, "constant_fixed"))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "ld.const.f32 %%f%u, [table+%u];\nfma.rn.f32 %%f0, %%f0, %%f%u, %%fa;\n", 1 + i % 16, i * 8,
                 1 + i % 16);
    struct bench_source source = {
        .globals = globals, .setup = "cvt.rn.f32.u32 %f0, %lane;\n", .body = body.at, .tail = "mov.b32 %sink, %f0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned warps = 1; warps <= 32; warps *= 2) {
        struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = 16};
        bench_print_number("constant_fixed", warps,
                           bench_run(bench, kernel, launch, NULL) / (launch.rounds * (double)PER_ROUND * warps));
    }
    bench_unload(kernel);
    text_free(&body);
}

/* Words `stride` bytes apart, read once by one warp, by a counter that all lanes share. */
static void first_time(struct bench *bench) {
    static const char body[] = "ld.const.f32 %f1, [%rd0];\nfma.rn.f32 %f0, %f0, %f1, %fa;\nadd.u64 %rd0, %rd0, %rd1;\n";
    if (!bench_wants(bench, "constant_first"))
        return;
    struct bench_source source = {.globals = globals,
                                  .setup =
                                      "mov.u64 %rd0, table;\ncvt.u64.u32 %rd1, %number;\ncvt.rn.f32.u32 %f0, %lane;\n",
                                  .body = body,
                                  .tail = "mov.b32 %sink, %f0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned stride = 4; stride <= 1024; stride *= 2)
        for (unsigned bytes = 2048; bytes <= 65536; bytes *= 2) {
            char name[64];
            struct bench_launch launch = {
                .blocks = 1, .threads = 32, .rounds = bytes / stride, .number = stride, .passes = 1};
            snprintf(name, sizeof name, "constant_first_%u_bytes", bytes);
            if (launch.rounds >= 8)
                bench_print_number(name, stride, bench_run(bench, kernel, launch, NULL) / launch.rounds);
        }
    bench_unload(kernel);
}

void bench_constants(struct bench *bench) {
    fixed(bench);
    first_time(bench);
}
