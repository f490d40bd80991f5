/* Atomics on global memory, in cycles per warp instruction: to one address, and to addresses `stride` bytes apart; by
 * one lane, one warp, one SM and all SMs. The stride is a parameter, so that no compiler joins lanes of one address. */
#include "bench.h"

#include <stdio.h>
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
};

static const char setup[] = "mul.wide.u32 %rd0, %gtid, %number;\nadd.u64 %rd0, %rd0, %data;\nmov.u32 %r0, %lane;\n"
                            "mov.u32 %t, %gtid;\n";

void bench_atomics(struct bench *bench) {
    static const unsigned strides[] = {0, 4, 32, 128};
    const unsigned shapes[][2] = {{1, 32}, {1, 1024}, {bench->n_sms, 32}, {2 * bench->n_sms, 1024}};
    static const char *const shape_name[] = {"one_warp", "one_sm", "warp_per_sm", "all_sms"};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct text body = {0};
        if (!bench_wants(bench, kind[k].name))
            continue;
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add_numbered(&body, kind[k].fragment, i);
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = "xor.b32 %sink, %sink, %r0;\n"});
        bool is_wide = strstr(kind[k].name, "64") != NULL;
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
            for (size_t shape = 0; shape < 4; shape++) {
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
