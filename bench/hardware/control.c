/* Branches, barriers, fences, and instruction fetch. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16, SKIPPED = 24 };

static const char setup[] = "cvt.rn.f32.u32 %f0, %lane;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %fa;\nmov.f32 %f3, %fb;\n";
static const char tail[] = "xor.b32 %sink, %f0, %f1;\nxor.b32 %sink, %sink, %f2;\nxor.b32 %sink, %sink, %f3;\n";

/* PER_ROUND branches over SKIPPED instructions, taken by the lanes below the parameter. If the condition is uniform,
 * all threads have the same, and a compiler knows. */
static void branches(struct bench *bench, const char *name, bool is_uniform, unsigned warps) {
    static const struct {
        const char *parameter;
        unsigned lanes;
    } kind[] = {{"all_take", 32}, {"none_takes", 0}, {"half_take", 16}, {"one_takes", 1}};
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, name))
        return;
    text_add(&body, is_uniform ? "setp.ne.u32 %%p1, %%number, 0;\n" : "setp.lt.u32 %%p1, %%lane, %%number;\n");
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(&body, "@%%p1 bra OVER%u;\n", i);
        for (unsigned k = 0; k < SKIPPED; k++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", k % 4, k % 4);
        text_add(&body, "OVER%u:\nadd.rn.f32 %%f0, %%f0, %%fa;\n", i);
    }
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
    for (size_t i = 0; i < (is_uniform ? 2 : sizeof kind / sizeof *kind); i++) {
        struct bench_launch launch = {.blocks = 1, .threads = 32 * warps, .rounds = rounds, .number = kind[i].lanes};
        bench_print(name, kind[i].parameter, bench_run(bench, kernel, launch, NULL) / (PER_ROUND * rounds));
    }
    bench_unload(kernel);
    text_free(&body);
}

/* A loop of `number` iterations, which no compiler unrolls, with a chain of the parameter's length. The end depends on
 * a counter beside the chain, or on the chain itself. In cycles of an iteration. */
static void loops(struct bench *bench, const char *name, bool depends, unsigned warps) {
    enum { ITERATIONS = 64 };
    unsigned rounds = bench->is_quick ? 8 : 64;
    for (unsigned length = 1; bench_wants(bench, name) && length <= 16; length = length < 4 ? length + 1 : 2 * length) {
        struct text body = {0};
        text_add(&body, "%s %%r50, %%number%s;\nLOOP:\n.pragma \"nounroll\";\n", depends ? "add.u32" : "mov.u32",
                 depends ? ", %r53" : "");
        for (unsigned k = 0; k < length; k++)
            text_add(&body,
                     depends ? "mad.lo.u32 %%r50, %%r50, %%r51, %%r52;\n" : "fma.rn.f32 %%f0, %%f0, %%fa, %%fb;\n");
        text_add(&body, depends ? "add.rn.f32 %%f0, %%f0, %%fa;\n" : "sub.u32 %%r50, %%r50, 1;\n");
        text_add(&body, "setp.ne.u32 %%p1, %%r50, 0;\n@%%p1 bra LOOP;\n");
        struct text more = {0}; /* 1 and -1, which a compiler cannot know */
        text_add(&more,
                 "%sand.b32 %%t, %%number, 0x40000000;\nadd.u32 %%r51, %%t, 1;\nsub.u32 %%r52, %%t, 1;\n"
                 "and.b32 %%r53, %%t, %%gtid;\n",
                 setup);
        struct bench_kernel kernel =
            bench_compile(bench, &(struct bench_source){.setup = more.at, .body = body.at, .tail = tail});
        struct bench_launch launch = {
            .blocks = 1, .threads = 32 * warps, .rounds = rounds, .number = depends ? ITERATIONS * length : ITERATIONS};
        bench_print_number(name, length, bench_run(bench, kernel, launch, NULL) / (ITERATIONS * rounds));
        bench_unload(kernel);
        text_free(&body);
        text_free(&more);
    }
}

/* Calls of a function that adds its arguments. */
static void calls(struct bench *bench) {
    static const char add[] = ".func (.reg .f32 %result) add_up(.reg .f32 %x, .reg .f32 %y)\n{\n"
                              "add.rn.f32 %result, %x, %y;\nret;\n}\n";
    unsigned rounds = bench->is_quick ? 8 : 64;
    struct text body = {0};
    if (!bench_wants(bench, "call"))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "call.uni (%%f0), add_up, (%%f0, %%fa);\n");
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.globals = add, .setup = setup, .body = body.at, .tail = tail});
    for (unsigned warps = 1; warps <= 16; warps *= 4)
        bench_print_number("call", warps,
                           bench_run(bench, kernel,
                                     (struct bench_launch){.blocks = 1, .threads = 32 * warps, .rounds = rounds},
                                     NULL) /
                               (PER_ROUND * rounds));
    bench_unload(kernel);
    text_free(&body);
}

/* PER_ROUND branches with two sides of 12 instructions each; the lanes below the parameter take one of them. */
static void two_sides(struct bench *bench) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, "two_sides"))
        return;
    text_add(&body, "setp.lt.u32 %%p1, %%lane, %%number;\n");
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(&body, "@%%p1 bra SIDE%u;\n", i);
        for (unsigned k = 0; k < SKIPPED / 2; k++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", k % 4, k % 4);
        text_add(&body, "bra BOTH%u;\nSIDE%u:\n", i, i);
        for (unsigned k = 0; k < SKIPPED / 2; k++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fb, %%fa;\n", k % 4, k % 4);
        text_add(&body, "BOTH%u:\nadd.rn.f32 %%f0, %%f0, %%fa;\n", i);
    }
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
    for (unsigned lanes = 0; lanes <= 32; lanes += 8)
        bench_print_number(
            "two_sides", lanes,
            bench_run(bench, kernel,
                      (struct bench_launch){.blocks = 1, .threads = 32, .rounds = rounds, .number = lanes}, NULL) /
                (PER_ROUND * rounds));
    bench_unload(kernel);
    text_free(&body);
}

/* PER_ROUND loops of 12 instructions: lane l goes round 1 + l % n times. */
static void uneven_loops(struct bench *bench) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, "uneven_loop"))
        return;
    text_add(&body, "rem.u32 %%r50, %%lane, %%number;\n");
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(&body, "add.u32 %%r51, %%r50, 1;\nLOOP%u:\n.pragma \"nounroll\";\n", i);
        for (unsigned k = 0; k < SKIPPED / 2; k++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", k % 4, k % 4);
        text_add(&body, "sub.u32 %%r51, %%r51, 1;\nsetp.ne.u32 %%p1, %%r51, 0;\n@%%p1 bra LOOP%u;\n", i);
        text_add(&body, "add.rn.f32 %%f0, %%f0, %%fa;\n");
    }
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
    for (unsigned n = 1; n <= 32; n *= 2)
        bench_print_number("uneven_loop", n,
                           bench_run(bench, kernel,
                                     (struct bench_launch){.blocks = 1, .threads = 32, .rounds = rounds, .number = n},
                                     NULL) /
                               (PER_ROUND * rounds));
    bench_unload(kernel);
    text_free(&body);
}

static void repeated(struct bench *bench, const char *name, const char *fragment) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i);
    struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.body = body.at});
    for (unsigned warps = 1; warps <= 32; warps *= 2)
        bench_print_number(name, warps,
                           bench_run(bench, kernel,
                                     (struct bench_launch){.blocks = 1, .threads = warps * 32, .rounds = rounds},
                                     NULL) /
                               (PER_ROUND * rounds));
    bench_unload(kernel);
    text_free(&body);
}

/* Instructions that wait without using a unit: cycles of each, by the parameter. */
static void waits(struct bench *bench) {
    static const unsigned nanoseconds[] = {0, 20, 40, 100, 200, 400, 1000, 2000, 4000, 10000};
    static const struct {
        const char *name, *fragment, *directives;
    } kind[] = {
        {"dependents_wait", "griddepcontrol.wait;", NULL},
        {"dependents_launch", "griddepcontrol.launch_dependents;", NULL},
        {"registers_dec_inc", "setmaxnreg.dec.sync.aligned.u32 40;\nsetmaxnreg.inc.sync.aligned.u32 64;",
         ".maxntid 1024\n.maxnreg 64"},
        {"registers_same", "setmaxnreg.inc.sync.aligned.u32 64;", ".maxntid 1024\n.maxnreg 64"},
    };
    unsigned rounds = bench->is_quick ? 8 : 64;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct text body = {0};
        if (!bench_wants(bench, kind[k].name))
            continue;
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "%s\n", kind[k].fragment);
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){
                       .version = "8.3", .target = "sm_90a", .body = body.at, .directives = kind[k].directives});
        for (unsigned warps = 4; warps <= 32; warps *= 2) {
            struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = rounds};
            bench_print_number(kind[k].name, warps, bench_run(bench, kernel, launch, NULL) / (PER_ROUND * rounds));
        }
        bench_unload(kernel);
        text_free(&body);
    }
    if (!bench_wants(bench, "nanosleep"))
        return;
    struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.body = "nanosleep.u32 %number;\n"});
    for (size_t i = 0; i < sizeof nanoseconds / sizeof *nanoseconds; i++) {
        char name[64];
        for (unsigned warps = 1; warps <= 32; warps *= 32) {
            struct bench_launch launch = {
                .blocks = 1, .threads = warps * 32, .rounds = rounds, .number = nanoseconds[i]};
            snprintf(name, sizeof name, "nanosleep_%u_warps", warps);
            bench_print_number(name, nanoseconds[i], bench_run(bench, kernel, launch, NULL) / rounds);
        }
    }
    bench_unload(kernel);
}

/* Loops of 16-byte instructions from 4 KB on; one warp. */
static void fetches(struct bench *bench) {
    for (unsigned n = 256; bench_wants(bench, "fetch") && n <= (bench->is_quick ? 8192u : 32768u); n *= 2) {
        struct text body = {0};
        for (unsigned i = 0; i < n; i++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", i % 4, i % 4);
        struct bench_kernel kernel =
            bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
        for (unsigned warps = 1; warps <= 16; warps *= 16) {
            struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = 4};
            bench_print_number(warps == 1 ? "fetch_one_warp" : "fetch_16_warps", n * 16,
                               bench_run(bench, kernel, launch, NULL) / (n * 4.0 * warps));
        }
        bench_unload(kernel);
        text_free(&body);
    }
}

/* Code that no SM has executed yet, in cycles from the first instruction to the last; one warp, on one SM or on all. */
static void first_fetches(struct bench *bench) {
    for (unsigned n = 64; bench_wants(bench, "first_fetch") && n <= 8192; n *= 2) {
        struct text body = {0};
        for (unsigned i = 0; i < n; i++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", i % 4, i % 4);
        for (unsigned which = 0; which < 3; which++) {
            static const char *const name[] = {"first_fetch", "first_fetch_all_sms", "first_fetch_16_warps"};
            struct bench_kernel kernel =
                bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
            struct bench_launch launch = {
                .blocks = which == 1 ? bench->n_sms : 1, .threads = which == 2 ? 512 : 32, .rounds = 1, .passes = 1};
            bench_print_number(name[which], n, bench_run(bench, kernel, launch, NULL));
            char again[64];
            snprintf(again, sizeof again, "again_%s", name[which]); /* the same code in a second launch */
            bench_print_number(again, n, bench_run(bench, kernel, launch, NULL));
            bench_unload(kernel);
        }
        text_free(&body);
    }
}

/* Eight jumps over code that no SM has executed, by the instructions that each skips. Before each jump there are eight
 * instructions and, in `after_loop`, a loop of 1000 cycles, in which more code may arrive. On all SMs, in cycles of the
 * kernel's first launch and of its second. */
static void new_jumps(struct bench *bench) {
    enum { JUMPS = 8, EXECUTED = 8, ITERATIONS = 18 };
    static const char *const name[] = {"new_jumps", "new_jumps_after_loop"};
    for (unsigned skipped = 16; bench_wants(bench, "new_jumps") && skipped <= 512; skipped *= 2)
        for (unsigned waits = 0; waits < 2; waits++)
            for (unsigned warps = 1; warps <= 8; warps *= 8) {
                struct text body = {0};
                char text[64];
                text_add(&body, "setp.ne.u32 %%p1, %%number, 0;\n");
                for (unsigned i = 0; i < JUMPS; i++) {
                    if (waits) {
                        text_add(&body, "mov.u32 %%r50, %%number;\nLOOP%u:\n.pragma \"nounroll\";\n", i);
                        for (unsigned k = 0; k < EXECUTED; k++)
                            text_add(&body, "fma.rn.f32 %%f0, %%f0, %%fa, %%fb;\n");
                        text_add(&body, "sub.u32 %%r50, %%r50, 1;\nsetp.ne.u32 %%p2, %%r50, 0;\n@%%p2 bra LOOP%u;\n",
                                 i);
                    }
                    for (unsigned k = 0; k < EXECUTED; k++)
                        text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", k % 4, k % 4);
                    text_add(&body, "@%%p1 bra OVER%u;\n", i);
                    for (unsigned k = 0; k < skipped; k++)
                        text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fb, %%fa;\n", k % 4, k % 4);
                    text_add(&body, "OVER%u:\n", i);
                }
                struct bench_kernel kernel =
                    bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
                struct bench_launch launch = {
                    .blocks = bench->n_sms, .threads = 32 * warps, .rounds = 1, .number = ITERATIONS, .passes = 1};
                snprintf(text, sizeof text, "%s_%u_warps", name[waits], warps);
                bench_print_number(text, skipped, bench_run(bench, kernel, launch, NULL));
                snprintf(text, sizeof text, "%s_again_%u_warps", name[waits], warps);
                bench_print_number(text, skipped, bench_run(bench, kernel, launch, NULL));
                bench_unload(kernel);
                text_free(&body);
            }
}

void bench_control(struct bench *bench) {
    branches(bench, "branch", false, 1);
    branches(bench, "branch_16_warps", false, 16);
    branches(bench, "uniform_branch", true, 1);
    branches(bench, "uniform_branch_16_warps", true, 16);
    loops(bench, "loop_counter", false, 1);
    loops(bench, "loop_counter_16_warps", false, 16);
    loops(bench, "loop_chain", true, 1);
    loops(bench, "loop_chain_16_warps", true, 16);
    calls(bench);
    two_sides(bench);
    uneven_loops(bench);
    repeated(bench, "barrier", "bar.sync 0;");
    repeated(bench, "fence_block", "membar.cta;");
    repeated(bench, "fence_device", "membar.gl;");
    repeated(bench, "warp_barrier", "bar.warp.sync 0xffffffff;");
    waits(bench);
    fetches(bench);
    first_fetches(bench);
    new_jumps(bench);
}
