/* atom and red: each operation, and several lanes at one place. */
#include "exec/fixture.h"

#include "exec/float_bits.h"

static struct fixture f;

static int setup(void **state) {
    (void)state;
    fixture_open(&f);
    return 0;
}

/* Runs one lane on memory that holds old. Checks that old is returned, and returns the new value in memory. */
static uint64_t apply(enum ptx_space space, enum ptx_modifier operation, enum ptx_type type, uint64_t old, uint64_t b,
                      uint64_t c) {
    unsigned bits = ptx_type_bits(type);
    uint64_t address = space == PTX_SPACE_SHARED ? 16 : FIXTURE_A + 16, after = 0, returned = 0;
    unsigned char *place = space == PTX_SPACE_SHARED ? f.shared + 16 : fixture_at(&f, address);
    memcpy(place, &old, bits / 8);
    f.o.mask = 2;
    fixture_insn(&f, PTX_OP_ATOM, space, type);
    fixture_modifier(&f, operation);
    fixture_dst(&f, bits);
    fixture_address(&f, address, 0);
    memcpy((char *)fixture_src(&f, bits) + bits / 8, &b, bits / 8);
    if (operation == PTX_MOD_CAS)
        memcpy((char *)fixture_src(&f, bits) + bits / 8, &c, bits / 8);
    fixture_act(&f, exec_select_atomic(&f.form));
    memcpy(&after, place, bits / 8);
    memcpy(&returned, f.dst[0] + bits / 8, bits / 8);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    assert_int_equal(returned, old);
    assert_int_equal(f.dst[0][0], 0xee); /* lane 0 is inactive */
    return after;
}

static uint64_t global(enum ptx_modifier operation, enum ptx_type type, uint64_t old, uint64_t b) {
    return apply(PTX_SPACE_GLOBAL, operation, type, old, b, 0);
}

static void integer_operations_follow_the_manual(void **state) {
    (void)state;
    assert_int_equal(global(PTX_MOD_ADD, PTX_U32, 0xffffffff, 3), 2);
    assert_int_equal(global(PTX_MOD_ADD, PTX_S32, 5, (uint32_t)-7), (uint32_t)-2);
    assert_int_equal(global(PTX_MOD_ADD, PTX_U64, 0xffffffffffffffff, 2), 1);
    assert_int_equal(global(PTX_MOD_INC, PTX_U32, 6, 7), 7);
    assert_int_equal(global(PTX_MOD_INC, PTX_U32, 7, 7), 0);
    assert_int_equal(global(PTX_MOD_INC, PTX_U32, 9, 7), 0);
    assert_int_equal(global(PTX_MOD_DEC, PTX_U32, 0, 7), 7);
    assert_int_equal(global(PTX_MOD_DEC, PTX_U32, 9, 7), 7);
    assert_int_equal(global(PTX_MOD_DEC, PTX_U32, 7, 7), 6);
    assert_int_equal(global(PTX_MOD_MIN, PTX_U32, 0xffffffff, 1), 1);
    assert_int_equal(global(PTX_MOD_MIN, PTX_S32, 0xffffffff, 1), 0xffffffff);
    assert_int_equal(global(PTX_MOD_MAX, PTX_U32, 0xffffffff, 1), 0xffffffff);
    assert_int_equal(global(PTX_MOD_MAX, PTX_S32, 0xffffffff, 1), 1);
    assert_int_equal(global(PTX_MOD_MIN, PTX_U64, (uint64_t)-1, 1), 1);
    assert_int_equal(global(PTX_MOD_MIN, PTX_S64, (uint64_t)-1, 1), (uint64_t)-1);
    assert_int_equal(global(PTX_MOD_MAX, PTX_U64, (uint64_t)-1, 1), (uint64_t)-1);
    assert_int_equal(global(PTX_MOD_MAX, PTX_S64, (uint64_t)-1, 1), 1);
    assert_int_equal(global(PTX_MOD_AND, PTX_B32, 0xff00, 0x0ff0), 0x0f00);
    assert_int_equal(global(PTX_MOD_OR, PTX_B32, 0xff00, 0x0ff0), 0xfff0);
    assert_int_equal(global(PTX_MOD_XOR, PTX_B32, 0xff00, 0x0ff0), 0xf0f0);
    assert_int_equal(global(PTX_MOD_AND, PTX_B64, 0xff00000000, 0x0ff0000000), 0x0f00000000);
    assert_int_equal(global(PTX_MOD_OR, PTX_B64, 0xff00000000, 0x0ff0000000), 0xfff0000000);
    assert_int_equal(global(PTX_MOD_XOR, PTX_B64, 0xff00000000, 0x0ff0000000), 0xf0f0000000);
    assert_int_equal(global(PTX_MOD_EXCH, PTX_B32, 1, 2), 2);
    assert_int_equal(global(PTX_MOD_EXCH, PTX_B64, 1, 1ull << 40), 1ull << 40);
}

static void compare_and_swap_needs_equality(void **state) {
    (void)state;
    assert_int_equal(apply(PTX_SPACE_GLOBAL, PTX_MOD_CAS, PTX_B32, 4, 4, 9), 9);
    assert_int_equal(apply(PTX_SPACE_GLOBAL, PTX_MOD_CAS, PTX_B32, 4, 5, 9), 4);
    assert_int_equal(apply(PTX_SPACE_SHARED, PTX_MOD_CAS, PTX_B64, 4ull << 32, 4ull << 32, 9), 9);
    assert_int_equal(apply(PTX_SPACE_GLOBAL, PTX_MOD_CAS, PTX_B64, 4ull << 32, 5ull << 32, 9), 4ull << 32);
    assert_int_equal(apply(PTX_SPACE_GLOBAL, PTX_MOD_CAS, PTX_B16, 0xffff, 0xffff, 9), 9);
    assert_int_equal(apply(PTX_SPACE_GLOBAL, PTX_MOD_CAS, PTX_B16, 0xffff, 0xfffe, 9), 0xffff);
}

static void single_precision_sums_flush_in_global_memory_only(void **state) {
    (void)state;
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x3f800000, 0x40000000), 0x40400000);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x00000001, 0x00000001), 0);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x80000001, 0x80000001), 0x80000000);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x00800001, 0x80800000), 0); /* the difference is subnormal */
    assert_int_equal(apply(PTX_SPACE_SHARED, PTX_MOD_ADD, PTX_F32, 1, 1, 0), 2);
    assert_int_equal(apply(PTX_SPACE_SHARED, PTX_MOD_ADD, PTX_F32, 0x00800001, 0x80800000, 0), 1);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x7f800000, 0xff800000), 0x7fffffff);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x3f800000, 0x33800000), 0x3f800000); /* a tie goes to even */
    assert_int_equal(global(PTX_MOD_ADD, PTX_F32, 0x3f800001, 0x33800000), 0x3f800002);
}

static void a_generic_sum_flushes_where_it_points_to_global_memory(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_RED, PTX_SPACE_GENERIC, PTX_F32);
    fixture_modifier(&f, PTX_MOD_ADD);
    fixture_address(&f, FIXTURE_A, 4);
    ((uint64_t *)f.src[0])[1] = EXEC_SHARED_WINDOW + 4;
    uint32_t *b = fixture_src(&f, 32);
    b[0] = b[1] = 5;
    f.o.mask = 3;
    fixture_act(&f, exec_select_atomic(&f.form));
    assert_int_equal(*(uint32_t *)fixture_at(&f, FIXTURE_A), 0);
    assert_int_equal(((uint32_t *)f.shared)[1], 5);
}

static void double_precision_sums_keep_subnormals(void **state) {
    (void)state;
    assert_int_equal(global(PTX_MOD_ADD, PTX_F64, 0x3ff0000000000000, 0x4000000000000000), 0x4008000000000000);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F64, 1, 2), 3);
}

static void half_precision_sums_round_to_nearest_even(void **state) {
    (void)state;
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x3c00, 0x3c00), 0x4000);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x3c00, 0x1000), 0x3c00); /* 1 + 2^-11 */
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x3c01, 0x1000), 0x3c02);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x0001, 0x0001), 0x0002);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x0400, 0x8001), 0x03ff);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x7bff, 0x7bff), 0x7c00);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16, 0x7c00, 0xfc00), 0x7fff);
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16X2, 0x3c007bff, 0x3c004c00),
                     0x40007c00); /* 65504 + 16 is a tie, to infinity */
    assert_int_equal(global(PTX_MOD_ADD, PTX_F16X2, 0x3c007bff, 0x3c004bff), 0x40007bff);
    assert_int_equal(global(PTX_MOD_ADD, PTX_BF16, 0x3f80, 0x3b80), 0x3f80); /* 1 + 2^-8 */
    assert_int_equal(global(PTX_MOD_ADD, PTX_BF16, 0x3f81, 0x3b80), 0x3f82);
    assert_int_equal(global(PTX_MOD_ADD, PTX_BF16X2, 0x3f807f7f, 0x3f807f7f), 0x40007f80);
    assert_int_equal(global(PTX_MOD_ADD, PTX_BF16, 0x0001, 0x0001), 0x0002);
}

static void half_precision_values_survive_conversion_to_float_and_back(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        bool is_nan = (bits & 0x7fff) > 0x7c00;
        assert_int_equal(exec_float_to_half(exec_half_to_float((uint16_t)bits)), is_nan ? 0x7fff : bits);
    }
    assert_int_equal(exec_float_to_half(0x1p-25f), 0); /* ties and their neighbours below the smallest value */
    assert_int_equal(exec_float_to_half(0x1.000002p-25f), 1);
    assert_int_equal(exec_float_to_half(0x1.8p-24f), 2);
    assert_int_equal(exec_float_to_half(-0x1.ffcp-15f), 0x8400); /* up into the normal numbers */
}

static void lanes_update_one_place_in_order(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_ATOM, PTX_SPACE_GLOBAL, PTX_U32);
    fixture_modifier(&f, PTX_MOD_ADD);
    fixture_dst(&f, 32);
    fixture_address(&f, FIXTURE_A, 0);
    uint32_t *b = fixture_src(&f, 32), sum = 0;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        b[l] = l + 1;
    fixture_act(&f, exec_select_atomic(&f.form));
    for (unsigned l = 0; l < EXEC_LANES; sum += ++l)
        assert_int_equal(((uint32_t *)f.dst[0])[l], sum);
    assert_int_equal(*(uint32_t *)fixture_at(&f, FIXTURE_A), 528);
}

static void a_reduction_needs_no_destination(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_RED, PTX_SPACE_SHARED, PTX_S32);
    fixture_modifier(&f, PTX_MOD_MAX);
    fixture_address(&f, 0, 4);
    int32_t *b = fixture_src(&f, 32);
    for (int l = 0; l < EXEC_LANES; l++)
        b[l] = l - 16;
    fixture_act(&f, exec_select_atomic(&f.form));
    assert_int_equal(((int32_t *)f.shared)[0], 0);
    assert_int_equal(((int32_t *)f.shared)[31], 15);
}

static void bad_addresses_fault(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_RED, PTX_SPACE_GLOBAL, PTX_U64);
    fixture_modifier(&f, PTX_MOD_ADD);
    fixture_address(&f, FIXTURE_A + 4, 8);
    fixture_src(&f, 64);
    fixture_act(&f, exec_select_atomic(&f.form));
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_MISALIGNED);
}

static void forms_that_ptx_lacks_are_refused(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_RED, PTX_SPACE_GLOBAL, PTX_B32);
    fixture_modifier(&f, PTX_MOD_EXCH);
    fixture_src(&f, 64);
    fixture_src(&f, 32);
    assert_null(exec_select_atomic(&f.form));
    fixture_insn(&f, PTX_OP_RED, PTX_SPACE_CONST, PTX_U32);
    fixture_modifier(&f, PTX_MOD_ADD);
    fixture_src(&f, 64);
    fixture_src(&f, 32);
    assert_null(exec_select_atomic(&f.form));
    f.ptx.space = PTX_SPACE_GLOBAL;
    assert_non_null(exec_select_atomic(&f.form));
    f.ptx.vector = 2;
    assert_null(exec_select_atomic(&f.form));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(integer_operations_follow_the_manual, setup),
        cmocka_unit_test_setup(compare_and_swap_needs_equality, setup),
        cmocka_unit_test_setup(single_precision_sums_flush_in_global_memory_only, setup),
        cmocka_unit_test_setup(a_generic_sum_flushes_where_it_points_to_global_memory, setup),
        cmocka_unit_test_setup(double_precision_sums_keep_subnormals, setup),
        cmocka_unit_test_setup(half_precision_sums_round_to_nearest_even, setup),
        cmocka_unit_test_setup(half_precision_values_survive_conversion_to_float_and_back, setup),
        cmocka_unit_test_setup(lanes_update_one_place_in_order, setup),
        cmocka_unit_test_setup(a_reduction_needs_no_destination, setup),
        cmocka_unit_test_setup(bad_addresses_fault, setup),
        cmocka_unit_test_setup(forms_that_ptx_lacks_are_refused, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
