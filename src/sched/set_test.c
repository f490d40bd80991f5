/* Tests of sets of slots, against a loop over slots. */
#include "sched/fixture.h"

static int next_by_loop(const struct sched_set *set, uint32_t from) {
    for (uint32_t i = 0; i < SCHED_MAX_SLOTS; i++)
        if (sched_has(set, (from + i) % SCHED_MAX_SLOTS))
            return (int)((from + i) % SCHED_MAX_SLOTS);
    return SCHED_NONE;
}

static void the_next_member_is_the_one_a_loop_finds(void **state) {
    (void)state;
    static const struct sched_set sets[] = {
        {{0, 0}},
        {{1, 0}},
        {{0, 1ull << 63}},
        {{1ull << 63, 1}},
        {{1ull << 63 | 1, 1ull << 63 | 1}},
        {{0x8001000100800010, 0x0100000000400002}},
        {{~0ull, ~0ull}},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        for (uint32_t from = 0; from <= SCHED_MAX_SLOTS; from++)
            assert_int_equal(sched_next(&sets[i], from), next_by_loop(&sets[i], from));
}

static void members_are_added_and_removed_in_both_words(void **state) {
    (void)state;
    struct sched_set set = {0};
    static const uint32_t slots[] = {0, 63, 64, 127};
    assert_true(sched_is_empty(&set));
    for (uint32_t i = 0; i < 4; i++) {
        sched_add(&set, slots[i]);
        assert_int_equal(sched_count(&set), i + 1);
        assert_true(sched_has(&set, slots[i]));
    }
    assert_false(sched_has(&set, 1) || sched_has(&set, 126));
    sched_put(&set, 63, false);
    sched_put(&set, 65, true);
    sched_remove(&set, 0);
    assert_int_equal(sched_first(&set), 64);
    assert_int_equal(sched_count(&set), 3);
}

static void intersections_and_differences(void **state) {
    (void)state;
    struct sched_set a = {{6, 8}}, b = {{3, 0}}, both = sched_and(&a, &b), rest = sched_and_not(&a, &b);
    assert_true(both.word[0] == 2 && both.word[1] == 0);
    assert_true(rest.word[0] == 4 && rest.word[1] == 8);
    assert_true(sched_intersect(&a, &b));
    assert_false(sched_intersect(&rest, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_member_is_the_one_a_loop_finds),
        cmocka_unit_test(members_are_added_and_removed_in_both_words),
        cmocka_unit_test(intersections_and_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
