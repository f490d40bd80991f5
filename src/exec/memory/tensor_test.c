/* Tensor copies: where each element of a box lies in shared memory, on paper. tests/tensor compares random boxes with
 * an H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/cta.h"
#include "exec/internal.h"
#include "exec/tensor_map.h"

/* Device memory: the map, then the tensor, whose word i is i at the start of each test. */
enum { MAP = 0x10000, TENSOR = MAP + 4096, MEMORY_BYTES = 8192, WORDS = 1024, BOX_BYTES = 2048 };

struct machine {
    struct ptx_module *module;
    struct exec_program *program;
    struct exec_allocation allocation;
    struct exec_memory memory;
    struct exec_grid grid;
    struct exec_cta *cta;
    struct exec_context cx;
    _Alignas(128) unsigned char data[MEMORY_BYTES];
    uint64_t parameter;
};

static struct machine m;

static uint32_t *tensor(void) { return (uint32_t *)(m.data + (TENSOR - MAP)); }
static const uint32_t *box(void) { return (const uint32_t *)m.cta->shared; }

/* A tensor of 8 columns and 16 rows of words, and a box of 4 x 2. */
static struct exec_tensor_map words(void) {
    return (struct exec_tensor_map){.address = TENSOR,
                                    .stride = {32},
                                    .last = {7, 15},
                                    .magic = EXEC_TENSOR_MAGIC,
                                    .box = {4, 2},
                                    .step = {1, 1},
                                    .rank = 2,
                                    .type = EXEC_TENSOR_U32};
}

static int start(void **state) {
    (void)state;
    memset(&m, 0, sizeof m);
    for (uint32_t i = 0; i < WORDS; i++)
        tensor()[i] = i;
    return 0;
}

static void close_program(void) {
    if (m.cta)
        exec_cta_free(m.cta);
    free(m.cx.async.rows.row);
    exec_program_free(m.program);
    ptx_module_free(m.module);
    m.cta = NULL;
    m.program = NULL;
    m.module = NULL;
}

static int end(void **state) {
    (void)state;
    close_program();
    return 0;
}

/* Executes instructions on one thread; %d1 is the map's address. Box words that nothing writes are 0xeeeeeeee. */
static void run(const struct exec_tensor_map *map, const char *body) {
    char text[2048];
    struct ptx_messages messages = {0};
    close_program();
    memcpy(m.data, map, sizeof *map);
    snprintf(text, sizeof text,
             ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".shared .align 128 .b8 box[%d]; .shared .align 8 .b64 bar; .reg .b64 %%d<4>; .reg .b32 %%r<4>;\n"
             "mov.u32 %%r1, box; ld.param.u64 %%d1, [p]; mbarrier.init.shared.b64 [bar], 1;\n%s\nret;\n}\n",
             BOX_BYTES, body);
    m.module = ptx_parse("k.ptx", text, strlen(text), &messages);
    m.program = m.module ? exec_link(m.module, ptx_find_function(m.module, "k"), NULL, NULL, &messages) : NULL;
    if (!m.program)
        fail_msg("%s", messages.text);
    m.parameter = MAP;
    m.allocation = (struct exec_allocation){MAP, MEMORY_BYTES};
    m.memory = (struct exec_memory){.base = MAP,
                                    .limit = MAP + MEMORY_BYTES,
                                    .delta = (ptrdiff_t)((uintptr_t)m.data - MAP),
                                    .allocation = &m.allocation,
                                    .n_allocations = 1};
    m.grid = (struct exec_grid){.program = m.program,
                                .memory = &m.memory,
                                .parameters = (const unsigned char *)&m.parameter,
                                .parameter_bytes = m.program->parameter_bytes,
                                .shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}},
                                .shared_bytes = m.program->dynamic_shared_offset,
                                .grid_id = 1,
                                .n_sms = 1,
                                .warp_size = EXEC_LANES,
                                .warps_per_sm = 1};
    m.cta = exec_cta_new(&m.grid);
    exec_cta_start(m.cta, 0, 0);
    for (uint32_t i = 0; i < BOX_BYTES / 4; i++)
        ((uint32_t *)m.cta->shared)[i] = 0xeeeeeeee;
    m.cx = (struct exec_context){.grid = &m.grid, .lanes = exec_level_table()};
    for (uint32_t pc = 0; m.program->code[pc].kind != EXEC_KIND_EXIT && !m.cx.fault.kind; pc++)
        exec_row_insn(&m.cx, &m.cta->row[0], &m.program->code[pc], 1);
}

#define LOAD(dims, coordinates)                                                                                        \
    "cp.async.bulk.tensor." dims ".shared::cluster.global.mbarrier::complete_tx::bytes [box], [%d1, {" coordinates     \
    "}], [bar];\n"
#define STORE(coordinates) "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {" coordinates "}], [box];\n"
/* Word i of the box is 1000 + i, for the first 8 words. */
#define FILL "st.shared.v4.u32 [box], {1000, 1001, 1002, 1003}; st.shared.v4.u32 [box+16], {1004, 1005, 1006, 1007};\n"

static void expect_box(const uint32_t *expected, uint32_t first, uint32_t n) {
    assert_int_equal(m.cx.fault.kind, EXEC_FAULT_NONE);
    for (uint32_t i = 0; i < n; i++)
        if (box()[first + i] != expected[i])
            fail_msg("word %u is %x, not %x", first + i, box()[first + i], expected[i]);
}
#define EXPECT_BOX(first, ...)                                                                                         \
    expect_box((const uint32_t[]){__VA_ARGS__}, first, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* --- boxes --- */

static void a_box_is_dense_in_shared_memory(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    run(&map, LOAD("2d", "4, 1"));
    EXPECT_BOX(0, 12, 13, 14, 15, 20, 21, 22, 23, 0xeeeeeeee);
}

/* The timing model learns the rows in global memory, the bytes, and the mbarrier: it is after the box. */
static void a_copy_leaves_its_rows_for_the_timing_model(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    run(&map, LOAD("2d", "4, 15"));
    assert_int_equal(m.cx.async.bytes[0], 32); /* those that the mbarrier counts, whether outside or not */
    assert_int_equal(m.cx.async.n_rows[0], 1);
    assert_int_equal(m.cx.async.rows.row[0].address, TENSOR + 15 * 32 + 16);
    assert_int_equal(m.cx.async.rows.row[0].bytes, 16);
    assert_int_equal(m.cx.async.mbarrier[0] & ~1u, BOX_BYTES);
}

static void elements_outside_the_tensor_are_filled(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    run(&map, LOAD("2d", "-4, -1"));
    EXPECT_BOX(0, 0, 0, 0, 0, 0, 0, 0, 0, 0xeeeeeeee);
    map.box[0] = 8;
    run(&map, LOAD("2d", "-4, 15"));
    EXPECT_BOX(0, 0, 0, 0, 0, 120, 121, 122, 123, 0, 0, 0, 0, 0, 0, 0, 0, 0xeeeeeeee);
    map.last[0] = 5;
    map.type = EXEC_TENSOR_F32;
    map.fill = 1;
    run(&map, LOAD("2d", "0, 15"));
    EXPECT_BOX(0, 120, 121, 122, 123, 124, 125, 0x7ff77ff7, 0x7ff77ff7, 0x7ff77ff7);
}

/* Every second row: 4 rows of the tensor are 2 of the box. */
static void a_step_leaves_elements_out(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    map.box[1] = 4;
    map.step[1] = 2;
    run(&map, LOAD("2d", "0, 3"));
    EXPECT_BOX(0, 24, 25, 26, 27, 40, 41, 42, 43, 0xeeeeeeee);
}

/* Rows of 32 bytes are two pieces. Those at odd multiples of 128 bytes, which are rows 4 to 7, change places. */
static void a_swizzle_exchanges_pieces(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    map.box[0] = map.box[1] = 8;
    map.swizzle = 1;
    run(&map, LOAD("2d", "0, 0"));
    EXPECT_BOX(24, 24, 25, 26, 27, 28, 29, 30, 31); /* row 3 */
    EXPECT_BOX(32, 36, 37, 38, 39, 32, 33, 34, 35); /* row 4 */
    /* 128 bytes: rows are 128 bytes apart, and piece p of row r is at p ^ r */
    map.swizzle = 3;
    run(&map, LOAD("2d", "0, 0"));
    EXPECT_BOX(5 * 32 + 4 * 5, 40, 41, 42, 43);
    EXPECT_BOX(5 * 32 + 4 * 4, 44, 45, 46, 47);
    EXPECT_BOX(5 * 32, 0xeeeeeeee);
}

/* 16 bytes of channels are an element. The tensor has 4 pixels, 2 slices and one image: pixel 1 of slice 1 is at 64
 * + 16.
 */
static void an_interleaved_copy_takes_a_slice(void **state) {
    (void)state;
    struct exec_tensor_map map = {.address = TENSOR,
                                  .stride = {64, 128},
                                  .last = {3, 1, 0},
                                  .magic = EXEC_TENSOR_MAGIC,
                                  .box = {2, 2, 1},
                                  .step = {1, 1, 1},
                                  .rank = 3,
                                  .type = EXEC_TENSOR_U32,
                                  .interleave = 1};
    run(&map, LOAD("3d", "1, 1, 0"));
    EXPECT_BOX(0, 20, 21, 22, 23, 24, 25, 26, 27, 0xeeeeeeee);
}

/* Images of 4 pixels with 4 channels. Three pixels from pixel 2 on: the third is the first of the next image. With an
 * offset of 1 they are pixels 3, 4, which is outside, and 1. */
static void im2col_goes_on_in_the_next_image(void **state) {
    (void)state;
    struct exec_tensor_map map = {.address = TENSOR,
                                  .stride = {16, 64},
                                  .last = {3, 3, 1},
                                  .magic = EXEC_TENSOR_MAGIC,
                                  .channels = 4,
                                  .pixels = 3,
                                  .step = {1, 1, 1},
                                  .rank = 3,
                                  .type = EXEC_TENSOR_U32,
                                  .is_column = 1};
#define COLUMN(offset)                                                                                                 \
    "cp.async.bulk.tensor.3d.im2col.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%d1, {0, 2, 0}], "     \
    "[bar], {" offset "};\n"
    run(&map, COLUMN("0"));
    EXPECT_BOX(0, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0xeeeeeeee);
    run(&map, COLUMN("1"));
    EXPECT_BOX(0, 12, 13, 14, 15, 0, 0, 0, 0, 20, 21, 22, 23, 0xeeeeeeee);
    map.upper[0] = -1; /* the bounding box ends before the last pixel, so the second pixel is of the next image */
    run(&map, COLUMN("0"));
    EXPECT_BOX(0, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23, 0xeeeeeeee);
}

/* To 10 bits of mantissa, half away from zero; NaN is 7fffe000. */
static void tf32_is_rounded(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    map.type = EXEC_TENSOR_TF32;
    map.box[1] = 1;
    memcpy(tensor(), (const uint32_t[]){0x3f801000, 0x3f800fff, 0x7f800000, 0x7f800001}, 16);
    run(&map, LOAD("2d", "0, 0"));
    EXPECT_BOX(0, 0x3f802000, 0x3f800000, 0x7f800000, 0x7fffe000);
}

/* --- stores --- */

/* Columns 4 to 7 of rows 15 and 16, which is outside. A tensor of 5 columns has 20 bytes in a row, and a store writes
 * whole pieces of 16. */
static void a_store_leaves_out_rows_outside_but_no_part_of_a_piece(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    map.last[0] = 4;
    run(&map, FILL STORE("4, 15"));
    assert_int_equal(m.cx.fault.kind, EXEC_FAULT_NONE);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(tensor()[120 + i], 120 + i);
        assert_int_equal(tensor()[124 + i], 1000 + i);
        assert_int_equal(tensor()[132 + i], 132 + i);
    }
    map.last[0] = 3;
    run(&map, FILL STORE("4, 0"));
    assert_int_equal(tensor()[4], 4);
}

static void a_reduction_adds_to_the_tensor(void **state) {
    (void)state;
    struct exec_tensor_map map = words();
    run(&map, FILL "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%d1, {0, 1}], [box];\n");
    assert_int_equal(m.cx.fault.kind, EXEC_FAULT_NONE);
    assert_int_equal(tensor()[8], 1008);
    assert_int_equal(tensor()[19], 1007 + 19);
    assert_int_equal(tensor()[12], 12);
}

/* --- faults --- */

static void expect_fault(const struct exec_tensor_map *map, const char *body, const char *detail) {
    run(map, body);
    assert_int_equal(m.cx.fault.kind, EXEC_FAULT_MISALIGNED);
    assert_string_equal(m.cx.fault.detail, detail);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(box()[i] == 0xeeeeeeee || box()[i] == 1000 + i);
}

static void a_copy_that_does_not_fit_its_map_is_a_fault(void **state) {
    (void)state;
    struct exec_tensor_map map = words(), other = words(), narrow = words();
    other.magic++;
    narrow.type = EXEC_TENSOR_U16;
    expect_fault(&other, LOAD("2d", "0, 0"), "this is not a tensor map");
    expect_fault(&map, LOAD("3d", "0, 0, 0"), "the tensor map has another rank or mode than the instruction");
    expect_fault(&map, LOAD("2d", "1, 0"), "a box begins at a multiple of 16 bytes");
    expect_fault(&map, FILL STORE("-4, 0"), "a box that is stored begins at a negative coordinate");
    expect_fault(&narrow,
                 FILL "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%d1, {0, 0}], [box];\n",
                 "the tensor's type has no such reduction");
}

/* --- tensormap --- */

static void replace_changes_one_field(void **state) {
    (void)state;
    struct exec_tensor_map map = words(), after;
    run(&map, "tensormap.replace.tile.global_dim.global.b1024.b32 [%d1], 1, 3;\n"
              "tensormap.replace.tile.global_stride.global.b1024.b64 [%d1], 0, 64;\n"
              "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 0, 8;\n"
              "tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 9;\n"
              "tensormap.replace.tile.rank.global.b1024.b32 [%d1], 1;\n");
    assert_int_equal(m.cx.fault.kind, EXEC_FAULT_NONE);
    memcpy(&after, m.data, sizeof after);
    map.last[1] = 2;
    map.stride[0] = 64;
    map.box[0] = 8;
    map.type = EXEC_TENSOR_F64; /* number 9 of the instruction, 8 of the driver */
    map.rank = 2;               /* the instruction counts from 0 */
    assert_memory_equal(&after, &map, sizeof map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_box_is_dense_in_shared_memory, start, end),
        cmocka_unit_test_setup_teardown(a_copy_leaves_its_rows_for_the_timing_model, start, end),
        cmocka_unit_test_setup_teardown(elements_outside_the_tensor_are_filled, start, end),
        cmocka_unit_test_setup_teardown(a_step_leaves_elements_out, start, end),
        cmocka_unit_test_setup_teardown(a_swizzle_exchanges_pieces, start, end),
        cmocka_unit_test_setup_teardown(an_interleaved_copy_takes_a_slice, start, end),
        cmocka_unit_test_setup_teardown(im2col_goes_on_in_the_next_image, start, end),
        cmocka_unit_test_setup_teardown(tf32_is_rounded, start, end),
        cmocka_unit_test_setup_teardown(a_store_leaves_out_rows_outside_but_no_part_of_a_piece, start, end),
        cmocka_unit_test_setup_teardown(a_reduction_adds_to_the_tensor, start, end),
        cmocka_unit_test_setup_teardown(a_copy_that_does_not_fit_its_map_is_a_fault, start, end),
        cmocka_unit_test_setup_teardown(replace_changes_one_field, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
