/* Tests of the global pool: it finds the lowest pc, and can start again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "divergence/odgs/global_pool.h"
#include "exec/exec.h"

/* Any address will do: the pool does not look at what it holds. */
static struct divergence_odgs_warp *warp(size_t number) {
    static char place[8];
    return (struct divergence_odgs_warp *)&place[number];
}

static void the_lowest_pc_is_that_of_somebody_who_waits(void **state) {
    (void)state;
    struct divergence_global_pool pool = {0};
    divergence_global_pool_start(&pool, 200);
    assert_int_equal(divergence_global_pool_lowest(&pool), EXEC_NO_PC);
    static const uint32_t pcs[] = {199, 130, 64, 63, 0};
    for (uint32_t i = 0; i < 5; i++) {
        divergence_global_pool_put(&pool, pcs[i], warp(i));
        assert_int_equal(divergence_global_pool_lowest(&pool), pcs[i]);
    }
    for (uint32_t i = 5; i-- > 0;) {
        assert_int_equal(divergence_global_pool_lowest(&pool), pcs[i]);
        assert_ptr_equal(divergence_global_pool_take(&pool, pcs[i]), warp(i));
    }
    assert_int_equal(divergence_global_pool_lowest(&pool), EXEC_NO_PC);
    divergence_global_pool_put(&pool, 63, warp(7));
    assert_ptr_equal(divergence_global_pool_take(&pool, 63), warp(7));
    assert_null(pool.at[63]);
    divergence_global_pool_free(&pool);
}

static void a_pool_that_is_started_again_is_empty(void **state) {
    (void)state;
    struct divergence_global_pool pool = {0};
    divergence_global_pool_start(&pool, 70);
    divergence_global_pool_put(&pool, 69, warp(1));
    divergence_global_pool_start(&pool, 5);
    assert_int_equal(divergence_global_pool_lowest(&pool), EXEC_NO_PC);
    for (uint32_t pc = 0; pc < 5; pc++)
        assert_null(pool.at[pc]);
    divergence_global_pool_free(&pool);
    divergence_global_pool_free(&pool); /* nothing is left to free */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_pc_is_that_of_somebody_who_waits),
        cmocka_unit_test(a_pool_that_is_started_again_is_empty),
    };
    return cmocka_run_group_tests_name("divergence/pool", tests, NULL, NULL);
}
