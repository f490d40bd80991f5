/* Where loads of each kind find what they read: pointer chases of one warp through 16 KB by each cache operator, memory
 * order and hint; loads after stores; and how long each of many loads takes the first time. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_ROUND = 16, LINE = 128, LINES = 128 };

/* A cycle through the lines in their order. */
static void upload_cycle(struct bench *bench) {
    static uint64_t chain[LINES * LINE / 8];
    for (unsigned i = 0; i < LINES; i++)
        chain[i * (LINE / 8)] = bench->data + (uint64_t)(i + 1) % LINES * LINE;
    bench_upload(bench, chain, sizeof chain);
}

static void chase(struct bench *bench, const char *name, const char *parameter, const char *setup, const char *fragment,
                  unsigned passes) {
    struct text body = {0};
    if (!bench_wants(bench, name))
        return;
    upload_cycle(bench);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "%s\n", fragment);
    struct text start = {0};
    text_add(&start, "mov.u64 %%rd0, %%data;\n%s", setup);
    struct bench_kernel kernel = bench_compile(
        bench, &(struct bench_source){
                   .version = "7.4", .setup = start.at, .body = body.at, .tail = "cvt.u32.u64 %sink, %rd0;\n"});
    struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = LINES / PER_ROUND, .passes = passes};
    bench_print(name, parameter, bench_run(bench, kernel, launch, NULL) / (double)LINES);
    bench_unload(kernel);
    text_free(&body);
    text_free(&start);
}

static void operators(struct bench *bench) {
    static const char *const kinds[] = {"global",
                                        "global.ca",
                                        "global.cg",
                                        "global.cs",
                                        "global.lu",
                                        "global.cv",
                                        "global.nc",
                                        "volatile.global",
                                        "relaxed.cta.global",
                                        "relaxed.gpu.global",
                                        "relaxed.sys.global",
                                        "acquire.cta.global",
                                        "acquire.gpu.global",
                                        "acquire.sys.global",
                                        "global.L1::no_allocate",
                                        "global.L1::evict_first",
                                        "global.L1::evict_last",
                                        "global.nc.L1::no_allocate",
                                        "global.nc.L1::evict_first"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct text fragment = {0};
        text_add(&fragment, "ld.%s.u64 %%rd0, [%%rd0];", kinds[i]);
        chase(bench, "operator", kinds[i], "", fragment.at, 2);
        text_free(&fragment);
    }
}

static void after_others(struct bench *bench) {
    static const char store_all[] = "mov.u32 %r0, 0;\nSTORE:\nadd.u64 %rd1, %rd0, 128;\nst.global.u64 [%rd0], %rd1;\n"
                                    "mov.u64 %rd0, %rd1;\nadd.u32 %r0, %r0, 1;\nsetp.ne.u32 %p0, %r0, 127;\n"
                                    "@%p0 bra STORE;\nst.global.u64 [%rd0], %data;\nmov.u64 %rd0, %data;\n";
    static const char store_beside[] = "mov.u32 %r0, 0;\nSTORE:\nst.global.u32 [%rd0+16], %r0;\n"
                                       "add.u64 %rd0, %rd0, 128;\nadd.u32 %r0, %r0, 1;\n"
                                       "setp.ne.u32 %p0, %r0, 128;\n@%p0 bra STORE;\nmov.u64 %rd0, %data;\n";
    /* both loads of a line */
    chase(bench, "after", "load_ca_and_cg", "",
          "ld.global.ca.u64 %rd1, [%rd0];\nand.b64 %rd1, %rd1, 1;\nadd.u64 %rd0, %rd0, %rd1;\n"
          "ld.global.cg.u64 %rd0, [%rd0];",
          2);
    /* lines that the launch has read, then stored to: the same sector, another one */
    chase(bench, "after", "store_to_sector", "",
          "ld.global.ca.u64 %rd1, [%rd0];\nst.global.u64 [%rd0+8], %rd1;\nmov.u64 %rd0, %rd1;", 2);
    chase(bench, "after", "store_to_line", "",
          "ld.global.ca.u64 %rd1, [%rd0];\nst.global.u64 [%rd0+64], %rd1;\nmov.u64 %rd0, %rd1;", 2);
    /* a store of another word of what is then read, 4 bytes of a sector of 32 */
    chase(bench, "after", "store_beside", store_beside, "ld.global.ca.u64 %rd0, [%rd0];", 1);
    /* lines that the launch has read, and that it changes by atomics: the same sector, another one, with a result */
    chase(bench, "after", "red_to_sector", "", "red.global.add.u32 [%rd0+8], %a;\nld.global.ca.u64 %rd0, [%rd0];", 2);
    chase(bench, "after", "red_to_line", "", "red.global.add.u32 [%rd0+64], %a;\nld.global.ca.u64 %rd0, [%rd0];", 2);
    chase(bench, "after", "atom_to_sector", "",
          "ld.global.ca.u64 %rd1, [%rd0];\natom.global.add.u32 %r1, [%rd0+8], %a;\nmov.u64 %rd0, %rd1;", 2);
    /* lines that this launch has stored to and not read */
    chase(bench, "after", "stores", store_all, "ld.global.ca.u64 %rd0, [%rd0];", 1);
    chase(bench, "after", "stores_and_loads", store_all, "ld.global.ca.u64 %rd0, [%rd0];", 2);
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

enum { STEPS = 4096, FIRST_STEP = 4096 /* place of the cycles in `times` */ };

static void print_steps(struct bench *bench, const char *name) {
    static uint32_t cycles[STEPS];
    static const unsigned percents[] = {1, 10, 25, 50, 75, 90, 99};
    CHECK(cuMemcpyDtoH(cycles, bench->times + FIRST_STEP, sizeof cycles));
    qsort(cycles, STEPS, sizeof *cycles, compare);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
        bench_print_number(name, percents[i], cycles[(size_t)STEPS * percents[i] / 100]);
}

static void upload_random_cycle(struct bench *bench, size_t lines) {
    uint32_t *order = malloc(lines * sizeof *order), state = 1;
    uint64_t *chain = calloc(lines, LINE);
    if (!order || !chain)
        abort();
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i; i--) {
        state = state * 1664525u + 1013904223u;
        size_t j = (size_t)((uint64_t)state * (i + 1) >> 32);
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (size_t i = 0; i < lines; i++)
        chain[order[i] * (LINE / 8)] = bench->data + (uint64_t)order[(i + 1) % lines] * LINE;
    bench_upload(bench, chain, lines * LINE);
    free(order);
    free(chain);
}

/* The parameter is a percentage, the value how many cycles that part of the loads takes at most. */
static void first_loads(struct bench *bench) {
    enum { CHAIN_LINES = 1 << 14 };
    if (!bench_wants(bench, "first"))
        return;
    struct bench_kernel timed = bench_compile(
        bench, &(struct bench_source){
                   .setup = "mov.u64 %rd0, %data;\nadd.u64 %rd5, %times, 4096;\n",
                   .body = "mov.u64 %rd1, %clock64;\nld.global.cg.u64 %rd0, [%rd0];\nsetp.eq.u64 %p0, %rd0, 1;\n"
                           "@%p0 st.global.u64 [%rd0], %rd0;\nmov.u64 %rd2, %clock64;\nsub.u64 %rd2, %rd2, %rd1;\n"
                           "cvt.u32.u64 %r0, %rd2;\nst.global.u32 [%rd5], %r0;\nadd.u64 %rd5, %rd5, 4;\n",
                   .tail = "cvt.u32.u64 %sink, %rd0;\n"});
    /* every line by some SM: reads it, or writes what it reads */
    struct bench_source read = {.setup = "mul.wide.u32 %rd0, %gtid, 128;\nadd.u64 %rd0, %rd0, %data;\n",
                                .body = "ld.global.cg.u64 %rd1, [%rd0];\n",
                                .tail = "cvt.u32.u64 %sink, %rd1;\n"};
    struct bench_source write = {.setup = read.setup,
                                 .body = "ld.global.cg.u64 %rd1, [%rd0];\nst.global.u64 [%rd0], %rd1;\n",
                                 .tail = read.tail};
    struct bench_kernel reader = bench_compile(bench, &read), writer = bench_compile(bench, &write);
    struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = STEPS, .passes = 1};
    struct bench_launch all = {.blocks = CHAIN_LINES / 128, .threads = 128, .rounds = 1, .passes = 1};
    upload_random_cycle(bench, CHAIN_LINES);
    bench_run(bench, timed, launch, NULL);
    print_steps(bench, "first_after_host");
    bench_run(bench, timed, launch, NULL);
    print_steps(bench, "first_after_own_reads");
    upload_random_cycle(bench, CHAIN_LINES);
    bench_run(bench, reader, all, NULL);
    bench_run(bench, timed, launch, NULL);
    print_steps(bench, "first_after_reads");
    bench_run(bench, writer, all, NULL);
    bench_run(bench, timed, launch, NULL);
    print_steps(bench, "first_after_writes");
    bench_run(bench, timed, launch, NULL);
    print_steps(bench, "second_after_writes");
    bench_unload(timed);
    bench_unload(reader);
    bench_unload(writer);
}

/* How the data got into the L2: by the host, by cudaMemset, by copies between places of the device, and read back. */
static void first_after_copies(struct bench *bench) {
    enum { N_LINES = 1 << 14 };
    static const char *const names[] = {"first_after_memset", "first_after_copy", "first_after_read_back",
                                        "first_after_host_copy"};
    if (!bench_wants(bench, "first"))
        return;
    /* each line once: the odd factor makes the order a permutation */
    struct bench_source source = {
        .setup = "mov.u32 %r1, 7;\nmov.u64 %rd0, 0;\nadd.u64 %rd5, %times, 4096;\n",
        .body = "mad.lo.u32 %r1, %r1, 1, 10007;\nand.b32 %t, %r1, 16383;\nmul.wide.u32 %rd1, %t, 128;\n"
                "add.u64 %rd1, %rd1, %data;\nadd.u64 %rd1, %rd1, %rd0;\nmov.u64 %rd3, %clock64;\n"
                "ld.global.cg.u64 %rd0, [%rd1];\nsetp.eq.u64 %p0, %rd0, 1;\n@%p0 st.global.u64 [%rd1], %rd0;\n"
                "mov.u64 %rd2, %clock64;\nsub.u64 %rd2, %rd2, %rd3;\ncvt.u32.u64 %r0, %rd2;\n"
                "st.global.u32 [%rd5], %r0;\nadd.u64 %rd5, %rd5, 4;\n",
        .tail = "cvt.u32.u64 %sink, %rd0;\n"};
    struct bench_kernel timed = bench_compile(bench, &source);
    struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = STEPS, .passes = 1};
    uint8_t *host = calloc(N_LINES, LINE);
    if (!host)
        abort();
    bench_run(bench, timed, launch, NULL);
    for (unsigned i = 0; i < 4; i++) {
        size_t bytes = (size_t)N_LINES * LINE;
        bench_upload(bench, host, bytes);
        if (i == 0)
            CHECK(cuMemsetD8(bench->data, 0, bytes));
        else if (i == 1)
            CHECK(cuMemcpyDtoD(bench->data, bench->data + (64u << 20), bytes));
        else if (i == 2) {
            bench_run(bench, timed, (struct bench_launch){1, 32, 4 * STEPS, 0, 1, 0}, NULL); /* reads all lines */
            CHECK(cuMemcpyDtoH(host, bench->data, bytes));
        }
        bench_run(bench, timed, launch, NULL);
        print_steps(bench, names[i]);
    }
    free(host);
    bench_unload(timed);
}

void bench_operators(struct bench *bench) {
    operators(bench);
    first_after_copies(bench);
    after_others(bench);
    first_loads(bench);
}
