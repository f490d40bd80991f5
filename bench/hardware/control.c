/* Branches, barriers, fences, and instruction fetch. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16, SKIPPED = 24 };

static const char setup[] = "cvt.rn.f32.u32 %f0, %lane;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %fa;\nmov.f32 %f3, %fb;\n";
static const char tail[] = "xor.b32 %sink, %f0, %f1;\nxor.b32 %sink, %sink, %f2;\nxor.b32 %sink, %sink, %f3;\n";

/* PER_ROUND branches over SKIPPED instructions, taken by the lanes below the parameter. */
static void branches(struct bench *bench) {
    static const struct {
        const char *parameter;
        unsigned lanes;
    } kind[] = {{"all_take", 32}, {"none_takes", 0}, {"half_take", 16}, {"one_takes", 1}};
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, "branch"))
        return;
    text_add(&body, "setp.lt.u32 %%p1, %%lane, %%number;\n");
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(&body, "@%%p1 bra OVER%u;\n", i);
        for (unsigned k = 0; k < SKIPPED; k++)
            text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", k % 4, k % 4);
        text_add(&body, "OVER%u:\nadd.rn.f32 %%f0, %%f0, %%fa;\n", i);
    }
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = tail});
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = rounds, .number = kind[i].lanes};
        bench_print("branch", kind[i].parameter, bench_run(bench, kernel, launch, NULL) / (PER_ROUND * rounds));
    }
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

void bench_control(struct bench *bench) {
    branches(bench);
    two_sides(bench);
    uneven_loops(bench);
    repeated(bench, "barrier", "bar.sync 0;");
    repeated(bench, "fence_block", "membar.cta;");
    repeated(bench, "fence_device", "membar.gl;");
    repeated(bench, "warp_barrier", "bar.warp.sync 0xffffffff;");
    waits(bench);
    fetches(bench);
    first_fetches(bench);
}
