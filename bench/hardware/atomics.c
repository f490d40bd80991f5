/* Atomics on global memory, in cycles per warp instruction: to one address, and to addresses `stride` bytes apart; by
 * one lane, one warp, one SM and all SMs. The stride is a parameter, so that no compiler joins lanes of one address. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_ROUND = 16 };

static const struct {
    const char *name, *fragment;
} kind[] = {
    {"atom_add", "atom.global.add.u32 %r$, [%rd0], 1;\nxor.b32 %sink, %sink, %r$;"},
    {"red_add", "red.global.add.u32 [%rd0], 1;"},
    {"red_add_f32", "red.global.add.f32 [%rd0], 0f3F800000;"},
    {"atom_cas", "atom.global.cas.b32 %r0, [%rd0], %r0, %t;"},
    {"atom_chain", "atom.global.add.u32 %r0, [%rd0], %r0;"},
    {"atom64_add", "atom.global.add.u64 %rd1$, [%rd0], 1;\ncvt.u32.u64 %t, %rd1$;\nxor.b32 %sink, %sink, %t;"},
    {"red64_add", "red.global.add.u64 [%rd0], 1;"},
    {"atom64_min", "atom.global.min.u64 %rd1$, [%rd0], %rda;\ncvt.u32.u64 %t, %rd1$;\nxor.b32 %sink, %sink, %t;"},
    {"atom_min", "atom.global.min.u32 %r$, [%rd0], %lane;\nxor.b32 %sink, %sink, %r$;"},
    {"atom_sys_add", "atom.sys.global.add.u32 %r$, [%rd0], 1;\nxor.b32 %sink, %sink, %r$;"},
    {"red_sys_add", "red.sys.global.add.u32 [%rd0], 1;"},
    {"red_sys_max", "red.sys.global.max.s32 [%rd0], %lane;"},
    {"atom_sys_cas", "atom.sys.global.cas.b32 %r0, [%rd0], %r0, %t;"},
};

/* On one address, which a compiler sees: it may join the lanes of a warp. */
static const struct {
    const char *name, *fragment;
} joined[] = {
    {"joined_add", "red.global.add.u32 [%data+4096], %lane;"},
    {"joined_add_1", "red.global.add.u32 [%data+4096], 1;"},
    {"joined_add_u64_1", "red.global.add.u64 [%data+4096], 1;"},
    {"joined_min", "red.global.min.s32 [%data+4096], %lane;"},
    {"joined_max", "red.global.max.s32 [%data+4096], %lane;"},
    {"joined_and", "red.global.and.b32 [%data+4096], %lane;"},
    {"joined_or", "red.global.or.b32 [%data+4096], %lane;"},
    {"joined_xor", "red.global.xor.b32 [%data+4096], %lane;"},
    {"joined_inc", "red.global.inc.u32 [%data+4096], %a;"},
    {"joined_dec", "red.global.dec.u32 [%data+4096], %a;"},
    {"joined_add_f32", "red.global.add.f32 [%data+4096], %fa;"},
    {"joined_atom_add", "atom.global.add.u32 %r$, [%data+4096], %lane;\nxor.b32 %sink, %sink, %r$;"},
    {"joined_atom_max", "atom.global.max.s32 %r$, [%data+4096], %lane;\nxor.b32 %sink, %sink, %r$;"},
    {"joined_atom_exch", "atom.global.exch.b32 %r$, [%data+4096], %lane;\nxor.b32 %sink, %sink, %r$;"},
    {"joined_atom_cas", "atom.global.cas.b32 %r$, [%data+4096], %lane, %a;\nxor.b32 %sink, %sink, %r$;"},
    {"joined_sys_add", "red.sys.global.add.u32 [%data+4096], %lane;"},
    {"joined_sys_max", "red.sys.global.max.s32 [%data+4096], %lane;"},
};

static const unsigned n_shapes = 4;
static const char *const shape_name[] = {"one_warp", "one_sm", "warp_per_sm", "all_sms"};

static const char setup[] = "mul.wide.u32 %rd0, %gtid, %number;\nadd.u64 %rd0, %rd0, %data;\nmov.u32 %r0, %lane;\n"
                            "mov.u32 %t, %gtid;\n";

/* All SMs, every lane on a random one of `n` addresses `stride` bytes apart: how the L2 spreads addresses. In atomics
 * of lanes per cycle. */
static void spread(struct bench *bench) {
    static const unsigned counts[] = {1, 2, 4, 8, 16, 32, 64, 256, 1024, 65536};
    static const unsigned strides[] = {4, 8, 32, 128, 512, 2048, 8192};
    static const struct {
        const char *name, *fragment;
    } op[] = {{"red_spread", "red.global.add.u32 [%rd$], 1;"},
              {"red64_spread", "red.global.add.u64 [%rd$], 1;"},
              {"red_f32_spread", "red.global.add.f32 [%rd$], 0f3F800000;"},
              {"atom_spread", "atom.global.add.u32 %r1$, [%rd$], 1;\nxor.b32 %sink, %sink, %r1$;"}};
    enum { EACH = 4 };
    for (size_t k = 0; k < sizeof op / sizeof *op; k++) {
        struct text body = {0};
        if (!bench_wants(bench, op[k].name))
            continue;
        for (unsigned i = 0; i < EACH; i++) {
            text_add(&body,
                     "mad.lo.u32 %%r0, %%r0, 1664525, 1013904223;\nshr.u32 %%t, %%r0, 9;\nand.b32 %%t, %%t, %%r2;\n"
                     "mul.wide.u32 %%rd%u, %%t, %%r1;\nadd.u64 %%rd%u, %%rd%u, %%data;\n",
                     i, i, i);
            text_add_numbered(&body, op[k].fragment, i);
        }
        /* the parameter: the logarithm of the number of addresses and, from bit 8 on, their distance */
        static const char start[] = "mad.lo.u32 %r0, %gtid, 747796405, 2891336453;\nshr.u32 %t, %r0, 15;\n"
                                    "xor.b32 %r0, %r0, %t;\nshr.u32 %r1, %number, 8;\nand.b32 %t, %number, 255;\n"
                                    "mov.u32 %r2, 1;\nshl.b32 %r2, %r2, %t;\nsub.u32 %r2, %r2, 1;\n";
        struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.setup = start, .body = body.at});
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
                char name[64];
                unsigned blocks = 2 * bench->n_sms, log = (unsigned)__builtin_ctz(counts[n]);
                if ((size_t)counts[n] * strides[s] > bench->data_bytes || (!n && s) || (k == 1 && strides[s] < 8))
                    continue;
                struct bench_launch launch = {
                    .blocks = blocks, .threads = 256, .rounds = 2, .number = strides[s] << 8 | log, .passes = 1};
                double cycles = bench_run(bench, kernel, launch, NULL);
                snprintf(name, sizeof name, "%s_%u", op[k].name, strides[s]);
                bench_print_number(name, counts[n], blocks * 256.0 * EACH * launch.rounds / cycles);
            }
        bench_unload(kernel);
        text_free(&body);
    }
}

/* A chain of each kind in one lane of every SM at the same time: the nearest and the farthest SM. */
static void distances(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } op[] = {{"distance_load", "ld.global.cg.u64 %rd0, [%rd0];"},
              {"distance_atomic", "atom.global.or.b64 %rd0, [%rd0], 0;"}};
    for (size_t k = 0; k < sizeof op / sizeof *op; k++) {
        struct text body = {0};
        if (!bench_wants(bench, op[k].name))
            continue;
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add_numbered(&body, op[k].fragment, i);
        struct bench_source source = {.setup = "mul.wide.u32 %rd0, %number, %gtid;\nand.b64 %rd0, %rd0, -32;\n"
                                               "add.u64 %rd0, %rd0, %data;\nst.global.u64 [%rd0], %rd0;\n",
                                      .body = body.at,
                                      .tail = "cvt.u32.u64 %sink, %rd0;\n"};
        struct bench_kernel kernel = bench_compile(bench, &source);
        struct bench_time *times = calloc(bench->n_sms, sizeof *times);
        if (!times)
            abort();
        for (unsigned stride = 0; stride <= 1024; stride = stride ? stride * 1024 : 1) {
            struct bench_launch launch = {.blocks = bench->n_sms, .threads = 32, .rounds = 64, .number = stride};
            double least = 1e30, most = 0, sum = 0;
            char name[64];
            bench_run(bench, kernel, launch, times);
            for (unsigned b = 0; b < bench->n_sms; b++) {
                double one = (double)(times[b].end - times[b].start) / (launch.rounds * (double)PER_ROUND);
                least = one < least ? one : least;
                most = one > most ? one : most;
                sum += one;
            }
            snprintf(name, sizeof name, "%s_nearest", op[k].name);
            bench_print_number(name, stride, least);
            snprintf(name, sizeof name, "%s_mean", op[k].name);
            bench_print_number(name, stride, sum / bench->n_sms);
            snprintf(name, sizeof name, "%s_farthest", op[k].name);
            bench_print_number(name, stride, most);
        }
        free(times);
        bench_unload(kernel);
        text_free(&body);
    }
}

/* The parameter is 0: all shapes are of one address. */
static void join(struct bench *bench) {
    const unsigned shapes[][2] = {{1, 32}, {1, 1024}, {bench->n_sms, 32}, {2 * bench->n_sms, 1024}};
    for (size_t k = 0; k < sizeof joined / sizeof *joined; k++) {
        struct text body = {0};
        if (!bench_wants(bench, joined[k].name))
            continue;
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add_numbered(&body, joined[k].fragment, i % 8);
        struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.body = body.at});
        for (size_t shape = 0; shape < n_shapes; shape++) {
            char name[64];
            struct bench_launch launch = {.blocks = shapes[shape][0], .threads = shapes[shape][1], .rounds = 1};
            snprintf(name, sizeof name, "%s_%s", joined[k].name, shape_name[shape]);
            bench_print_number(name, 0, bench_run(bench, kernel, launch, NULL) / (double)PER_ROUND);
        }
        bench_unload(kernel);
        text_free(&body);
    }
}

void bench_atomics(struct bench *bench) {
    spread(bench);
    distances(bench);
    join(bench);
    static const unsigned strides[] = {0, 4, 32, 128};
    const unsigned shapes[][2] = {{1, 32}, {1, 1024}, {bench->n_sms, 32}, {2 * bench->n_sms, 1024}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct text body = {0};
        if (!bench_wants(bench, kind[k].name))
            continue;
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add_numbered(&body, kind[k].fragment, i % 8);
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = "xor.b32 %sink, %sink, %r0;\n"});
        bool is_wide = strstr(kind[k].name, "64") != NULL;
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
            for (size_t shape = 0; shape < n_shapes; shape++) {
                char name[64];
                unsigned stride = is_wide && strides[s] == 4 ? 8 : strides[s];
                bool is_large = shape == 3;
                unsigned rounds = is_large ? 1 : bench->is_quick ? 1 : 8;
                struct bench_launch launch = {
                    .blocks = shapes[shape][0], .threads = shapes[shape][1], .rounds = rounds, .number = stride};
                snprintf(name, sizeof name, "%s_%s", kind[k].name, shape_name[shape]);
                bench_print_number(name, stride, bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds));
            }
        bench_unload(kernel);
        text_free(&body);
    }
}
