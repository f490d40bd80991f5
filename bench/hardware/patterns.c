/* Accesses without an order, in cycles per warp instruction of a whole chip: every lane reads, writes or reads a pair
 * of words somewhere in a footprint, in a launch after another one like it. Also lines that warps read one after the
 * other at a distance, and memory of a thread's own. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 4, THREADS = 1024 };

/* %r0 is a random number of the thread, %r1 the mask of the footprint in words. */
static const char setup[] = "mad.lo.u32 %r0, %gtid, 747796405, 2891336453;\nshr.u32 %t, %r0, 15;\n"
                            "xor.b32 %r0, %r0, %t;\nmul.lo.u32 %r0, %r0, 277803737;\nmov.u32 %r1, %number;\n";

static void measure(struct bench *bench, const char *name, const char *fragment, size_t footprint) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 4 : 32, blocks = 2 * bench->n_sms;
    if (!bench_wants(bench, name) || footprint > bench->data_bytes)
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body,
                 "mad.lo.u32 %%r0, %%r0, 1664525, 1013904223;\nshr.u32 %%t, %%r0, 5;\nand.b32 %%t, %%t, %%r1;\n"
                 "mul.wide.u32 %%rd%u, %%t, 4;\nadd.u64 %%rd%u, %%rd%u, %%data;\n",
                 i, i, i);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i);
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = "mov.u32 %sink, %r3;\n"});
    struct bench_launch launch = {
        .blocks = blocks, .threads = THREADS, .rounds = rounds, .passes = 1, .number = (unsigned)(footprint / 4 - 1)};
    bench_run(bench, kernel, launch, NULL);
    double cycles = bench_run(bench, kernel, launch, NULL);
    bench_print_number(name, footprint, cycles * bench->n_sms / ((double)blocks * THREADS / 32 * rounds * PER_ROUND));
    bench_unload(kernel);
    text_free(&body);
}

/* Lanes `stride` bytes apart, warps side by side: columns of a matrix whose rows have that length. */
static void columns(struct bench *bench, const char *name, const char *fragment) {
    struct text body = {0};
    enum { WARPS = 2 * 32 };
    if (!bench_wants(bench, name))
        return;
    /* warp w of n: column w mod (stride / 4), 32 rows from (w / (stride / 4)) * 32 on; round and warp count on */
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(&body,
                 "rem.u32 %%r2, %%r0, %%r1;\ndiv.u32 %%r4, %%r0, %%r1;\nshl.b32 %%r4, %%r4, 5;\n"
                 "add.u32 %%r4, %%r4, %%lane;\nand.b32 %%r4, %%r4, %%r5;\nmul.wide.u32 %%rd%u, %%r4, %%number;\n"
                 "mul.wide.u32 %%rd10, %%r2, 4;\nadd.u64 %%rd%u, %%rd%u, %%rd10;\nadd.u64 %%rd%u, %%rd%u, %%data;\n"
                 "add.u32 %%r0, %%r0, %%r6;\n",
                 i, i, i, i, i);
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i);
    struct bench_source source = {.setup = "shr.u32 %r0, %gtid, 5;\nshr.u32 %r1, %number, 2;\nmov.u32 %t, %nctaid.x;\n"
                                           "shl.b32 %r6, %t, 5;\nmov.u32 %t, 16777216;\ndiv.u32 %r5, %t, %number;\n"
                                           "sub.u32 %r5, %r5, 1;\n",
                                  .body = body.at,
                                  .tail = "mov.u32 %sink, %r3;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned stride = 128; stride <= 16384; stride *= 2) {
        struct bench_launch launch = {.blocks = 2 * bench->n_sms,
                                      .threads = THREADS,
                                      .rounds = bench->is_quick ? 2 : 8,
                                      .passes = 1,
                                      .number = stride};
        bench_run(bench, kernel, launch, NULL);
        double cycles = bench_run(bench, kernel, launch, NULL);
        bench_print_number(name, stride, cycles / (WARPS * launch.rounds * (double)PER_ROUND));
    }
    bench_unload(kernel);
    text_free(&body);
}

/* Every lane's own words hold their address in local memory. */
static void local(struct bench *bench) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, "local_latency"))
        return;
    for (unsigned i = 0; i < 16; i++)
        text_add(&body, "ld.local.u64 %%rd0, [%%rd0];\n");
    struct bench_source source = {.setup = ".local .align 8 .b64 own[16];\nmov.u64 %rd1, own;\n"
                                           "mul.wide.u32 %rd0, %number, 8;\nadd.u64 %rd0, %rd0, %rd1;\n"
                                           "st.local.u64 [%rd0], %rd0;\n",
                                  .body = body.at,
                                  .tail = "cvt.u32.u64 %sink, %rd0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned warps = 1; warps <= 32; warps *= 32)
        bench_print_number(
            "local_latency", warps,
            bench_run(bench, kernel,
                      (struct bench_launch){.blocks = 1, .threads = warps * 32, .rounds = rounds, .number = 3}, NULL) /
                (rounds * 16.0));
    bench_unload(kernel);
    text_free(&body);
}

void bench_patterns(struct bench *bench) {
    static const char load[] = "ld.global.u32 %r1$, [%rd$];\nxor.b32 %r3, %r3, %r1$;";
    static const char store[] = "st.global.u32 [%rd$], %r0;";
    static const size_t megabytes[] = {1, 16, 32, 64, 1024};
    for (size_t i = 0; i < sizeof megabytes / sizeof *megabytes; i++) {
        measure(bench, "gather_all_sms", load, megabytes[i] << 20);
        measure(bench, "scatter_all_sms", store, megabytes[i] << 20);
    }
    columns(bench, "column_load", load);
    columns(bench, "column_store", store);
    local(bench);
}
