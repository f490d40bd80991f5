/* Atomics on global memory that meet in few sectors, by pattern of a warp's lanes: the words of one sector, the sectors
 * of a line, lines of one slice. Reductions of integers and floating-point numbers, with and without results. Blocks of
 * 256 threads, two on each SM, unless the name says otherwise. In cycles of the whole GPU for one instruction of one
 * warp. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_ROUND = 8 };

static const struct {
    const char *name, *fragment;
    unsigned bytes;
} op[] = {
    {"red_u32", "red.global.add.u32 [%rd0], 1;", 4},
    {"red_f32", "red.global.add.f32 [%rd0], 0f3F800000;", 4},
    {"red_f64", "red.global.add.f64 [%rd0], 0d3FF0000000000000;", 8},
    {"red_f16x2", "red.global.add.noftz.f16x2 [%rd0], %a;", 4},
    {"atom_u32", "atom.global.add.u32 %r1$, [%rd0], 1;\nxor.b32 %sink, %sink, %r1$;", 4},
    {"atom_f32", "atom.global.add.f32 %f1$, [%rd0], 0f3F800000;\nmov.b32 %t, %f1$;\nxor.b32 %sink, %sink, %t;", 4},
    {"atom_f64",
     "atom.global.add.f64 %d1$, [%rd0], 0d3FF0000000000000;\ncvt.rzi.u32.f64 %t, %d1$;\n"
     "xor.b32 %sink, %sink, %t;",
     8},
    {"atom_cas", "atom.global.cas.b32 %r1$, [%rd0], %lane, %b;\nxor.b32 %sink, %sink, %r1$;", 4},
};
enum { N_OPS = sizeof op / sizeof *op };

/* How the address of a lane is made: %r2 is its place, %r3 the warp's number in the grid, %r4 the number of a word.
 * %number is the parameter: the number of different words less one, and from bit 16 on their distance in bytes. */
static const struct {
    const char *name, *place;
    bool is_one_lane, is_own;
} pattern[] = {
    /* Neighbouring lanes have neighbouring words, and all warps the same ones. */
    {"beside", "mad.lo.u32 %r2, %r3, 32, %lane;\nand.b32 %r2, %r2, %r5;\n", false, false},
    /* Neighbouring lanes have the same word. */
    {"grouped", "add.u32 %r6, %r5, 1;\nmul.lo.u32 %r2, %lane, %r6;\nshr.u32 %r2, %r2, 5;\n", false, false},
    /* One lane of each warp, the warps on different words. */
    {"lane", "and.b32 %r2, %r3, %r5;\n", true, false},
    /* All lanes of a warp on one word, the warps on different words. */
    {"warp", "and.b32 %r2, %r3, %r5;\n", false, false},
    /* Each lane on a random one. */
    {"random",
     "mad.lo.u32 %r6, %gtid, 747796405, 2891336453;\nshr.u32 %r2, %r6, 15;\nxor.b32 %r2, %r2, %r6;\n"
     "mul.lo.u32 %r2, %r2, 1664525;\nshr.u32 %r2, %r2, 13;\nand.b32 %r2, %r2, %r5;\n",
     false, false},
    /* As beside, with a kilobyte for each warp. */
    {"own", "and.b32 %r2, %lane, %r5;\n", false, true},
};

static const char start[] = "shr.u32 %r3, %gtid, 5;\nand.b32 %r5, %number, 65535;\nshr.u32 %r7, %number, 16;\n";
static const char address[] = "mul.wide.u32 %rd0, %r2, %r7;\nadd.u64 %rd0, %rd0, %data;\n";

/* Reductions leave the SM before they are computed. One more atomic, whose result decides over a store, waits for them.
 */
static const char last[] = "@!%p0 atom.global.or.b32 %t, [%rd0], 0;\n@!%p0 xor.b32 %sink, %sink, %t;\n";

static struct bench_kernel compile(struct bench *bench, size_t k, size_t p) {
    struct text setup = {0}, body = {0};
    text_add(&setup, "%s%s%s", start, pattern[p].place, address);
    if (pattern[p].is_own)
        text_add(&setup, "mul.wide.u32 %%rd1, %%r3, 1024;\nadd.u64 %%rd0, %%rd0, %%rd1;\n");
    text_add(&setup, "setp.gt.u32 %%p0, %%lane, %u;\n", pattern[p].is_one_lane ? 0u : 31u);
    if (pattern[p].is_one_lane)
        text_add(&body, "@%%p0 bra DONE;\n");
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, op[k].fragment, i);
    if (pattern[p].is_one_lane)
        text_add(&body, "DONE:\n");
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup.at, .body = body.at, .tail = last});
    text_free(&setup);
    text_free(&body);
    return kernel;
}

/* Words that touch each other, in every pattern; on all SMs, and for the first pattern also on fewer. */
static void words(struct bench *bench) {
    const struct {
        const char *name;
        unsigned blocks, threads;
    } shape[] = {
        {"", 2 * bench->n_sms, 256}, {"_one_warp", 1, 32}, {"_one_sm", 1, 512}, {"_warp_per_sm", bench->n_sms, 32}};
    for (size_t k = 0; k < N_OPS; k++)
        for (size_t p = 0; p < sizeof pattern / sizeof *pattern; p++) {
            char prefix[64];
            snprintf(prefix, sizeof prefix, "sums_%s_%s", op[k].name, pattern[p].name);
            if (!bench_wants(bench, prefix))
                continue;
            struct bench_kernel kernel = compile(bench, k, p);
            for (size_t s = 0; s < (p == 0 ? sizeof shape / sizeof *shape : 1); s++)
                for (unsigned n = 1; n <= (p == 0 && s == 0 ? 256u : 32u); n *= 2) {
                    char name[96];
                    unsigned rounds = s == 0 ? 4 : 16, warps = shape[s].blocks * shape[s].threads / 32;
                    struct bench_launch launch = {.blocks = shape[s].blocks,
                                                  .threads = shape[s].threads,
                                                  .rounds = rounds,
                                                  .number = op[k].bytes << 16 | (n - 1),
                                                  .passes = s == 0 ? 1 : 2};
                    CHECK(cuMemsetD8(bench->data, 0, 4 << 20));
                    double cycles = bench_run(bench, kernel, launch, NULL);
                    snprintf(name, sizeof name, "%s%s", prefix, shape[s].name);
                    bench_print_number(name, n, cycles / (warps * (PER_ROUND * rounds + 1.0)));
                }
            bench_unload(kernel);
        }
}

/* One lane of each warp: words of different sectors, lines and chunks. The parameter is their number. */
static void distances(struct bench *bench) {
    static const unsigned distance[] = {32, 128, 256, 512, 1024};
    for (size_t k = 0; k < N_OPS; k++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "sums_%s_at", op[k].name);
        if (!bench_wants(bench, prefix))
            continue;
        struct bench_kernel kernel = compile(bench, k, 2);
        for (size_t d = 0; d < sizeof distance / sizeof *distance; d++)
            for (unsigned n = 2; n <= 4; n *= 2) {
                char name[96];
                unsigned rounds = 4, blocks = 2 * bench->n_sms;
                struct bench_launch launch = {.blocks = blocks,
                                              .threads = 256,
                                              .rounds = rounds,
                                              .number = distance[d] << 16 | (n - 1),
                                              .passes = 1};
                double cycles = bench_run(bench, kernel, launch, NULL);
                snprintf(name, sizeof name, "%s_%u", prefix, distance[d]);
                bench_print_number(name, n, cycles / (blocks * 8 * (PER_ROUND * rounds + 1.0)));
            }
        bench_unload(kernel);
    }
}

/* A warp of every second SM loads, one access after the other, while the other SMs sum floating-point numbers or
 * integers on one word. The parameter is the distance of the loaded word. In cycles per load. */
static void near(struct bench *bench) {
    static const unsigned distance[] = {0, 4, 32, 128, 512, 1024, 4096, 8192};
    static const struct {
        const char *name, *fragment;
    } access[] = {{"load", "ld.global.cg.u32 %r10, [%rd1];\ncvt.u64.u32 %rd2, %r10;\nand.b64 %rd2, %rd2, 0;\n"
                           "add.u64 %rd1, %rd1, %rd2;\n"},
                  {"red", "red.global.add.u32 [%rd1], 1;\n"},
                  {"atom", "atom.global.or.b32 %r10, [%rd1], 0;\ncvt.u64.u32 %rd2, %r10;\n"
                           "and.b64 %rd2, %rd2, %rd3;\nadd.u64 %rd1, %rd1, %rd2;\n"}};
    for (size_t k = 0; k < 2; k++)
        for (size_t a = 0; a < sizeof access / sizeof *access; a++) {
            char name[64];
            struct text body = {0};
            snprintf(name, sizeof name, "sums_%s_near_%s", op[k].name, access[a].name);
            if (!bench_wants(bench, name))
                continue;
            text_add(&body, "@%%p0 bra FLOOD;\n");
            for (unsigned i = 0; i < PER_ROUND; i++)
                text_add(&body, "%s", access[a].fragment);
            text_add(&body, "bra DONE;\nFLOOD:\n");
            for (unsigned i = 0; i < PER_ROUND; i++)
                text_add_numbered(&body, op[k].fragment, i);
            text_add(&body, "DONE:\n");
            struct bench_source source = {
                .setup = "mov.u32 %r3, %ctaid.x;\nand.b32 %r3, %r3, 1;\nsetp.ne.u32 %p0, %r3, 0;\n"
                         "mov.u64 %rd0, %data;\ncvt.u64.u32 %rd1, %number;\nadd.u64 %rd1, %rd1, %data;\n"
                         "cvt.u64.u32 %rd3, %passes;\nshr.u64 %rd3, %rd3, 16;\n",
                .body = body.at,
                .tail = "atom.global.or.b32 %t, [%rd1], 0;\nxor.b32 %sink, %sink, %t;\ncvt.u32.u64 %t, %rd1;\n"
                        "xor.b32 %sink, %sink, %t;\n"};
            struct bench_kernel kernel = bench_compile(bench, &source);
            struct bench_time *times = calloc(bench->n_sms, sizeof *times);
            if (!times)
                abort();
            for (size_t d = 0; d < sizeof distance / sizeof *distance; d++) {
                struct bench_launch launch = {
                    .blocks = bench->n_sms, .threads = 32, .rounds = 16, .number = distance[d], .passes = 1};
                double sum = 0;
                CHECK(cuMemsetD8(bench->data, 0, 1 << 16));
                bench_run(bench, kernel, launch, times);
                for (unsigned b = 0; b < bench->n_sms; b += 2)
                    sum += (double)(times[b].end - times[b].start);
                bench_print_number(name, distance[d], sum / (bench->n_sms / 2 * (PER_ROUND * launch.rounds + 1.0)));
            }
            free(times);
            bench_unload(kernel);
            text_free(&body);
        }
}

/* Every lane adds to a random one of `n` words with a loop of compare-and-swap. In cycles for one sum of a warp, and in
 * tries of a lane for one sum. */
static void loops(struct bench *bench) {
    const struct {
        const char *name;
        unsigned blocks, threads, least;
    } shape[] = {{"one_warp", 1, 32, 1},
                 {"one_sm", 1, 512, 4},
                 {"warp_per_sm", bench->n_sms, 32, 64},
                 {"all_sms", 2 * bench->n_sms, 256, 1024}};
    static const char setup[] =
        "shr.u32 %r3, %gtid, 5;\nsub.u32 %r5, %number, 1;\nmov.u32 %r20, 0;\n"
        "mad.lo.u32 %r6, %gtid, 747796405, 2891336453;\nshr.u32 %r2, %r6, 15;\nxor.b32 %r2, %r2, %r6;\n"
        "mul.lo.u32 %r2, %r2, 1664525;\nshr.u32 %r2, %r2, 13;\nand.b32 %r2, %r2, %r5;\n"
        "mul.wide.u32 %rd0, %r2, 4;\nadd.u64 %rd0, %rd0, %data;\nadd.u64 %rd0, %rd0, 1024;\n";
    static const struct {
        const char *name, *load;
    } kind[] = {{"sums_loop", "ld.global.u32"}, {"sums_loop_volatile", "ld.volatile.global.u32"}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct text body = {0};
        if (!bench_wants(bench, kind[k].name))
            continue;
        for (unsigned i = 0; i < 4; i++)
            text_add(&body,
                     "%s %%r10, [%%rd0];\nRETRY%u:\nmov.u32 %%r11, %%r10;\nadd.u32 %%r12, %%r11, 1;\n"
                     "atom.global.cas.b32 %%r10, [%%rd0], %%r11, %%r12;\nadd.u32 %%r20, %%r20, 1;\n"
                     "setp.ne.u32 %%p1, %%r10, %%r11;\n@%%p1 bra RETRY%u;\n",
                     kind[k].load, i, i);
        struct bench_source source = {.setup = setup,
                                      .body = body.at,
                                      .tail = "bar.sync 0;\n", /* for all lanes */
                                      .last = "red.global.add.u32 [%data], %r20;\n"};
        struct bench_kernel kernel = bench_compile(bench, &source);
        for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
            for (unsigned n = shape[s].least; n <= 64 * shape[s].least; n *= 4) {
                char name[64];
                uint32_t tries;
                unsigned rounds = 4;
                struct bench_launch launch = {
                    .blocks = shape[s].blocks, .threads = shape[s].threads, .rounds = rounds, .number = n, .passes = 1};
                CHECK(cuMemsetD8(bench->data, 0, 1 << 20));
                double cycles = bench_run(bench, kernel, launch, NULL);
                CHECK(cuMemcpyDtoH(&tries, bench->data, sizeof tries));
                double warps = launch.blocks * launch.threads / 32.0;
                snprintf(name, sizeof name, "%s_%s", kind[k].name, shape[s].name);
                bench_print_number(name, n, cycles / (4.0 * rounds));
                snprintf(name, sizeof name, "%s_tries_%s", kind[k].name, shape[s].name);
                bench_print_number(name, n, tries / (warps * 32 * 4 * rounds));
            }
        bench_unload(kernel);
        text_free(&body);
    }
}

/* As own, on random lines of 16 MB, by the number of SMs: `n` words of each line. In sectors per cycle of all SMs. */
static void crowd(struct bench *bench) {
    static const unsigned n_words[] = {1, 2, 8, 16, 32};
    for (size_t k = 0; k < N_OPS; k++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "sums_%s_crowd", op[k].name);
        if (!bench_wants(bench, prefix) || op[k].bytes > 4)
            continue;
        struct text body = {0};
        for (unsigned i = 0; i < PER_ROUND; i++) {
            text_add(&body, "mad.lo.u32 %%r3, %%r3, 1664525, 1013904223;\nshr.u32 %%r2, %%r3, 15;\n"
                            "shl.b32 %%r2, %%r2, 5;\nadd.u32 %%r2, %%r2, %%r6;\nmul.wide.u32 %%rd0, %%r2, 4;\n"
                            "add.u64 %%rd0, %%rd0, %%data;\n");
            text_add_numbered(&body, op[k].fragment, i);
        }
        struct bench_source source = {
            .setup = "shr.u32 %r3, %gtid, 5;\nmad.lo.u32 %r3, %r3, 747796405, 2891336453;\n"
                     "sub.u32 %r5, %number, 1;\nand.b32 %r6, %lane, %r5;\nsetp.gt.u32 %p0, %lane, 31;\n"
                     "mov.u64 %rd0, %data;\n",
            .body = body.at,
            .tail = last};
        struct bench_kernel kernel = bench_compile(bench, &source);
        for (size_t w = 0; w < sizeof n_words / sizeof *n_words; w++)
            for (unsigned blocks = 1; blocks <= 128; blocks *= 2) {
                char name[96];
                unsigned rounds = 8, sms = blocks == 128 ? bench->n_sms : blocks;
                unsigned sectors = n_words[w] <= 8 ? 1 : n_words[w] / 8;
                unsigned turns = 32 / n_words[w];
                struct bench_launch launch = {
                    .blocks = sms, .threads = 512, .rounds = rounds, .number = n_words[w], .passes = 1};
                double cycles = bench_run(bench, kernel, launch, NULL);
                snprintf(name, sizeof name, "%s_%u_sms", prefix, sms);
                bench_print_number(name, n_words[w], sms * 16.0 * rounds * PER_ROUND * sectors * turns / cycles);
            }
        bench_unload(kernel);
        text_free(&body);
    }
}

void bench_sums(struct bench *bench) {
    words(bench);
    distances(bench);
    near(bench);
    loops(bench);
    crowd(bench);
}
