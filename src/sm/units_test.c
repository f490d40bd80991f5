/* Functional units: their owners, and the slots that they hold back while they are busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "config/config.h"
#include "sm/units.h"

static struct sm_units units_of(enum config_units kind) {
    struct config_machine machine;
    struct sm_units units;
    config_defaults(&machine);
    machine.sm.schedulers = 2;
    machine.sm.units = kind;
    sm_units_init(&units, &machine);
    return units;
}

/* Returns whether an instruction of scheduler 0 keeps scheduler 1 from the unit. */
static bool is_common(struct sm_units units, int unit) {
    sm_units_occupy(&units, unit, 0, 10);
    assert_int_equal(sm_units_free_from(&units, unit, 0), 10);
    return sm_units_free_from(&units, unit, 1) == 10;
}

static void schedulers_own_units_as_the_machine_says(void **state) {
    (void)state;
    struct sm_units common = units_of(CONFIG_UNITS_SHARED), partitioned = units_of(CONFIG_UNITS_PARTITIONED);
    for (int unit = 0; unit < SM_N_UNITS; unit++) {
        bool is_own = unit == SM_UNIT_ALU || unit == SM_UNIT_MATRIX;
        assert_int_equal(is_common(common, unit), !is_own);
        assert_int_equal(is_common(partitioned, unit), unit == SM_UNIT_LDST);
    }
}

/* Slots 0 and 64 need the SFU, slot 1 the ALU. The SFU takes no instruction before cycle 10. */
static void a_busy_unit_holds_back_the_slots_that_need_it(void **state) {
    (void)state;
    struct sm_units units = units_of(CONFIG_UNITS_SHARED);
    struct sched_set all = {{0}};
    for (uint32_t slot = 0; slot <= 64; slot += 64) {
        sched_add(&units.slots[SM_UNIT_ALU], slot);
        sm_units_move(&units, slot, SM_UNIT_ALU, SM_UNIT_SFU);
        sched_add(&all, slot);
    }
    sched_add(&units.slots[SM_UNIT_ALU], 1);
    sched_add(&all, 1);
    sm_units_occupy(&units, SM_UNIT_SFU, 0, 10);
    struct sched_set before = sm_units_without_busy(&units, all, 0, 9),
                     then = sm_units_without_busy(&units, all, 0, 10);
    assert_int_equal(sched_count(&before), 1);
    assert_true(sched_has(&before, 1));
    assert_int_equal(sched_count(&then), 3);
    assert_int_equal(sm_units_free(&units, 0, 9), ((1u << SM_N_UNITS) - 1) & ~(1u << SM_UNIT_SFU));
    assert_int_equal(sm_units_free(&units, 0, 10), (1u << SM_N_UNITS) - 1);
}

static void all_units_are_free_after_the_last(void **state) {
    (void)state;
    struct sm_units units = units_of(CONFIG_UNITS_PARTITIONED);
    assert_int_equal(sm_units_all_free(&units), 0);
    sm_units_occupy(&units, SM_UNIT_ALU, 1, 30);
    sm_units_occupy(&units, SM_UNIT_SFU, 0, 20);
    assert_int_equal(sm_units_all_free(&units), 30);
    assert_int_equal(units.latest[0], 0);
    assert_int_equal(units.latest[1 + 0], 20);
    assert_int_equal(units.latest[1 + 1], 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedulers_own_units_as_the_machine_says),
        cmocka_unit_test(a_busy_unit_holds_back_the_slots_that_need_it),
        cmocka_unit_test(all_units_are_free_after_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
