/* Bandwidth of global memory in bytes per cycle: 1024 threads a block read or write 16 bytes each, four times a round,
 * over a footprint. One block has an SM for itself; two blocks an SM fill the chip. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 4 };

static const char setup[] = "mul.wide.u32 %rd10, %gtid, 16;\n"
                            "mov.u32 %t, %nctaid.x;\nmul.wide.u32 %rd11, %t, 16384;\n" /* bytes that all threads read */
                            "cvt.u64.u32 %rd12, %number;\nshl.b64 %rd12, %rd12, 10;\nsub.u64 %rd12, %rd12, 1;\n"
                            "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n";

static void add_access(struct text *body, const char *fragment) {
    for (unsigned i = 0; i < PER_ROUND; i++) {
        text_add(body, "and.b64 %%rd%u, %%rd10, %%rd12;\nadd.u64 %%rd%u, %%rd%u, %%data;\n", i, i, i);
        text_add(body, "add.u64 %%rd10, %%rd10, %%rd11;\n");
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(body, fragment, i);
}

/* The footprint is a power of two of bytes; every byte is read `times` times in a pass. */
static void measure(struct bench *bench, const char *name, const char *fragment, unsigned blocks, size_t footprint,
                    unsigned times) {
    struct text body = {0};
    char parameter[32];
    size_t bytes_per_round = (size_t)blocks * 1024 * 16 * PER_ROUND;
    unsigned rounds = (unsigned)(footprint * times / bytes_per_round);
    if (!bench_wants(bench, name) || footprint > bench->data_bytes)
        return;
    rounds = rounds ? rounds : 1;
    add_access(&body, fragment);
    if (*fragment == 'l')
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "xor.b32 %%r0, %%r0, %%r%u;\nxor.b32 %%r0, %%r0, %%r%u;\n", 10 + i, 40 + i);
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = setup, .body = body.at, .tail = "mov.u32 %sink, %r0;\n"});
    struct bench_launch launch = {
        .blocks = blocks, .threads = 1024, .rounds = rounds, .number = (unsigned)(footprint >> 10)};
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
    measure(bench, name, fragment.at, blocks, footprint, times);
    text_free(&fragment);
}

void bench_bandwidth(struct bench *bench) {
    unsigned all = 2 * bench->n_sms;
    static const char store[] = "st.global.v4.u32 [%rd$], {%r0, %r1, %r2, %r3};";
    reads(bench, "read_l1_one_sm", "ca", 1, 64 << 10, 64);
    reads(bench, "read_l2_one_sm", "cg", 1, 1 << 20, 4);
    reads(bench, "read_l2_all_sms", "cg", all, 8 << 20, bench->is_quick ? 4 : 32);
    reads(bench, "read_l2_all_sms", "cg", all, 16 << 20, bench->is_quick ? 2 : 16);
    reads(bench, "read_l2_all_sms", "cg", all, 32 << 20, bench->is_quick ? 1 : 8);
    reads(bench, "read_dram_one_sm", "cg", 1, 128 << 20, 1);
    reads(bench, "read_dram_all_sms", "cg", all, 128 << 20, 1);
    reads(bench, "read_dram_all_sms", "cg", all, 1 << 30, 1);
    measure(bench, "write_l2_one_sm", store, 1, 1 << 20, 4);
    measure(bench, "write_l2_all_sms", store, all, 8 << 20, bench->is_quick ? 4 : 32);
    measure(bench, "write_dram_all_sms", store, all, 128 << 20, 1);
    measure(bench, "write_dram_all_sms", store, all, 1 << 30, 1);
}
