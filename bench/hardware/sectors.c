/* Accesses of a warp to many sectors of 32 bytes: how long a load of several random sectors takes, which rate stores,
 * loads and copies of parts of sectors have, how many reductions are on their way, and what reading and writing the
 * same words in turn costs. All values are cycles of an SM per warp instruction, unless a name says otherwise. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { CHAIN = 8 };

static void clear(struct bench *bench) { CHECK(cuMemsetD8(bench->data, 0, bench->data_bytes)); }

static double per_instruction(struct bench *bench, struct bench_kernel kernel, struct bench_launch launch,
                              unsigned per_round) {
    return bench_run(bench, kernel, launch, NULL) / (launch.rounds * (double)per_round * (launch.threads / 32.0));
}

/* Brings data into the L2 that has room there, and DRAM to the state in which only the end of the data is there. */
static void warm_up(struct bench *bench, struct bench_kernel kernel, struct bench_launch launch, size_t bytes) {
    if (bytes > 16u << 20)
        CHECK(cuMemsetD8(bench->data, 0, bytes));
    else
        bench_run(bench, kernel, launch, NULL);
}

/* ---- One after the other ----------------------------------------------------------------------------------------- */

/* A warp loads words of `n` random sectors and then those of the next: the latency, by the number of warps of an SM. */
static void chains(struct bench *bench) {
    static const struct {
        const char *name;
        size_t bytes;
    } place[] = {{"l1", 64 << 10}, {"l2", 8 << 20}, {"dram", 1 << 30}};
    static const unsigned counts[] = {1, 2, 4, 8, 16, 32}, warps[] = {1, 2, 4, 8};
    struct text body = {0};
    if (!bench_wants(bench, "chain_sectors"))
        return;
    for (unsigned i = 0; i < CHAIN; i++)
        text_add(&body, "mad.lo.u32 %%r0, %%r0, 1664525, 1013904223;\nshr.u32 %%t, %%r0, 5;\nand.b32 %%t, %%t, %%r1;\n"
                        "mul.wide.u32 %%rd0, %%t, 32;\nadd.u64 %%rd0, %%rd0, %%data;\nld.global.ca.u32 %%r3, [%%rd0];\n"
                        "add.u32 %%r0, %%r0, %%r3;\n");
    /* the number: sectors of the footprint, and from bit 26 on the sectors of a warp less one */
    struct bench_source source = {
        .setup = "shr.u32 %r4, %number, 26;\nand.b32 %r5, %lane, %r4;\nshr.u32 %t, %gtid, 5;\nmad.lo.u32 %r5, %t, 32, "
                 "%r5;\nmad.lo.u32 %r0, %r5, 747796405, 2891336453;\nshr.u32 %t, %r0, 15;\nxor.b32 %r0, %r0, %t;\n"
                 "mul.lo.u32 %r0, %r0, 277803737;\nand.b32 %r1, %number, 67108863;\nmin.u32 %r6, %r1, 2048;\n"
                 "sub.u32 %r1, %r1, 1;\nmov.u32 %r5, %thread;\nmov.u32 %r4, %ntid.x;\nFILL:\n"
                 "mul.wide.u32 %rd0, %r5, 32;\nadd.u64 %rd0, %rd0, %data;\nld.global.ca.u32 %r3, [%rd0];\n"
                 "add.u32 %r0, %r0, %r3;\nadd.u32 %r5, %r5, %r4;\nsetp.lt.u32 %p0, %r5, %r6;\n@%p0 bra FILL;\n",
        .body = body.at,
        .tail = "mov.u32 %sink, %r0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    clear(bench);
    for (size_t p = 0; p < sizeof place / sizeof *place; p++)
        for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1)
            for (size_t w = 0; w < sizeof warps / sizeof *warps; w++)
                for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                    size_t bytes = place[p].bytes < bench->data_bytes ? place[p].bytes : bench->data_bytes;
                    struct bench_launch launch = {.blocks = sms,
                                                  .threads = warps[w] * 32,
                                                  .rounds = bench->is_quick ? 2 : 8,
                                                  .number = (unsigned)(bytes / 32) | (counts[c] - 1) << 26,
                                                  .passes = 1};
                    char name[64];
                    warm_up(bench, kernel, launch, bytes);
                    snprintf(name, sizeof name, "chain_sectors_%s_%u_sms_%u_warps", place[p].name, sms, warps[w]);
                    bench_print_number(name, counts[c],
                                       bench_run(bench, kernel, launch, NULL) / (launch.rounds * CHAIN));
                }
    bench_unload(kernel);
    text_free(&body);
}

/* ---- Parts of sectors -------------------------------------------------------------------------------------------- */

/* Lanes `stride` bytes apart access `bytes` at each of the offsets, one after the other. */
struct part {
    const char *name;
    unsigned bytes, stride, offset[4], n;
};
static const struct part part[] = {
    {"4_of_4", 4, 4, {0, 128, 256, 384}, 4},
    {"4_of_8", 4, 8, {0, 256, 512, 768}, 4},
    {"4_of_12", 4, 12, {0, 4, 8}, 3},
    {"4_of_16", 4, 16, {0, 512, 1024, 1536}, 4},
    {"4_of_16_next", 4, 16, {0, 4, 8, 12}, 4},
    {"4_of_32", 4, 32, {0, 1024, 2048, 3072}, 4},
    {"4_of_32_next", 4, 32, {0, 4, 8, 12}, 4},
    {"4_of_128", 4, 128, {0, 32, 64, 96}, 4},
    {"8_of_8", 8, 8, {0, 256, 512, 768}, 4},
    {"8_of_16", 8, 16, {0, 512, 1024, 1536}, 4},
    {"8_of_16_next", 8, 16, {0, 8, 512, 520}, 4},
    {"8_of_32", 8, 32, {0, 1024, 2048, 3072}, 4},
    {"8_of_32_next", 8, 32, {0, 8, 16, 24}, 4},
    {"16_of_16", 16, 16, {0, 512, 1024, 1536}, 4},
    {"16_of_32", 16, 32, {0, 1024, 2048, 3072}, 4},
    {"16_of_32_next", 16, 32, {0, 16, 1024, 1040}, 4},
    {"16_of_64", 16, 64, {0, 16, 32, 48}, 4},
    {"4_of_4_odd", 4, 4, {4, 132, 260, 388}, 4},
    {"4_of_4_near", 4, 4, {60, 64, 68, 192}, 4},
};

static void add_part(struct text *body, const struct part *p, bool is_store, unsigned i) {
    char words[64];
    unsigned w = p->bytes / 4;
    snprintf(words, sizeof words,
             w == 1   ? "%%r1%u"
             : w == 2 ? "{%%r1%u, %%r2%u}"
                      : "{%%r1%u, %%r2%u, %%r3%u, %%r4%u}",
             i, i, i, i);
    const char *vector = w == 1 ? "" : w == 2 ? ".v2" : ".v4";
    if (is_store)
        text_add(body, "st.global%s.u32 [%%rd1+%u], %s;\n", vector, p->offset[i], words);
    else
        text_add(body, "ld.global%s.u32 %s, [%%rd0+%u];\n", vector, words, p->offset[i]);
}

/* Reads the upper half of the data, after which the L2 holds nothing of the lower half. */
static void read_upper_half(struct bench *bench) {
    static struct bench_kernel kernel;
    if (!kernel.function)
        kernel = bench_compile(
            bench,
            &(struct bench_source){
                .setup = "mul.wide.u32 %rd0, %gtid, 16;\nadd.u64 %rd0, %rd0, %data;\ncvt.u64.u32 %rd1, %number;\n"
                         "shl.b64 %rd1, %rd1, 10;\nadd.u64 %rd0, %rd0, %rd1;\nmov.u32 %t, %nctaid.x;\n"
                         "mul.wide.u32 %rd2, %t, 16384;\n",
                .body = "ld.global.cg.v4.u32 {%r0, %r1, %r2, %r3}, [%rd0];\nadd.u64 %rd0, %rd0, %rd2;\n"
                        "xor.b32 %sink, %sink, %r0;\nxor.b32 %sink, %sink, %r3;\n"});
    struct bench_launch launch = {
        .blocks = bench->n_sms, .threads = 1024, .passes = 1, .number = (unsigned)(bench->data_bytes / 2 >> 10)};
    launch.rounds = (unsigned)(bench->data_bytes / 2 / (launch.blocks * 16384));
    bench_run(bench, kernel, launch, NULL);
}

/* A warp accesses 4 KB of its own in a round, and the 4 KB of all warps follow each other. The data is in the L2
 * (parts), or only in DRAM (parts_dram). */
static void parts(struct bench *bench, const struct part *p, const char *kind, bool is_cold) {
    bool loads = *kind != 's', stores = *kind != 'l';
    static const unsigned shapes[][2] = {{1, 1}, {1, 4}, {1, 32}, {132, 4}, {132, 32}};
    struct text body = {0};
    char name[64];
    const char *set = is_cold ? "parts_dram" : "parts";
    size_t footprint = is_cold ? bench->data_bytes / 4 : 32u << 20;
    snprintf(name, sizeof name, "%s_%s_%s", set, kind, p->name);
    if (!bench_wants(bench, name))
        return;
    text_add(&body,
             "and.b64 %%rd0, %%rd10, %zu;\nadd.u64 %%rd0, %%rd0, %%rd12;\nadd.u64 %%rd1, %%rd0, %zu;\n"
             "add.u64 %%rd10, %%rd10, %%rd11;\n",
             footprint - 1, loads && stores ? footprint : 0);
    for (unsigned i = 0; loads && i < p->n; i++)
        add_part(&body, p, false, i);
    for (unsigned i = 0; stores && i < p->n; i++)
        add_part(&body, p, true, i);
    for (unsigned i = 0; !stores && i < p->n; i++)
        text_add(&body, "xor.b32 %%r0, %%r0, %%r1%u;\nxor.b32 %%r0, %%r0, %%r%u%u;\n", i, p->bytes / 4, i);
    struct text setup = {0};
    text_add(&setup,
             "shr.u32 %%t, %%gtid, 5;\nmul.wide.u32 %%rd10, %%t, 4096;\nmul.wide.u32 %%rd12, %%lane, %u;\n"
             "add.u64 %%rd12, %%rd12, %%data;\nmov.u32 %%t, %%nctaid.x;\nmov.u32 %%r1, %%ntid.x;\n"
             "mul.lo.u32 %%t, %%t, %%r1;\nmul.wide.u32 %%rd11, %%t, 128;\nmov.u32 %%r0, 0;\n",
             p->stride);
    for (unsigned i = 0; i < 4; i++)
        text_add(&setup,
                 "mov.u32 %%r1%u, %%lane;\nmov.u32 %%r2%u, %%lane;\nmov.u32 %%r3%u, %%lane;\n"
                 "mov.u32 %%r4%u, %%lane;\n",
                 i, i, i, i);
    struct bench_kernel kernel = bench_compile(
        bench, &(struct bench_source){.setup = setup.at, .body = body.at, .tail = "mov.u32 %sink, %r0;\n"});
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        unsigned sms = shapes[s][0] > 1 ? bench->n_sms : 1;
        struct bench_launch launch = {
            .blocks = sms, .threads = shapes[s][1] * 32, .rounds = bench->is_quick ? 4 : 16, .passes = 1};
        if (bench->is_quick && s != 2 && s != 4)
            continue;
        snprintf(name, sizeof name, "%s_%s_%s_%u_sms", set, kind, p->name, sms);
        if (is_cold)
            read_upper_half(bench);
        else
            bench_run(bench, kernel, launch, NULL);
        bench_print_number(name, shapes[s][1],
                           per_instruction(bench, kernel, launch, p->n * (loads && stores ? 2 : 1)));
    }
    bench_unload(kernel);
    text_free(&body);
    text_free(&setup);
}

/* ---- Atomics on their way ---------------------------------------------------------------------------------------- */

/* Lanes of one SM or of all change random words: lanes per cycle of an SM. */
static void atomics(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } kind[] = {{"red32", "red.global.add.u32 [%rd$], 1;"},
                {"red64_xor", "red.global.xor.b64 [%rd$], %rda;"},
                {"atom32", "atom.global.add.u32 %r1$, [%rd$], 1;\nxor.b32 %sink, %sink, %r1$;"},
                {"atom64_cas", "atom.global.cas.b64 %rd1$, [%rd$], %rdb, %rda;\ncvt.u32.u64 %t, %rd1$;\n"
                               "xor.b32 %sink, %sink, %t;"},
                {"store32", "st.global.u32 [%rd$], %r0;"},
                {"load32", "ld.global.ca.u32 %r1$, [%rd$];"}};
    static const unsigned shapes[][2] = {{1, 1},  {1, 2},   {1, 4},   {1, 8},   {1, 16},
                                         {1, 32}, {16, 32}, {132, 1}, {132, 8}, {132, 32}};
    static const size_t places[] = {8 << 20, 1 << 30};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        enum { EACH = 8 };
        struct text body = {0};
        char name[64];
        snprintf(name, sizeof name, "flight_%s", kind[k].name);
        if (!bench_wants(bench, name))
            continue;
        for (unsigned i = 0; i < EACH; i++)
            text_add(&body,
                     "mad.lo.u32 %%r0, %%r0, 1664525, 1013904223;\nshr.u32 %%t, %%r0, 5;\nand.b32 %%t, %%t, %%r2;\n"
                     "mul.wide.u32 %%rd%u, %%t, 8;\nadd.u64 %%rd%u, %%rd%u, %%data;\n",
                     i, i, i);
        for (unsigned i = 0; i < EACH; i++)
            text_add_numbered(&body, kind[k].fragment, i);
        for (unsigned i = 0; kind[k].name[0] == 'l' && i < EACH; i++)
            text_add(&body, "xor.b32 %%sink, %%sink, %%r1%u;\n", i);
        struct bench_kernel kernel = bench_compile(
            bench,
            &(struct bench_source){.setup = "mad.lo.u32 %r0, %gtid, 747796405, 2891336453;\nshr.u32 %t, %r0, 15;\n"
                                            "xor.b32 %r0, %r0, %t;\nmul.lo.u32 %r0, %r0, 277803737;\n"
                                            "sub.u32 %r2, %number, 1;\n",
                                   .body = body.at});
        for (size_t p = 0; p < 2; p++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                size_t bytes = places[p] < bench->data_bytes ? places[p] : bench->data_bytes;
                unsigned sms = shapes[s][0] > bench->n_sms ? bench->n_sms : shapes[s][0];
                struct bench_launch launch = {.blocks = sms,
                                              .threads = shapes[s][1] * 32,
                                              .rounds = bench->is_quick ? 2 : 16,
                                              .passes = 1,
                                              .number = (unsigned)(bytes / 8)};
                warm_up(bench, kernel, launch, bytes);
                double cycles = bench_run(bench, kernel, launch, NULL);
                snprintf(name, sizeof name, "flight_%s_%s_%u_sms", kind[k].name, p ? "dram" : "l2", sms);
                bench_print_number(name, shapes[s][1], launch.threads * (double)EACH * launch.rounds / cycles);
            }
        bench_unload(kernel);
        text_free(&body);
    }
}

/* Every warp stores `number` times, to sectors of its own or to random ones: cycles until the last store has left the
 * warp, and until all are done (done). */
static void bursts(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
        unsigned stride;
    } kind[] = {{"burst_4_of_32", "st.global.u32 [%rd0], %r0;", 32},
                {"burst_16_of_32", "st.global.v4.u32 [%rd0], {%r0, %r0, %r0, %r0};", 32},
                {"burst_4_of_4", "st.global.u32 [%rd0], %r0;", 4},
                {"burst_16_of_16", "st.global.v4.u32 [%rd0], {%r0, %r0, %r0, %r0};", 16},
                {"burst_red", "red.global.add.u32 [%rd0], %r0;", 32},
                {"burst_red_line", "red.global.add.u32 [%rd0], %r0;", 4}};
    static const unsigned warps[] = {1, 4, 16, 32}, counts[] = {1, 2, 4, 8, 16, 32, 64};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned waits = 0; waits < 2; waits++) {
            char name[64];
            struct text body = {0}, setup = {0};
            snprintf(name, sizeof name, "%s%s", kind[k].name, waits ? "_done" : "");
            if (!bench_wants(bench, name))
                continue;
            text_add(&setup,
                     "mul.wide.u32 %%rd0, %%gtid, %u;\nadd.u64 %%rd0, %%rd0, %%data;\nmov.u32 %%t, %%ntid.x;\n"
                     "mov.u32 %%r1, %%nctaid.x;\nmul.lo.u32 %%t, %%t, %%r1;\nmul.wide.u32 %%rd1, %%t, %u;\n"
                     "mov.u32 %%r0, %%lane;\n",
                     kind[k].stride, kind[k].stride);
            text_add(&body, "%s\nadd.u64 %%rd0, %%rd0, %%rd1;\n", kind[k].fragment);
            struct bench_kernel kernel = bench_compile(
                bench,
                &(struct bench_source){.setup = setup.at, .body = body.at, .tail = waits ? "membar.gl;\n" : NULL});
            for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1)
                for (size_t w = 0; w < sizeof warps / sizeof *warps; w++)
                    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                        struct bench_launch launch = {
                            .blocks = sms, .threads = warps[w] * 32, .rounds = counts[c], .passes = 1};
                        if ((size_t)sms * launch.threads * kind[k].stride * counts[c] > 40u << 20 ||
                            (bench->is_quick && counts[c] * warps[w] > 256))
                            continue;
                        bench_run(bench, kernel, launch, NULL);
                        snprintf(name, sizeof name, "%s%s_%u_sms_%u_warps", kind[k].name, waits ? "_done" : "", sms,
                                 warps[w]);
                        bench_print_number(name, counts[c], bench_run(bench, kernel, launch, NULL));
                    }
            bench_unload(kernel);
            text_free(&body);
            text_free(&setup);
        }
}

/* Warps of all SMs compute and then store 16 bytes per lane, 512 bytes of a warp: at once, as two halves of each
 * lane's 16 that follow each other, four words, and two halves with arithmetic between them. The parameter is the
 * number of warps; cycles per round of an SM. */
static void pairs(struct bench *bench) {
    static const struct {
        const char *name, *stores;
    } kind[] = {
        {"whole", "st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};\n"},
        {"halves", "st.global.v2.u32 [%rd0], {%r10, %r11};\nst.global.v2.u32 [%rd0+8], {%r12, %r13};\n"},
        {"words", "st.global.u32 [%rd0], %r10;\nst.global.u32 [%rd0+4], %r11;\nst.global.u32 [%rd0+8], %r12;\n"
                  "st.global.u32 [%rd0+12], %r13;\n"},
        {"halves_apart", "st.global.v2.u32 [%rd0], {%r10, %r11};\n@\nst.global.v2.u32 [%rd0+8], {%r12, %r13};\n"},
        {"far_halves", "st.global.v2.u32 [%rd0], {%r10, %r11};\nst.global.v2.u32 [%rd2+8], {%r12, %r13};\n"}};
    static const unsigned lengths[] = {0, 16, 64, 200}, warps[] = {4, 8, 16, 32};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
            struct text body = {0};
            char name[64];
            snprintf(name, sizeof name, "pairs_%s_after_%u", kind[k].name, lengths[n]);
            if (!bench_wants(bench, name))
                continue;
            for (unsigned i = 0; i < lengths[n]; i++)
                text_add(&body, "mad.lo.u32 %%r10, %%r10, %%r11, %%r12;\n");
            text_add(&body,
                     "and.b64 %%rd0, %%rd10, 33554431;\nadd.u64 %%rd0, %%rd0, %%rd12;\nadd.u64 %%rd2, %%rd0, 65536;\n");
            for (const char *at = kind[k].stores; *at; at++)
                if (*at == '@')
                    for (unsigned i = 0; i < 8; i++)
                        text_add(&body, "mad.lo.u32 %%r12, %%r12, %%r11, %%r13;\n");
                else
                    text_add(&body, "%c", *at);
            text_add(&body, "add.u64 %%rd10, %%rd10, %%rd11;\n");
            struct bench_kernel kernel = bench_compile(
                bench,
                &(struct bench_source){
                    .setup = "shr.u32 %t, %gtid, 5;\nmul.wide.u32 %rd10, %t, 512;\nmul.wide.u32 %rd12, %lane, 16;\n"
                             "add.u64 %rd12, %rd12, %data;\nmov.u32 %t, %nctaid.x;\nmov.u32 %r1, %ntid.x;\n"
                             "mul.lo.u32 %t, %t, %r1;\nmul.wide.u32 %rd11, %t, 16;\nmov.u32 %r10, %lane;\n"
                             "mov.u32 %r11, %gtid;\nmov.u32 %r12, %lane;\nmov.u32 %r13, %gtid;\n",
                    .body = body.at,
                    .tail = "mov.u32 %sink, %r10;\n"});
            for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1)
                for (size_t w = 0; w < sizeof warps / sizeof *warps; w++) {
                    struct bench_launch launch = {
                        .blocks = sms, .threads = warps[w] * 32, .rounds = bench->is_quick ? 4 : 16, .passes = 1};
                    snprintf(name, sizeof name, "pairs_%s_after_%u_%u_sms", kind[k].name, lengths[n], sms);
                    bench_run(bench, kernel, launch, NULL);
                    bench_print_number(name, warps[w], bench_run(bench, kernel, launch, NULL) / launch.rounds);
                }
            bench_unload(kernel);
            text_free(&body);
        }
}

/* ---- Reading and writing in turn --------------------------------------------------------------------------------- */

/* Lanes `number` bytes apart add to the same word again and again, by a load and a store. */
static void updates(struct bench *bench) {
    static const unsigned strides[] = {0, 4, 8, 32, 128, 132, 1028, 2052, 4096, 8196}, warps[] = {1, 2, 4, 8, 16, 32};
    static const struct {
        const char *name, *body;
    } kind[] = {{"update", "ld.global.u32 %r3, [%rd0];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [%rd0], %r3;\n"},
                /* as PolyBench's covariance does: two columns, and a sum in memory */
                {"update_columns",
                 "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r5, [%rd2];\nld.global.u32 %r3, [%rd0];\n"
                 "mad.lo.u32 %r3, %r4, %r5, %r3;\nst.global.u32 [%rd0], %r3;\nadd.u64 %rd1, %rd1, 2048;\n"
                 "add.u64 %rd2, %rd2, 2048;\n"}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        if (!bench_wants(bench, kind[k].name))
            continue;
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){.setup = "mul.wide.u32 %rd0, %gtid, %number;\nadd.u64 %rd0, %rd0, %data;\n"
                                                   "mul.wide.u32 %rd1, %thread, 4;\nadd.u64 %rd1, %rd1, %data;\n"
                                                   "add.u64 %rd1, %rd1, 67108864;\nadd.u64 %rd2, %rd1, 20;\n",
                                          .body = kind[k].body,
                                          .tail = "mov.u32 %sink, %r3;\n"});
        clear(bench);
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
            for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1)
                for (size_t w = 0; w < sizeof warps / sizeof *warps; w++) {
                    char name[64];
                    struct bench_launch launch = {.blocks = sms,
                                                  .threads = warps[w] * 32,
                                                  .rounds = bench->is_quick ? 8 : 32,
                                                  .passes = 2,
                                                  .number = strides[s]};
                    if ((size_t)sms * launch.threads * strides[s] > 64u << 20 || (k && (s < 5 || sms > 1)))
                        continue;
                    snprintf(name, sizeof name, "%s_%u_sms_%u_warps", kind[k].name, sms, warps[w]);
                    bench_run(bench, kernel, launch, NULL);
                    bench_print_number(name, strides[s], per_instruction(bench, kernel, launch, 1) * warps[w]);
                }
        bench_unload(kernel);
    }
}

/* ---- Local memory ------------------------------------------------------------------------------------------------ */

/* Threads write words of an array of their own of `n` words, and read them again: the lanes of a warp use the same
 * place, or different ones, or a store is not followed by a load. */
static void local_arrays(struct bench *bench) {
    static const struct {
        const char *name, *place, *access;
    } kind[] = {
        {"local_same", "add.u32 %r0, %r0, 5;\n", "st.local.u32 [%rd1], %r0;\nld.local.u32 %r3, [%rd2];\n"},
        {"local_own", "mad.lo.u32 %r0, %r0, 5, %lane;\n", "st.local.u32 [%rd1], %r0;\nld.local.u32 %r3, [%rd2];\n"},
        {"local_store_same", "add.u32 %r0, %r0, 5;\n", "st.local.u32 [%rd1], %r0;\nst.local.u32 [%rd2], %r0;\n"},
        {"local_store_own", "mad.lo.u32 %r0, %r0, 5, %lane;\n",
         "st.local.u32 [%rd1], %r0;\nst.local.u32 [%rd2], %r0;\n"},
        {"local_load_same", "add.u32 %r0, %r0, 5;\n",
         "ld.local.u32 %r4, [%rd1];\nld.local.u32 %r3, [%rd2];\nxor.b32 %r3, %r3, %r4;\n"},
        {"local_load_own", "mad.lo.u32 %r0, %r0, 5, %lane;\n",
         "ld.local.u32 %r4, [%rd1];\nld.local.u32 %r3, [%rd2];\nxor.b32 %r3, %r3, %r4;\n"}};
    static const unsigned sizes[] = {8, 32, 128, 256}, warps[] = {1, 4, 16, 32};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            struct text body = {0}, setup = {0};
            char name[64];
            snprintf(name, sizeof name, "%s_%u_words", kind[k].name, sizes[n]);
            if (!bench_wants(bench, name))
                continue;
            text_add(&setup,
                     ".local .align 16 .b32 own[%u];\nmov.u64 %%rd0, own;\n"
                     "mov.u32 %%r0, %%lane;\nmov.u32 %%r4, 0;\nFILL:\n"
                     "mul.wide.u32 %%rd1, %%r4, 4;\nadd.u64 %%rd1, %%rd1, %%rd0;\nst.local.u32 [%%rd1], %%r4;\n"
                     "add.u32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p0, %%r4, %u;\n@%%p0 bra FILL;\n%s",
                     sizes[n], sizes[n], strstr(kind[k].name, "same") ? "mov.u32 %r0, 0;\n" : "");
            for (unsigned i = 0; i < 4; i++) {
                text_add(&body, "%s", kind[k].place);
                text_add(&body,
                         "and.b32 %%t, %%r0, %u;\nmul.wide.u32 %%rd1, %%t, 4;\nadd.u64 %%rd1, %%rd1, %%rd0;\n"
                         "xor.b32 %%t, %%t, 4;\nmul.wide.u32 %%rd2, %%t, 4;\nadd.u64 %%rd2, %%rd2, %%rd0;\n%s",
                         sizes[n] - 1, kind[k].access);
                if (strstr(kind[k].access, "ld"))
                    text_add(&body, "xor.b32 %%sink, %%sink, %%r3;\n");
            }
            struct bench_kernel kernel =
                bench_compile(bench, &(struct bench_source){.setup = setup.at, .body = body.at});
            for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1)
                for (size_t w = 0; w < sizeof warps / sizeof *warps; w++) {
                    struct bench_launch launch = {
                        .blocks = sms, .threads = warps[w] * 32, .rounds = bench->is_quick ? 8 : 64, .passes = 2};
                    snprintf(name, sizeof name, "%s_%u_words_%u_sms", kind[k].name, sizes[n], sms);
                    bench_print_number(name, warps[w], per_instruction(bench, kernel, launch, 8));
                }
            bench_unload(kernel);
            text_free(&body);
            text_free(&setup);
        }
}

void bench_sectors(struct bench *bench) {
    static const char *const kind[] = {"store", "load", "copy"};
    for (size_t p = 0; p < sizeof part / sizeof *part; p++)
        for (size_t k = 0; k < 3; k++) {
            parts(bench, &part[p], kind[k], false);
            parts(bench, &part[p], kind[k], true);
        }
    atomics(bench);
    bursts(bench);
    pairs(bench);
    updates(bench);
    local_arrays(bench);
    chains(bench);
}
