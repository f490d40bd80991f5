/* Bytes per cycle that the slices of the L2 deliver to loads and bulk copies, by the number of SMs that read, by the
 * number of neighbouring SMs that read the same bytes, and by whether an SM stays with its part of the data. All data
 * is in the L2. A block has an SM for itself. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 4, SPAN = 128 << 10 };

/* %rd10: the thread's place in the block's part of the data, which begins at %rd11. %r5 blocks of %r6 share a part. */
static const char setup[] =
    "mov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %nctaid.x;\ndiv.u32 %r7, %r5, %number;\nmul.wide.u32 %rd11, %r7, 131072;\n"
    "add.u64 %rd11, %rd11, %data;\nmul.wide.u32 %rd10, %thread, 16;\nmov.u32 %r0, 0;\n";

/* The next part of the data: that of the next block. */
static const char move[] = "add.u32 %r5, %r5, 1;\nsetp.ge.u32 %p1, %r5, %r6;\n@%p1 mov.u32 %r5, 0;\n"
                           "mul.wide.u32 %rd11, %r5, 131072;\nadd.u64 %rd11, %rd11, %data;\n";

struct reading {
    const char *name, *load;
    unsigned bytes; /* of a lane */
    bool moves;
};

static double measure(struct bench *bench, const struct reading *reading, unsigned blocks, unsigned share) {
    struct text body = {0}, all = {0};
    unsigned rounds = bench->is_quick ? 8 : 128, block_bytes = 1024 * reading->bytes;
    text_add(&all, "%smul.wide.u32 %%rd10, %%thread, %u;\n", setup, reading->bytes);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "add.u64 %%rd%u, %%rd10, %%rd11;\nadd.u64 %%rd%u, %%rd%u, %u;\n", i, i, i, i * block_bytes);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, reading->load, i);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "xor.b32 %%r0, %%r0, %%r%u;\n", 10 + i);
    if (reading->bytes > 4)
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "xor.b32 %%r0, %%r0, %%r%u;\n", (reading->bytes == 16 ? 40 : 20) + i);
    if (reading->moves)
        text_add(&body, "%s", move);
    else /* the next part of the span */
        text_add(&body, "add.u64 %%rd10, %%rd10, %u;\nand.b64 %%rd10, %%rd10, %u;\n", PER_ROUND * block_bytes,
                 SPAN - 1);
    struct bench_kernel kernel =
        bench_compile(bench, &(struct bench_source){.setup = all.at, .body = body.at, .tail = "mov.u32 %sink, %r0;\n"});
    struct bench_launch launch = {.blocks = blocks, .threads = 1024, .rounds = rounds, .number = share};
    CHECK(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
    launch.dynamic_shared_bytes = 200 << 10; /* one block on an SM, and a small L1 */
    double cycles = bench_run(bench, kernel, launch, NULL);
    bench_unload(kernel);
    text_free(&body);
    text_free(&all);
    return (double)blocks * block_bytes * PER_ROUND * rounds / cycles;
}

#define WORDS "{%r1$, %r2$, %r3$, %r4$}"

void bench_slices(struct bench *bench) {
    static const struct reading kind[] = {{"slices_load16", "ld.global.cg.v4.u32 " WORDS ", [%rd$];", 16, false},
                                          {"slices_load8", "ld.global.cg.v2.u32 {%r1$, %r2$}, [%rd$];", 8, false},
                                          {"slices_load4", "ld.global.cg.u32 %r1$, [%rd$];", 4, false},
                                          {"slices_load16_l1", "ld.global.ca.v4.u32 " WORDS ", [%rd$];", 16, false},
                                          {"slices_load8_l1", "ld.global.ca.v2.u32 {%r1$, %r2$}, [%rd$];", 8, false},
                                          {"slices_load4_l1", "ld.global.ca.u32 %r1$, [%rd$];", 4, false},
                                          {"slices_load16_moving", "ld.global.cg.v4.u32 " WORDS ", [%rd$];", 16, true}};
    static const unsigned parts[] = {132, 16, 8, 4, 2, 1};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s_sms", kind[k].name);
        for (size_t i = 0; i < sizeof parts / sizeof *parts && bench_wants(bench, name); i++) {
            unsigned sms = bench->n_sms / parts[i] ? bench->n_sms / parts[i] : 1;
            bench_print_number(name, sms, measure(bench, &kind[k], sms, 1));
        }
        snprintf(name, sizeof name, "%s_shared", kind[k].name);
        for (unsigned share = 2; share <= 128 && bench_wants(bench, name) && !kind[k].moves; share *= 2)
            bench_print_number(name, share, measure(bench, &kind[k], bench->n_sms, share));
    }
}
