/* Atomics on shared memory that are loops of compare-and-swap, by pattern: `n` different words among the 32 lanes,
 * which all warps share, or each warp has its own. In cycles of the SM for one instruction of one warp. The parameter
 * is n. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16 };

static const char globals[] = ".shared .align 16 .b32 table[12288];\n";

static const struct {
    const char *name, *fragment;
    unsigned bytes;
} op[] = {
    {"f32", "atom.shared.add.f32 %f1$, [%r0], %fa;\nmov.b32 %t, %f1$;\nxor.b32 %sink, %sink, %t;", 4},
    {"red_f32", "red.shared.add.f32 [%r0], %fa;", 4},
    {"u64", "atom.shared.add.u64 %rd1$, [%r0], %rda;\ncvt.u32.u64 %t, %rd1$;\nxor.b32 %sink, %sink, %t;", 8},
    {"f64", "atom.shared.add.f64 %d1$, [%r0], %da;\ncvt.rzi.u32.f64 %t, %d1$;\nxor.b32 %sink, %sink, %t;", 8},
    {"u32", "atom.shared.add.u32 %r1$, [%r0], 1;\nxor.b32 %sink, %sink, %r1$;", 4},
    {"min_u64", "atom.shared.min.u64 %rd1$, [%r0], %rda;\ncvt.u32.u64 %t, %rd1$;\nxor.b32 %sink, %sink, %t;", 8},
};

/* %r2: the lane's word. %r3: the warp. %r5: n - 1. */
static const struct {
    const char *name, *place;
    unsigned from, warps; /* the warp's words lie `from` words after those of the warp before; at most so many warps */
} pattern[] = {
    {"beside", "and.b32 %r2, %lane, %r5;\n", 0, 32},
    {"grouped", "add.u32 %r6, %r5, 1;\nmul.lo.u32 %r2, %lane, %r6;\nshr.u32 %r2, %r2, 5;\n", 0, 32},
    {"random",
     "mad.lo.u32 %r6, %gtid, 747796405, 2891336453;\nshr.u32 %r2, %r6, 15;\nxor.b32 %r2, %r2, %r6;\n"
     "mul.lo.u32 %r2, %r2, 1664525;\nshr.u32 %r2, %r2, 13;\nand.b32 %r2, %r2, %r5;\n",
     0, 32},
    {"own", "and.b32 %r2, %lane, %r5;\n", 128, 32},
    /* random words of a larger table: other words of the same bank meet, too */
    {"table",
     "mad.lo.u32 %r6, %gtid, 747796405, 2891336453;\nshr.u32 %r2, %r6, 15;\nxor.b32 %r2, %r2, %r6;\n"
     "mul.lo.u32 %r2, %r2, 1664525;\nshr.u32 %r2, %r2, 13;\nand.b32 %r2, %r2, %r5;\n",
     0, 32},
    /* as grouped, all words in one bank */
    {"bank", "add.u32 %r6, %r5, 1;\nmul.lo.u32 %r2, %lane, %r6;\nshr.u32 %r2, %r2, 5;\nshl.b32 %r2, %r2, 5;\n", 0, 32},
};

static void measure(struct bench *bench, size_t k, size_t p) {
    char prefix[64];
    snprintf(prefix, sizeof prefix, "retries_%s_%s", op[k].name, pattern[p].name);
    if (!bench_wants(bench, prefix))
        return;
    struct text setup = {0}, body = {0};
    text_add(&setup,
             "mov.u32 %%r6, table;\nmov.u32 %%r7, %%thread;\nmov.u32 %%r8, %%ntid.x;\nFILL:\nshl.b32 %%t, %%r7, "
             "2;\nadd.u32 %%t, %%t, %%r6;\n"
             "st.shared.u32 [%%t], 0;\nadd.u32 %%r7, %%r7, %%r8;\nsetp.lt.u32 %%q, %%r7, 12288;\n@%%q bra FILL;\n"
             "shr.u32 %%r3, %%thread, 5;\nsub.u32 %%r5, %%number, 1;\n%s"
             "mad.lo.u32 %%r2, %%r3, %u, %%r2;\nmov.u32 %%r6, table;\nmad.lo.u32 %%r0, %%r2, %u, %%r6;\n",
             pattern[p].place, pattern[p].from, op[k].bytes);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, op[k].fragment, i % 4);
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.globals = globals, .setup = setup.at, .body = body.at});
    bool is_table = pattern[p].name[0] == 't';
    for (unsigned warps = 1; warps <= pattern[p].warps; warps *= warps == 8 ? 4 : 2)
        for (unsigned n = is_table ? 64 : 1; n <= (is_table ? 4096u : 32u); n *= is_table ? 8 : 2) {
            char name[96];
            struct bench_launch launch = {.blocks = 1, .threads = 32 * warps, .rounds = 4, .number = n};
            snprintf(name, sizeof name, "%s_%u_warps", prefix, warps);
            bench_print_number(name, n, bench_run(bench, kernel, launch, NULL) / (PER_ROUND * 4.0 * warps));
        }
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
}

void bench_retries(struct bench *bench) {
    for (size_t k = 0; k < sizeof op / sizeof *op; k++)
        for (size_t p = 0; p < sizeof pattern / sizeof *pattern; p++)
            measure(bench, k, p);
}
