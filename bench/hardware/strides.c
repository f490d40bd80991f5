/* Accesses at a fixed distance: which lines of a cache collide, whether a sector takes the room of a line, and what
 * threads pay that walk along a row or down a column each. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { PER_ROUND = 16, WORDS_OF_A_ROW = 32 };

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

/* ---- One thread -------------------------------------------------------------------------------------------------- */

/* A cycle through n places, `stride` bytes apart, in random order; each is moved by up to `sectors` sectors. */
static void upload_cycle(struct bench *bench, unsigned n, size_t stride, unsigned sectors) {
    uint32_t *order = malloc(n * sizeof *order), state = 7;
    uint64_t *place = malloc(n * sizeof *place);
    if (!order || !place)
        abort();
    for (unsigned i = 0; i < n; i++) {
        order[i] = i;
        place[i] = bench->data + i * stride + (sectors ? (next_random(&state) >> 16) % sectors * 32 : 0);
    }
    for (unsigned i = n - 1; i; i--) {
        unsigned j = (unsigned)(((uint64_t)next_random(&state) * (i + 1)) >> 32);
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (unsigned i = 0; i < n; i++)
        CHECK(cuMemcpyHtoD(place[order[i]], &place[order[(i + 1) % n]], sizeof *place));
    uint64_t first = place[order[0]];
    CHECK(cuMemcpyHtoD(bench->times, &first, sizeof first));
    free(order);
    free(place);
}

/* Lines at a power of two, which a cache without a hash puts into few sets. */
static void chase_strides(struct bench *bench, const char *name, const char *operator) {
    static const unsigned counts[] = {8, 16, 32, 64, 128, 256, 512, 1024};
    struct text body = {0};
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "%s %%rd0, [%%rd0];\n", operator);
    struct bench_source source = {
        .setup = "ld.global.u64 %rd0, [%times];\n", .body = body.at, .tail = "cvt.u32.u64 %sink, %rd0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (size_t stride = 512; stride <= 2u << 20; stride *= 2)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            unsigned n = counts[c], rounds = n * 4 / PER_ROUND > 16 ? n * 4 / PER_ROUND : 16;
            char full[64];
            if (n * stride > bench->data_bytes || (bench->is_quick && stride > 65536))
                continue;
            upload_cycle(bench, n, stride, 0);
            snprintf(full, sizeof full, "%s_%zu", name, stride);
            bench_print_number(
                full, n,
                bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = 32, .rounds = rounds}, NULL) /
                    (rounds * (double)PER_ROUND));
        }
    bench_unload(kernel);
    text_free(&body);
}

/* One sector of each line, the first or any of the four: a cache whose tags are of lines holds no more of these. */
static void chase_sectors(struct bench *bench) {
    struct text body = {0};
    if (!bench_wants(bench, "chase_sectors"))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "ld.global.ca.u64 %%rd0, [%%rd0];\n");
    struct bench_source source = {
        .setup = "ld.global.u64 %rd0, [%times];\n", .body = body.at, .tail = "cvt.u32.u64 %sink, %rd0;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned sectors = 1; sectors <= 4; sectors += 3)
        for (unsigned n = 1024; n <= 8192; n += n < 2048 ? 256 : n) {
            char full[64];
            unsigned rounds = n * 2 / PER_ROUND;
            upload_cycle(bench, n, 128, sectors);
            snprintf(full, sizeof full, "chase_sectors_%u", sectors);
            bench_print_number(
                full, n,
                bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = 32, .rounds = rounds}, NULL) /
                    (rounds * (double)PER_ROUND));
        }
    bench_unload(kernel);
    text_free(&body);
}

static int by_cycles(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Loads of pages of 2 MB that no SM has accessed since their allocation: three loads of each page, of lines that the
 * host has copied. The second is 4 KB after the first, the third 1 MB. Then the same loads by the same SM in a second
 * launch, and of lines beside these by the same SM and by others. Median and 90th percentile, in cycles. */
static void first_pages(struct bench *bench) {
    enum { PAGES = 64, LOADS = 3, STEPS = PAGES * LOADS, FIRST_STEP = 4096 };
    static const struct {
        const char *name;
        unsigned line, sm;
    } run[] = {{"first", 0, 0}, {"again", 0, 0}, {"beside", 1, 0}, {"other_sm", 2, 1}, {"far_sm", 3, 77}};
    static const size_t offset[LOADS] = {0, 4096, 1 << 20};
    CUdeviceptr kept = bench->data;
    if (!bench_wants(bench, "page"))
        return;
    struct bench_kernel kernel = bench_compile(
        bench, &(struct bench_source){
                   .setup = "mov.u32 %r1, %ctaid.x;\nshr.u32 %r2, %number, 8;\nand.b32 %r3, %number, 255;\n"
                            "setp.ne.u32 %p1, %r1, %r3;\n@%p1 ret;\nmul.wide.u32 %rd0, %r2, 128;\n"
                            "add.u64 %rd0, %rd0, %data;\nadd.u64 %rd5, %times, 4096;\n",
                   .body = "mov.u64 %rd1, %clock64;\nld.global.cg.u64 %rd0, [%rd0];\nsetp.eq.u64 %p0, %rd0, 1;\n"
                           "@%p0 st.global.u64 [%rd0], %rd0;\nmov.u64 %rd2, %clock64;\nsub.u64 %rd2, %rd2, %rd1;\n"
                           "cvt.u32.u64 %r0, %rd2;\nst.global.u32 [%rd5], %r0;\nadd.u64 %rd5, %rd5, 4;\n",
                   .tail = "cvt.u32.u64 %sink, %rd0;\n"});
    bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = 32, .rounds = 1, .number = 1, .passes = 1},
              NULL); /* its code: the only block ends at once */
    CHECK(cuMemAlloc(&bench->data, (size_t)PAGES << 21));
    for (unsigned line = 0; line < 4; line++)
        for (unsigned i = 0; i < STEPS; i++) {
            size_t here = ((size_t)(i / LOADS) << 21) + offset[i % LOADS] + line * 128;
            unsigned n = (i + 1) % STEPS;
            uint64_t next = bench->data + ((uint64_t)(n / LOADS) << 21) + offset[n % LOADS] + line * 128;
            CHECK(cuMemcpyHtoD(bench->data + here, &next, sizeof next));
        }
    for (size_t r = 0; r < sizeof run / sizeof *run; r++) {
        uint32_t cycles[STEPS], sorted[PAGES];
        bench_run(bench, kernel,
                  (struct bench_launch){.blocks = run[r].sm + 1,
                                        .threads = 32,
                                        .rounds = STEPS,
                                        .passes = 1,
                                        .number = run[r].line << 8 | run[r].sm},
                  NULL);
        CHECK(cuMemcpyDtoH(cycles, bench->times + FIRST_STEP, sizeof cycles));
        for (unsigned k = 0; k < LOADS; k++) {
            char name[64];
            for (unsigned i = 0; i < PAGES; i++)
                sorted[i] = cycles[i * LOADS + k];
            qsort(sorted, PAGES, sizeof *sorted, by_cycles);
            snprintf(name, sizeof name, "page_%s_load%u", run[r].name, k);
            bench_print_number(name, 50, sorted[PAGES / 2]);
            bench_print_number(name, 90, sorted[PAGES * 9 / 10]);
        }
    }
    CHECK(cuMemFree(bench->data));
    bench->data = kept;
    bench_unload(kernel);
}

/* Adds a loop in which a thread reads so many words from %rd0 on, four at a time. */
static void add_walk(struct text *body, int words) {
    text_add(body, "mov.u64 %%rd1, %%rd0;\nmov.u32 %%r1, %d;\nWALK:\n.pragma \"nounroll\";\n", words);
    for (unsigned i = 0; i < 4; i++)
        text_add(body, "ld.global.u32 %%r%u, [%%rd1+%u];\n", 10 + i, 4 * i);
    for (unsigned i = 0; i < 4; i++)
        text_add(body, "xor.b32 %%sink, %%sink, %%r%u;\n", 10 + i);
    text_add(body, "add.u64 %%rd1, %%rd1, 16;\nsub.u32 %%r1, %%r1, 4;\nsetp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra WALK;\n");
}

/* ---- All SMs ----------------------------------------------------------------------------------------------------- */

/* Each thread reads its own row of a matrix, word by word; the parameter is the length of a row in bytes. In cycles of
 * an SM per warp instruction. */
static void walk_rows(struct bench *bench) {
    static const unsigned strides[] = {128, 144, 256, 512, 1024, 1152, 2048, 4096, 4224, 8192, 16384};
    static const unsigned threads[] = {128, 512, 1024};
    struct text body = {0};
    if (!bench_wants(bench, "walk_rows"))
        return;
    add_walk(&body, WORDS_OF_A_ROW);
    struct bench_source source = {.setup = "mul.wide.u32 %rd0, %gtid, %number;\nadd.u64 %rd0, %rd0, %data;\n",
                                  .body = body.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
            unsigned per_sm = threads[t] == 1024 ? 2 : 1, blocks = bench->n_sms * per_sm;
            char full[64];
            if ((size_t)blocks * threads[t] * strides[s] > bench->data_bytes)
                continue;
            struct bench_launch launch = {
                .blocks = blocks, .threads = threads[t], .rounds = 1, .passes = 1, .number = strides[s]};
            bench_run(bench, kernel, launch, NULL);
            snprintf(full, sizeof full, "walk_rows_%u_threads", threads[t] * per_sm);
            bench_print_number(full, strides[s],
                               bench_run(bench, kernel, launch, NULL) * 32 /
                                   (threads[t] * (double)per_sm * WORDS_OF_A_ROW));
        }
    bench_unload(kernel);
    text_free(&body);
}

/* Each thread reads 256 words of its own row of 16 KB, which is in DRAM: few SMs, or all. In cycles of an SM per warp
 * instruction. */
static void walk_long_rows(struct bench *bench) {
    enum { ROW = 16384, WORDS = 256 };
    struct text body = {0};
    if (!bench_wants(bench, "walk_long_rows"))
        return;
    add_walk(&body, WORDS);
    struct bench_source source = {.setup = "mul.wide.u32 %rd0, %gtid, %number;\nadd.u64 %rd0, %rd0, %data;\n",
                                  .body = body.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned sms = 16; sms <= bench->n_sms; sms += bench->n_sms - 16)
        for (unsigned threads = 64; threads <= 512; threads *= 2) {
            char full[64];
            if ((size_t)sms * threads * ROW > bench->data_bytes)
                continue;
            CHECK(cuMemsetD8(bench->data + bench->data_bytes - (96u << 20), 0, 96u << 20)); /* others are in the L2 */
            struct bench_launch launch = {.blocks = sms, .threads = threads, .rounds = 1, .passes = 1, .number = ROW};
            snprintf(full, sizeof full, "walk_long_rows_%u_sms", sms);
            bench_print_number(full, threads, bench_run(bench, kernel, launch, NULL) * 32 / (threads * (double)WORDS));
        }
    bench_unload(kernel);
    text_free(&body);
}

/* Each thread walks down a column, so a warp reads one line of each row: bytes per cycle of all SMs, by the length of a
 * row. A block has 256 columns, and blocks share rows. */
static void walk_columns(struct bench *bench) {
    enum { STEPS = 64 };
    struct text body = {0};
    if (!bench_wants(bench, "walk_columns"))
        return;
    text_add(&body, "mov.u64 %%rd1, %%rd0;\nmov.u32 %%r1, %d;\nWALK:\n.pragma \"nounroll\";\n", STEPS);
    for (unsigned i = 0; i < 4; i++)
        text_add(&body, "ld.global.u32 %%r%u, [%%rd1];\nadd.u64 %%rd1, %%rd1, %%rd2;\n", 10 + i);
    for (unsigned i = 0; i < 4; i++)
        text_add(&body, "xor.b32 %%sink, %%sink, %%r%u;\n", 10 + i);
    text_add(&body, "sub.u32 %%r1, %%r1, 4;\nsetp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra WALK;\n");
    /* thread g: column g mod (stride / 4), rows from g / (stride / 4) * STEPS on */
    struct bench_source source = {.setup = "shr.u32 %r2, %number, 2;\nrem.u32 %r3, %gtid, %r2;\n"
                                           "div.u32 %r4, %gtid, %r2;\nmul.lo.u32 %r4, %r4, 64;\n"
                                           "mul.wide.u32 %rd0, %r4, %number;\nmul.wide.u32 %rd3, %r3, 4;\n"
                                           "add.u64 %rd0, %rd0, %rd3;\nadd.u64 %rd0, %rd0, %data;\n"
                                           "cvt.u64.u32 %rd2, %number;\n",
                                  .body = body.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned threads = 32; threads <= 1024; threads *= 4)
        for (unsigned stride = 2048; stride <= 128 * 1024; stride *= 4) {
            unsigned blocks = bench->n_sms;
            char full[64];
            if ((size_t)blocks * threads * STEPS * 4 + (size_t)stride * STEPS > bench->data_bytes)
                continue;
            struct bench_launch launch = {
                .blocks = blocks, .threads = threads, .rounds = 1, .passes = 1, .number = stride};
            CHECK(cuMemsetD8(bench->data, 0, bench->data_bytes)); /* other lines are in the L2 */
            double cycles = bench_run(bench, kernel, launch, NULL);
            snprintf(full, sizeof full, "walk_columns_%u_threads", threads);
            bench_print_number(full, stride, blocks * (double)threads * STEPS * 4 / cycles);
        }
    bench_unload(kernel);
    text_free(&body);
}

/* Each lane fills 64 bytes of its own, by stores of `bytes` one after the other: in cycles of an SM per warp
 * instruction. The next level may see a sector once or several times. */
static void fill_parts(struct bench *bench) {
    if (!bench_wants(bench, "fill_parts"))
        return;
    for (unsigned bytes = 4; bytes <= 16; bytes *= 2) {
        struct text body = {0};
        for (unsigned at = 0; at < 64; at += bytes)
            text_add(&body, "st.global%s [%%rd0+%u], %s;\n",
                     bytes == 4   ? ".u32"
                     : bytes == 8 ? ".v2.u32"
                                  : ".v4.u32",
                     at,
                     bytes == 4   ? "%r0"
                     : bytes == 8 ? "{%r0, %r1}"
                                  : "{%r0, %r1, %r2, %r3}");
        struct bench_source source = {.setup = "mul.wide.u32 %rd0, %gtid, 64;\nadd.u64 %rd0, %rd0, %data;\n"
                                               "mov.u32 %r0, %lane;\nmov.u32 %r1, %lane;\nmov.u32 %r2, %lane;\n"
                                               "mov.u32 %r3, %lane;\n",
                                      .body = body.at};
        struct bench_kernel kernel = bench_compile(bench, &source);
        for (unsigned threads = 128; threads <= 1024; threads *= 8) {
            char name[64];
            struct bench_launch launch = {.blocks = bench->n_sms, .threads = threads, .rounds = 1, .passes = 1};
            bench_run(bench, kernel, launch, NULL);
            snprintf(name, sizeof name, "fill_parts_%u_threads", threads);
            bench_print_number(name, bytes, bench_run(bench, kernel, launch, NULL) * bytes / (64.0 * threads / 32));
        }
        bench_unload(kernel);
        text_free(&body);
    }
}

void bench_strides(struct bench *bench) {
    first_pages(bench);
    fill_parts(bench);
    chase_strides(bench, "chase_stride_l1", "ld.global.ca.u64");
    chase_strides(bench, "chase_stride_l2", "ld.global.cg.u64");
    chase_sectors(bench);
    walk_rows(bench);
    walk_long_rows(bench);
    walk_columns(bench);
}
