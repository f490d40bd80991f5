/* What a load that hits the L1 costs by how its lanes' words lie in lines, and what loads of a line cost that is on its
 * way to the L1, or that all SMs ask for at the same time. Memory holds zeros, which are added to the addresses of the
 * next loads. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16, CHAINS = 4, IN_FLIGHT = 8, LINE = 128 };

static void clear(struct bench *bench) { CHECK(cuMemsetD8(bench->data, 0, bench->data_bytes)); }

/* Four chains that start at %rd0 to %rd3, of loads of `words` words, with one warp and with 32. */
static void measure(struct bench *bench, const char *name, const char *setup, unsigned words, const unsigned *numbers,
                    size_t n_numbers) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 4 : 32;
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < PER_ROUND; i += CHAINS) {
        for (unsigned chain = 0; chain < CHAINS; chain++)
            if (words == 1)
                text_add(&body, "ld.global.ca.u32 %%r%u, [%%rd%u];\n", chain, chain);
            else
                text_add(&body, "ld.global.ca.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%rd%u];\n", chain, 10 + chain,
                         20 + chain, 30 + chain, chain);
        for (unsigned chain = 0; chain < CHAINS; chain++)
            text_add(&body, "mad.wide.u32 %%rd%u, %%r%u, 4, %%rd%u;\n", chain, chain, chain);
    }
    struct bench_source source = {
        .setup = setup,
        .body = body.at,
        .tail = "add.u32 %sink, %r0, %r1;\nadd.u32 %sink, %sink, %r2;\nadd.u32 %sink, %sink, %r3;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (size_t i = 0; i < n_numbers; i++)
        for (unsigned warps = 1; warps <= 32; warps *= 32) {
            struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = rounds, .number = numbers[i]};
            char full[64];
            snprintf(full, sizeof full, "%s_%u_warps", name, warps);
            bench_print_number(full, numbers[i],
                               bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds * warps));
        }
    bench_unload(kernel);
    text_free(&body);
}

/* After %rd0 has been found: the other chains 512 bytes after each other, 4 KB for each warp. */
#define OTHER_CHAINS                                                                                                   \
    "add.u64 %rd0, %rd0, %data;\nshr.u32 %t, %gtid, 5;\nmul.wide.u32 %rd4, %t, 4096;\nadd.u64 %rd0, %rd0, %rd4;\n"     \
    "add.u64 %rd1, %rd0, 512;\nadd.u64 %rd2, %rd0, 1024;\nadd.u64 %rd3, %rd0, 1536;\n"

static void hits(struct bench *bench) {
    static const unsigned offsets[] = {0, 4, 16, 32, 64, 96, 124}, wide_offsets[] = {0, 16, 32, 64, 112};
    static const unsigned rows[] = {1, 2, 4, 8, 16, 32}, sizes[] = {2048, 16384, 65536};
    static const unsigned distances[] = {1, 2, 3, 4, 5, 6, 8, 16, 32};
    measure(bench, "offset_l1",
            "mul.wide.u32 %rd0, %lane, 4;\ncvt.u64.u32 %rd4, %number;\nadd.u64 %rd0, %rd0, %rd4;\n" OTHER_CHAINS, 1,
            offsets, sizeof offsets / sizeof *offsets);
    measure(bench, "offset_l1_16_bytes",
            "mul.wide.u32 %rd0, %lane, 16;\ncvt.u64.u32 %rd4, %number;\nadd.u64 %rd0, %rd0, %rd4;\n" OTHER_CHAINS, 4,
            wide_offsets, sizeof wide_offsets / sizeof *wide_offsets);
    /* the lanes are `number` rows of neighbours: at a distance of 512 bytes, and of 544 */
    measure(bench, "rows_l1",
            "mov.u32 %t, 32;\ndiv.u32 %t, %t, %number;\ndiv.u32 %r4, %lane, %t;\nrem.u32 %r5, %lane, %t;\n"
            "mul.lo.u32 %r4, %r4, 512;\nmad.lo.u32 %r4, %r5, 4, %r4;\ncvt.u64.u32 %rd0, %r4;\n" OTHER_CHAINS,
            1, rows, sizeof rows / sizeof *rows);
    measure(bench, "shifted_rows_l1",
            "mov.u32 %t, 32;\ndiv.u32 %t, %t, %number;\ndiv.u32 %r4, %lane, %t;\nrem.u32 %r5, %lane, %t;\n"
            "mul.lo.u32 %r4, %r4, 544;\nmad.lo.u32 %r4, %r5, 4, %r4;\ncvt.u64.u32 %rd0, %r4;\n" OTHER_CHAINS,
            1, rows, sizeof rows / sizeof *rows);
    /* lanes `number` lines apart, each at another word */
    measure(bench, "tags_l1",
            "mul.lo.u32 %t, %lane, %number;\nmul.wide.u32 %rd0, %t, 128;\nmul.wide.u32 %rd4, %lane, 4;\n"
            "add.u64 %rd0, %rd0, %rd4;\nadd.u64 %rd0, %rd0, %data;\n"
            "add.u64 %rd1, %rd0, 512;\nadd.u64 %rd2, %rd0, 1024;\nadd.u64 %rd3, %rd0, 1536;\n",
            1, distances, sizeof distances / sizeof *distances);
    /* words anywhere in `number` bytes */
    measure(bench, "random_l1",
            "mad.lo.u32 %r4, %gtid, 747796405, 2891336453;\nshr.u32 %t, %r4, 15;\nxor.b32 %r4, %r4, %t;\n"
            "mul.lo.u32 %r4, %r4, 277803737;\nshr.u32 %t, %r4, 16;\nxor.b32 %r4, %r4, %t;\nshl.b32 %r4, %r4, 2;\n"
            "sub.u32 %r5, %number, 1;\nand.b32 %r6, %r4, %r5;\ncvt.u64.u32 %rd0, %r6;\nadd.u64 %rd0, %rd0, %data;\n"
            "add.u32 %r4, %r4, 7772;\nand.b32 %r6, %r4, %r5;\ncvt.u64.u32 %rd1, %r6;\nadd.u64 %rd1, %rd1, %data;\n"
            "add.u32 %r4, %r4, 7772;\nand.b32 %r6, %r4, %r5;\ncvt.u64.u32 %rd2, %r6;\nadd.u64 %rd2, %rd2, %data;\n"
            "add.u32 %r4, %r4, 7772;\nand.b32 %r6, %r4, %r5;\ncvt.u64.u32 %rd3, %r6;\nadd.u64 %rd3, %rd3, %data;\n",
            1, sizes, sizeof sizes / sizeof *sizes);
}

/* All warps of a block load the same line that the L1 does not have yet, `n` words of it each, once. The launch before
 * has read it into the L2. */
static void same_line(struct bench *bench) {
    for (unsigned n = 1; bench_wants(bench, "same_line") && n <= 32; n *= 2) {
        struct text body = {0}, tail = {0};
        for (unsigned i = 0; i < n; i++) {
            text_add(&body, "ld.global.ca.u32 %%r%u, [%%rd0+%u];\n", i, i * 4);
            text_add(&tail, "add.u32 %%sink, %%sink, %%r%u;\n", i);
        }
        struct bench_kernel kernel = bench_compile(
            bench, &(struct bench_source){.setup = "mov.u64 %rd0, %data;\n", .body = body.at, .tail = tail.at});
        for (unsigned warps = 1; warps <= 32; warps *= 2) {
            struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = 1, .passes = 1};
            char name[64];
            snprintf(name, sizeof name, "same_line_%u_warps", warps);
            bench_run(bench, kernel, launch, NULL);
            bench_print_number(name, n, bench_run(bench, kernel, launch, NULL));
        }
        bench_unload(kernel);
        text_free(&body);
        text_free(&tail);
    }
}

/* Warps read line after line, eight at a time; %rd1 holds the bytes from one round of a warp to its next, %rd0 its
 * first address. Cycles per line and warp. The L1 is cold, the L2 is not. */
static void streams(struct bench *bench, const char *name, const char *operator, const char * setup, unsigned blocks,
                    unsigned warps, unsigned long long parameter) {
    struct text body = {0};
    unsigned rounds = bench->is_quick ? 8 : 16;
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        text_add(&body, "%s %%r%u, [%%rd0+%u];\n", operator, i, i * LINE);
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        text_add(&body, "mad.wide.u32 %%rd0, %%r%u, 4, %%rd0;\n", i);
    text_add(&body, "add.u64 %%rd0, %%rd0, %%rd1;\n");
    struct bench_kernel kernel = bench_compile(
        bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = "cvt.u32.u64 %sink, %rd0;\n"});
    struct bench_launch launch = {.blocks = blocks, .threads = warps * 32, .rounds = rounds, .passes = 1};
    bench_run(bench, kernel, launch, NULL);
    bench_print_number(name, parameter, bench_run(bench, kernel, launch, NULL) / (rounds * (double)IN_FLIGHT));
    bench_unload(kernel);
    text_free(&body);
}

static void shared_streams(struct bench *bench) {
    /* all warps the same lines */
    static const char same[] = "mul.wide.u32 %rd0, %lane, 4;\nadd.u64 %rd0, %rd0, %data;\nmov.u64 %rd1, 1024;\n";
    /* each warp eight lines of the block's, the same in all blocks */
    static const char same_in_blocks[] =
        "mul.wide.u32 %rd0, %thread, 32;\nmul.wide.u32 %rd1, %lane, 28;\nsub.u64 %rd0, %rd0, %rd1;\n"
        "add.u64 %rd0, %rd0, %data;\nmov.u32 %t, %ntid.x;\nmul.wide.u32 %rd1, %t, 32;\n";
    /* the same with lines of their own for each block */
    static const char own[] =
        "mul.wide.u32 %rd0, %gtid, 32;\nmul.wide.u32 %rd1, %lane, 28;\nsub.u64 %rd0, %rd0, %rd1;\n"
        "add.u64 %rd0, %rd0, %data;\nmov.u32 %t, %ntid.x;\nmov.u32 %r0, %nctaid.x;\nmul.lo.u32 %t, %t, %r0;\n"
        "mul.wide.u32 %rd1, %t, 32;\n";
    static const unsigned parts[] = {16, 8, 4, 2, 1};
    for (unsigned warps = 1; warps <= 32; warps *= 2)
        streams(bench, "warps_same_lines", "ld.global.ca.u32", same, 1, warps, warps);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        unsigned sms = bench->n_sms / parts[i] ? bench->n_sms / parts[i] : 1;
        streams(bench, "sms_same_lines_1_warps", "ld.global.cg.u32", same_in_blocks, sms, 1, sms);
        streams(bench, "sms_same_lines_8_warps", "ld.global.cg.u32", same_in_blocks, sms, 8, sms);
        streams(bench, "sms_same_lines_l1_8_warps", "ld.global.ca.u32", same_in_blocks, sms, 8, sms);
        streams(bench, "sms_own_lines_1_warps", "ld.global.cg.u32", own, sms, 1, sms);
        streams(bench, "sms_own_lines_8_warps", "ld.global.cg.u32", own, sms, 8, sms);
    }
}

void bench_lines(struct bench *bench) {
    clear(bench);
    hits(bench);
    same_line(bench);
    shared_streams(bench);
}
