/* Passes of fragments, counted on paper. */
#include "fixture.h"

#define LOAD(kind, pitch)                                                                                              \
    ".shared .align 32 .b8 s[4096];\nmov.u32 %r1, s;\n"                                                                \
    "wmma.load." kind ", [%r1], " pitch ";\nadd.u32 %r10, %r2, %r3;\nret;"
#define HALVES "a.sync.aligned.row.m16n16k16.shared.f16 {%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}"
#define SINGLES "c.sync.aligned.row.m16n16k16.shared.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}"

static const char *const machine[] = {"lowering.target=sm_90", "shared.pass_cycles=2", NULL};

/* Four parts of eight lines of 16 bytes. Lines 128 bytes apart are all in the same banks, those 48 bytes apart in
 * different ones, and of those 32 bytes apart, every fourth is in the same. */
static void the_lines_of_a_part_conflict(void **state) {
    (void)state;
    struct stats_counters far = fixture_run(machine, LOAD(HALVES, "64"), 1, 32);
    struct stats_counters apart = fixture_run(machine, LOAD(HALVES, "24"), 1, 32);
    struct stats_counters near = fixture_run(machine, LOAD(HALVES, "16"), 1, 32);
    assert_int_equal(far.shared_passes, 4 * 8);
    assert_int_equal(apart.shared_passes, 4);
    assert_int_equal(near.shared_passes, 4 * 2);
    assert_int_equal(far.cycles, apart.cycles + 2 * (4 * 8 - 4));
}

/* Four parts of eight lines of 32 bytes, 64 bytes apart: a pass takes two of the lines. */
static void parts_of_wide_elements_are_twice_as_wide(void **state) {
    (void)state;
    struct stats_counters sums = fixture_run(machine, LOAD(SINGLES, "16"), 1, 32);
    assert_int_equal(sums.shared_passes, 4 * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lines_of_a_part_conflict),
        cmocka_unit_test(parts_of_wide_elements_are_twice_as_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
