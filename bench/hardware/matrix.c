/* Matrix instructions: a chain of them in one warp, and the cycles of each with 4 and 16 warps on an SM and several
 * chains. Registers hold zeros of the type, or what the fragment makes of them: the time does not depend on values. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16, MOST_CHAINS = 4 };

static const struct {
    const char *name, *fragment; /* '$' numbers the chain: accumulators are of %r$0.. or %d$0.. */
} kind[] = {
    {"f16_f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1$,%f2$,%f3$,%f4$}, {%r50,%r51,%r52,%r53}, "
                "{%r54,%r55}, {%f1$,%f2$,%f3$,%f4$};"},
    {"f16_f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1$,%r2$}, {%r50,%r51,%r52,%r53}, {%r54,%r55}, "
                "{%r1$,%r2$};"},
    {"f16_k8_f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1$,%f2$,%f3$,%f4$}, {%r50,%r51}, {%r54}, "
                   "{%f1$,%f2$,%f3$,%f4$};"},
    {"bf16_f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1$,%f2$,%f3$,%f4$}, {%r50,%r51,%r52,%r53}, "
                 "{%r54,%r55}, {%f1$,%f2$,%f3$,%f4$};"},
    {"tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1$,%f2$,%f3$,%f4$}, {%r50,%r51,%r52,%r53}, "
             "{%r54,%r55}, {%f1$,%f2$,%f3$,%f4$};"},
    {"s8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1$,%r2$,%r3$,%r4$}, {%r50,%r51,%r52,%r53}, "
           "{%r54,%r55}, {%r1$,%r2$,%r3$,%r4$};"},
    {"s4", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r1$,%r2$,%r3$,%r4$}, {%r50,%r51,%r52,%r53}, "
           "{%r54,%r55}, {%r1$,%r2$,%r3$,%r4$};"},
    {"b1", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r1$,%r2$,%r3$,%r4$}, "
           "{%r50,%r51,%r52,%r53}, {%r54,%r55}, {%r1$,%r2$,%r3$,%r4$};"},
    {"f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1$,%d2$}, {%da}, {%db}, {%d1$,%d2$};"},
    {"f16_wmma", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
                 "{%f1$,%f2$,%f3$,%f4$,%f5$,%f6$,%r1$,%r2$}, {%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, "
                 "{%r50,%r51,%r52,%r53,%r54,%r55,%r56,%r57}, {%f1$,%f2$,%f3$,%f4$,%f5$,%f6$,%r1$,%r2$};"},
};

static void add_start(struct text *setup) {
    for (unsigned r = 50; r < 58; r++)
        text_add(setup, "mov.u32 %%r%u, %%lane;\nshl.b32 %%r%u, %%r%u, 8;\n", r, r, r);
    for (unsigned chain = 0; chain < MOST_CHAINS; chain++)
        for (unsigned k = 1; k <= 6; k++) {
            if (k <= 4)
                text_add(setup, "mov.u32 %%r%u%u, 0;\n", k, chain);
            if (k <= 2)
                text_add(setup, "mov.f64 %%d%u%u, 0d0000000000000000;\n", k, chain);
            text_add(setup, "mov.f32 %%f%u%u, 0f00000000;\n", k, chain);
        }
}

static void add_end(struct text *tail) {
    for (unsigned chain = 0; chain < MOST_CHAINS; chain++)
        text_add(tail,
                 "xor.b32 %%sink, %%sink, %%r1%u;\nxor.b32 %%sink, %%sink, %%f1%u;\n"
                 "cvt.rn.f32.f64 %%f0, %%d1%u;\nxor.b32 %%sink, %%sink, %%f0;\n",
                 chain, chain, chain);
}

static double measure(struct bench *bench, const char *fragment, unsigned chains, unsigned warps) {
    struct text setup = {0}, body = {0}, tail = {0};
    unsigned rounds = bench->is_quick ? 4 : 64;
    add_start(&setup);
    add_end(&tail);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i % chains);
    struct bench_source source = {.target = "sm_80", .setup = setup.at, .body = body.at, .tail = tail.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    double cycles =
        bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = warps * 32, .rounds = rounds}, NULL);
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    text_free(&tail);
    return cycles / (PER_ROUND * (double)rounds * warps);
}

void bench_matrix(struct bench *bench) {
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        char name[64];
        snprintf(name, sizeof name, "matrix_%s", kind[k].name);
        if (!bench_wants(bench, name))
            continue;
        bench_print(name, "latency", measure(bench, kind[k].fragment, 1, 1));
        bench_print(name, "one_warp", measure(bench, kind[k].fragment, MOST_CHAINS, 1));
        bench_print(name, "full_sm", measure(bench, kind[k].fragment, MOST_CHAINS, 16));
    }
}
