/* Bandwidth of global memory in bytes per cycle: 1024 threads a block read or write 16 bytes each, four times a round,
 * over a footprint. One block has an SM for itself; two blocks an SM fill the chip. `write` writes zeros over zeros,
 * `fill` numbers that change. Stores are measured from the start of the launch to its end: SMs that come first to write
 * make others wait, and a second pass of their blocks alone would be too short. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { PER_ROUND = 4 };

static const char setup[] = "mul.wide.u32 %rd10, %gtid, 16;\n"
                            "mov.u32 %t, %nctaid.x;\nmul.wide.u32 %rd11, %t, 16384;\n" /* bytes that all threads read */
                            "cvt.u64.u32 %rd13, %number;\nshl.b64 %rd13, %rd13, 10;\nsub.u64 %rd12, %rd13, 1;\n"
                            "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
                            "mul.lo.u32 %r5, %gtid, 747796405;\nmul.lo.u32 %r6, %gtid, 277803737;\n";

/* Four accesses; `then` follows all of them, if it is not NULL. */
static void add_access(struct text *body, const char *fragment, const char *then) {
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(body, "and.b64 %%rd%u, %%rd10, %%rd12;\nadd.u64 %%rd%u, %%rd%u, %%data;\n", i, i, i);
        text_add(body, "add.u64 %%rd10, %%rd10, %%rd11;\n");
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(body, fragment, i);
    for (unsigned i = 0; then && i < PER_ROUND; i++)
        text_add_numbered(body, then, i);
}

/* The footprint is a power of two of bytes; every byte is read `times` times in a pass. */
static void measure(struct bench *bench, const char *name, const char *fragment, const char *then, unsigned blocks,
                    size_t footprint, unsigned times) {
    struct text body = {0};
    char parameter[32];
    size_t bytes_per_round = (size_t)blocks * 1024 * 16 * PER_ROUND;
    unsigned rounds = (unsigned)(footprint * times / bytes_per_round);
    if (!bench_wants(bench, name) || footprint > bench->data_bytes)
        return;
    rounds = rounds ? rounds : 1;
    add_access(&body, fragment, then);
    if (*fragment == 'l')
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "xor.b32 %%r0, %%r0, %%r%u;\nxor.b32 %%r0, %%r0, %%r%u;\n", 10 + i, 40 + i);
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = "mov.u32 %sink, %r0;\n"});
    bool is_read = *fragment == 'l' && !then;
    rounds *= is_read ? 1 : 2;
    struct bench_launch launch = {.blocks = blocks,
                                  .threads = 1024,
                                  .rounds = rounds,
                                  .passes = is_read ? 2 : 1,
                                  .number = (unsigned)(footprint >> 10)};
    double cycles = bench_run(bench, kernel, launch, NULL);
    snprintf(parameter, sizeof parameter, "%zu", footprint);
    bench_print(name, parameter, (double)bytes_per_round * rounds / cycles);
    bench_unload(kernel);
    text_free(&body);
}

static void reads(struct bench *bench, const char *name, const char *modifier, unsigned blocks, size_t footprint,
                  unsigned times) {
    struct text fragment = {0};
    text_add(&fragment, "ld.global.%s.v4.u32 {%%r1$, %%r2$, %%r3$, %%r4$}, [%%rd$];", modifier);
    measure(bench, name, fragment.at, NULL, blocks, footprint, times);
    text_free(&fragment);
}

/* How fast all SMs read what the host has just copied, what they have read before, and what they have written: each
 * line by one SM, which is another one than writes it. */
static void first_reads(struct bench *bench) {
    enum { FOOTPRINT = 16 << 20 };
    struct text reads = {0}, writes = {0};
    unsigned blocks = 2 * bench->n_sms;
    size_t bytes = (size_t)blocks * 1024 * 16 * PER_ROUND;
    if (!bench_wants(bench, "first_read_all_sms"))
        return;
    add_access(&reads, "ld.global.cg.v4.u32 {%r1$, %r2$, %r3$, %r4$}, [%rd$];", NULL);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&reads, "xor.b32 %%r0, %%r0, %%r%u;\nxor.b32 %%r0, %%r0, %%r%u;\n", 10 + i, 40 + i);
    add_access(&writes, "st.global.v4.u32 [%rd$], {%r5, %r6, %r5, %r6};", NULL);
    struct text moved = {0}; /* by 63 blocks: other SMs, of the same half or the other */
    text_add(&moved, "%sadd.u64 %%rd10, %%rd10, %u;\n", setup, 63 * 16384);
    struct bench_kernel reader =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = reads.at, .tail = "mov.u32 %sink, %r0;\n"});
    struct bench_kernel writer = bench_compile(bench, &(struct bench_source){.setup = moved.at, .body = writes.at});
    struct bench_launch launch = {
        .blocks = blocks, .threads = 1024, .rounds = 1, .passes = 1, .number = FOOTPRINT >> 10};
    uint8_t *host = calloc(FOOTPRINT, 1);
    if (!host)
        abort();
    bench_run(bench, reader, launch, NULL);
    bench_upload(bench, host, FOOTPRINT);
    free(host);
    bench_print("first_read_all_sms", "host", (double)bytes / bench_run(bench, reader, launch, NULL));
    bench_print("first_read_all_sms", "again", (double)bytes / bench_run(bench, reader, launch, NULL));
    bench_run(bench, writer, launch, NULL);
    bench_print("first_read_all_sms", "written", (double)bytes / bench_run(bench, reader, launch, NULL));
    bench_unload(reader);
    bench_unload(writer);
    text_free(&reads);
    text_free(&writes);
    text_free(&moved);
}

/* Pieces of `size` bytes, a power of two of words, in no order: warps side by side read or write them. */
static void pieces(struct bench *bench, const char *name, const char *fragment, unsigned size) {
    struct text body = {0};
    unsigned blocks = 2 * bench->n_sms, rounds = bench->is_quick ? 8 : 64;
    if (!bench_wants(bench, name))
        return;
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(&body, "shr.u32 %%r4, %%r10, %u;\nand.b32 %%r5, %%r10, %u;\n", (unsigned)__builtin_ctz(size / 4),
                 size / 4 - 1);
        text_add(&body, "mad.lo.u32 %%r4, %%r4, 747796405, 2891336453;\nshr.u32 %%t, %%r4, 15;\n"
                        "xor.b32 %%r4, %%r4, %%t;\nmul.lo.u32 %%r4, %%r4, 277803737;\nshr.u32 %%t, %%r4, 16;\n"
                        "xor.b32 %%r4, %%r4, %%t;\nand.b32 %%r4, %%r4, %%r12;\n");
        text_add(&body, "mul.wide.u32 %%rd%u, %%r4, %u;\nmad.wide.u32 %%rd%u, %%r5, 4, %%rd%u;\n", i, size, i, i);
        text_add(&body, "add.u64 %%rd%u, %%rd%u, %%data;\nadd.u32 %%r10, %%r10, %%r11;\n", i, i);
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i);
    struct bench_source source = {.setup = "mov.u32 %r10, %gtid;\nmov.u32 %t, %nctaid.x;\nshl.b32 %r11, %t, 10;\n"
                                           "mov.u32 %r12, %number;\nmov.u32 %r3, 0;\n",
                                  .body = body.at,
                                  .tail = "mov.u32 %sink, %r3;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    struct bench_launch launch = {.blocks = blocks,
                                  .threads = 1024,
                                  .rounds = rounds,
                                  .passes = 1,
                                  .number = (unsigned)(bench->data_bytes / size - 1)};
    double cycles = bench_run(bench, kernel, launch, NULL);
    bench_print_number(name, size, (double)blocks * 1024 * 4 * PER_ROUND * rounds / cycles);
    bench_unload(kernel);
    text_free(&body);
}

void bench_bandwidth(struct bench *bench) {
    unsigned all = 2 * bench->n_sms;
    static const char fill[] = "add.u32 %r5, %r5, 1664525;\nst.global.v4.u32 [%rd$], {%r5, %r6, %r5, %gtid};";
    /* four words of the first half to the second */
    /* its registers leave room for one block on an SM */
    static const char load[] = "ld.global.v4.u32 {%r1$, %r2$, %r3$, %r4$}, [%rd$];";
    static const char copy[] = "add.u32 %r1$, %r1$, %r5;\nxor.b32 %r2$, %r2$, %r6;\nadd.u64 %rd$, %rd$, %rd13;\n"
                               "st.global.v4.u32 [%rd$], {%r1$, %r2$, %r3$, %r4$};";
    static const char load_piece[] = "ld.global.cg.u32 %r2$, [%rd$];\nxor.b32 %r3, %r3, %r2$;";
    static const char store_piece[] = "st.global.u32 [%rd$], %r10;";
    static const char store[] = "st.global.v4.u32 [%rd$], {%r0, %r1, %r2, %r3};";
    reads(bench, "read_l1_one_sm", "ca", 1, 64 << 10, 64);
    reads(bench, "read_l2_one_sm", "cg", 1, 1 << 20, 4);
    reads(bench, "read_l2_all_sms", "cg", all, 8 << 20, bench->is_quick ? 4 : 32);
    reads(bench, "read_l2_all_sms", "cg", all, 16 << 20, bench->is_quick ? 2 : 16);
    reads(bench, "read_l2_all_sms", "cg", all, 32 << 20, bench->is_quick ? 1 : 8);
    reads(bench, "read_dram_one_sm", "cg", 1, 128 << 20, 1);
    reads(bench, "read_dram_all_sms", "cg", all, 128 << 20, 1);
    reads(bench, "read_dram_all_sms", "cg", all, 1 << 30, 1);
    measure(bench, "write_l2_one_sm", store, NULL, 1, 1 << 20, 4);
    measure(bench, "write_l2_all_sms", store, NULL, all, 8 << 20, bench->is_quick ? 4 : 32);
    measure(bench, "write_dram_all_sms", store, NULL, all, 128 << 20, 1);
    measure(bench, "write_dram_all_sms", store, NULL, all, 1 << 30, 1);
    measure(bench, "fill_l2_one_sm", fill, NULL, 1, 1 << 20, 4);
    measure(bench, "fill_l2_all_sms", fill, NULL, all, 8 << 20, bench->is_quick ? 4 : 32);
    measure(bench, "fill_dram_all_sms", fill, NULL, all, 128 << 20, 1);
    measure(bench, "fill_dram_all_sms", fill, NULL, all, 1 << 30, 1);
    measure(bench, "copy_l2_all_sms", load, copy, bench->n_sms, 4 << 20, bench->is_quick ? 4 : 32);
    measure(bench, "copy_dram_all_sms", load, copy, bench->n_sms, 64 << 20, 1);
    measure(bench, "copy_dram_all_sms", load, copy, bench->n_sms, 512 << 20, 1);
    first_reads(bench);
    for (unsigned size = 32; size <= 4096; size *= 2) {
        pieces(bench, "pieces_read", load_piece, size);
        pieces(bench, "pieces_write", store_piece, size);
    }
}
