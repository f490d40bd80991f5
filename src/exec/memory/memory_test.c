/* ld, st, cvta, isspacep and their addresses. */
#include "exec/fixture.h"

#include <stdlib.h>

static struct fixture f;

static int setup(void **state) {
    (void)state;
    fixture_open(&f);
    for (unsigned i = 0; i < sizeof(f.device); i++)
        f.device[i] = (unsigned char)(i * 7 + i / 256);
    return 0;
}

static void load(enum ptx_space space, enum ptx_type type, unsigned slot_bits, unsigned n, uint64_t first,
                 uint64_t step) {
    fixture_insn(&f, PTX_OP_LD, space, type);
    f.ptx.vector = (uint8_t)n;
    for (unsigned e = 0; e < n; e++)
        fixture_dst(&f, slot_bits);
    fixture_address(&f, first, step);
    fixture_act(&f, exec_select_memory(&f.form));
}

static void store_words(enum ptx_space space, uint64_t first, uint64_t step) {
    fixture_insn(&f, PTX_OP_ST, space, PTX_U32);
    fixture_address(&f, first, step);
    uint32_t *value = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        value[l] = 1000 + l;
    fixture_act(&f, exec_select_memory(&f.form));
}

static uint32_t word(uint64_t address) {
    uint32_t value;
    memcpy(&value, fixture_at(&f, address), 4);
    return value;
}

static void assert_fault(enum exec_fault_kind kind, unsigned lane, uint64_t address) {
    assert_int_equal(f.cx.fault.kind, kind);
    assert_int_equal(f.cx.fault.lane, lane);
    assert_int_equal(f.cx.fault.address, address);
    assert_true(f.cx.fault.detail[0] != 0);
}

static void neighbouring_words_load_in_lane_order(void **state) {
    (void)state;
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A + 128, 4);
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        assert_int_equal(((uint32_t *)f.dst[0])[l], word(FIXTURE_A + 128 + 4 * l));
        assert_int_equal(f.cx.address[l], FIXTURE_A + 128 + 4 * l);
    }
}

static void the_offset_is_signed_and_added(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_LD, PTX_SPACE_GLOBAL, PTX_U32);
    fixture_dst(&f, 32);
    fixture_address(&f, FIXTURE_A + 256, 4);
    f.o.imm = (uint32_t)-16;
    fixture_act(&f, exec_select_memory(&f.form));
    assert_int_equal(((uint32_t *)f.dst[0])[3], word(FIXTURE_A + 256 - 16 + 12));
}

static void narrow_elements_extend_into_wide_registers(void **state) {
    (void)state;
    for (uint64_t step = 0; step <= 3; step++) { /* uniform, consecutive, scattered */
        fixture_at(&f, FIXTURE_A)[31 * step] = 0x9c;
        load(PTX_SPACE_GLOBAL, PTX_S8, 32, 1, FIXTURE_A, step);
        assert_int_equal(((uint32_t *)f.dst[0])[31], 0xffffff9c);
        load(PTX_SPACE_GLOBAL, PTX_U8, 32, 1, FIXTURE_A, step);
        assert_int_equal(((uint32_t *)f.dst[0])[31], 0x9c);
        load(PTX_SPACE_GLOBAL, PTX_S8, 16, 1, FIXTURE_A, step);
        assert_int_equal(((uint16_t *)f.dst[0])[31], 0xff9c);
        load(PTX_SPACE_GLOBAL, PTX_B8, 16, 1, FIXTURE_A, step);
        assert_int_equal(((uint16_t *)f.dst[0])[31], 0x9c);
        load(PTX_SPACE_GLOBAL, PTX_S8, 64, 1, FIXTURE_A, step);
        assert_int_equal(((uint64_t *)f.dst[0])[31], 0xffffffffffffff9c);
    }
    memcpy(fixture_at(&f, FIXTURE_A), (uint32_t[]){0x80000001}, 4);
    load(PTX_SPACE_GLOBAL, PTX_S32, 64, 1, FIXTURE_A, 0);
    assert_int_equal(((uint64_t *)f.dst[0])[5], 0xffffffff80000001);
    load(PTX_SPACE_GLOBAL, PTX_B32, 64, 1, FIXTURE_A, 0);
    assert_int_equal(((uint64_t *)f.dst[0])[5], 0x80000001);
    load(PTX_SPACE_GLOBAL, PTX_S16, 32, 1, FIXTURE_A + 2, 0);
    assert_int_equal(((uint32_t *)f.dst[0])[5], 0xffff8000);
}

static void vector_elements_go_to_their_registers(void **state) {
    (void)state;
    load(PTX_SPACE_GLOBAL, PTX_F32, 32, 4, FIXTURE_A, 16);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        for (unsigned e = 0; e < 4; e++)
            assert_int_equal(((uint32_t *)f.dst[e])[l], word(FIXTURE_A + 16 * l + 4 * e));
    load(PTX_SPACE_GLOBAL, PTX_U8, 32, 2, FIXTURE_A, 6);
    assert_int_equal(((uint32_t *)f.dst[1])[9], *fixture_at(&f, FIXTURE_A + 6 * 9 + 1));
}

static void vector_registers_of_different_sizes_work(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_LD, PTX_SPACE_GLOBAL, PTX_U8);
    f.ptx.vector = 2;
    fixture_dst(&f, 16);
    fixture_dst(&f, 32);
    fixture_address(&f, FIXTURE_A, 2);
    fixture_act(&f, exec_select_memory(&f.form));
    assert_int_equal(((uint16_t *)f.dst[0])[4], *fixture_at(&f, FIXTURE_A + 8));
    assert_int_equal(((uint32_t *)f.dst[1])[4], *fixture_at(&f, FIXTURE_A + 9));
    fixture_insn(&f, PTX_OP_ST, PTX_SPACE_GLOBAL, PTX_U8);
    f.ptx.vector = 2;
    fixture_address(&f, FIXTURE_B, 2);
    ((uint32_t *)fixture_src(&f, 32))[4] = 0x1234;
    ((uint16_t *)fixture_src(&f, 16))[4] = 0x5678;
    fixture_act(&f, exec_select_memory(&f.form));
    assert_int_equal(word(FIXTURE_B + 8) & 0xffff, 0x7834);
}

static void inactive_lanes_keep_their_registers_and_may_point_anywhere(void **state) {
    (void)state;
    f.o.mask = 0x0000ff00;
    for (uint64_t step = 4; step <= 12; step += 8) {
        fixture_insn(&f, PTX_OP_LD, PTX_SPACE_GLOBAL, PTX_U32);
        fixture_dst(&f, 32);
        fixture_address(&f, FIXTURE_A, step);
        ((uint64_t *)f.src[0])[0] = 1;
        fixture_act(&f, exec_select_memory(&f.form));
        assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
        assert_int_equal(((uint32_t *)f.dst[0])[7], 0xeeeeeeee);
        assert_int_equal(((uint32_t *)f.dst[0])[16], 0xeeeeeeee);
        assert_int_equal(((uint32_t *)f.dst[0])[8], word(FIXTURE_A + 8 * step));
    }
}

static void a_fixed_address_also_serves_some_lanes(void **state) {
    (void)state;
    memcpy(f.parameters + 8, (uint64_t[]){0x1122334455667788}, 8);
    f.o.mask = 0x80000001;
    fixture_insn(&f, PTX_OP_LD, PTX_SPACE_PARAM, PTX_U64);
    fixture_dst(&f, 64);
    fixture_address(&f, 8, 0);
    f.insn.operand[1].base = EXEC_BASE_CONSTANTS;
    fixture_act(&f, exec_select_memory(&f.form));
    assert_int_equal(((uint64_t *)f.dst[0])[31], 0x1122334455667788);
    assert_int_equal(((uint64_t *)f.dst[0])[30], 0xeeeeeeeeeeeeeeee);
}

static void one_instruction_may_touch_several_allocations(void **state) {
    (void)state;
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_B - 64, 4); /* across the border of A and B */
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    assert_int_equal(((uint32_t *)f.dst[0])[31], word(FIXTURE_B + 60));
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_C + 31 * 128, (uint64_t)-128);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 0, FIXTURE_C + 31 * 128);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A, 60);
    assert_int_equal(((uint32_t *)f.dst[0])[31], word(FIXTURE_A + 31 * 60));
}

static void an_access_across_the_end_of_an_allocation_faults(void **state) {
    (void)state;
    f.allocation[2].bytes = 251;
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_C, 8);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 31, FIXTURE_C + 248);
    f.o.mask = 0xf0000000;
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_C, 8);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 31, FIXTURE_C + 248);
    f.o.mask = ~0u;
    exec_forget_allocations(&f.cx);
    f.allocation[2].bytes = 127;
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_C, 4);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 31, FIXTURE_C + 124);
    assert_int_equal(f.cx.fault.bytes, 4);
    assert_non_null(strstr(f.cx.fault.detail, "out of bounds"));
    assert_int_equal(((uint32_t *)f.dst[0])[0], 0xeeeeeeee);
}

static void the_lowest_lane_at_fault_is_named_and_nothing_is_stored(void **state) {
    (void)state;
    uint32_t before = word(FIXTURE_A + 512);
    store_words(PTX_SPACE_GLOBAL, FIXTURE_A + 512, 128);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 12, FIXTURE_A + 512 + 12 * 128);
    assert_int_equal(word(FIXTURE_A + 512), before);
}

static void an_address_below_every_allocation_faults(void **state) {
    (void)state;
    load(PTX_SPACE_GENERIC, PTX_U32, 32, 1, 0, 4);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 0, 0);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, (uint64_t)-64, 4);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 0, (uint64_t)-64);
    f.memory.n_allocations = 0;
    exec_forget_allocations(&f.cx);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A, 4);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 0, FIXTURE_A);
}

static void misaligned_accesses_fault_whatever_their_pattern(void **state) {
    (void)state;
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A + 2, 4);
    assert_fault(EXEC_FAULT_MISALIGNED, 0, FIXTURE_A + 2);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A + 1, 0);
    assert_fault(EXEC_FAULT_MISALIGNED, 0, FIXTURE_A + 1);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A, 6);
    assert_fault(EXEC_FAULT_MISALIGNED, 1, FIXTURE_A + 6);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 4, FIXTURE_A + 8, 16); /* aligned for its elements, not for the vector */
    assert_fault(EXEC_FAULT_MISALIGNED, 0, FIXTURE_A + 8);
    f.o.mask = 0xf0;
    load(PTX_SPACE_SHARED, PTX_U64, 64, 1, 0, 12);
    assert_fault(EXEC_FAULT_MISALIGNED, 5, 60);
}

static enum exec_fault_kind explain(void *user, uint64_t address, uint32_t bytes, char *text, size_t size) {
    (void)user;
    snprintf(text, size, "freed block, %u bytes at %llx", bytes, (unsigned long long)address);
    return EXEC_FAULT_USE_AFTER_FREE;
}

static void device_memory_explains_its_faults(void **state) {
    (void)state;
    f.memory.explain = explain;
    load(PTX_SPACE_GLOBAL, PTX_U64, 64, 1, FIXTURE_C + 1024, 8);
    assert_fault(EXEC_FAULT_USE_AFTER_FREE, 0, FIXTURE_C + 1024);
    assert_string_equal(f.cx.fault.detail, "freed block, 8 bytes at 7f0000001400");
}

static void shared_memory_has_bounds(void **state) {
    (void)state;
    store_words(PTX_SPACE_SHARED, 512, 4);
    assert_int_equal(((uint32_t *)f.shared)[128 + 31], 1031);
    store_words(PTX_SPACE_SHARED, 1024 - 64, 4);
    assert_fault(EXEC_FAULT_SHARED_BOUNDS, 16, 1024);
    load(PTX_SPACE_GENERIC, PTX_U32, 32, 1, EXEC_SHARED_WINDOW + 512, 4);
    assert_int_equal(((uint32_t *)f.dst[0])[31], 1031);
    load(PTX_SPACE_GENERIC, PTX_U32, 32, 1, EXEC_SHARED_WINDOW + 512, 32);
    assert_fault(EXEC_FAULT_SHARED_BOUNDS, 16, 1024);
}

static void local_memory_is_each_threads_own(void **state) {
    (void)state;
    store_words(PTX_SPACE_LOCAL, 8, 0);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        assert_memory_equal(f.local + l * FIXTURE_LOCAL + 8, &(uint32_t){1000 + l}, 4);
    load(PTX_SPACE_GENERIC, PTX_U32, 32, 1, EXEC_LOCAL_WINDOW + 8, 0);
    assert_int_equal(((uint32_t *)f.dst[0])[17], 1017);
    load(PTX_SPACE_LOCAL, PTX_U32, 32, 1, 0, 16);
    assert_fault(EXEC_FAULT_LOCAL_BOUNDS, 16, 256);
}

static void local_addresses_may_come_from_32_bit_frames(void **state) {
    (void)state;
    memcpy(f.local + 3 * FIXTURE_LOCAL + 44, &(uint32_t){77}, 4);
    fixture_insn(&f, PTX_OP_LD, PTX_SPACE_LOCAL, PTX_U32);
    fixture_dst(&f, 32);
    uint32_t *frame = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        frame[l] = 32;
    f.o.imm = 12;
    fixture_act(&f, exec_select_memory(&f.form));
    assert_int_equal(((uint32_t *)f.dst[0])[3], 77);
    assert_int_equal(((uint32_t *)f.dst[0])[4], 0);
}

static void kernel_parameters_are_read_only(void **state) {
    (void)state;
    memcpy(f.parameters + 12, &(uint32_t){55}, 4);
    load(PTX_SPACE_GENERIC, PTX_U32, 32, 1, EXEC_PARAM_WINDOW + 12, 0);
    assert_int_equal(((uint32_t *)f.dst[0])[8], 55);
    load(PTX_SPACE_PARAM, PTX_U32, 32, 1, 64, 0);
    assert_fault(EXEC_FAULT_ILLEGAL_ADDRESS, 0, 64);
    store_words(PTX_SPACE_GENERIC, EXEC_PARAM_WINDOW + 12, 0);
    assert_fault(EXEC_FAULT_READ_ONLY, 0, 12);
}

static void generic_addresses_may_mix_spaces_in_one_instruction(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_ST, PTX_SPACE_GENERIC, PTX_U32);
    fixture_address(&f, FIXTURE_A, 4);
    uint64_t *address = (uint64_t *)f.src[0];
    for (unsigned l = 0; l < EXEC_LANES; l += 3)
        address[l] = EXEC_SHARED_WINDOW + 4 * l;
    for (unsigned l = 1; l < EXEC_LANES; l += 3)
        address[l] = EXEC_LOCAL_WINDOW + 4;
    uint32_t *value = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        value[l] = 2000 + l;
    fixture_act(&f, exec_select_memory(&f.form));
    assert_int_equal(((uint32_t *)f.shared)[3], 2003);
    assert_memory_equal(f.local + 4 * FIXTURE_LOCAL + 4, &(uint32_t){2004}, 4);
    assert_int_equal(word(FIXTURE_A + 20), 2005);
}

static void lanes_that_write_one_place_leave_the_last_value(void **state) {
    (void)state;
    store_words(PTX_SPACE_GLOBAL, FIXTURE_A, 0);
    assert_int_equal(word(FIXTURE_A), 1031);
    f.o.mask = 0x00ff0000;
    store_words(PTX_SPACE_GLOBAL, FIXTURE_A, 0);
    assert_int_equal(word(FIXTURE_A), 1023);
}

static void scattered_threads_reach_their_own_memory(void **state) {
    (void)state;
    static struct exec_row other;
    static struct exec_block other_block;
    static unsigned char shared[FIXTURE_SHARED], local[EXEC_LANES * FIXTURE_LOCAL];
    other_block = (struct exec_block){.grid = &f.grid, .shared = shared};
    other = (struct exec_row){.base = {f.row.base[EXEC_BASE_REGISTERS]}, .block = &other_block, .local = local};
    static struct exec_threads threads;
    exec_use_threads(&f.cx, &threads);
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        exec_threads_put(&threads, l, l & 1 ? &other : &f.row, 31 - l);
    }
    store_words(PTX_SPACE_SHARED, 0, 4);
    assert_int_equal(((uint32_t *)shared)[5], 1005);
    assert_int_equal(((uint32_t *)f.shared)[5], 0);
    assert_int_equal(((uint32_t *)f.shared)[6], 1006);
    store_words(PTX_SPACE_GENERIC, EXEC_LOCAL_WINDOW + 16, 0);
    assert_memory_equal(local + (31 - 5) * FIXTURE_LOCAL + 16, &(uint32_t){1005}, 4);
    assert_memory_equal(f.local + (31 - 6) * FIXTURE_LOCAL + 16, &(uint32_t){1006}, 4);
    load(PTX_SPACE_GLOBAL, PTX_U32, 32, 1, FIXTURE_A, 4);
    assert_int_equal(((uint32_t *)f.dst[0])[9], word(FIXTURE_A + 36));
}

/* Compares every pattern of addresses with one lane at a time. */
static void any_pattern_of_addresses_equals_single_lanes(void **state) {
    (void)state;
    static const enum ptx_type types[] = {PTX_U8, PTX_S16, PTX_U32, PTX_B64};
    static const uint64_t windows[] = {FIXTURE_A, EXEC_SHARED_WINDOW, EXEC_LOCAL_WINDOW, FIXTURE_B};
    srand(1);
    for (unsigned round = 0; round < 4000; round++) {
        enum ptx_type type = types[rand() % 4];
        unsigned n = 1u << rand() % 3, bytes = ptx_type_bits(type) / 8;
        uint64_t expected[4][EXEC_LANES], step = (uint64_t)(rand() % 4) * bytes * n;
        bool is_random = rand() % 3 == 0;
        f.o.mask = rand() % 2 ? ~0u : (uint32_t)rand() | 1u << rand() % 32;
        fixture_insn(&f, PTX_OP_LD, PTX_SPACE_GENERIC, type);
        f.ptx.vector = (uint8_t)n;
        for (unsigned e = 0; e < n; e++)
            fixture_dst(&f, 64);
        if (type == PTX_B64 && n == 4)
            continue;
        fixture_address(&f, windows[rand() % 4], step);
        uint64_t *address = (uint64_t *)f.src[0];
        for (unsigned l = 0; is_random && l < EXEC_LANES; l++)
            address[l] = windows[rand() % 4] + (uint64_t)(rand() % 8) * bytes * n;
        memset(expected, 0xee, sizeof(expected));
        bool faults = false;
        EXEC_FOR_ACTIVE(l, f.o.mask) {
            const unsigned char *p = exec_host_at(&f.cx, l, PTX_SPACE_GENERIC, address[l], bytes * n, false);
            faults |= !p;
            for (unsigned e = 0; p && e < n; e++) {
                int64_t value = 0;
                memcpy(&value, p + e * bytes, bytes);
                expected[e][l] = (uint64_t)(type == PTX_S16 ? (int16_t)value : value);
            }
        }
        f.cx.fault.kind = EXEC_FAULT_NONE;
        fixture_act(&f, exec_select_memory(&f.form));
        assert_int_equal(f.cx.fault.kind != EXEC_FAULT_NONE, faults);
        for (unsigned e = 0; !faults && e < n; e++)
            assert_memory_equal(f.dst[e], expected[e], sizeof(expected[e]));
    }
}

static void forms_that_mean_nothing_are_refused(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_ST, PTX_SPACE_CONST, PTX_U32);
    fixture_src(&f, 64);
    fixture_src(&f, 32);
    assert_null(exec_select_memory(&f.form));
    struct ptx_variable parameter = {.space = PTX_SPACE_PARAM};
    struct ptx_function kernel = {.is_entry = true, .parameter = &parameter, .n_parameters = 1};
    parameter.owner = &kernel;
    f.ptx.space = PTX_SPACE_PARAM;
    f.operand[0].variable = &parameter;
    assert_null(exec_select_memory(&f.form));
    kernel.is_entry = false;
    assert_non_null(exec_select_memory(&f.form));
    fixture_insn(&f, PTX_OP_LD, PTX_SPACE_GLOBAL, PTX_U64);
    fixture_dst(&f, 32); /* the register is too small */
    fixture_src(&f, 64);
    assert_null(exec_select_memory(&f.form));
    fixture_insn(&f, PTX_OP_LD, PTX_SPACE_GLOBAL, PTX_B128);
    fixture_dst(&f, 64);
    fixture_src(&f, 64);
    assert_null(exec_select_memory(&f.form));
}

static uint64_t convert(enum ptx_space space, bool is_to, uint64_t address) {
    fixture_insn(&f, PTX_OP_CVTA, space, PTX_U64);
    if (is_to)
        fixture_modifier(&f, PTX_MOD_TO);
    fixture_dst(&f, 64);
    fixture_address(&f, address, 1);
    fixture_act(&f, exec_select_memory(&f.form));
    return ((uint64_t *)f.dst[0])[2] - 2;
}

static void cvta_moves_between_a_space_and_generic_addresses(void **state) {
    (void)state;
    assert_int_equal(convert(PTX_SPACE_GLOBAL, false, FIXTURE_A), FIXTURE_A);
    assert_int_equal(convert(PTX_SPACE_CONST, true, FIXTURE_A), FIXTURE_A);
    assert_int_equal(convert(PTX_SPACE_SHARED, false, 64), EXEC_SHARED_WINDOW + 64);
    assert_int_equal(convert(PTX_SPACE_SHARED, true, EXEC_SHARED_WINDOW + 64), 64);
    assert_int_equal(convert(PTX_SPACE_LOCAL, false, 8), EXEC_LOCAL_WINDOW + 8);
    assert_int_equal(convert(PTX_SPACE_LOCAL, true, EXEC_LOCAL_WINDOW + 8), 8);
    assert_int_equal(convert(PTX_SPACE_PARAM, false, 8), EXEC_PARAM_WINDOW + 8);
    assert_int_equal(convert(PTX_SPACE_PARAM, true, EXEC_PARAM_WINDOW + 8), 8);
    f.o.mask = 1;
    assert_int_equal(convert(PTX_SPACE_SHARED, false, 64), 0xeeeeeeeeeeeeeeee - 2);
}

static uint32_t spaces_found(enum ptx_space space) {
    fixture_insn(&f, PTX_OP_ISSPACEP, space, PTX_NO_TYPE);
    fixture_dst(&f, 1);
    uint64_t *address = fixture_src(&f, 64);
    memset(address, 0, sizeof(f.src[0]));
    address[0] = FIXTURE_A;
    address[1] = EXEC_SHARED_WINDOW + 4;
    address[2] = EXEC_LOCAL_WINDOW;
    address[3] = EXEC_PARAM_WINDOW + EXEC_WINDOW_BYTES - 1;
    f.o.mask = 15;
    fixture_act(&f, exec_select_memory(&f.form));
    return *(uint32_t *)f.dst[0];
}

static void isspacep_tells_the_windows_apart(void **state) {
    (void)state;
    assert_int_equal(spaces_found(PTX_SPACE_GLOBAL), 0xeeeeeee1);
    assert_int_equal(spaces_found(PTX_SPACE_SHARED), 0xeeeeeee2);
    assert_int_equal(spaces_found(PTX_SPACE_LOCAL), 0xeeeeeee4);
    assert_int_equal(spaces_found(PTX_SPACE_PARAM), 0xeeeeeee8);
}

static void isspacep_tells_constants_from_global_memory(void **state) {
    (void)state;
    struct exec_allocation variable[2] = {{FIXTURE_A - 64, 8}, {FIXTURE_A - 4, 5}};
    f.program.const_variable = variable;
    f.program.n_const_variables = 2;
    assert_int_equal(spaces_found(PTX_SPACE_CONST), 0xeeeeeee1);
    assert_int_equal(spaces_found(PTX_SPACE_GLOBAL), 0xeeeeeee0);
    variable[1].bytes = 4; /* it ends before the address */
    assert_int_equal(spaces_found(PTX_SPACE_CONST), 0xeeeeeee0);
    assert_int_equal(spaces_found(PTX_SPACE_GLOBAL), 0xeeeeeee1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(neighbouring_words_load_in_lane_order, setup),
        cmocka_unit_test_setup(the_offset_is_signed_and_added, setup),
        cmocka_unit_test_setup(narrow_elements_extend_into_wide_registers, setup),
        cmocka_unit_test_setup(vector_elements_go_to_their_registers, setup),
        cmocka_unit_test_setup(vector_registers_of_different_sizes_work, setup),
        cmocka_unit_test_setup(inactive_lanes_keep_their_registers_and_may_point_anywhere, setup),
        cmocka_unit_test_setup(a_fixed_address_also_serves_some_lanes, setup),
        cmocka_unit_test_setup(one_instruction_may_touch_several_allocations, setup),
        cmocka_unit_test_setup(an_access_across_the_end_of_an_allocation_faults, setup),
        cmocka_unit_test_setup(the_lowest_lane_at_fault_is_named_and_nothing_is_stored, setup),
        cmocka_unit_test_setup(an_address_below_every_allocation_faults, setup),
        cmocka_unit_test_setup(misaligned_accesses_fault_whatever_their_pattern, setup),
        cmocka_unit_test_setup(device_memory_explains_its_faults, setup),
        cmocka_unit_test_setup(shared_memory_has_bounds, setup),
        cmocka_unit_test_setup(local_memory_is_each_threads_own, setup),
        cmocka_unit_test_setup(local_addresses_may_come_from_32_bit_frames, setup),
        cmocka_unit_test_setup(kernel_parameters_are_read_only, setup),
        cmocka_unit_test_setup(generic_addresses_may_mix_spaces_in_one_instruction, setup),
        cmocka_unit_test_setup(lanes_that_write_one_place_leave_the_last_value, setup),
        cmocka_unit_test_setup(scattered_threads_reach_their_own_memory, setup),
        cmocka_unit_test_setup(any_pattern_of_addresses_equals_single_lanes, setup),
        cmocka_unit_test_setup(forms_that_mean_nothing_are_refused, setup),
        cmocka_unit_test_setup(cvta_moves_between_a_space_and_generic_addresses, setup),
        cmocka_unit_test_setup(isspacep_tells_the_windows_apart, setup),
        cmocka_unit_test_setup(isspacep_tells_constants_from_global_memory, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
