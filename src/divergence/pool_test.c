/* The pool of threads by pc: order, bounds, starting again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "divergence/pool.h"

static struct divergence_thread thread(uint32_t number) {
    return (struct divergence_thread){.lane = (uint8_t)(number % 32), .sm = (uint16_t)number};
}

static void those_that_wait_longest_are_taken_first(void **state) {
    (void)state;
    struct divergence_pool pool = {0};
    struct divergence_thread out[8];
    divergence_pool_start(&pool, 10);
    for (uint32_t i = 0; i < 5; i++)
        divergence_pool_add(&pool, 3, thread(i));
    assert_int_equal(divergence_pool_take(&pool, 3, out, 2), 2);
    assert_int_equal(out[0].sm, 0);
    assert_int_equal(out[1].sm, 1);
    divergence_pool_add(&pool, 3, thread(9));
    assert_int_equal(divergence_pool_take(&pool, 3, out, 8), 4); /* all that are left */
    assert_int_equal(out[0].sm, 2);
    assert_int_equal(out[2].sm, 4);
    assert_int_equal(out[3].sm, 9);
    assert_int_equal(divergence_pool_take(&pool, 3, out, 8), 0);
    assert_int_equal(divergence_pool_take(&pool, 4, out, 8), 0); /* nobody ever waited there */
    divergence_pool_free(&pool);
}

static void the_lowest_pc_is_that_of_somebody_who_waits(void **state) {
    (void)state;
    struct divergence_pool pool = {0};
    struct divergence_thread out[8];
    divergence_pool_start(&pool, 200);
    assert_int_equal(divergence_pool_lowest(&pool), EXEC_NO_PC);
    static const uint32_t pcs[] = {199, 130, 64, 63, 0};
    for (uint32_t i = 0; i < 5; i++) {
        divergence_pool_add(&pool, pcs[i], thread(i));
        assert_int_equal(divergence_pool_lowest(&pool), pcs[i]);
    }
    divergence_pool_add(&pool, 0, thread(7));
    assert_int_equal(divergence_pool_take(&pool, 0, out, 1), 1);
    assert_int_equal(divergence_pool_lowest(&pool), 0); /* one of two is left */
    assert_int_equal(divergence_pool_take(&pool, 0, out, 1), 1);
    for (uint32_t i = 4; i-- > 0;) {
        assert_int_equal(divergence_pool_lowest(&pool), pcs[i]);
        assert_int_equal(divergence_pool_take(&pool, pcs[i], out, 8), 1);
        assert_int_equal(pool.n_threads, i);
    }
    assert_int_equal(divergence_pool_lowest(&pool), EXEC_NO_PC);
    divergence_pool_free(&pool);
}

static void a_list_grows_and_keeps_its_order(void **state) {
    (void)state;
    enum { MANY = 1000 };
    struct divergence_pool pool = {0};
    struct divergence_thread out[MANY];
    divergence_pool_start(&pool, 2);
    for (uint32_t i = 0; i < MANY; i++)
        divergence_pool_add(&pool, 1, thread(i));
    assert_int_equal(pool.n_threads, MANY);
    assert_int_equal(divergence_pool_take(&pool, 1, out, MANY), MANY);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(out[i].sm, i);
    divergence_pool_free(&pool);
}

static void a_pool_that_is_started_again_is_empty(void **state) {
    (void)state;
    struct divergence_pool pool = {0};
    divergence_pool_start(&pool, 70);
    divergence_pool_add(&pool, 69, thread(1));
    divergence_pool_start(&pool, 5);
    assert_int_equal(pool.n_threads, 0);
    assert_int_equal(divergence_pool_lowest(&pool), EXEC_NO_PC);
    divergence_pool_free(&pool);
    divergence_pool_free(&pool); /* nothing is left to free */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_wait_longest_are_taken_first),
        cmocka_unit_test(the_lowest_pc_is_that_of_somebody_who_waits),
        cmocka_unit_test(a_list_grows_and_keeps_its_order),
        cmocka_unit_test(a_pool_that_is_started_again_is_empty),
    };
    return cmocka_run_group_tests_name("divergence/pool", tests, NULL, NULL);
}
