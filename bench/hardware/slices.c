/* Bytes per cycle that the slices of the L2 deliver to loads and bulk copies, by the number of SMs that read, by the
 * number of neighbouring SMs that read the same bytes, and by whether an SM stays with its part of the data. All data
 * is in the L2. A block has an SM for itself. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Bytes per cycle of all SMs, each with a part of 128 KB in the L2: of lines that other SMs have just written, of lines
 * that this SM has read before, that its neighbour has, and that an SM farther away has; of lines that the host has
 * copied; copies to another place, and stores. Each is one launch. */
static void first_slices(struct bench *bench, unsigned bytes) {
    struct text loads = {0}, stores = {0}, copies = {0}, start = {0}, name = {0};
    unsigned rounds = SPAN / (PER_ROUND * 1024 * bytes), sms = bench->n_sms;
    static const struct {
        const char *name;
        unsigned moved;
    } step[] = {{"written", 1},   {"again", 1}, {"again", 1}, {"neighbour", 2},
                {"neighbour", 2}, {"far", 67},  {"far", 67}};
    text_add(&name, "slices_first%u", bytes);
    if (!bench_wants(bench, name.at)) {
        text_free(&name);
        return;
    }
    text_add(&start,
             "mov.u32 %%r5, %%ctaid.x;\nmov.u32 %%r6, %%nctaid.x;\nadd.u32 %%r5, %%r5, %%number;\n"
             "rem.u32 %%r5, %%r5, %%r6;\nmul.wide.u32 %%rd10, %%r5, %u;\nadd.u64 %%rd10, %%rd10, %%data;\n"
             "mul.wide.u32 %%rd11, %%thread, %u;\nadd.u64 %%rd10, %%rd10, %%rd11;\nmov.u32 %%r0, 0;\n",
             SPAN, bytes);
    for (unsigned i = 0; i < PER_ROUND; i++) {
        unsigned offset = i * 1024 * bytes;
        if (bytes == 4)
            text_add(&loads, "ld.global.cg.u32 %%r1%u, [%%rd10+%u];\n", i, offset);
        else if (bytes == 8)
            text_add(&loads, "ld.global.cg.v2.u32 {%%r1%u, %%r2%u}, [%%rd10+%u];\n", i, i, offset);
        else
            text_add(&loads, "ld.global.cg.v4.u32 {%%r1%u, %%r2%u, %%r3%u, %%r4%u}, [%%rd10+%u];\n", i, i, i, i,
                     offset);
    }
    text_add(&copies, "%s", loads.at);
    for (unsigned i = 0; i < PER_ROUND; i++) {
        unsigned offset = i * 1024 * bytes;
        text_add(&loads, "xor.b32 %%r0, %%r0, %%r1%u;\n", i);
        if (bytes > 4)
            text_add(&loads, "xor.b32 %%r0, %%r0, %%r%u%u;\n", bytes == 8 ? 2 : 4, i);
        char word[4][8];
        for (unsigned w = 0; w < 4; w++)
            snprintf(word[w], sizeof word[w], "%%r%u%u", w + 1, i);
        switch (bytes) {
        case 4:
            text_add(&copies, "st.global.u32 [%%rd10+%u], %s;\n", offset + (32u << 20), word[0]);
            text_add(&stores, "st.global.u32 [%%rd10+%u], %%r5;\n", offset);
            break;
        case 8:
            text_add(&copies, "st.global.v2.u32 [%%rd10+%u], {%s, %s};\n", offset + (32u << 20), word[0], word[1]);
            text_add(&stores, "st.global.v2.u32 [%%rd10+%u], {%%r5, %%r6};\n", offset);
            break;
        default:
            text_add(&copies, "st.global.v4.u32 [%%rd10+%u], {%s, %s, %s, %s};\n", offset + (32u << 20), word[0],
                     word[1], word[2], word[3]);
            text_add(&stores, "st.global.v4.u32 [%%rd10+%u], {%%r5, %%r6, %%r5, %%r6};\n", offset);
        }
    }
    struct text *body[] = {&loads, &copies, &stores};
    struct bench_kernel kernel[3];
    for (unsigned i = 0; i < 3; i++) {
        text_add(body[i], "add.u64 %%rd10, %%rd10, %u;\n", PER_ROUND * 1024 * bytes);
        kernel[i] = bench_compile(
            bench, &(struct bench_source){.setup = start.at, .body = body[i]->at, .tail = "mov.u32 %sink, %r0;\n"});
        CHECK(cuFuncSetAttribute(kernel[i].function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
    }
    struct bench_launch launch = {
        .blocks = sms, .threads = 1024, .rounds = rounds, .passes = 1, .dynamic_shared_bytes = 200 << 10};
    double all = (double)sms * SPAN;
    bench_run(bench, kernel[0], launch, NULL); /* its code */
    bench_print(name.at, "store", all / bench_run(bench, kernel[2], launch, NULL));
    bench_print(name.at, "store", all / bench_run(bench, kernel[2], launch, NULL));
    uint8_t *host = calloc(sms, SPAN);
    if (!host)
        abort();
    bench_upload(bench, host, (size_t)sms * SPAN);
    launch.number = 1;
    for (unsigned i = 0; i < 3; i++)
        bench_print(name.at, i ? "host_again" : "host", all / bench_run(bench, kernel[0], launch, NULL));
    CHECK(cuMemsetD8(bench->data, 0, (size_t)sms * SPAN));
    for (unsigned i = 0; i < 2; i++)
        bench_print(name.at, i ? "memset_again" : "memset", all / bench_run(bench, kernel[0], launch, NULL));
    CHECK(cuMemcpyDtoD(bench->data, bench->data + (64u << 20), (size_t)sms * SPAN));
    bench_print(name.at, "device_copy", all / bench_run(bench, kernel[0], launch, NULL));
    bench_run(bench, kernel[0], launch, NULL);
    CHECK(cuMemcpyDtoH(host, bench->data, (size_t)sms * SPAN));
    bench_print(name.at, "read_back", all / bench_run(bench, kernel[0], launch, NULL));
    free(host);
    launch.number = 0;
    bench_run(bench, kernel[2], launch, NULL);
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        launch.number = step[i].moved;
        bench_print(name.at, step[i].name, all / bench_run(bench, kernel[0], launch, NULL));
    }
    for (unsigned i = 0; i < 3; i++)
        bench_print(name.at, "copy", all / bench_run(bench, kernel[1], launch, NULL));
    for (unsigned i = 0; i < 3; i++) {
        bench_unload(kernel[i]);
        text_free(body[i]);
    }
    text_free(&start);
    text_free(&name);
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
    for (unsigned bytes = 4; bytes <= 16; bytes *= 2)
        first_slices(bench, bytes);
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
