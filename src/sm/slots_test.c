/* Slots: groups that come and go, and the sets and counts that follow their states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sm/slots.h"

enum { N_SLOTS = 70, N_REGISTERS = 3 };

static struct sm_slots new_slots(void) {
    struct sm_slots slots;
    sm_slots_init(&slots, N_SLOTS);
    sm_slots_begin(&slots, N_REGISTERS);
    return slots;
}

static void a_group_starts_with_an_empty_scoreboard(void **state) {
    (void)state;
    struct sm_slots slots = new_slots();
    struct divergence_group first = {.slot = DIVERGENCE_NO_SLOT}, second = first;
    slots.slot[65].register_ready[2] = 99;
    sm_slots_occupy(&slots, 64, &first, 7);
    sm_slots_occupy(&slots, 65, &second, 8);
    assert_int_equal(second.slot, 65);
    assert_int_equal(slots.slot[65].fetch_ready, 8);
    assert_int_equal(slots.slot[65].register_ready[2], 0);
    assert_ptr_equal(slots.slot[65].register_ready, slots.slot[64].register_ready + N_REGISTERS);
    assert_int_equal(slots.slot[65].age, slots.slot[64].age + 1);
    sm_slots_release(&slots, 65);
    assert_int_equal(second.slot, DIVERGENCE_NO_SLOT);
    assert_null(slots.slot[65].group);
    sm_slots_free(&slots);
}

/* A second kernel needs more registers: the last entry stays the last one, and the new ones are empty. */
static void a_scoreboard_grows(void **state) {
    (void)state;
    struct sm_slots slots = new_slots();
    for (uint32_t r = 0; r < N_REGISTERS; r++)
        slots.slot[65].register_ready[r] = 10 + r;
    sm_slots_widen(&slots, N_REGISTERS + 40);
    assert_int_equal(slots.slot[65].register_ready[0], 10);
    assert_int_equal(slots.slot[65].register_ready[N_REGISTERS - 2], 8 + N_REGISTERS);
    for (uint32_t r = N_REGISTERS - 1; r < N_REGISTERS + 39; r++)
        assert_int_equal(slots.slot[65].register_ready[r], 0);
    assert_int_equal(slots.slot[65].register_ready[N_REGISTERS + 39], 9 + N_REGISTERS);
    sm_slots_free(&slots);
}

static void states_are_counted(void **state) {
    (void)state;
    struct sm_slots slots = new_slots();
    struct divergence_group group = {0};
    sm_slots_occupy(&slots, 64, &group, 0);
    sm_slots_set_state(&slots, 64, SM_SLOT_READY);
    assert_true(sched_has(&slots.ready, 64) && sched_has(&slots.occupied, 64));
    assert_int_equal(sm_slots_n_occupied(&slots), 1);
    assert_int_equal(sm_slots_n_awake(&slots), 1);
    sm_slots_set_state(&slots, 64, SM_SLOT_MEMORY);
    assert_false(sched_has(&slots.ready, 64));
    assert_int_equal(slots.n_in_state[SM_SLOT_MEMORY], 1);
    assert_int_equal(sm_slots_n_awake(&slots), 0);
    assert_false(sm_slot_is_awake(&slots.slot[64]));
    sm_slots_release(&slots, 64);
    assert_int_equal(slots.n_in_state[SM_SLOT_FREE], N_SLOTS);
    assert_int_equal(sm_slots_n_occupied(&slots), 0);
    sm_slots_free(&slots);
}

/* Slots 0 and 1 are occupied. Scheduler 1 of 2 has slot 3, scheduler 0 has slot 2, and any has slot 2. */
static void a_free_slot_of_the_scheduler_is_preferred(void **state) {
    (void)state;
    struct sm_slots slots = new_slots();
    struct divergence_group group[N_SLOTS] = {0};
    for (uint32_t s = 0; s < N_SLOTS; s++) {
        if (s == 2) {
            assert_int_equal(sm_slots_find_free(&slots, 1, 2), 3);
            assert_int_equal(sm_slots_find_free(&slots, 0, 2), 2);
            assert_int_equal(sm_slots_find_free(&slots, 0, 1), 2);
        }
        if (s == N_SLOTS - 1)
            assert_int_equal(sm_slots_find_free(&slots, 0, 2), s); /* the other's is the only one */
        sm_slots_occupy(&slots, s, &group[s], 0);
        sm_slots_set_state(&slots, s, SM_SLOT_READY);
    }
    assert_int_equal(sm_slots_find_free(&slots, 0, 1), SM_NO_SLOT);
    sm_slots_release(&slots, 5);
    slots.n_usable = N_SLOTS - 1;
    assert_int_equal(sm_slots_find_free(&slots, 0, 1), SM_NO_SLOT);
    slots.n_usable = N_SLOTS;
    assert_int_equal(sm_slots_find_free(&slots, 0, 1), 5);
    sm_slots_free(&slots);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_starts_with_an_empty_scoreboard),
        cmocka_unit_test(a_scoreboard_grows),
        cmocka_unit_test(states_are_counted),
        cmocka_unit_test(a_free_slot_of_the_scheduler_is_preferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
