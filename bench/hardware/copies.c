/* Asynchronous copies in bulk: their latency and bandwidth, with and without a tensor map, to one block or to all of a
 * cluster. One thread of a block starts copies, in several stages of shared memory with an mbarrier each, and waits for
 * them. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { MAP_AT = 0, DATA_AT = 4096, ROW_BYTES = 8192, STAGES = 4 };

static const char globals[] = ".extern .shared .align 1024 .b8 stage[];\n.shared .align 8 .b64 bars[4];\n";

/* %r50: the number of the block; %rd50: its part of the data, %rd51 bytes long. */
static const char setup[] =
    "mov.u32 %r60, stage;\nmov.u32 %r61, bars;\nmov.u32 %r50, %ctaid.x;\nmov.u32 %r55, %cluster_ctarank;\n"
    "setp.eq.u32 %p2, %thread, 0;\nsetp.eq.u32 %p4, %r55, 0;\nand.pred %p3, %p2, %p4;\n"
    "@!%p2 bra READY;\n"
    "mbarrier.init.shared::cta.b64 [bars], 1;\nmbarrier.init.shared::cta.b64 [bars+8], 1;\n"
    "mbarrier.init.shared::cta.b64 [bars+16], 1;\nmbarrier.init.shared::cta.b64 [bars+24], 1;\n"
    "fence.mbarrier_init.release.cluster;\nREADY:\nfence.proxy.async;\n"
    "mov.u32 %r48, 0;\nmov.u32 %r47, 0;\nmov.u32 %r46, 0;\n"
    "add.u64 %rd52, %data, 4096;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
static const char meet[] = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";

struct copy {
    const char *start;  /* the instruction, with $ in the place of its stage; %r62 is the stage's place, %r63 its
                           mbarrier, %rd53 the data */
    unsigned bytes;     /* of a copy, and of what arrives in a block */
    unsigned blocks;    /* that take part */
    unsigned cluster;   /* 0: no clusters */
    unsigned stages;    /* copies in flight */
    unsigned long span; /* bytes of each block's part of the data */
    bool is_store;      /* waits for groups instead */
    bool is_multicast;  /* only the first block of a cluster starts copies */
    const char *waits;  /* of stores: wait_group or wait_group.read */
    unsigned row_step;  /* of tensors: rows from one copy to the next */
    unsigned share;     /* neighbouring blocks that copy the same data; 0: one */
};

/* A round: every stage is waited for, if it is in use, and started again. Returns the cycles of one copy. */
static double measure(struct bench *bench, const struct copy *copy) {
    struct text body = {0}, all = {0}, tail = {0};
    unsigned rounds = bench->is_quick ? 8 : 64, stage_bytes = (copy->bytes + 1023) / 1024 * 1024;
    text_add(&all, "%s", setup);
    text_add(&all,
             "div.u32 %%r50, %%r50, %u;\nmul.wide.u32 %%rd50, %%r50, %lu;\nadd.u64 %%rd50, %%rd50, %%rd52;\nmov.u64 "
             "%%rd53, %%rd50;\n"
             "mov.u64 %%rd54, 0;\nmov.u32 %%r45, 0;\nmul.lo.u32 %%r44, %%r50, %lu;\n",
             copy->share ? copy->share : 1, copy->span, copy->span / ROW_BYTES);
    text_add(&all, "mov.u16 %%h0, %u;\n", (1u << copy->cluster) - 1);
    text_add(&body, "@!%%p2 bra OVER;\n");
    for (unsigned s = 0; s < copy->stages; s++) {
        text_add(&body, "add.u32 %%r62, %%r60, %u;\nadd.u32 %%r63, %%r61, %u;\n", s * stage_bytes, 8 * s);
        if (!copy->is_store)
            text_add(&body, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r63], %u;\n", copy->bytes);
        text_add(&body, "%s%s\n", copy->is_multicast ? "@%p4 " : "", copy->start);
        if (copy->is_store)
            text_add(&body, "cp.async.bulk.commit_group;\n");
        /* the next piece of the data */
        text_add(&body,
                 "add.u64 %%rd54, %%rd54, %u;\nsetp.ge.u64 %%p5, %%rd54, %lu;\n@%%p5 mov.u64 %%rd54, 0;\n"
                 "add.u64 %%rd53, %%rd50, %%rd54;\nadd.u32 %%r45, %%r45, %u;\nsetp.ge.u32 %%p5, %%r45, %lu;\n"
                 "@%%p5 mov.u32 %%r45, 0;\n",
                 copy->bytes, copy->span, copy->row_step, copy->span / ROW_BYTES);
    }
    for (unsigned s = 0; s < copy->stages && !copy->is_store; s++)
        text_add(&body, "W%u:\nmbarrier.try_wait.parity.shared::cta.b64 %%p1, [%%r61+%u], %%r48;\n@!%%p1 bra W%u;\n", s,
                 8 * s, s);
    if (copy->is_store)
        text_add(&body, "cp.async.bulk.%s 0;\n", copy->waits);
    else
        text_add(&body, "xor.b32 %%r48, %%r48, 1;\n");
    text_add(&body, "OVER:\n");
    if (copy->is_multicast) /* nobody overwrites a stage that others still wait for */
        text_add(&body, "barrier.cluster.arrive;\nbarrier.cluster.wait;\n");
    struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.version = "8.3",
                                                                             .target = "sm_90",
                                                                             .globals = globals,
                                                                             .setup = all.at,
                                                                             .body = body.at,
                                                                             .last = meet,
                                                                             .cluster = copy->cluster});
    size_t shared = (size_t)stage_bytes * copy->stages;
    CHECK(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    struct bench_launch launch = {
        .blocks = copy->blocks, .threads = 32, .rounds = rounds, .dynamic_shared_bytes = shared};
    double cycles = bench_run(bench, kernel, launch, NULL);
    bench_unload(kernel);
    text_free(&body);
    text_free(&all);
    text_free(&tail);
    return cycles / (double)(rounds * copy->stages);
}

static const char load[] =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r62], [%%rd53], %u, [%%r63];";
static const char store[] = "cp.async.bulk.global.shared::cta.bulk_group [%%rd53], [%%r62], %u;";
static const char sum[] = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%%rd53], [%%r62], %u;";

/* Copies without a map: latency of one, bytes per cycle of four in flight, on one SM and on all. The data is in the L2,
 * except at the end. */
static void bulk(struct bench *bench) {
    static const struct {
        const char *name, *format;
        bool is_store;
        const char *waits;
    } kind[] = {{"bulk_load", load, false, NULL},
                {"bulk_store", store, true, "wait_group"},
                {"bulk_store_read", store, true, "wait_group.read"},
                {"bulk_reduce", sum, true, "wait_group"}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned bytes = 16; bytes <= 32768; bytes *= bytes < 128 ? 8 : 4) {
            char name[64], start[256];
            snprintf(start, sizeof start, kind[k].format, bytes);
            struct copy copy = {.start = start,
                                .bytes = bytes,
                                .blocks = 1,
                                .stages = 1,
                                .span = 65536,
                                .is_store = kind[k].is_store,
                                .waits = kind[k].waits};
            snprintf(name, sizeof name, "%s_latency", kind[k].name);
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, measure(bench, &copy));
            snprintf(name, sizeof name, "%s_one_sm", kind[k].name);
            copy.stages = STAGES;
            copy.span = 131072;
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, bytes / measure(bench, &copy));
            snprintf(name, sizeof name, "%s_all_sms", kind[k].name);
            copy.blocks = bench->n_sms;
            if (bytes >= 2048 && bench_wants(bench, name))
                bench_print_number(name, bytes, copy.blocks * bytes / measure(bench, &copy));
            snprintf(name, sizeof name, "%s_dram_all_sms", kind[k].name);
            copy.span = bench->is_quick ? 524288 : 4 << 20;
            if (bytes == 8192 && bench_wants(bench, name))
                bench_print_number(name, bytes, copy.blocks * bytes / measure(bench, &copy));
        }
}

/* Bytes per cycle of copies from the L2, by the number of SMs and by that of neighbours with the same data. */
static void slices(struct bench *bench) {
    static const unsigned parts[] = {132, 16, 8, 4, 2, 1};
    for (unsigned bytes = 8192; bytes <= 32768; bytes *= 4) {
        char name[64], start[256];
        snprintf(start, sizeof start, load, bytes);
        struct copy copy = {.start = start, .bytes = bytes, .stages = STAGES, .span = 131072};
        snprintf(name, sizeof name, "slices_bulk_%u_sms", bytes);
        for (size_t i = 0; i < sizeof parts / sizeof *parts && bench_wants(bench, name); i++) {
            copy.blocks = bench->n_sms / parts[i] ? bench->n_sms / parts[i] : 1;
            bench_print_number(name, copy.blocks, copy.blocks * bytes / measure(bench, &copy));
        }
        snprintf(name, sizeof name, "slices_bulk_%u_shared", bytes);
        copy.blocks = bench->n_sms;
        for (copy.share = 2; copy.share <= 128 && bench_wants(bench, name); copy.share *= 2)
            bench_print_number(name, copy.share, copy.blocks * bytes / measure(bench, &copy));
    }
}

/* A matrix of 16-bit elements with rows of ROW_BYTES, of which a copy takes a box. */
static void upload_map(struct bench *bench, unsigned width, unsigned height, CUtensorMapSwizzle swizzle) {
    CUtensorMap map;
    cuuint64_t dims[2] = {ROW_BYTES / 2, (bench->data_bytes - DATA_AT) / ROW_BYTES}, strides[1] = {ROW_BYTES};
    cuuint32_t box[2] = {width, height}, steps[2] = {1, 1};
    CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)(uintptr_t)(bench->data + DATA_AT),
                                 dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    bench_upload(bench, &map, sizeof map);
}

/* Boxes of a tensor, named by width x height in elements of two bytes. */
static void tensors(struct bench *bench) {
    static const struct {
        unsigned width, height;
        CUtensorMapSwizzle swizzle;
    } box[] = {{8, 1, 0},   {64, 1, 0},   {8, 64, 0},   {64, 8, 3},  {64, 64, 0},
               {64, 64, 3}, {64, 128, 3}, {256, 32, 0}, {8, 256, 0}, {16, 256, 1}};
    for (size_t k = 0; k < sizeof box / sizeof *box; k++) {
        char label[64];
        unsigned bytes = 2 * box[k].width * box[k].height;
        struct copy copy = {
            .start = "add.u32 %r43, %r44, %r45;\ncp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                     "complete_tx::bytes [%r62], [%data, {%r46, %r43}], [%r63];",
            .bytes = bytes,
            .blocks = 1,
            .stages = 1,
            .span = 65536 * 4,
            .row_step = box[k].height};
        snprintf(label, sizeof label, "%ux%u_%u", box[k].width, box[k].height,
                 box[k].swizzle ? 16u << box[k].swizzle : 0);
        if (bench_wants(bench, "tensor_"))
            upload_map(bench, box[k].width, box[k].height, box[k].swizzle);
        if (bench_wants(bench, "tensor_load_latency"))
            bench_print("tensor_load_latency", label, measure(bench, &copy));
        copy.stages = STAGES;
        if (bench_wants(bench, "tensor_load_one_sm"))
            bench_print("tensor_load_one_sm", label, bytes / measure(bench, &copy));
        copy.blocks = bench->n_sms;
        if (bench_wants(bench, "tensor_load_all_sms"))
            bench_print("tensor_load_all_sms", label, copy.blocks * bytes / measure(bench, &copy));
        copy = (struct copy){.start = "add.u32 %r43, %r44, %r45;\ncp.async.bulk.tensor.2d.global.shared::cta.tile."
                                      "bulk_group [%data, {%r46, %r43}], [%r62];",
                             .bytes = bytes,
                             .blocks = 1,
                             .stages = 1,
                             .span = 65536 * 4,
                             .is_store = true,
                             .waits = "wait_group",
                             .row_step = box[k].height};
        if (bench_wants(bench, "tensor_store_latency"))
            bench_print("tensor_store_latency", label, measure(bench, &copy));
        copy.stages = STAGES;
        if (bench_wants(bench, "tensor_store_one_sm"))
            bench_print("tensor_store_one_sm", label, bytes / measure(bench, &copy));
    }
}

/* The first block of each cluster copies to all its blocks. Values are the bytes that arrive in one block per cycle. */
static void multicast(struct bench *bench) {
    for (unsigned cluster = 2; cluster <= 8; cluster *= 2)
        for (unsigned bytes = 2048; bytes <= 32768; bytes *= 4) {
            char start[320], name[64];
            snprintf(start, sizeof start,
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%%r62], "
                     "[%%rd53], %u, [%%r63], %%h0;",
                     bytes);
            struct copy copy = {.start = start,
                                .bytes = bytes,
                                .blocks = cluster,
                                .cluster = cluster,
                                .stages = 1,
                                .span = 131072,
                                .is_multicast = true};
            snprintf(name, sizeof name, "multicast_%u_latency", cluster);
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, measure(bench, &copy));
            copy.stages = STAGES;
            snprintf(name, sizeof name, "multicast_%u_one_cluster", cluster);
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, bytes / measure(bench, &copy));
            copy.blocks = bench->n_sms / cluster * cluster;
            copy.blocks -= copy.blocks > 120 && cluster == 8 ? 8 : 0;
            snprintf(name, sizeof name, "multicast_%u_all_sms", cluster);
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, bytes / measure(bench, &copy));
        }
}

/* Every block copies from its shared memory to that of the next block. */
static void between_blocks(struct bench *bench) {
    for (unsigned cluster = 2; cluster <= 8; cluster *= 2)
        for (unsigned bytes = 128; bytes <= 32768; bytes *= 16) {
            char start[400], name[64];
            snprintf(start, sizeof start,
                     "add.u32 %%r40, %%r55, 1;\nsetp.ge.u32 %%p6, %%r40, %u;\n@%%p6 mov.u32 %%r40, 0;\n"
                     "mapa.shared::cluster.u32 %%r41, %%r62, %%r40;\nmapa.shared::cluster.u32 %%r42, %%r63, %%r40;\n"
                     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%%r41], [%%r60], %u, "
                     "[%%r42];",
                     cluster, bytes);
            struct copy copy = {
                .start = start, .bytes = bytes, .blocks = cluster, .cluster = cluster, .stages = 1, .span = 65536};
            snprintf(name, sizeof name, "block_copy_%u_latency", cluster);
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, measure(bench, &copy));
            copy.stages = STAGES;
            snprintf(name, sizeof name, "block_copy_%u_rate", cluster);
            if (bench_wants(bench, name))
                bench_print_number(name, bytes, bytes / measure(bench, &copy));
        }
}

void bench_copies(struct bench *bench) {
    bulk(bench);
    slices(bench);
    tensors(bench);
    multicast(bench);
    between_blocks(bench);
}
