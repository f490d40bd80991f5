/* Matrix products of a warp group (wgmma): the time of one with its fence, commit and wait, and the cycles of each in a
 * chain, for one and two groups of four warps on an SM. Both matrices are in shared memory, or A in registers. Values
 * are zeros: the time does not depend on them. */
#include "bench.h"

#include <stdio.h>

enum { GROUP = 128, FEW = 8, MANY = 24, MOST_SUMS = 128, MATRIX_BYTES = 8192 };

struct kind {
    const char *name, *types; /* after the shape */
    unsigned k, sum_bits;
    bool is_float, has_transposes, is_sparse;
};

static const struct kind kind[] = {
    {"f16_f32", "f32.f16.f16", 16, 32, true, true, false},
    {"f16_f16", "f16.f16.f16", 16, 16, true, true, false},
    {"bf16_f32", "f32.bf16.bf16", 16, 32, true, true, false},
    {"tf32", "f32.tf32.tf32", 8, 32, true, false, false},
    {"e4m3_f32", "f32.e4m3.e4m3", 32, 32, true, false, false},
    {"e4m3_f16", "f16.e4m3.e4m3", 32, 16, true, false, false},
    {"s8", "s32.s8.s8", 32, 32, false, false, false},
    {"b1", "s32.b1.b1.and.popc", 256, 32, false, false, false},
    {"sparse_f16_f32", "f32.f16.f16", 32, 32, true, true, true},
    {"sparse_tf32", "f32.tf32.tf32", 16, 32, true, false, true},
    {"sparse_s8", "s32.s8.s8", 64, 32, false, false, true},
};

struct shape {
    unsigned n;
    bool a_is_shared;
    unsigned swizzle; /* of the descriptors: 0 none, 1 of 128 bytes */
    unsigned n_chains;
};

static void add_product(struct text *body, const struct kind *k, struct shape shape, unsigned chain) {
    unsigned n_sums = shape.n * k->sum_bits / 64;
    text_add(body, "wgmma.mma_async%s.sync.aligned.m64n%uk%u.%s {", k->is_sparse ? ".sp" : "", shape.n, k->k, k->types);
    for (unsigned i = 0; i < n_sums; i++)
        text_add(body, "%s%%c%u", i ? "," : "", chain * n_sums + i);
    text_add(body, "}, %s, %%rd51", shape.a_is_shared ? "%rd50" : "{%r50,%r51,%r52,%r53}");
    if (k->is_sparse)
        text_add(body, ", %%r54, 0");
    text_add(body, ", 1%s%s%s;\n", k->is_float ? ", 1, 1" : "", k->has_transposes && shape.a_is_shared ? ", 0" : "",
             k->has_transposes ? ", 0" : "");
}

/* Without a swizzle the core matrices of a line of 8 are neighbours. */
static void add_start(struct text *setup, struct shape shape) {
    unsigned long long descriptor = shape.swizzle ? 1ull << 62 | 64ull << 32 | 1ull << 16 : 16ull << 32 | 8ull << 16;
    text_add(setup, ".reg .b32 %%c<%u>;\n", MOST_SUMS);
    for (unsigned i = 0; i < MOST_SUMS; i++)
        text_add(setup, "mov.u32 %%c%u, 0;\n", i);
    for (unsigned r = 50; r < 54; r++)
        text_add(setup, "mov.u32 %%r%u, 0;\n", r);
    text_add(setup,
             "mov.u32 %%r54, 0x44444444;\nmov.u32 %%r55, matrices;\nshr.u32 %%r55, %%r55, 4;\n"
             "cvt.u64.u32 %%rd50, %%r55;\nor.b64 %%rd50, %%rd50, 0x%llx;\nadd.u64 %%rd51, %%rd50, %u;\n",
             descriptor, MATRIX_BYTES / 16);
}

/* Returns the cycles of a round of n products, one group of four warps or several on one SM. */
static double measure(struct bench *bench, const struct kind *k, struct shape shape, unsigned n, unsigned groups) {
    struct text setup = {0}, body = {0}, tail = {0};
    unsigned rounds = bench->is_quick ? 4 : 32, n_sums = shape.n * k->sum_bits / 64 * shape.n_chains;
    add_start(&setup, shape);
    text_add(&body, "wgmma.fence.sync.aligned;\n");
    for (unsigned i = 0; i < n; i++)
        add_product(&body, k, shape, i % shape.n_chains);
    text_add(&body, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    for (unsigned i = 0; i < n_sums; i++)
        text_add(&tail, "xor.b32 %%sink, %%sink, %%c%u;\n", i);
    struct bench_source source = {.version = "8.4",
                                  .target = "sm_90a",
                                  .globals = ".shared .align 1024 .b8 matrices[45056];\n",
                                  .setup = setup.at,
                                  .body = body.at,
                                  .tail = tail.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    double cycles =
        bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = groups * GROUP, .rounds = rounds}, NULL);
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    text_free(&tail);
    return cycles / rounds;
}

static void measure_shape(struct bench *bench, const struct kind *k, struct shape shape) {
    char name[64];
    snprintf(name, sizeof name, "wgmma_%s_n%u%s%s%s", k->name, shape.n, shape.a_is_shared ? "" : "_registers",
             shape.swizzle ? "_swizzle" : "", shape.n_chains > 1 ? "_chains" : "");
    if (!bench_wants(bench, name))
        return;
    bench_print(name, "round", measure(bench, k, shape, 1, 1));
    double few = measure(bench, k, shape, FEW, 1), few_2 = measure(bench, k, shape, FEW, 2);
    bench_print(name, "one_group", (measure(bench, k, shape, MANY, 1) - few) / (MANY - FEW));
    bench_print(name, "two_groups", (measure(bench, k, shape, MANY, 2) - few_2) / (2 * (MANY - FEW)));
}

void bench_wgmma(struct bench *bench) {
    static const unsigned n[] = {8, 16, 32, 64, 96, 128, 192, 256};
    for (unsigned i = 0; i < sizeof n / sizeof *n; i++) {
        measure_shape(bench, &kind[0], (struct shape){n[i], true, 1, 1});
        measure_shape(bench, &kind[0], (struct shape){n[i], false, 1, 1});
        measure_shape(bench, &kind[0], (struct shape){n[i], true, 0, 1});
    }
    measure_shape(bench, &kind[0], (struct shape){64, true, 1, 2});
    measure_shape(bench, &kind[0], (struct shape){64, false, 1, 2});
    for (unsigned k = 1; k < sizeof kind / sizeof *kind; k++)
        for (unsigned i = 0; i < 6; i++)
            measure_shape(bench, &kind[k], (struct shape){(unsigned[]){8, 64, 128, 256, 64, 256}[i], i < 4, 1, 1});
}
