/* tex, suld, sust, txq and suq on small objects in device memory. */
#include "exec/fixture.h"

#include "exec/float_bits.h"
#include "exec/texture/texture.h"

static struct fixture f;
static struct exec_texture object;

static const struct exec_texture *find(void *user, uint64_t handle) {
    (void)user;
    return handle == 5 ? &object : NULL;
}

static int setup(void **state) {
    (void)state;
    fixture_open(&f);
    f.memory.texture = find;
    /* 4 by 2 texels: 0 10 20 30 / 100 110 120 130 */
    object = (struct exec_texture){.address = FIXTURE_A,
                                   .pitch = 64,
                                   .width = 4,
                                   .height = 2,
                                   .texel = EXEC_TEXEL_F32,
                                   .channels = 1,
                                   .wrap = {EXEC_WRAP_CLAMP, EXEC_WRAP_CLAMP, EXEC_WRAP_CLAMP}};
    for (unsigned y = 0; y < 2; y++)
        for (unsigned x = 0; x < 4; x++)
            memcpy(fixture_at(&f, FIXTURE_A + 64 * y + 4 * x), &(float){(float)(100 * y + 10 * x)}, 4);
    f.o.mask = 1;
    return 0;
}

static void handle(uint64_t value) { *(uint64_t *)fixture_src(&f, 64) = value; }

/* Fetches with lane 0 and leaves the four channels in f.dst. */
static void fetch(bool is_float, bool is_flat, float x, float y) {
    fixture_insn(&f, PTX_OP_TEX, PTX_SPACE_GENERIC, PTX_F32);
    f.ptx.n_types = 2;
    f.ptx.type[1] = is_float ? PTX_F32 : PTX_S32;
    fixture_modifier(&f, is_flat ? PTX_MOD_D2 : PTX_MOD_D1);
    for (unsigned k = 0; k < 4; k++)
        fixture_dst(&f, 32);
    handle(5);
    for (unsigned axis = 0; axis < (is_flat ? 2u : 1u); axis++) {
        float coordinate = axis ? y : x;
        uint32_t *lanes = fixture_src(&f, 32);
        lanes[0] = is_float ? exec_float_bits(coordinate) : (uint32_t)(int32_t)coordinate;
    }
    f.ptx.n_operands = 2;
    f.o.imm = is_flat ? EXEC_GEOMETRY_2D : EXEC_GEOMETRY_1D;
    fixture_act(&f, exec_select_texture(&f.form));
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
}

static uint32_t channel(unsigned k) { return *(uint32_t *)f.dst[k]; }

static void assert_fetches(float x, float y, float expected) {
    fetch(true, true, x, y);
    assert_int_equal(channel(0), exec_float_bits(expected));
}

static void the_nearest_texel_is_the_floor(void **state) {
    (void)state;
    assert_fetches(0.0f, 0.0f, 0);
    assert_fetches(1.99f, 0.99f, 10);
    assert_fetches(2.0f, 1.0f, 120);
    fetch(false, true, 3, 1);
    assert_int_equal(channel(0), exec_float_bits(130));
}

static void clamping_repeats_the_edge(void **state) {
    (void)state;
    assert_fetches(-5.0f, 0.5f, 0);
    assert_fetches(99.0f, 99.0f, 130);
    assert_fetches(NAN, 0.0f, 0);
    assert_fetches(INFINITY, 0.0f, 30);
}

static void normalised_coordinates_may_wrap_and_mirror(void **state) {
    (void)state;
    object.is_normalized_coords = true;
    assert_fetches(0.5f, 0.5f, 120);
    object.wrap[0] = EXEC_WRAP_REPEAT;
    assert_fetches(1.25f, 0, 10);
    assert_fetches(-0.25f, 0, 30);
    object.wrap[0] = EXEC_WRAP_MIRROR;
    assert_fetches(1.0f, 0, 30);
    assert_fetches(1.3f, 0, 20);
    assert_fetches(-0.1f, 0, 0);
    object.is_normalized_coords = false; /* wrapping then means clamping */
    assert_fetches(5.0f, 0, 30);
}

static void the_border_has_its_own_colour(void **state) {
    (void)state;
    object.wrap[0] = EXEC_WRAP_BORDER;
    object.border[0] = 7;
    assert_fetches(-0.5f, 0, 7);
    assert_fetches(4.0f, 0, 7);
    assert_fetches(3.9f, 0, 30);
}

static void linear_filtering_weighs_with_eight_bits(void **state) {
    (void)state;
    object.is_linear = true;
    assert_fetches(0.5f, 0.5f, 0); /* a texel's centre */
    assert_fetches(1.0f, 0.5f, 5);
    assert_fetches(1.75f, 0.5f, 12.5f);
    assert_fetches(1.0f, 1.0f, 55);
    assert_fetches(0.5f + 1.0f / 512, 0.5f, 10.0f / 256); /* half a step rounds up */
    assert_fetches(0.5f + 1.0f / 513, 0.5f, 0);
    assert_fetches(4.0f, 0.5f, 30); /* past the last centre the edge repeats */
    object.wrap[0] = EXEC_WRAP_BORDER;
    assert_fetches(0.0f, 0.5f, 0);
    assert_fetches(4.0f, 0.5f, 15);
}

static void integer_texels_extend_or_become_fractions(void **state) {
    (void)state;
    static const uint8_t bytes[] = {255, 128, 1, 0};
    memcpy(fixture_at(&f, FIXTURE_A), bytes, 4);
    object.texel = EXEC_TEXEL_U8;
    object.channels = 4;
    fetch(true, true, 0, 0);
    assert_int_equal(channel(0), 255);
    assert_int_equal(channel(1), 128);
    object.reads_normalized = true;
    fetch(true, true, 0, 0);
    assert_int_equal(channel(0), exec_float_bits(1.0f));
    assert_int_equal(channel(2), exec_float_bits(1.0f / 255));
    object.texel = EXEC_TEXEL_S8;
    fetch(true, true, 0, 0);
    assert_int_equal(channel(0), exec_float_bits(-1.0f / 127));
    assert_int_equal(channel(1), exec_float_bits(-1.0f));
    object.reads_normalized = false;
    fetch(true, true, 0, 0);
    assert_int_equal(channel(0), 0xffffffff);
    object.texel = EXEC_TEXEL_S16;
    fetch(true, true, 0, 0);
    assert_int_equal(channel(0), 0xffff80ff);
    object.texel = EXEC_TEXEL_F16;
    memcpy(fixture_at(&f, FIXTURE_A), &(uint16_t){0x3c00}, 2);
    fetch(true, true, 0, 0);
    assert_int_equal(channel(0), exec_float_bits(1.0f));
}

static void linear_memory_reads_zero_outside(void **state) {
    (void)state;
    object.is_buffer = true;
    object.height = 0;
    fetch(false, false, 3, 0);
    assert_int_equal(channel(0), exec_float_bits(30));
    fetch(false, false, 4, 0);
    assert_int_equal(channel(0), 0);
    fetch(false, false, -1, 0);
    assert_int_equal(channel(0), 0);
}

static void an_unknown_handle_faults(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_TXQ, PTX_SPACE_GENERIC, PTX_B32);
    fixture_modifier(&f, PTX_MOD_WIDTH);
    fixture_dst(&f, 32);
    handle(6);
    fixture_act(&f, exec_select_texture(&f.form));
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_BAD_TEXTURE);
    assert_int_equal(f.cx.fault.address, 6);
}

static uint32_t query(enum ptx_modifier what) {
    fixture_insn(&f, PTX_OP_SUQ, PTX_SPACE_GENERIC, PTX_B32);
    fixture_modifier(&f, what);
    fixture_dst(&f, 32);
    handle(5);
    fixture_act(&f, exec_select_texture(&f.form));
    return channel(0);
}

static void queries_return_the_size(void **state) {
    (void)state;
    assert_int_equal(query(PTX_MOD_WIDTH), 4);
    assert_int_equal(query(PTX_MOD_HEIGHT), 2);
}

/* suld or sust of two .b32 at (x, y). */
static void access(enum ptx_opcode opcode, enum ptx_modifier bounds, int32_t x, int32_t y) {
    fixture_insn(&f, opcode, PTX_SPACE_GENERIC, PTX_B32);
    f.ptx.vector = 2;
    fixture_modifier(&f, PTX_MOD_B);
    fixture_modifier(&f, PTX_MOD_D2);
    fixture_modifier(&f, bounds);
    if (opcode == PTX_OP_SULD) {
        fixture_dst(&f, 32);
        fixture_dst(&f, 32);
    }
    handle(5);
    *(int32_t *)fixture_src(&f, 32) = x;
    *(int32_t *)fixture_src(&f, 32) = y;
    if (opcode == PTX_OP_SUST) {
        *(uint32_t *)fixture_src(&f, 32) = 0x11111111;
        *(uint32_t *)fixture_src(&f, 32) = 0x22222222;
    }
    f.o.imm = EXEC_GEOMETRY_2D;
    fixture_act(&f, exec_select_texture(&f.form));
}

static void surfaces_are_addressed_in_bytes(void **state) {
    (void)state;
    access(PTX_OP_SULD, PTX_MOD_TRAP, 8, 1);
    assert_int_equal(channel(0), exec_float_bits(120));
    assert_int_equal(channel(1), exec_float_bits(130));
    assert_int_equal(f.cx.address[0], FIXTURE_A + 72);
    access(PTX_OP_SUST, PTX_MOD_TRAP, 8, 1);
    assert_memory_equal(fixture_at(&f, FIXTURE_A + 72), ((uint32_t[]){0x11111111, 0x22222222}), 8);
}

static void surfaces_trap_clamp_or_read_zero_outside(void **state) {
    (void)state;
    access(PTX_OP_SULD, PTX_MOD_TRAP, 16, 0);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(f.cx.fault.detail, "byte 16 of line 0 of a surface of 16 bytes by 2 lines"));
    access(PTX_OP_SULD, PTX_MOD_TRAP, 0, -1);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
    access(PTX_OP_SULD, PTX_MOD_CLAMP, 48, 7);
    assert_int_equal(channel(0), exec_float_bits(120));
    access(PTX_OP_SULD, PTX_MOD_ZERO, 16, 0);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    assert_int_equal(channel(0), 0);
    access(PTX_OP_SUST, PTX_MOD_ZERO, 16, 0);
    assert_memory_equal(fixture_at(&f, FIXTURE_A + 16), ((uint32_t[]){0, 0}), 8);
    access(PTX_OP_SULD, PTX_MOD_CLAMP, 4, 0);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_MISALIGNED);
}

static void an_access_that_begins_inside_must_end_inside(void **state) {
    (void)state;
    object.texel = EXEC_TEXEL_U8;
    object.width = 15;
    access(PTX_OP_SULD, PTX_MOD_TRAP, 0, 0);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    access(PTX_OP_SULD, PTX_MOD_TRAP, 8, 0);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
}

static void geometries_without_an_implementation_are_refused(void **state) {
    (void)state;
    fetch(true, true, 0, 0);
    f.ptx.modifiers[PTX_MOD_D2 / 64] &= ~(1ull << (PTX_MOD_D2 % 64));
    fixture_modifier(&f, PTX_MOD_D2MS);
    assert_null(exec_select_texture(&f.form));
}

static void integer_coordinates_outside_read_zero(void **state) {
    (void)state;
    fetch(false, true, 4, 1);
    assert_int_equal(channel(0), 0);
    fetch(false, true, 0, -1);
    assert_int_equal(channel(0), 0);
    fetch(false, true, 3, 1);
    assert_int_equal(channel(0), exec_float_bits(130));
    assert_int_equal(channel(3), 0); /* a channel that the format lacks */
}

/* The weights of a plane are 256ths in all: 177 and 107 of 256 make 46, 103, 33 and 74. */
static void corners_share_256_parts(void **state) {
    (void)state;
    struct exec_corners corners = {.n = 0};
    struct exec_sample s = {.dimensions = 2, .coordinate = {1.5f + 177.0f / 256, 0.5f + 107.0f / 256}};
    object.is_linear = true;
    assert_true(exec_add_corners(&f.cx, &object, 0, &s, 256, 0, &corners));
    assert_int_equal(corners.n, 4);
    const uint32_t expected[4] = {46, 103, 33, 74};
    assert_memory_equal(corners.weight, expected, sizeof expected);
}

/* A tie goes to the corner below on the right and away from the one below on the left. */
static void ties_of_weights_stay_in_256_parts(void **state) {
    (void)state;
    struct exec_corners corners = {.n = 0};
    struct exec_sample s = {.dimensions = 2, .coordinate = {2.0f, 0.5f + 143.0f / 256}};
    object.is_linear = true;
    assert_true(exec_add_corners(&f.cx, &object, 0, &s, 256, 0, &corners));
    const uint32_t expected[4] = {57, 56, 71, 72};
    assert_memory_equal(corners.weight, expected, sizeof expected);
}

static struct exec_value blend(enum exec_texel texel, float first, float second, uint32_t weight) {
    struct exec_corners corners = {.n = 2, .weight = {256 - weight, weight}};
    corners.value[0].channel[0] = exec_float_bits(first);
    corners.value[1].channel[0] = exec_float_bits(second);
    object.texel = texel;
    object.reads_normalized = texel != EXEC_TEXEL_F16 && texel != EXEC_TEXEL_F32;
    return exec_blend_corners(&object, &corners);
}

/* Values that an H200 gave. */
static void blends_round_as_a_gpu_does(void **state) {
    (void)state;
    assert_int_equal(blend(EXEC_TEXEL_F32, -0.18833518f, 0.877144337f, 39).channel[0], exec_float_bits(-0.026016036f));
    assert_int_equal(blend(EXEC_TEXEL_F16, -0.00143814087f, -0.148925781f, 2).channel[0],
                     exec_float_bits(-1356 * 0x1p-19f)); /* the small one loses bits */
    assert_int_equal(blend(EXEC_TEXEL_U16, 30000 / 65535.0f, 30001 / 65535.0f, 128).channel[0],
                     exec_float_bits(30001 / 65535.0f));
    assert_int_equal(blend(EXEC_TEXEL_S16, -30000 / 32767.0f, -30001 / 32767.0f, 128).channel[0],
                     exec_float_bits(-30000 / 32767.0f));
    assert_int_equal(blend(EXEC_TEXEL_F32, INFINITY, -INFINITY, 9).channel[0], 0x7fffffff);
    assert_int_equal(blend(EXEC_TEXEL_F32, -1e-40f, -1e-40f, 9).channel[0], 0x80000000);
}

/* 13 texels across: the 21st bit of the coordinate decides. */
static void normalised_coordinates_have_21_bits(void **state) {
    (void)state;
    struct exec_axis axis = {13, EXEC_WRAP_CLAMP, true};
    assert_int_equal(exec_blend_texels(axis, 0x1.cf4ecap-1f).weight, 2883 % 256);
    assert_int_equal(exec_blend_texels(axis, 0x1.b3ec54p-1f).weight, 2706 % 256);
    assert_int_equal(exec_nearest_texel(axis, -0x1p-140f), 0); /* subnormal */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_nearest_texel_is_the_floor, setup),
        cmocka_unit_test_setup(clamping_repeats_the_edge, setup),
        cmocka_unit_test_setup(normalised_coordinates_may_wrap_and_mirror, setup),
        cmocka_unit_test_setup(the_border_has_its_own_colour, setup),
        cmocka_unit_test_setup(linear_filtering_weighs_with_eight_bits, setup),
        cmocka_unit_test_setup(integer_texels_extend_or_become_fractions, setup),
        cmocka_unit_test_setup(linear_memory_reads_zero_outside, setup),
        cmocka_unit_test_setup(an_unknown_handle_faults, setup),
        cmocka_unit_test_setup(queries_return_the_size, setup),
        cmocka_unit_test_setup(surfaces_are_addressed_in_bytes, setup),
        cmocka_unit_test_setup(surfaces_trap_clamp_or_read_zero_outside, setup),
        cmocka_unit_test_setup(an_access_that_begins_inside_must_end_inside, setup),
        cmocka_unit_test_setup(geometries_without_an_implementation_are_refused, setup),
        cmocka_unit_test_setup(integer_coordinates_outside_read_zero, setup),
        cmocka_unit_test_setup(corners_share_256_parts, setup),
        cmocka_unit_test_setup(ties_of_weights_stay_in_256_parts, setup),
        cmocka_unit_test_setup(blends_round_as_a_gpu_does, setup),
        cmocka_unit_test_setup(normalised_coordinates_have_21_bits, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
