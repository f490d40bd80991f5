/* Shared memory accessed in pieces of 8 and 16 bytes, of which several lanes may want the same: which lanes' pieces
 * pass at once. In cycles per access: of 32 warps, and of one warp whose load waits for the one before (latency). The
 * name tells the piece of each lane, the parameter is the number of lanes that access. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 32, CHAINS = 4 };

/* Every word holds its own address. %r61: the lane's piece. */
static const char fill[] = "mov.u32 %r60, table;\nmov.u32 %r61, %thread;\nmov.u32 %r62, %ntid.x;\nFILL:\n"
                           "shl.b32 %t, %r61, 2;\nadd.u32 %t, %t, %r60;\nst.shared.u32 [%t], %t;\n"
                           "add.u32 %r61, %r61, %r62;\nsetp.lt.u32 %q, %r61, 8192;\n@%q bra FILL;\n"
                           "mul.wide.u32 %rd0, %lane, 4;\nadd.u64 %rd0, %rd0, %data;\nld.global.u32 %r61, [%rd0];\n";

struct pattern {
    const char *name;
    unsigned lanes;
    uint8_t piece[32];
};
#define EACH4(a, b, c, d) a, a, a, a, b, b, b, b, c, c, c, c, d, d, d, d
#define EACH2(a, b, c, d) a, a, b, b, c, c, d, d
#define RUN8(a) a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7
#define RUN4(a) a, a + 1, a + 2, a + 3
#define SAME8(a) a, a, a, a, a, a, a, a
static const struct pattern pattern[] = {
    {"own", 32, {RUN8(0), RUN8(8), RUN8(16), RUN8(24)}},
    {"all_same", 32, {0}},
    {"same_2", 32, {EACH2(0, 1, 2, 3), EACH2(4, 5, 6, 7), EACH2(8, 9, 10, 11), EACH2(12, 13, 14, 15)}},
    {"same_4", 32, {EACH4(0, 1, 2, 3), EACH4(4, 5, 6, 7)}},
    {"same_8", 32, {SAME8(0), SAME8(1), SAME8(2), SAME8(3)}},
    {"same_16", 32, {SAME8(0), SAME8(0), SAME8(1), SAME8(1)}},
    {"turns_2", 32, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}},
    {"turns_4", 32, {RUN4(0), RUN4(0), RUN4(0), RUN4(0), RUN4(0), RUN4(0), RUN4(0), RUN4(0)}},
    {"turns_8", 32, {RUN8(0), RUN8(0), RUN8(0), RUN8(0)}},
    {"turns_16", 32, {RUN8(0), RUN8(8), RUN8(0), RUN8(8)}},
    {"half_turns_8", 32, {RUN8(0), RUN8(0), RUN8(8), RUN8(8)}},
    {"turns_4_next", 32, {RUN4(0), RUN4(0), RUN4(4), RUN4(4), RUN4(8), RUN4(8), RUN4(12), RUN4(12)}},
    {"pairs_turn_8", 32, {EACH2(0, 1, 2, 3), EACH2(4, 5, 6, 7), EACH2(0, 1, 2, 3), EACH2(4, 5, 6, 7)}},
    {"pairs_turn_4", 32, {EACH2(0, 1, 2, 3), EACH2(0, 1, 2, 3), EACH2(0, 1, 2, 3), EACH2(0, 1, 2, 3)}},
    {"fours_turn_4", 32, {EACH4(0, 1, 2, 3), EACH4(0, 1, 2, 3)}},
    {"fours_turn_2", 32, {EACH4(0, 1, 0, 1), EACH4(0, 1, 0, 1)}},
    {"crossed", 32, {0, 1, 0, 1, 2,  3,  2,  3,  4,  5,  4,  5,  6,  7,  6,  7,
                     8, 9, 8, 9, 10, 11, 10, 11, 12, 13, 12, 13, 14, 15, 14, 15}},
    {"crossed_8", 32, {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7}},
    {"tile_4_by_8", 32, {0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3,
                         4, 5, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 6, 7}},
    {"tile_8_by_4", 32, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7,
                         0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}},
    {"same_bank_2", 32, {SAME8(0), SAME8(0), SAME8(8), SAME8(8)}},
    {"same_bank_4", 32, {SAME8(0), SAME8(8), SAME8(16), SAME8(24)}},
    {"same_bank_pairs", 32, {EACH2(0, 8, 0, 8), EACH2(0, 8, 0, 8), EACH2(0, 8, 0, 8), EACH2(0, 8, 0, 8)}},
    {"strided_2", 32, {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                       32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62}},
    {"backwards", 32, {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                       15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0}},
    {"columns", 32, {0, 4, 8,  12, 16, 20, 24, 28, 1, 5, 9,  13, 17, 21, 25, 29,
                     2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31}},
    {"random_8", 32, {5, 2, 7, 0, 3, 3, 6, 1, 4, 0, 2, 2, 7, 5, 1, 6, 0, 4, 3, 5, 7, 1, 6, 2, 2, 0, 5, 4, 1, 7, 3, 6}},
    {"random_32", 32, {17, 4, 29, 8, 22, 13, 1,  30, 11, 26, 5,  19, 0,  23, 14, 9,
                       31, 2, 20, 7, 25, 16, 10, 28, 3,  21, 12, 6,  27, 18, 24, 15}},
    {"own", 8, {RUN8(0)}},
    {"own", 16, {RUN8(0), RUN8(8)}},
    {"own", 24, {RUN8(0), RUN8(8), RUN8(16)}},
    {"turns_8", 16, {RUN8(0), RUN8(0)}},
    {"all_same", 16, {0}},
    {"all_same", 1, {0}},
};

static void measure(struct bench *bench, const struct pattern *lanes, unsigned bytes, bool is_store, bool is_chain) {
    struct text setup = {0}, body = {0}, tail = {0};
    char name[96];
    unsigned rounds = bench->is_quick ? 4 : 32, warps = is_chain ? 1 : 32, chains = is_chain ? 1 : CHAINS;
    uint32_t piece[32];
    snprintf(name, sizeof name, "shared_%s%u_%s%s", is_store ? "store" : "load", bytes, lanes->name,
             is_chain ? "_latency" : "");
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < 32; i++)
        piece[i] = lanes->piece[i];
    bench_upload(bench, piece, sizeof piece);
    text_add(&setup, "%smad.lo.u32 %%t, %%r61, %u, %%r60;\nsetp.ge.u32 %%p9, %%lane, %u;\n", fill, bytes, lanes->lanes);
    text_add(&body, lanes->lanes < 32 ? "@%%p9 bra SKIP;\n" : "");
    for (unsigned i = 0; i < chains; i++) {
        text_add(&setup, "mov.u32 %%r%u, %%t;\n", i);
        text_add(&tail, "xor.b32 %%sink, %%sink, %%r%u;\n", i);
    }
    for (unsigned i = 0; i < PER_ROUND; i++) {
        unsigned r = i % chains;
        if (is_store && bytes == 16)
            text_add(&body, "st.volatile.shared.v4.u32 [%%r%u], {%%r50, %%r51, %%r52, %%r53};\n", r);
        else if (is_store)
            text_add(&body, "st.volatile.shared.v2.u32 [%%r%u], {%%r50, %%r51};\n", r);
        else if (bytes == 16)
            text_add(&body, "ld.volatile.shared.v4.u32 {%%r%u, %%r1%u, %%r2%u, %%r3%u}, [%%r%u];\n", r, r, r, r, r);
        else
            text_add(&body, "ld.volatile.shared.v2.u32 {%%r%u, %%r1%u}, [%%r%u];\n", r, r, r);
    }
    text_add(&body, lanes->lanes < 32 ? "SKIP:\n" : "");
    struct bench_kernel kernel = bench_compile(
        bench,
        &(struct bench_source){
            .globals = ".shared .align 16 .b32 table[8192];\n", .setup = setup.at, .body = body.at, .tail = tail.at});
    struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = rounds};
    bench_print_number(name, lanes->lanes,
                       bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds * warps));
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    text_free(&tail);
}

void bench_quarters(struct bench *bench) {
    for (size_t p = 0; p < sizeof pattern / sizeof *pattern; p++)
        for (unsigned bytes = 8; bytes <= 16; bytes += 8) {
            measure(bench, &pattern[p], bytes, false, false);
            measure(bench, &pattern[p], bytes, false, true);
            measure(bench, &pattern[p], bytes, true, false);
        }
}
