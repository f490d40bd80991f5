/* Latency of global and constant memory by pointer chase, over the footprint; loads under way at once; and what a load
 * costs by the number of sectors and lines that its lanes touch. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { PER_ROUND = 16, LINE = 128 };

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

/* A cycle through all lines of the footprint in random order. The chain holds addresses. */
static void upload_cycle(struct bench *bench, size_t footprint) {
    size_t n = footprint / LINE;
    uint32_t *order = malloc(n * sizeof *order), state = 1;
    uint64_t *chain = calloc(footprint, 1);
    if (!order || !chain)
        abort();
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i; i--) {
        size_t j = (size_t)(((uint64_t)next_random(&state) << 32 | next_random(&state)) % (i + 1));
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (size_t i = 0; i < n; i++)
        chain[order[i] * (LINE / 8)] = bench->data + (uint64_t)order[(i + 1) % n] * LINE;
    bench_upload(bench, chain, footprint);
    free(order);
    free(chain);
}

/* One thread follows the chain: once around to warm up, as far as that is possible, then 4096 steps. */
static void chases(struct bench *bench, const char *name, const char *operator) {
    static const unsigned kilobytes[] = {16,   64,    128,   160,   192,   208,   224,   240,    256,    512,   2048,
                                         8192, 16384, 24576, 32768, 40960, 49152, 65536, 131072, 262144, 524288};
    struct text body = {0};
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "%s %%rd0, [%%rd0];\n", operator);
    struct bench_source source = {
        .setup = "mov.u64 %rd0, %data;\n", .body = body.at, .tail = "cvt.u32.u64 %sink, %rd0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (size_t i = 0; i < sizeof kilobytes / sizeof *kilobytes; i++) {
        size_t footprint = (size_t)kilobytes[i] << 10, lines = footprint / LINE;
        if (footprint > bench->data_bytes || (bench->is_quick && footprint > 8u << 20 && footprint < 128u << 20))
            continue;
        upload_cycle(bench, footprint);
        unsigned rounds = lines / PER_ROUND > 1024 ? (unsigned)(lines / PER_ROUND) : 1024;
        if (rounds > (bench->is_quick ? 4096u : 65536u))
            rounds = bench->is_quick ? 4096 : 65536;
        struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = rounds};
        bench_print_number(name, footprint, bench_run(bench, kernel, launch, NULL) / (rounds * (double)PER_ROUND));
    }
    bench_unload(kernel);
    text_free(&body);
}

/* Addresses in the chain are those of the constant space, where a second kernel says that the table lies. */
static const char constant_globals[] = ".const .align 16 .b32 table[16384];\n"
                                       ".visible .entry where(.param .u64 p_place)\n{\n.reg .b64 %rd<2>;\n"
                                       "ld.param.u64 %rd0, [p_place];\ncvta.to.global.u64 %rd0, %rd0;\n"
                                       "mov.u64 %rd1, table;\nst.global.u64 [%rd0], %rd1;\nret;\n}\n";

static uint64_t find_table(struct bench *bench, struct bench_kernel kernel) {
    CUfunction where;
    uint64_t base = 0;
    CHECK(cuModuleGetFunction(&where, kernel.module, "where"));
    CHECK(cuLaunchKernel(where, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&bench->times}, NULL));
    CHECK(cuMemcpyDtoH(&base, bench->times, sizeof base));
    return base;
}

static void constants(struct bench *bench) {
    enum { WORDS = 8192, STEP = 64 };
    struct text body = {0};
    uint64_t chain[WORDS] = {0};
    CUdeviceptr table;
    size_t bytes;
    if (!bench_wants(bench, "constant_latency"))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "ld.const.u64 %%rd0, [%%rd0];\n");
    struct bench_source source = {.globals = constant_globals,
                                  .setup = "mov.u64 %rd0, table;\n",
                                  .body = body.at,
                                  .tail = "cvt.u32.u64 %sink, %rd0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    uint64_t base = find_table(bench, kernel);
    CHECK(cuModuleGetGlobal(&table, &bytes, kernel.module, "table"));
    for (unsigned footprint = 512; footprint <= 65536; footprint *= 2) {
        unsigned n = footprint / STEP, rounds = n > 512 ? n / 4 : 128;
        for (unsigned i = 0; i < n; i++)
            chain[i * STEP / 8] = base + (i + 1) % n * STEP;
        CHECK(cuMemcpyHtoD(table, chain, sizeof chain));
        struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = rounds};
        bench_print_number("constant_latency", footprint,
                           bench_run(bench, kernel, launch, NULL) / (rounds * (double)PER_ROUND));
    }
    bench_unload(kernel);
    text_free(&body);
}

/* Every 8 bytes of the table hold their own address; lanes read `lanes` different ones, 64 bytes apart, or warps one of
 * the footprint after the other. */
static void constant_lanes(struct bench *bench) {
    enum { WORDS = 8192 };
    struct text body = {0};
    static uint64_t self[WORDS];
    CUdeviceptr table;
    size_t bytes;
    if (!bench_wants(bench, "constant_lanes"))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "ld.const.u64 %%rd%u, [%%rd%u];\n", i % 4, i % 4);
    struct bench_source source = {.globals = constant_globals,
                                  .setup = "rem.u32 %t, %lane, %number;\nmul.wide.u32 %rd1, %t, 64;\n"
                                           "mov.u64 %rd0, table;\nadd.u64 %rd0, %rd0, %rd1;\n"
                                           "mov.u64 %rd1, %rd0;\nmov.u64 %rd2, %rd0;\nmov.u64 %rd3, %rd0;\n",
                                  .body = body.at,
                                  .tail = "add.u64 %rdt, %rd0, %rd1;\nadd.u64 %rdt, %rdt, %rd2;\n"
                                          "add.u64 %rdt, %rdt, %rd3;\ncvt.u32.u64 %sink, %rdt;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    uint64_t base = find_table(bench, kernel);
    for (uint64_t i = 0; i < WORDS; i++)
        self[i] = base + i * 8;
    CHECK(cuModuleGetGlobal(&table, &bytes, kernel.module, "table"));
    CHECK(cuMemcpyHtoD(table, self, sizeof self));
    for (unsigned lanes = 1; lanes <= 32; lanes *= 2)
        for (unsigned warps = 1; warps <= 32; warps *= 32) {
            char name[64];
            struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = 32, .number = lanes};
            snprintf(name, sizeof name, "constant_lanes_%u_warps", warps);
            bench_print_number(name, lanes,
                               bench_run(bench, kernel, launch, NULL) / (launch.rounds * (double)PER_ROUND * warps));
        }
    bench_unload(kernel);
    text_free(&body);
}

/* Independent loads of one warp from lines that no one has read yet, 8 KB apart, all lanes one line or 32 lines. */
static void outstanding(struct bench *bench) {
    unsigned place = 0;
    for (unsigned n = 1; bench_wants(bench, "outstanding") && n <= 32; n *= 2) {
        struct text body = {0}, tail = {0};
        for (unsigned i = 0; i < n; i++) {
            text_add(&body, "ld.global.u32 %%r%u, [%%rd0+%u];\n", i, i * 8192);
            text_add(&tail, "xor.b32 %%sink, %%sink, %%r%u;\n", i);
        }
        static const char setup[] =
            "shr.u32 %t, %gtid, 5;\nmul.wide.u32 %rd0, %t, 262144;\nadd.u64 %rd0, %rd0, %data;\n"
            "and.b32 %t, %number, 0xfffff00;\nmul.wide.u32 %rd1, %t, 128;\n"
            "add.u64 %rd0, %rd0, %rd1;\n"
            "and.b32 %t, %number, 255;\nmul.lo.u32 %t, %t, %lane;\n"
            "cvt.u64.u32 %rd1, %t;\nadd.u64 %rd0, %rd0, %rd1;\n";
        struct bench_kernel kernel =
            bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail.at});
        for (unsigned warps = 1; warps <= 32; warps *= 8)
            for (unsigned stride = 4; stride <= 128; stride *= 32) {
                char name[64];
                place += 0x4000; /* 2 MB further: new lines */
                struct bench_launch launch = {
                    .blocks = 1, .threads = warps * 32, .rounds = 1, .passes = 1, .number = place | stride};
                snprintf(name, sizeof name, "outstanding_%u_lines_%u_warps", stride == 4 ? 1 : 32, warps);
                bench_print_number(name, n, bench_run(bench, kernel, launch, NULL));
            }
        bench_unload(kernel);
        text_free(&body);
        text_free(&tail);
    }
}

/* Every word of 8 bytes holds its own address; lanes `stride` bytes apart: 32 warps, four chains. */
static void sectors(struct bench *bench, const char *name, const char *operator) {
    enum { WORDS = 1 << 16 };
    struct text body = {0};
    static uint64_t self[WORDS];
    unsigned rounds = bench->is_quick ? 4 : 32;
    if (!bench_wants(bench, name))
        return;
    for (uint64_t i = 0; i < WORDS; i++)
        self[i] = bench->data + i * 8;
    bench_upload(bench, self, sizeof self);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "%s %%rd%u, [%%rd%u];\n", operator, i % 4, i % 4);
    static const char setup[] = "mul.lo.u32 %t, %lane, %number;\ncvt.u64.u32 %rd0, %t;\nadd.u64 %rd0, %rd0, %data;\n"
                                "shr.u32 %t, %gtid, 5;\nmul.wide.u32 %rd1, %t, 4096;\nadd.u64 %rd0, %rd0, %rd1;\n"
                                "mov.u64 %rd1, %rd0;\nmov.u64 %rd2, %rd0;\nmov.u64 %rd3, %rd0;\n";
    struct bench_source source = {.setup = setup,
                                  .body = body.at,
                                  .tail = "add.u64 %rdt, %rd0, %rd1;\nadd.u64 %rdt, %rdt, %rd2;\n"
                                          "add.u64 %rdt, %rdt, %rd3;\ncvt.u32.u64 %sink, %rdt;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned stride = 0; stride <= 128; stride = stride ? 2 * stride : 8)
        for (unsigned warps = 1; warps <= 32; warps *= 32) {
            struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = rounds, .number = stride};
            char full[64];
            snprintf(full, sizeof full, "%s_%u_warps", name, warps);
            bench_print_number(full, stride,
                               bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds * warps));
        }
    bench_unload(kernel);
    text_free(&body);
}

void bench_latency(struct bench *bench) {
    chases(bench, "chase_l1", "ld.global.ca.u64");
    chases(bench, "chase_l2", "ld.global.cg.u64");
    constants(bench);
    constant_lanes(bench);
    outstanding(bench);
    sectors(bench, "sectors_l1", "ld.global.ca.u64");
    sectors(bench, "sectors_l2", "ld.global.cg.u64");
}
