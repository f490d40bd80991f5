/* Stores of a warp that write other bytes of the same sectors, so that they can leave the SM together: a link that
 * sends a sector per cycle needs 5 cycles for a line of which only parts are stored, and 4 for one that two stores
 * fill. Values are cycles of a round, in which a warp stores all parts of its places. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

/* Lanes `stride` bytes apart store `bytes` at the first offset, and later at the others. */
struct shape {
    const char *name;
    unsigned bytes, stride, offset[4];
};
static const struct shape shapes[] = {
    {"2_of_4", 2, 4, {0, 2}},          {"4_of_8", 4, 8, {0, 4}},   {"4_of_12", 4, 12, {0, 4, 8}},
    {"4_of_16", 4, 16, {0, 4, 8, 12}}, {"4_of_32", 4, 32, {0, 4}}, {"8_of_16", 8, 16, {0, 8}},
    {"16_of_32", 16, 32, {0, 16}},
};

static const struct shape *shape_named(const char *name) {
    const struct shape *shape = shapes;
    while (strcmp(shape->name, name) != 0)
        shape++;
    return shape;
}

static void add_store(struct text *text, const struct shape *shape, unsigned offset) {
    static const char *const kind[] = {[2] = "u16", [4] = "u32", [8] = "v2.u32", [16] = "v4.u32"};
    static const char *const value[] = {
        [2] = "%h0", [4] = "%r10", [8] = "{%r10, %r11}", [16] = "{%r10, %r11, %r12, %r13}"};
    text_add(text, "st.global.%s [%%rd0+%u], %s;\n", kind[shape->bytes], offset, value[shape->bytes]);
}

/* A round: a character of `steps` each. 0 to 3: the stores at that offset, one for each of `n_places` neighbouring
 * places of the warp. b: a barrier of the block, w: of the warp, which also keeps the order of the stores. */
static struct bench_kernel compile(struct bench *bench, const struct shape *shape, const char *steps,
                                   unsigned n_places) {
    struct text setup = {0}, body = {0};
    unsigned place_bytes = 32 * shape->stride;
    text_add(&setup,
             "shr.u32 %%t, %%gtid, 5;\nmul.wide.u32 %%rd10, %%t, %u;\nmul.wide.u32 %%rd12, %%lane, %u;\n"
             "add.u64 %%rd12, %%rd12, %%data;\nmov.u32 %%t, %%nctaid.x;\nmov.u32 %%r1, %%ntid.x;\n"
             "mul.lo.u32 %%t, %%t, %%r1;\nshr.u32 %%t, %%t, 5;\nmul.wide.u32 %%rd11, %%t, %u;\n"
             "mov.u32 %%r10, %%lane;\nmov.u32 %%r11, %%gtid;\nmov.u32 %%r12, %%lane;\nmov.u32 %%r13, %%gtid;\n"
             "cvt.u16.u32 %%h0, %%r10;\n",
             place_bytes * n_places, shape->stride, place_bytes * n_places);
    text_add(&body,
             "and.b64 %%rd0, %%rd10, 16777215;\nadd.u64 %%rd0, %%rd0, %%rd12;\nadd.u64 %%rd10, %%rd10, %%rd11;\n");
    for (; *steps; steps++)
        if (*steps == 'b')
            text_add(&body, "bar.sync 0;\n");
        else if (*steps == 'w')
            text_add(&body, "bar.warp.sync -1;\n");
        else
            for (unsigned i = 0; i < n_places; i++)
                add_store(&body, shape, shape->offset[*steps - '0'] + i * place_bytes);
    struct bench_kernel kernel = bench_compile(
        bench, &(struct bench_source){.setup = setup.at, .body = body.at, .tail = "mov.u32 %sink, %r10;\n"});
    text_free(&setup);
    text_free(&body);
    return kernel;
}

static void measure(struct bench *bench, struct bench_kernel kernel, const char *name, unsigned parameter, unsigned sms,
                    unsigned warps) {
    struct bench_launch launch = {
        .blocks = sms, .threads = warps * 32, .rounds = bench->is_quick ? 4 : 32, .passes = 1};
    bench_run(bench, kernel, launch, NULL);
    bench_print_number(name, parameter, bench_run(bench, kernel, launch, NULL) / launch.rounds);
}

/* Warps store the first part to so many places, and then the second. */
static void steady_places(struct bench *bench) {
    static const char *const names[] = {"2_of_4", "8_of_16", "4_of_32"};
    static const unsigned counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    for (size_t s = 0; s < sizeof names / sizeof *names; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            char name[64];
            snprintf(name, sizeof name, "join_steady_%s", names[s]);
            if (!bench_wants(bench, name))
                continue;
            struct bench_kernel kernel = compile(bench, shape_named(names[s]), "0w1w", counts[c]);
            for (unsigned warps = 1; warps <= 4; warps += 3) {
                snprintf(name, sizeof name, "join_steady_%s_%u_warps", names[s], warps);
                measure(bench, kernel, name, counts[c], 1, warps);
            }
            bench_unload(kernel);
        }
}

/* So many warps store all parts: without waiting, or with a barrier after each part. */
static void many_warps(struct bench *bench) {
    static const struct {
        const char *name, *shape, *steps;
    } kind[] = {{"join_warps_2_of_4", "2_of_4", "01"},          {"join_warps_4_of_8", "4_of_8", "01"},
                {"join_warps_8_of_16", "8_of_16", "01"},        {"join_warps_16_of_32", "16_of_32", "01"},
                {"join_warps_words", "4_of_16", "0123"},        {"join_warps_three", "4_of_12", "012"},
                {"join_warps_order_8_of_16", "8_of_16", "0w1"}, {"join_barrier_2_of_4", "2_of_4", "0b1b"},
                {"join_barrier_8_of_16", "8_of_16", "0b1b"}};
    static const unsigned counts[] = {1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        if (!bench_wants(bench, kind[k].name))
            continue;
        struct bench_kernel kernel = compile(bench, shape_named(kind[k].shape), kind[k].steps, 1);
        for (unsigned sms = 1; sms <= bench->n_sms; sms += bench->n_sms - 1)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                char name[64];
                snprintf(name, sizeof name, "%s_%u_sms", kind[k].name, sms);
                if (sms == 1 || (k < 4 && counts[c] % 8 == 0))
                    measure(bench, kernel, name, counts[c], sms, counts[c]);
            }
        bench_unload(kernel);
    }
}

/* Two SMs wait for each other's stores in turn: how long a store is on its way, by what it writes. */
static void seen(struct bench *bench) {
    static const struct {
        const char *name, *store;
        unsigned lanes;
    } kind[] = {{"word", "st.global.u32 [%rd0], %left;", 1},
                {"sector", "st.global.u32 [%rd0], %left;", 8},
                {"line", "st.global.u32 [%rd0], %left;", 32},
                {"word_relaxed", "st.relaxed.gpu.global.u32 [%rd0], %left;", 1},
                {"word_volatile", "st.volatile.global.u32 [%rd0], %left;", 1},
                {"word_exchanged", "atom.global.exch.b32 %r4, [%rd0], %left;", 1}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned fenced = 0; fenced < 2; fenced++) {
            struct text setup = {0}, body = {0};
            char name[64];
            snprintf(name, sizeof name, "join_seen_%s%s", kind[k].name, fenced ? "_fence" : "");
            if (!bench_wants(bench, name))
                continue;
            text_add(&setup,
                     "mov.u32 %%t, %%ctaid.x;\nsetp.eq.u32 %%p5, %%t, 0;\nmul.wide.u32 %%rd0, %%t, 4096;\n"
                     "xor.b32 %%t, %%t, 1;\nmul.wide.u32 %%rd1, %%t, 4096;\nadd.u64 %%rd1, %%rd1, %%data;\n"
                     "mul.wide.u32 %%rd2, %%lane, 4;\nadd.u64 %%rd0, %%rd0, %%rd2;\nadd.u64 %%rd0, %%rd0, %%data;\n"
                     "setp.lt.and.u32 %%p7, %%lane, %u, %%p5;\nsetp.lt.and.u32 %%p8, %%lane, %u, !%%p5;\n",
                     kind[k].lanes, kind[k].lanes);
            text_add(&body,
                     "@%%p7 %s\n%sWAIT:\nld.volatile.global.u32 %%r3, [%%rd1];\nsetp.ne.u32 %%p1, %%r3, %%left;\n"
                     "@%%p1 bra WAIT;\n@%%p8 %s\n%s",
                     kind[k].store, fenced ? "membar.gl;\n" : "", kind[k].store, fenced ? "membar.gl;\n" : "");
            struct bench_kernel kernel =
                bench_compile(bench, &(struct bench_source){.setup = setup.at, .body = body.at});
            struct bench_launch launch = {.blocks = 2, .threads = 32, .rounds = bench->is_quick ? 4 : 64, .passes = 1};
            CHECK(cuMemsetD8(bench->data, 0, 8192));
            bench_run(bench, kernel, launch, NULL);
            bench_print_number(name, 1, bench_run(bench, kernel, launch, NULL) / launch.rounds);
            bench_unload(kernel);
            text_free(&setup);
            text_free(&body);
        }
}

void bench_joins(struct bench *bench) {
    steady_places(bench);
    many_warps(bench);
    seen(bench);
}
