/* Tests of the order of slots and of groups. */
#include "sched/fixture.h"
#include "sched/internal.h"

static int first_by_loop(const struct sched_order *order, const struct sched_set *among) {
    int best = SCHED_NONE;
    for (int slot = 0; slot < SCHED_MAX_SLOTS; slot++)
        if (sched_has(among, (uint32_t)slot) && (best == SCHED_NONE || order->key[slot] < order->key[best]))
            best = slot;
    return best;
}

static uint64_t random_bits(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 16 ^ *seed << 40;
}

static void the_first_in_order_is_the_one_a_loop_finds(void **state) {
    (void)state;
    static struct sched_order order;
    uint64_t seed = 1;
    for (int step = 0; step < 5000; step++) {
        uint32_t slot = (uint32_t)(random_bits(&seed) % SCHED_MAX_SLOTS);
        if (sched_has(&order.known, slot))
            sched_order_remove(&order, slot);
        else
            sched_order_add(&order, slot, random_bits(&seed) % 50); /* some keys are equal */
        struct sched_set some = {{random_bits(&seed), random_bits(&seed)}};
        some = sched_and(&some, &order.known);
        assert_int_equal(sched_order_first(&order, &some), first_by_loop(&order, &some));
    }
    assert_true(sched_count(&order.known) > 10);
}

static void the_next_group_with_a_member_is_found_from_any_start(void **state) {
    (void)state;
    static struct sched_groups groups;
    sched_groups_add(&groups, 5, 1);
    sched_groups_add(&groups, 6, 1);
    sched_groups_add(&groups, 9, 3);
    struct sched_set all = bench_set(~0ull), six = bench_set(1 << 6), none = bench_set(1 << 7);
    static const int next[] = {1, 1, 3, 3, 1, 1};
    for (uint32_t from = 0; from < 6; from++)
        assert_int_equal(sched_groups_next(&groups, &all, from), next[from]);
    assert_int_equal(sched_groups_next(&groups, &six, 3), 1);
    assert_int_equal(sched_groups_next(&groups, &none, 0), SCHED_NONE);
    assert_int_equal(sched_groups_turn(&groups, &all, 1), 5);
    sched_groups_issued(&groups, 5);
    assert_int_equal(sched_groups_turn(&groups, &all, 1), 6);
    sched_groups_remove(&groups, 6);
    assert_int_equal(sched_groups_turn(&groups, &all, 1), 5);
    assert_int_equal(sched_groups_turn(&groups, &all, 3), 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_in_order_is_the_one_a_loop_finds),
        cmocka_unit_test(the_next_group_with_a_member_is_found_from_any_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
