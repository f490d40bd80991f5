/* The wheel of wake-ups: slots come off it in the cycle they asked for, or at the end of a turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sm/wheel.h"

static void a_slot_is_due_in_its_cycle_and_once(void **state) {
    (void)state;
    struct sm_wheel wheel;
    sm_wheel_init(&wheel);
    assert_true(sm_wheel_next(&wheel, 10) == SM_NEVER);
    sm_wheel_add(&wheel, 3, 10, 15);
    assert_int_equal(sm_wheel_next(&wheel, 10), 15);
    assert_false(sm_wheel_is_due(&wheel, 14));
    assert_true(sm_wheel_is_due(&wheel, 15));
    struct sched_set due = sm_wheel_take(&wheel, 15);
    assert_int_equal(sched_count(&due), 1);
    assert_true(sched_has(&due, 3));
    assert_false(sm_wheel_is_due(&wheel, 15));
    due = sm_wheel_take(&wheel, 15);
    assert_true(sched_is_empty(&due));
    assert_true(sm_wheel_next(&wheel, 15) == SM_NEVER);
    sm_wheel_free(&wheel);
}

static void slots_of_one_cycle_wake_together(void **state) {
    (void)state;
    struct sm_wheel wheel;
    sm_wheel_init(&wheel);
    sm_wheel_add(&wheel, 0, 1, 70);
    sm_wheel_add(&wheel, 127, 5, 70);
    sm_wheel_add(&wheel, 64, 5, 71);
    struct sched_set due = sm_wheel_take(&wheel, 70);
    assert_int_equal(sched_count(&due), 2);
    assert_true(sched_has(&due, 0) && sched_has(&due, 127));
    assert_int_equal(sm_wheel_next(&wheel, 70), 71);
    sm_wheel_free(&wheel);
}

/* From every place of the wheel, to every distance that it reaches. */
static void the_next_wake_up_is_found_across_a_turn(void **state) {
    (void)state;
    for (uint64_t cycle = 1000; cycle < 1000 + SM_WHEEL_CYCLES; cycle++)
        for (uint64_t ahead = 1; ahead < SM_WHEEL_CYCLES; ahead++) {
            struct sm_wheel wheel;
            sm_wheel_init(&wheel);
            sm_wheel_add(&wheel, 1, cycle, cycle + SM_WHEEL_CYCLES - 1);
            sm_wheel_add(&wheel, 0, cycle, cycle + ahead);
            assert_int_equal(sm_wheel_next(&wheel, cycle), cycle + ahead);
            sm_wheel_free(&wheel);
        }
}

static void a_longer_sleep_ends_a_turn_later(void **state) {
    (void)state;
    struct sm_wheel wheel;
    sm_wheel_init(&wheel);
    sm_wheel_add(&wheel, 0, 10, 10 + SM_WHEEL_CYCLES - 1);
    sm_wheel_add(&wheel, 1, 10, 10 + SM_WHEEL_CYCLES);
    sm_wheel_add(&wheel, 2, 10, 1000000);
    assert_int_equal(sm_wheel_next(&wheel, 10), 10 + SM_WHEEL_CYCLES - 1);
    struct sched_set due = sm_wheel_take(&wheel, 10 + SM_WHEEL_CYCLES - 1);
    assert_int_equal(sched_count(&due), 3);
    sm_wheel_free(&wheel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_is_due_in_its_cycle_and_once),
        cmocka_unit_test(slots_of_one_cycle_wake_together),
        cmocka_unit_test(the_next_wake_up_is_found_across_a_turn),
        cmocka_unit_test(a_longer_sleep_ends_a_turn_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
