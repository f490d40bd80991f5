/* The kernels: a copy through a tensor map at an address in global memory, for every rank and mode, and the replacement
 * of each field of a map. One warp executes each.
 *
 * A load counts the bytes that it has completed at its mbarrier. If they are not the expected ones, the kernel finds
 * their number by completing more, 16 at a time. */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>

#include "runner/text.h"

static const char head[] =
    ".version 8.3\n.target sm_90a\n.address_size 64\n"
    ".shared .align 1024 .b8 buffer[20480];\n.shared .align 8 .b64 bar;\n.shared .align 128 .b8 copy[128];\n";

/* Parameters: the map, the global buffer for results (loads) or data (stores), the expected bytes, the offset in shared
 * memory, coordinates, offsets of im2col. */
static const char start[] =
    "(.param .u64 p_map, .param .u64 p_data, .param .u32 p_bytes, .param .u32 p_shared, .param .s32 p_c0,\n"
    ".param .s32 p_c1, .param .s32 p_c2, .param .s32 p_c3, .param .s32 p_c4, .param .u32 p_o0, .param .u32 p_o1,\n"
    ".param .u32 p_o2)\n{\n"
    ".reg .b64 %map, %data, %rd<8>;\n.reg .b32 %bytes, %to, %c<5>, %o<3>, %t<8>, %thread, %status;\n.reg .b16 %h<3>;\n"
    ".reg .pred %p<6>;\n"
    "ld.param.u64 %map, [p_map];\nld.param.u64 %data, [p_data];\ncvta.to.global.u64 %data, %data;\n"
    "ld.param.u32 %bytes, [p_bytes];\nld.param.u32 %t0, [p_shared];\nmov.u32 %to, buffer;\nadd.u32 %to, %to, %t0;\n"
    "ld.param.s32 %c0, [p_c0];\nld.param.s32 %c1, [p_c1];\nld.param.s32 %c2, [p_c2];\nld.param.s32 %c3, [p_c3];\n"
    "ld.param.s32 %c4, [p_c4];\nld.param.u32 %o0, [p_o0];\nld.param.u32 %o1, [p_o1];\nld.param.u32 %o2, [p_o2];\n"
    "cvt.u16.u32 %h0, %o0;\ncvt.u16.u32 %h1, %o1;\ncvt.u16.u32 %h2, %o2;\n"
    "mov.u32 %thread, %tid.x;\nsetp.ne.u32 %p0, %thread, 0;\n";

/* Copies the buffer from or to global memory, one word per thread and step. */
static void add_copy(struct text *text, bool is_load) {
    text_add(text,
             "mov.u32 %%t0, buffer;\nshl.b32 %%t1, %%thread, 2;\nadd.u32 %%t2, %%t0, %%t1;\ncvt.u64.u32 %%rd0, %%t1;\n"
             "add.u64 %%rd0, %%data, %%rd0;\nmov.u32 %%t3, 0;\nC%d:\n",
             is_load);
    text_add(text, is_load ? "ld.global.u32 %%t4, [%%rd0];\nst.shared.u32 [%%t2], %%t4;\n"
                           : "ld.shared.u32 %%t4, [%%t2];\nst.global.u32 [%%rd0], %%t4;\n");
    text_add(text,
             "add.u32 %%t2, %%t2, 128;\nadd.u64 %%rd0, %%rd0, 128;\nadd.u32 %%t3, %%t3, 128;\n"
             "setp.lt.u32 %%p1, %%t3, %d;\n@%%p1 bra C%d;\n",
             SHARED_BYTES, is_load);
}

static void add_coordinates(struct text *text, unsigned rank) {
    text_add(text, "[%%map, {");
    for (unsigned i = 0; i < rank; i++)
        text_add(text, "%s%%c%u", i ? ", " : "", i);
    text_add(text, "}]");
}

static const char wait[] =
    "mov.u32 %t5, 0;\n"
    "WAIT:\nmbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@%p2 bra ARRIVED;\n"
    "nanosleep.u32 100;\nadd.u32 %t5, %t5, 1;\nsetp.lt.u32 %p3, %t5, 3000;\n@%p3 bra WAIT;\n"
    "MORE:\nsetp.eq.u32 %p3, %status, 0;\n@%p3 bra ARRIVED;\n"
    "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;\nsub.u32 %status, %status, 16;\n"
    "mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra MORE;\n"
    "ARRIVED:\n";

static void add_load(struct text *text, unsigned rank, bool is_column) {
    text_add(text, ".visible .entry load_%s_%u%s", is_column ? "column" : "tile", rank, start);
    add_copy(text, true);
    text_add(text, "@%%p0 bra READY;\nmbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
                   "READY:\nfence.proxy.async;\nbar.sync 0;\nmov.u32 %%status, %%bytes;\n@%%p0 bra DONE;\n"
                   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %%bytes;\n");
    text_add(text, "cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes [%%to], ", rank,
             is_column ? "im2col" : "tile");
    add_coordinates(text, rank);
    text_add(text, ", [bar]");
    for (unsigned i = 0; is_column && i + 2 < rank; i++)
        text_add(text, "%s%%h%u%s", i ? ", " : ", {", i, i + 3 == rank ? "}" : "");
    text_add(text, ";\n%s", wait);
    text_add(text, "st.global.u32 [%%data+%d], %%status;\nDONE:\nbar.sync 0;\n", SHARED_BYTES);
    add_copy(text, false);
    text_add(text, "ret;\n}\n");
}

static void add_store(struct text *text, unsigned rank, bool is_column, const char *reduction) {
    text_add(text, ".visible .entry %s_%s_%u%s", reduction ? reduction : "store", is_column ? "column" : "tile", rank,
             start);
    add_copy(text, true);
    text_add(text, "fence.proxy.async;\nbar.sync 0;\n@%%p0 bra DONE;\n");
    if (reduction)
        text_add(text, "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%s.%s.bulk_group ", rank, reduction,
                 is_column ? "im2col_no_offs" : "tile");
    else
        text_add(text, "cp.async.bulk.tensor.%ud.global.shared::cta.%s.bulk_group ", rank,
                 is_column ? "im2col_no_offs" : "tile");
    add_coordinates(text, rank);
    text_add(text, ", [%%to];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE:\nret;\n}\n");
}

/* Replaces one field of the map: the copy in shared memory, which then goes back. */
static void add_replace(struct text *text, const char *name, const char *field, unsigned bits, const char *operands) {
    text_add(text, ".visible .entry replace_%s(.param .u64 p_map, .param .u64 p_value)\n{\n", name);
    text_add(text,
             ".reg .b64 %%map, %%value, %%rd<4>;\n.reg .b32 %%value32, %%t<4>, %%thread;\n.reg .pred %%p0;\n"
             "ld.param.u64 %%map, [p_map];\nld.param.u64 %%value, [p_value];\ncvt.u32.u64 %%value32, %%value;\n"
             "cvta.to.global.u64 %%map, %%map;\nmov.u32 %%thread, %%tid.x;\nshl.b32 %%t0, %%thread, 2;\n"
             "cvt.u64.u32 %%rd0, %%t0;\nadd.u64 %%rd0, %%map, %%rd0;\nmov.u32 %%t1, copy;\nadd.u32 %%t0, %%t0, %%t1;\n"
             "ld.global.u32 %%t2, [%%rd0];\nst.shared.u32 [%%t0], %%t2;\nbar.warp.sync -1;\n"
             "setp.ne.u32 %%p0, %%thread, 0;\n@%%p0 bra ALL;\n"
             "tensormap.replace.tile.%s.shared::cta.b1024.b%u [%%t1], %s;\n"
             "ALL:\nbar.warp.sync -1;\n"
             "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%%map], [%%t1], "
             "128;\nret;\n}\n",
             field, bits, operands);
}

static void add_replacements(struct text *text) {
    char name[64], operands[64];
    add_replace(text, "global_address", "global_address", 64, "%value");
    add_replace(text, "rank", "rank", 32, "%value32");
    static const struct {
        const char *field, *operand;
        unsigned bits, n;
    } fields[] = {{"box_dim", "%value32", 32, 5},
                  {"global_dim", "%value32", 32, 5},
                  {"global_stride", "%value", 64, 4},
                  {"element_stride", "%value32", 32, 5}},
      choices[] = {{"elemtype", "", 32, 13},
                   {"interleave_layout", "", 32, 3},
                   {"swizzle_mode", "", 32, 4},
                   {"fill_mode", "", 32, 2}};
    for (unsigned f = 0; f < 4; f++)
        for (unsigned i = 0; i < fields[f].n; i++) {
            snprintf(name, sizeof name, "%s_%u", fields[f].field, i);
            snprintf(operands, sizeof operands, "%u, %s", i, fields[f].operand);
            add_replace(text, name, fields[f].field, fields[f].bits, operands);
        }
    for (unsigned f = 0; f < 4; f++)
        for (unsigned i = 0; i < choices[f].n; i++) {
            snprintf(name, sizeof name, "%s_%u", choices[f].field, i);
            snprintf(operands, sizeof operands, "%u", i);
            add_replace(text, name, choices[f].field, choices[f].bits, operands);
        }
}

char *kernel_text(void) {
    struct text text = {0};
    text_add(&text, "%s", head);
    for (unsigned rank = 1; rank <= 5; rank++)
        for (int is_column = 0; is_column <= (rank >= 3); is_column++) {
            add_load(&text, rank, is_column);
            add_store(&text, rank, is_column, NULL);
            for (unsigned r = 0; r < N_REDUCTIONS; r++)
                add_store(&text, rank, is_column, reduction_names[r]);
        }
    add_replacements(&text);
    return text.data;
}
