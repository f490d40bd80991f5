/* Stores of different warps of an SM that meet in the same lines: at the same bytes, in other parts of a line, or as
 * rows that begin inside a line. Values are cycles of an SM for one store of one warp, and in meet_delay those of a
 * round. Nsight Compute shows which stores leave the SM together (lts__t_sectors_op_write). */
#include "bench.h"

#include <stdio.h>

/* The first `lanes` lanes store `bytes` each, `stride` bytes apart. A warp stores `from` bytes after the warp before
 * it.
 */
struct shape {
    const char *name;
    unsigned bytes, stride, lanes, from, first;
    bool is_again; /* all rounds store to the same place */
};
static const struct shape shapes[] = {
    {"same_word", 4, 0, 32, 0, 0, false},      {"same_line", 4, 4, 32, 0, 0, false},
    {"same_parts", 4, 32, 32, 0, 0, false},    {"again_word", 4, 0, 32, 0, 0, true},
    {"again_bytes", 1, 1, 32, 0, 0, true},     {"again_line", 4, 4, 32, 0, 0, true},
    {"again_parts", 4, 32, 32, 0, 0, true},    {"each_word", 4, 4, 1, 4, 0, false},
    {"each_bytes", 1, 1, 32, 32, 0, false},    {"each_half_sector", 4, 4, 4, 16, 0, false},
    {"each_sector", 4, 4, 8, 32, 0, false},    {"each_two_sectors", 4, 4, 16, 64, 0, false},
    {"each_of_parts", 4, 32, 32, 4, 0, false}, {"each_of_column", 4, 128, 32, 4, 0, false},
    {"row_0", 4, 4, 32, 128, 0, false},        {"row_4", 4, 4, 32, 128, 4, false},
    {"row_16", 4, 4, 32, 128, 16, false},      {"row_32", 4, 4, 32, 128, 32, false},
    {"row_64", 4, 4, 32, 128, 64, false},      {"row8_8", 8, 8, 32, 256, 8, false},
    {"row8_32", 8, 8, 32, 256, 32, false},     {"row16_16", 16, 16, 32, 512, 16, false},
    {"row2_2", 2, 2, 32, 64, 2, false},        {"row1_1", 1, 1, 32, 32, 1, false},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static unsigned region_of(const struct shape *shape, unsigned warps) {
    unsigned warp_bytes = shape->stride ? shape->lanes * shape->stride : shape->bytes;
    return (shape->from * (warps - 1) + warp_bytes + 127) / 128 * 128;
}

static void add_store(struct text *text, const struct shape *shape, unsigned offset) {
    static const char *const kind[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "v2.u32", [16] = "v4.u32"};
    static const char *const value[] = {
        [1] = "%r10", [2] = "%h0", [4] = "%r10", [8] = "{%r10, %r11}", [16] = "{%r10, %r11, %r12, %r13}"};
    text_add(text, "%sst.global.%s [%%rd0+%u], %s;\n", shape->lanes < 32 ? "@%p5 " : "", kind[shape->bytes], offset,
             value[shape->bytes]);
}

/* The block's place of a round is in %rd10, the thread's in it in %rd12, and %r3 is the warp. */
static void add_setup(struct text *text, const struct shape *shape, unsigned round_bytes) {
    text_add(text,
             "shr.u32 %%r3, %%thread, 5;\nmul.wide.u32 %%rd12, %%r3, %u;\nmul.wide.u32 %%rd0, %%lane, %u;\n"
             "add.u64 %%rd12, %%rd12, %%rd0;\nadd.u64 %%rd12, %%rd12, %%data;\nadd.u64 %%rd12, %%rd12, %u;\n"
             "mov.u32 %%t, %%ctaid.x;\nmul.wide.u32 %%rd10, %%t, %u;\nmov.u32 %%t, %%nctaid.x;\n"
             "mul.wide.u32 %%rd11, %%t, %u;\nsetp.lt.u32 %%p5, %%lane, %u;\n"
             "mov.u32 %%r10, %%lane;\nmov.u32 %%r11, %%gtid;\nmov.u32 %%r12, %%lane;\nmov.u32 %%r13, %%gtid;\n"
             "cvt.u16.u32 %%h0, %%r10;\n",
             shape->from, shape->stride, shape->first, round_bytes, shape->is_again ? 0 : round_bytes, shape->lanes);
}

static const char next_place[] =
    "and.b64 %rd0, %rd10, 16777215;\nadd.u64 %rd0, %rd0, %rd12;\nadd.u64 %rd10, %rd10, %rd11;\n";

static double run_warm(struct bench *bench, struct bench_kernel kernel, struct bench_launch launch) {
    bench_run(bench, kernel, launch, NULL);
    return bench_run(bench, kernel, launch, NULL);
}

/* Warps store as fast as they can, or meet at a barrier after each store. */
static void steady(struct bench *bench, const struct shape *shape, bool waits) {
    static const unsigned counts[] = {1, 2, 4, 8, 16, 32};
    unsigned each = waits ? 1 : 4;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "meet_%s_%s", waits ? "barrier" : "free", shape->name);
    for (size_t c = 0; bench_wants(bench, prefix) && c < sizeof counts / sizeof *counts; c++) {
        struct text setup = {0}, body = {0};
        unsigned region = region_of(shape, counts[c]);
        add_setup(&setup, shape, region * each);
        text_add(&body, "%s", next_place);
        for (unsigned i = 0; i < each; i++)
            add_store(&body, shape, shape->is_again ? 0 : i * region);
        text_add(&body, waits ? "bar.sync 0;\n" : "");
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){.setup = setup.at, .body = body.at, .tail = "mov.u32 %sink, %r10;\n"});
        for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1) {
            struct bench_launch launch = {
                .blocks = sms, .threads = counts[c] * 32, .rounds = bench->is_quick ? 4 : 32, .passes = 1};
            char name[96];
            snprintf(name, sizeof name, "%s_%u_sms", prefix, sms);
            bench_print_number(name, counts[c],
                               run_warm(bench, kernel, launch) / (launch.rounds * (double)each * counts[c]));
        }
        bench_unload(kernel);
        text_free(&setup);
        text_free(&body);
    }
}

/* Two warps store once in a round, the second so many dependent products after the first, while the link is idle. As
 * one warp, the first stores both. */
static void delays(struct bench *bench) {
    static const struct {
        const char *name;
        struct shape shape;
    } kind[] = {{"word", {.bytes = 4, .stride = 0, .lanes = 32, .from = 0}},
                {"line", {.bytes = 4, .stride = 4, .lanes = 32, .from = 0}},
                {"other_word", {.bytes = 4, .stride = 4, .lanes = 1, .from = 4}},
                {"other_sector", {.bytes = 4, .stride = 4, .lanes = 8, .from = 32}},
                {"row", {.bytes = 4, .stride = 4, .lanes = 32, .from = 128, .first = 16}}};
    static const unsigned products[] = {0, 1, 2, 4, 6, 8, 12, 16, 32, 64};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned second = 0; second <= 4; second += second ? 3 : 1) /* the second warp; 4: of the same scheduler */
            for (size_t n = 0; n < sizeof products / sizeof *products; n++) {
                const struct shape *shape = &kind[k].shape;
                struct text setup = {0}, body = {0};
                char name[64];
                snprintf(name, sizeof name, "meet_delay_%s_%u", kind[k].name, second);
                if (!bench_wants(bench, name))
                    continue;
                add_setup(&setup, shape, 512);
                text_add(&setup,
                         "setp.eq.u32 %%p7, %%r3, 0;\nsetp.eq.u32 %%p8, %%r3, %u;\nmov.u32 %%r20, %%number;\n"
                         "@%%p8 sub.u64 %%rd12, %%rd12, %u;\n",
                         second, second == 4 ? 3 * shape->from : 0);
                text_add(&body, "%sbar.sync 0;\n@!%%p7 bra FIRST;\n", next_place);
                add_store(&body, shape, 0);
                text_add(&body, "FIRST:\n@!%%p8 bra SECOND;\n");
                for (unsigned i = 0; i < products[n]; i++)
                    text_add(&body, "mad.lo.u32 %%r20, %%r20, %%number, %%number;\n");
                text_add(&body, "add.u32 %%r10, %%lane, %%r20;\n");
                add_store(&body, shape, second == 0 ? shape->from : 0);
                text_add(&body, "SECOND:\n");
                for (unsigned i = 0; i < 200; i++) /* the link becomes idle */
                    text_add(&body, "mad.lo.u32 %%r20, %%r20, %%number, %%number;\n");
                struct bench_kernel kernel = bench_compile(
                    bench,
                    &(struct bench_source){.setup = setup.at, .body = body.at, .tail = "mov.u32 %sink, %r20;\n"});
                struct bench_launch launch = {
                    .blocks = 1, .threads = 160, .rounds = bench->is_quick ? 4 : 32, .passes = 1, .number = 3};
                bench_print_number(name, products[n], bench_run(bench, kernel, launch, NULL) / launch.rounds);
                bench_unload(kernel);
                text_free(&setup);
                text_free(&body);
            }
}

void bench_meets(struct bench *bench) {
    for (size_t s = 0; s < N_SHAPES; s++)
        for (unsigned waits = 0; waits < 2; waits++)
            steady(bench, &shapes[s], waits);
    delays(bench);
}
