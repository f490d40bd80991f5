/* Shared memory: every word holds its own address, so that a load's result is the address of the next one, whatever the
 * pattern of the lanes. Latency with one warp, throughput with 32 warps and four chains. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 32 };

static const char globals[] = ".shared .align 16 .b32 table[8192];\n";

/* The whole block fills the table; lane l starts at word l * number (mod 8192). */
static const char fill[] = "mov.u32 %r60, table;\n"
                           "mov.u32 %r61, %thread;\n"
                           "mov.u32 %r62, %ntid.x;\n"
                           "FILL:\n"
                           "shl.b32 %t, %r61, 2;\nadd.u32 %t, %t, %r60;\nst.shared.u32 [%t], %t;\n"
                           "add.u32 %r61, %r61, %r62;\nsetp.lt.u32 %q, %r61, 8192;\n@%q bra FILL;\n"
                           "mul.lo.u32 %t, %lane, %number;\nand.b32 %t, %t, 8191;\n"
                           "shl.b32 %t, %t, 2;\nadd.u32 %t, %t, %r60;\n"
                           "and.b32 %r40, %number, 0x40000000;\n"; /* 0, which a compiler cannot know */

static double measure(struct bench *bench, const char *fragment, unsigned chains, unsigned warps, unsigned stride) {
    struct text setup = {0}, body = {0}, tail = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    text_add(&setup, "%s", fill);
    for (unsigned i = 0; i < chains; i++) {
        text_add(&setup, "mov.u32 %%r%u, %%t;\nmov.u32 %%r%u, 0;\n", i, i + 16);
        text_add(&tail, "xor.b32 %%sink, %%sink, %%r%u;\nxor.b32 %%sink, %%sink, %%r%u;\n", i, i + 16);
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i % chains);
    struct bench_kernel kernel = bench_compile(
        bench, &(struct bench_source){.globals = globals, .setup = setup.at, .body = body.at, .tail = tail.at});
    struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = rounds, .number = stride};
    double cycles = bench_run(bench, kernel, launch, NULL);
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    text_free(&tail);
    return cycles / (PER_ROUND * (double)rounds * warps);
}

/* Loads with bank conflicts by few warps, four at a time: of 1, 2 and 4 warps on different schedulers, and of 2 and 4
 * warps on one. Strides in words; in cycles per load of all warps. */
static void few_warps(struct bench *bench) {
    static const struct {
        const char *name;
        unsigned warps, step;
    } set[] = {{"shared_few_1", 1, 1},       {"shared_few_2", 2, 1},        {"shared_few_4", 4, 1},
               {"shared_few_8", 8, 1},       {"shared_few_2_on_one", 2, 4}, {"shared_few_4_on_one", 4, 4},
               {"shared_few_8_on_one", 8, 4}};
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        for (unsigned stride = 1; stride <= 32 && bench_wants(bench, set[k].name); stride *= stride == 1 ? 4 : 2) {
            struct text setup = {0}, body = {0}, tail = {0};
            unsigned rounds = bench->is_quick ? 8 : 64;
            text_add(&setup, "%sshr.u32 %%r61, %%thread, 5;\nrem.u32 %%r61, %%r61, %u;\nsetp.ne.u32 %%p9, %%r61, 0;\n",
                     fill, set[k].step);
            text_add(&body, "@%%p9 bra SKIP;\n");
            for (unsigned i = 0; i < 4; i++) {
                text_add(&setup, "mov.u32 %%r%u, %%t;\n", i);
                text_add(&tail, "xor.b32 %%sink, %%sink, %%r%u;\n", i);
            }
            for (unsigned i = 0; i < PER_ROUND; i++)
                text_add(&body, "ld.shared.u32 %%r%u, [%%r%u];\n", i % 4, i % 4);
            text_add(&body, "SKIP:\n");
            struct bench_kernel kernel = bench_compile(
                bench, &(struct bench_source){.globals = globals, .setup = setup.at, .body = body.at, .tail = tail.at});
            struct bench_launch launch = {
                .blocks = 1, .threads = set[k].warps * set[k].step * 32, .rounds = rounds, .number = stride};
            bench_print_number(set[k].name, stride,
                               bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds * set[k].warps));
            bench_unload(kernel);
            text_free(&setup);
            text_free(&body);
            text_free(&tail);
        }
}

/* Half of 32 warps loads from shared memory, the other half accesses global memory: loads that hit the L1, or stores.
 * In cycles for one access of each kind; the parameter is the kind. */
static void beside(struct bench *bench) {
    static const struct {
        const char *name, *access;
    } kind[] = {{"load", "ld.global.ca.u32 %r2$, [%rd0];"},
                {"load16", "ld.global.ca.v4.u32 {%r2$, %r2$, %r2$, %r2$}, [%rd1];"},
                {"store", "st.global.u32 [%rd0], %r2$;"},
                {"none", ""}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind && bench_wants(bench, "shared_beside"); k++) {
        struct text setup = {0}, body = {0}, tail = {0};
        unsigned rounds = bench->is_quick ? 8 : 64;
        text_add(&setup,
                 "%sshr.u32 %%r61, %%thread, 5;\nand.b32 %%r61, %%r61, 4;\nsetp.ne.u32 %%p9, %%r61, 0;\n"
                 "mul.wide.u32 %%rd0, %%thread, 4;\nadd.u64 %%rd0, %%rd0, %%data;\n"
                 "mul.wide.u32 %%rd1, %%thread, 16;\nadd.u64 %%rd1, %%rd1, %%data;\n",
                 fill);
        text_add(&body, "@%%p9 bra OTHER;\n");
        for (unsigned i = 0; i < 4; i++) {
            text_add(&setup, "mov.u32 %%r%u, %%t;\n", i);
            text_add(&tail, "xor.b32 %%sink, %%sink, %%r%u;\nxor.b32 %%sink, %%sink, %%r2%u;\n", i, i);
        }
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "ld.shared.u32 %%r%u, [%%r%u];\n", i % 4, i % 4);
        text_add(&body, "bra DONE;\nOTHER:\n");
        for (unsigned i = 0; i < PER_ROUND; i++) {
            if (*kind[k].access == 'l') { /* the zero that is loaded becomes part of the next address */
                text_add(&body, "cvt.u64.u32 %%rd2, %%r2%u;\nadd.u64 %%rd0, %%rd0, %%rd2;\n", i % 4);
                text_add(&body, "add.u64 %%rd1, %%rd1, %%rd2;\n");
            }
            text_add_numbered(&body, kind[k].access, i % 4);
        }
        text_add(&body, "DONE:\n");
        for (unsigned i = 0; i < 4; i++)
            text_add(&setup, "mov.u32 %%r2%u, 0;\n", i);
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){.globals = globals, .setup = setup.at, .body = body.at, .tail = tail.at});
        struct bench_launch launch = {.blocks = 1, .threads = 1024, .rounds = rounds, .number = 1};
        CHECK(cuMemsetD8(bench->data, 0, 1 << 20));
        bench_print("shared_beside", kind[k].name,
                    bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds * 16));
        bench_unload(kernel);
        text_free(&setup);
        text_free(&body);
        text_free(&tail);
    }
}

/* Atomics that shared memory has as loops of compare-and-swap, and the swap itself; strides in words. */
static void loops(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } kind[] = {
        {"shared_atomic64",
         "atom.shared.add.u64 %rd1$, [%r$], %rda;\ncvt.u32.u64 %t, %rd1$;\nxor.b32 %sink, %sink, %t;"},
        {"shared_atomic_f32", "atom.shared.add.f32 %f1$, [%r$], %fa;\nxor.b32 %sink, %sink, %f1$;"},
        {"shared_cas", "atom.shared.cas.b32 %r1$, [%r$], %r40, %r1$;\nxor.b32 %sink, %sink, %r1$;"},
        {"shared_exch", "atom.shared.exch.b32 %r1$, [%r$], %r40;\nxor.b32 %sink, %sink, %r1$;"},
    };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned stride = 0; stride <= 32; stride = stride ? 4 * stride : 2)
            for (unsigned warps = 1; warps <= 32; warps *= 32) {
                char name[64];
                snprintf(name, sizeof name, "%s_%u_warps", kind[k].name, warps);
                if (bench_wants(bench, name))
                    bench_print_number(name, stride, measure(bench, kind[k].fragment, 4, warps, stride));
            }
}

void bench_shared(struct bench *bench) {
    loops(bench);
    few_warps(bench);
    beside(bench);
    static const char load[] = "ld.shared.u32 %r$, [%r$];";
    static const char load_xor[] = "ld.shared.u32 %r$, [%r$];\nxor.b32 %r$, %r$, %r40;";
    static const char load2_xor[] = "ld.shared.v2.u32 {%r$, %t}, [%r$];\nand.b32 %t, %t, %r40;\nxor.b32 %r$, %r$, %t;";
    static const char load4_xor[] =
        "ld.shared.v4.u32 {%r$, %r41, %r42, %t}, [%r$];\nxor.b32 %t, %t, %r41;\nxor.b32 %t, %t, %r42;\n"
        "and.b32 %t, %t, %r40;\nxor.b32 %r$, %r$, %t;";
    static const char store[] = "st.shared.u32 [%r$], %r$;";
    static const char atomic[] = "atom.shared.add.u32 %t, [%r$], %r40;\nxor.b32 %sink, %sink, %t;";
    static const char atomic_chain[] = "atom.shared.or.b32 %r$, [%r$], %r40;";
    for (unsigned stride = 0; stride <= 32; stride = stride ? 2 * stride : 1) {
        if (bench_wants(bench, "shared_load_latency"))
            bench_print_number("shared_load_latency", stride, measure(bench, load, 1, 1, stride));
        if (bench_wants(bench, "shared_load_xor"))
            bench_print_number("shared_load_xor", stride, measure(bench, load_xor, 1, 1, stride));
        if (bench_wants(bench, "shared_load2_xor") && stride % 2 == 0)
            bench_print_number("shared_load2_xor", stride, measure(bench, load2_xor, 1, 1, stride));
        if (bench_wants(bench, "shared_load4_xor") && stride % 4 == 0)
            bench_print_number("shared_load4_xor", stride, measure(bench, load4_xor, 1, 1, stride));
        if (bench_wants(bench, "shared_load_rate"))
            bench_print_number("shared_load_rate", stride, measure(bench, load, 4, 32, stride));
        if (bench_wants(bench, "shared_store_rate"))
            bench_print_number("shared_store_rate", stride, measure(bench, store, 4, 32, stride));
        if (bench_wants(bench, "shared_atomic_latency"))
            bench_print_number("shared_atomic_latency", stride, measure(bench, atomic_chain, 1, 1, stride));
        if (bench_wants(bench, "shared_atomic_rate"))
            bench_print_number("shared_atomic_rate", stride, measure(bench, atomic, 4, 32, stride));
    }
}
