/* shfl, vote, match, redux, activemask on one row. Expected values follow from the manual's pseudocode. */
#include "exec/fixture.h"

static struct fixture f;

static int setup(void **state) {
    (void)state;
    fixture_open(&f);
    return 0;
}

static void fill(uint32_t *lanes, uint32_t value) {
    for (unsigned l = 0; l < EXEC_LANES; l++)
        lanes[l] = value;
}

/* Shuffles 100 + lane; returns the lanes of d. */
static const uint32_t *shuffle(enum ptx_modifier mode, uint32_t b, uint32_t c, uint32_t members) {
    fixture_insn(&f, PTX_OP_SHFL, PTX_SPACE_GENERIC, PTX_B32);
    fixture_modifier(&f, mode);
    fixture_modifier(&f, PTX_MOD_SYNC);
    fixture_dst(&f, 32);
    fixture_dst(&f, 1);
    uint32_t *a = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        a[l] = 100 + l;
    fill(fixture_src(&f, 32), b);
    fill(fixture_src(&f, 32), c);
    fill(fixture_src(&f, 32), members);
    fixture_act(&f, exec_select_warp(&f.form));
    return (const uint32_t *)f.dst[0];
}

static uint32_t predicate(void) { return *(uint32_t *)f.dst[1]; }

static void shuffles_over_the_whole_row(void **state) {
    (void)state;
    const uint32_t *d = shuffle(PTX_MOD_DOWN, 1, 31, ~0u);
    assert_int_equal(d[0], 101);
    assert_int_equal(d[30], 131);
    assert_int_equal(d[31], 131); /* out of range: its own */
    assert_int_equal(predicate(), 0x7fffffff);
    d = shuffle(PTX_MOD_UP, 2, 0, ~0u);
    assert_int_equal(d[0], 100);
    assert_int_equal(d[1], 101);
    assert_int_equal(d[2], 100);
    assert_int_equal(predicate(), 0xfffffffc);
    d = shuffle(PTX_MOD_BFLY, 16, 31, ~0u);
    assert_int_equal(d[0], 116);
    assert_int_equal(d[31], 115);
    assert_int_equal(predicate(), 0xffffffff);
    d = shuffle(PTX_MOD_IDX, 5, 31, ~0u);
    assert_int_equal(d[0], 105);
    assert_int_equal(d[31], 105);
    assert_int_equal(predicate(), 0xffffffff);
}

static void only_the_low_five_bits_of_the_amount_count(void **state) {
    (void)state;
    assert_int_equal(shuffle(PTX_MOD_IDX, 0xffffffe3, 31, ~0u)[9], 103);
    assert_int_equal(shuffle(PTX_MOD_DOWN, 33, 31, ~0u)[9], 110);
}

static void segments_keep_to_themselves(void **state) {
    (void)state;
    uint32_t width_8 = (32 - 8) << 8; /* as CUDA's width argument packs it */
    const uint32_t *d = shuffle(PTX_MOD_DOWN, 3, width_8 | 31, ~0u);
    assert_int_equal(d[8], 111);
    assert_int_equal(d[13], 113);
    assert_int_equal(predicate(), 0x1f1f1f1f);
    d = shuffle(PTX_MOD_UP, 3, width_8, ~0u);
    assert_int_equal(d[9], 109);
    assert_int_equal(d[11], 108);
    assert_int_equal(predicate(), 0xf8f8f8f8);
    d = shuffle(PTX_MOD_IDX, 2, width_8 | 31, ~0u);
    assert_int_equal(d[8], 110);
    assert_int_equal(d[31], 126);
    d = shuffle(PTX_MOD_BFLY, 8, width_8 | 31, ~0u);
    assert_int_equal(d[0], 100); /* lane 8 is beyond the segment's end */
    assert_int_equal(d[8], 100);
    assert_int_equal(predicate(), 0xff00ff00);
}

static void a_clamp_bounds_the_source(void **state) {
    (void)state;
    const uint32_t *d = shuffle(PTX_MOD_DOWN, 1, 15, ~0u);
    assert_int_equal(d[14], 115);
    assert_int_equal(d[15], 115);
    assert_int_equal(d[20], 120);
    assert_int_equal(predicate(), 0x00007fff);
}

static void inactive_lanes_are_neither_written_nor_read(void **state) {
    (void)state;
    f.o.mask = 0x0000ffff;
    const uint32_t *d = shuffle(PTX_MOD_DOWN, 4, 31, ~0u);
    assert_int_equal(d[11], 115);
    assert_int_equal(d[12], 0);
    assert_int_equal(d[16], 0xeeeeeeee);
    assert_int_equal(predicate(), 0xeeeeffff);
}

static void groups_with_their_own_member_masks_do_not_mix(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_VOTE, PTX_SPACE_GENERIC, PTX_B32);
    fixture_modifier(&f, PTX_MOD_BALLOT);
    fixture_dst(&f, 32);
    *(uint32_t *)fixture_src(&f, 1) = 0x0f0f0f0f;
    uint32_t *members = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        members[l] = l < 16 ? 0xffff : 0xffff0000;
    fixture_act(&f, exec_select_warp(&f.form));
    assert_int_equal(((uint32_t *)f.dst[0])[0], 0x0f0f);
    assert_int_equal(((uint32_t *)f.dst[0])[31], 0x0f0f0000);
}

static void lanes_outside_the_member_mask_do_not_count(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_VOTE, PTX_SPACE_GENERIC, PTX_B32);
    fixture_modifier(&f, PTX_MOD_BALLOT);
    fixture_dst(&f, 32);
    *(uint32_t *)fixture_src(&f, 1) = ~0u;
    fill(fixture_src(&f, 32), 0x00ff);
    fixture_act(&f, exec_select_warp(&f.form));
    assert_int_equal(((uint32_t *)f.dst[0])[0], 0x00ff);
}

/* Votes over the active lanes, without a member mask; returns the destination's bits. */
static uint32_t vote(enum ptx_modifier mode, uint32_t bits, uint32_t mask, uint32_t imm) {
    f.o.mask = mask;
    fixture_insn(&f, PTX_OP_VOTE, PTX_SPACE_GENERIC, mode == PTX_MOD_BALLOT ? PTX_B32 : PTX_PRED);
    fixture_modifier(&f, mode);
    fixture_dst(&f, mode == PTX_MOD_BALLOT ? 32 : 1);
    *(uint32_t *)fixture_src(&f, 1) = bits;
    f.o.imm = imm;
    fixture_act(&f, exec_select_warp(&f.form));
    return mode == PTX_MOD_BALLOT ? ((uint32_t *)f.dst[0])[__builtin_ctz(mask)] : *(uint32_t *)f.dst[0] & mask;
}

static void votes_count_active_lanes_only(void **state) {
    (void)state;
    assert_int_equal(vote(PTX_MOD_ALL, 0xff, 0xff, 0), 0xff);
    assert_int_equal(vote(PTX_MOD_ALL, 0xfe, 0xff, 0), 0);
    assert_int_equal(vote(PTX_MOD_ANY, 0xff00, 0xff, 0), 0);
    assert_int_equal(vote(PTX_MOD_ANY, 0x01, 0xff, 0), 0xff);
    assert_int_equal(vote(PTX_MOD_UNI, 0xff, 0xff, 0), 0xff);
    assert_int_equal(vote(PTX_MOD_UNI, 0xff00, 0xff, 0), 0xff);
    assert_int_equal(vote(PTX_MOD_UNI, 0x0f, 0xff, 0), 0);
    assert_int_equal(vote(PTX_MOD_BALLOT, 0xff0f, 0x0ff0, 0), 0x0f00);
}

static void a_vote_may_negate_its_predicate(void **state) {
    (void)state;
    assert_int_equal(vote(PTX_MOD_BALLOT, 0xff0f, 0x0ff0, 1), 0x00f0);
    assert_int_equal(vote(PTX_MOD_ALL, 0, 0xff, 1), 0xff);
    assert_int_equal(vote(PTX_MOD_ANY, 0xff, 0xff, 1), 0);
}

static const uint32_t *match(enum ptx_modifier mode, unsigned bits, const uint64_t *values, uint32_t members) {
    fixture_insn(&f, PTX_OP_MATCH, PTX_SPACE_GENERIC, bits == 64 ? PTX_B64 : PTX_B32);
    fixture_modifier(&f, mode);
    fixture_dst(&f, 32);
    if (mode == PTX_MOD_ALL)
        fixture_dst(&f, 1);
    unsigned char *a = fixture_src(&f, bits);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        memcpy(a + l * bits / 8, &values[l], bits / 8);
    fill(fixture_src(&f, 32), members);
    fixture_act(&f, exec_select_warp(&f.form));
    return (const uint32_t *)f.dst[0];
}

static void match_any_finds_the_lanes_with_the_same_value(void **state) {
    (void)state;
    uint64_t values[EXEC_LANES];
    for (unsigned l = 0; l < EXEC_LANES; l++)
        values[l] = (uint64_t)(l % 3) << 32 | 7;
    const uint32_t *d = match(PTX_MOD_ANY, 64, values, ~0u);
    assert_int_equal(d[0], 0x49249249);
    assert_int_equal(d[4], 0x92492492);
    assert_int_equal(d[31], 0x92492492);
    assert_int_equal(match(PTX_MOD_ANY, 32, values, ~0u)[4], ~0u); /* the low halves are equal */
    f.o.mask = 0xffff;
    assert_int_equal(match(PTX_MOD_ANY, 64, values, 0xffff)[0], 0x9249);
}

static void match_all_needs_one_value(void **state) {
    (void)state;
    uint64_t values[EXEC_LANES] = {0};
    assert_int_equal(match(PTX_MOD_ALL, 64, values, ~0u)[3], ~0u);
    assert_int_equal(predicate(), ~0u);
    values[20] = 1ull << 40;
    assert_int_equal(match(PTX_MOD_ALL, 64, values, ~0u)[3], 0);
    assert_int_equal(predicate(), 0);
    f.o.mask = 0xffff;
    assert_int_equal(match(PTX_MOD_ALL, 64, values, 0xffff)[3], 0xffff);
    assert_int_equal(predicate(), 0xeeeeffff);
}

static uint32_t reduce(enum ptx_modifier operation, enum ptx_type type, uint32_t mask) {
    f.o.mask = mask;
    fixture_insn(&f, PTX_OP_REDUX, PTX_SPACE_GENERIC, type);
    fixture_modifier(&f, operation);
    fixture_dst(&f, 32);
    uint32_t *a = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        a[l] = l * 0x01000001 - 0x08000000;
    fill(fixture_src(&f, 32), mask);
    fixture_act(&f, exec_select_warp(&f.form));
    return ((uint32_t *)f.dst[0])[__builtin_ctz(mask)];
}

static void reductions_combine_the_members(void **state) {
    (void)state;
    assert_int_equal(reduce(PTX_MOD_ADD, PTX_S32, ~0u), 496u * 0x01000001 - 32 * 0x08000000u);
    assert_int_equal(reduce(PTX_MOD_ADD, PTX_U32, 0x6), 3u * 0x01000001 - 0x10000000u);
    assert_int_equal(reduce(PTX_MOD_MIN, PTX_S32, ~0u), 0xf8000000);
    assert_int_equal(reduce(PTX_MOD_MIN, PTX_U32, ~0u), 8);
    assert_int_equal(reduce(PTX_MOD_MAX, PTX_S32, ~0u), 31 * 0x01000001 - 0x08000000);
    assert_int_equal(reduce(PTX_MOD_MAX, PTX_U32, ~0u), 0xff000007);
    assert_int_equal(reduce(PTX_MOD_AND, PTX_B32, 0x6), 0xf9000001 & 0xfa000002);
    assert_int_equal(reduce(PTX_MOD_OR, PTX_B32, 0x6), 0xfb000003);
    assert_int_equal(reduce(PTX_MOD_XOR, PTX_B32, 0x6), 0x03000003);
}

static void the_active_mask_names_the_executing_lanes(void **state) {
    (void)state;
    f.o.mask = 0x00f0;
    fixture_insn(&f, PTX_OP_ACTIVEMASK, PTX_SPACE_GENERIC, PTX_B32);
    fixture_dst(&f, 32);
    fixture_act(&f, exec_select_warp(&f.form));
    assert_int_equal(((uint32_t *)f.dst[0])[4], 0xf0);
    assert_int_equal(((uint32_t *)f.dst[0])[3], 0xeeeeeeee);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(shuffles_over_the_whole_row, setup),
        cmocka_unit_test_setup(only_the_low_five_bits_of_the_amount_count, setup),
        cmocka_unit_test_setup(segments_keep_to_themselves, setup),
        cmocka_unit_test_setup(a_clamp_bounds_the_source, setup),
        cmocka_unit_test_setup(inactive_lanes_are_neither_written_nor_read, setup),
        cmocka_unit_test_setup(groups_with_their_own_member_masks_do_not_mix, setup),
        cmocka_unit_test_setup(lanes_outside_the_member_mask_do_not_count, setup),
        cmocka_unit_test_setup(votes_count_active_lanes_only, setup),
        cmocka_unit_test_setup(a_vote_may_negate_its_predicate, setup),
        cmocka_unit_test_setup(match_any_finds_the_lanes_with_the_same_value, setup),
        cmocka_unit_test_setup(match_all_needs_one_value, setup),
        cmocka_unit_test_setup(reductions_combine_the_members, setup),
        cmocka_unit_test_setup(the_active_mask_names_the_executing_lanes, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
