/* cond_acc, tree_traverse and progress on one row, and the addresses that cond_acc leaves for the memory system. */
#include "exec/fixture.h"

static struct fixture f;

static int setup(void **state) {
    (void)state;
    fixture_open(&f);
    return 0;
}

/* Runs cond_acc.b32 of 100 + lane to base; returns the lanes of d. */
static const uint32_t *accumulate(enum ptx_space space, uint64_t base, uint32_t predicate, uint32_t mask) {
    f.o.mask = mask;
    fixture_insn(&f, PTX_OP_COND_ACC, space, PTX_B32);
    f.insn.access.bytes = 4;
    fixture_dst(&f, 32);
    fixture_address(&f, base, 0);
    *(uint32_t *)fixture_src(&f, 1) = predicate;
    uint32_t *value = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        value[l] = 100 + l;
    fixture_act(&f, exec_select_extension(&f.form));
    return (const uint32_t *)f.dst[0];
}

static uint32_t word(uint64_t address) {
    uint32_t value;
    memcpy(&value, fixture_at(&f, address), sizeof value);
    return value;
}

static void each_true_lane_writes_after_those_before_it(void **state) {
    (void)state;
    uint32_t predicate = 0x9e3779b9, mask = 0xfffffff3;
    for (unsigned round = 0; round < 200; round++) {
        memset(f.device, 0xee, sizeof f.device);
        if (mask == 0)
            continue;
        const uint32_t *d = accumulate(PTX_SPACE_GLOBAL, FIXTURE_A + 256, predicate, mask);
        unsigned slot = 0;
        for (unsigned l = 0; l < EXEC_LANES; l++) {
            if (!(predicate & mask) || !((predicate & mask) >> l & 1))
                continue;
            assert_int_equal(f.cx.address[l], FIXTURE_A + 256 + 4 * slot);
            assert_int_equal(word(FIXTURE_A + 256 + 4 * slot), 100 + l);
            slot++;
        }
        assert_int_equal(word(FIXTURE_A + 252), 0xeeeeeeee);
        assert_int_equal(word(FIXTURE_A + 256 + 4 * slot), 0xeeeeeeee);
        for (unsigned l = 0; l < EXEC_LANES; l++)
            assert_int_equal(d[l], mask >> l & 1 ? slot : 0xeeeeeeee);
        predicate = predicate * 1664525 + 1013904223;
        mask = mask * 22695477 + 1;
    }
}

/* The load/store unit takes only the lanes that wrote; the addresses of the others must not add lines. */
static void the_memory_system_sees_the_lanes_that_wrote(void **state) {
    (void)state;
    accumulate(PTX_SPACE_GLOBAL, FIXTURE_A, 0x80000101, 0xffff0f0f);
    assert_int_equal(f.cx.touched, 0x80000101);
    assert_int_equal(f.cx.address[0], FIXTURE_A);
    assert_int_equal(f.cx.address[8], FIXTURE_A + 4);
    assert_int_equal(f.cx.address[31], FIXTURE_A + 8);
    assert_int_equal(f.cx.address[1], FIXTURE_A);
    assert_int_equal(f.cx.address[16], FIXTURE_A);
}

static void without_a_true_predicate_nothing_is_written(void **state) {
    (void)state;
    const uint32_t *d = accumulate(PTX_SPACE_GLOBAL, 8, 0x000000f0, 0x0000ff0f);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    assert_int_equal(f.cx.touched, 0);
    assert_int_equal(d[0], 0);
    assert_int_equal(d[4], 0xeeeeeeee);
}

static void shared_memory_belongs_to_the_block(void **state) {
    (void)state;
    accumulate(PTX_SPACE_SHARED, FIXTURE_SHARED - 8, 0x00300000, ~0u);
    uint32_t last[2];
    memcpy(last, f.shared + FIXTURE_SHARED - 8, sizeof last);
    assert_int_equal(last[0], 120);
    assert_int_equal(last[1], 121);
}

static void a_fault_changes_nothing(void **state) {
    (void)state;
    accumulate(PTX_SPACE_SHARED, FIXTURE_SHARED - 8, 0x00700000, ~0u);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_SHARED_BOUNDS);
    assert_int_equal(f.cx.fault.lane, 22);
    assert_int_equal(f.cx.fault.address, FIXTURE_SHARED);
    assert_int_equal(f.shared[FIXTURE_SHARED - 8], 0);
    assert_int_equal(((uint32_t *)f.dst[0])[0], 0xeeeeeeee);
}

/* Two halves with different masks and bases in one execution; lane 5 is not in its own member mask. */
static void groups_with_their_own_masks_do_not_mix(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_COND_ACC, PTX_SPACE_GLOBAL, PTX_B32);
    f.insn.access.bytes = 4;
    const uint32_t *d = fixture_dst(&f, 32);
    uint64_t *base = fixture_src(&f, 64);
    *(uint32_t *)fixture_src(&f, 1) = ~0u;
    uint32_t *value = fixture_src(&f, 32), *members = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        base[l] = l < 16 ? FIXTURE_A : FIXTURE_B;
        value[l] = l;
        members[l] = l < 16 ? 0x0000ffdf : 0xffff0000;
    }
    f.o.mask = 0xf000003f;
    fixture_act(&f, exec_select_extension(&f.form));
    assert_int_equal(f.cx.touched, 0xf000001f);
    assert_int_equal(d[0], 5);
    assert_int_equal(d[5], 5);
    assert_int_equal(d[6], 0xeeeeeeee);
    assert_int_equal(d[31], 4);
    assert_int_equal(word(FIXTURE_A + 16), 4);
    assert_int_equal(word(FIXTURE_A + 20), 0);
    assert_int_equal(word(FIXTURE_B), 28);
    assert_int_equal(word(FIXTURE_B + 12), 31);
}

static const uint32_t *traverse(uint32_t predicate, uint32_t bytes) {
    fixture_insn(&f, PTX_OP_TREE_TRAVERSE, PTX_SPACE_GENERIC, PTX_U32);
    fixture_dst(&f, 32);
    uint32_t *base = fixture_src(&f, 32);
    *(uint32_t *)fixture_src(&f, 1) = predicate;
    uint32_t *size = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        base[l] = 1000 + l;
        size[l] = bytes;
    }
    fixture_act(&f, exec_select_extension(&f.form));
    return (const uint32_t *)f.dst[0];
}

static void a_step_down_the_tree_counts_the_keys_passed(void **state) {
    (void)state;
    f.o.mask = 0x3fffffff; /* 30 keys */
    const uint32_t *d = traverse(0xc0007fff, 128);
    assert_int_equal(d[0], 1000 + 15 * 128);
    assert_int_equal(d[29], 1029 + 15 * 128);
    assert_int_equal(d[30], 0xeeeeeeee);
}

static void node_sizes_are_powers_of_two(void **state) {
    (void)state;
    traverse(1, 0);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_BAD_NODE);
    f.o.mask = 0xff00;
    traverse(1, 24);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_BAD_NODE);
    assert_int_equal(f.cx.fault.lane, 8);
    assert_string_equal(f.cx.fault.detail, "24 is not a power of two");
}

static void the_lowest_active_lane_sets_the_progress_of_the_warp(void **state) {
    (void)state;
    fixture_insn(&f, PTX_OP_PROGRESS, PTX_SPACE_GENERIC, PTX_U32);
    uint32_t *value = fixture_src(&f, 32);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        value[l] = 50 + l;
    f.o.mask = 0xfffffff8;
    fixture_act(&f, exec_select_extension(&f.form));
    assert_int_equal(f.row.progress, 53);
    /* threads of two rows in one bundle: the lowest lane of each row */
    struct exec_row other = {.base = {f.row.base[EXEC_BASE_REGISTERS]}, .progress = 0};
    static struct exec_threads threads;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        exec_threads_put(&threads, l, l % 2 ? &f.row : &other, l);
    exec_use_threads(&f.cx, &threads);
    f.o.mask = 0x0ffffff0;
    fixture_act(&f, exec_select_extension(&f.form));
    assert_int_equal(f.row.progress, 55);
    assert_int_equal(other.progress, 54);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_true_lane_writes_after_those_before_it, setup),
        cmocka_unit_test_setup(the_memory_system_sees_the_lanes_that_wrote, setup),
        cmocka_unit_test_setup(without_a_true_predicate_nothing_is_written, setup),
        cmocka_unit_test_setup(shared_memory_belongs_to_the_block, setup),
        cmocka_unit_test_setup(a_fault_changes_nothing, setup),
        cmocka_unit_test_setup(groups_with_their_own_masks_do_not_mix, setup),
        cmocka_unit_test_setup(a_step_down_the_tree_counts_the_keys_passed, setup),
        cmocka_unit_test_setup(node_sizes_are_powers_of_two, setup),
        cmocka_unit_test_setup(the_lowest_active_lane_sets_the_progress_of_the_warp, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
