#include "exec/check/shadow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 2, THREADS = ROWS * EXEC_LANES, BYTES = 64 };

struct fixture {
    struct exec_clocks clocks;
    struct exec_shadow shadow;
    struct exec_race race;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    exec_clocks_open(&f->clocks, ROWS, true);
    exec_shadow_open(&f->shadow, BYTES);
    exec_clocks_start(&f->clocks);
    exec_shadow_start(&f->shadow);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    exec_clocks_close(&f->clocks);
    exec_shadow_close(&f->shadow);
    free(f);
    return 0;
}

/* Returns whether the access races. */
static bool touch(struct fixture *f, uint32_t thread, enum exec_touch touch, uint32_t offset, uint32_t bytes,
                  uint64_t value) {
    struct exec_toucher toucher = {thread, thread, f->clocks.now[thread], 100 + thread, touch};
    return exec_shadow_touch(&f->shadow, &f->clocks, &toucher, offset, bytes,
                             touch == EXEC_TOUCH_WRITE ? (const unsigned char *)&value : NULL, &f->race);
}

static bool reads(struct fixture *f, uint32_t thread, uint32_t offset) {
    return touch(f, thread, EXEC_TOUCH_READ, offset, 4, 0);
}
static bool writes(struct fixture *f, uint32_t thread, uint32_t offset, uint32_t value) {
    return touch(f, thread, EXEC_TOUCH_WRITE, offset, 4, value);
}
static bool updates(struct fixture *f, uint32_t thread, uint32_t offset) {
    return touch(f, thread, EXEC_TOUCH_ATOMIC, offset, 4, 0);
}

/* Rows whose bits are set meet at a barrier. */
static void meet(struct fixture *f, uint32_t first_mask, uint32_t second_mask) {
    struct exec_meeting *barrier = &f->clocks.barrier[0];
    exec_clocks_come(&f->clocks, barrier, 0, first_mask, true);
    exec_clocks_come(&f->clocks, barrier, 1, second_mask, true);
    exec_clocks_end(&f->clocks, barrier);
}

static void two_threads_race_if_one_of_them_writes(void **state) {
    struct fixture *f = *state;
    assert_false(reads(f, 0, 0));
    assert_false(reads(f, 40, 0));
    assert_true(writes(f, 40, 0, 1));
    assert_int_equal(f->race.id, 0);
    assert_int_equal(f->race.pc, 100);
    assert_int_equal(f->race.touch, EXEC_TOUCH_READ);
    assert_true(reads(f, 1, 0));
    assert_int_equal(f->race.id, 40);
}

static void a_thread_does_not_race_with_itself(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 3, 8, 1));
    assert_false(reads(f, 3, 8));
    assert_false(writes(f, 3, 8, 2));
}

static void other_bytes_of_a_word_do_not_race(void **state) {
    struct fixture *f = *state;
    assert_false(touch(f, 0, EXEC_TOUCH_WRITE, 4, 1, 1));
    assert_false(touch(f, 1, EXEC_TOUCH_WRITE, 5, 1, 2));
    assert_false(touch(f, 2, EXEC_TOUCH_READ, 6, 2, 0));
    assert_true(touch(f, 2, EXEC_TOUCH_READ, 5, 1, 0));
    assert_int_equal(f->race.id, 1);
    assert_int_equal(f->race.offset, 5);
    assert_true(touch(f, 3, EXEC_TOUCH_READ, 0, 8, 0)); /* two words */
    assert_int_equal(f->race.offset / 4, 1);
}

static void equal_values_and_atomics_do_not_race(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 0, 0, 7));
    assert_false(writes(f, 1, 0, 7));
    assert_true(writes(f, 2, 0, 8));
    assert_false(updates(f, 0, 8));
    assert_false(updates(f, 1, 8));
    assert_true(reads(f, 2, 8));
    assert_true(writes(f, 3, 8, 0));
}

static void a_barrier_orders_those_who_met(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 0, 0, 1));
    assert_false(writes(f, 1, 4, 1));
    meet(f, 1, 1); /* threads 0 and 32 */
    assert_false(reads(f, 32, 0));
    assert_true(reads(f, 33, 0)); /* was not there */
    assert_true(reads(f, 32, 4)); /* thread 1 was not there */
    assert_false(writes(f, 32, 8, 1));
    assert_true(reads(f, 0, 8)); /* after the barrier */
}

static void knowledge_is_passed_on(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 0, 0, 1));
    meet(f, 1, 1);
    meet(f, 0, 3); /* 32 tells 33 about 0 */
    assert_false(reads(f, 33, 0));
    assert_true(reads(f, 34, 0));
}

static void an_arrival_tells_and_does_not_learn(void **state) {
    struct fixture *f = *state;
    struct exec_meeting *barrier = &f->clocks.barrier[1];
    assert_false(writes(f, 0, 0, 1));
    assert_false(writes(f, 32, 4, 1));
    exec_clocks_come(&f->clocks, barrier, 0, 1, false);
    assert_false(writes(f, 0, 8, 1)); /* after its arrival */
    exec_clocks_come(&f->clocks, barrier, 1, 1, true);
    exec_clocks_end(&f->clocks, barrier);
    assert_false(reads(f, 32, 0));
    assert_true(reads(f, 32, 8));
    assert_true(reads(f, 0, 4));
}

static void a_barrier_of_all_threads_forgets(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 0, 0, 1));
    meet(f, ~0u, ~0u);
    exec_shadow_forget(&f->shadow, &f->clocks, 0);
    assert_int_equal(f->shadow.n_accesses, 1);
    assert_true(exec_shadow_is_written(&f->shadow, 0, 4));
    for (uint32_t t = 0; t < THREADS; t++)
        assert_false(reads(f, t, 0));
    assert_true(writes(f, 5, 0, 2));
}

static void lanes_of_a_row_meet_where_they_name_each_other(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 0, 0, 1));
    assert_false(writes(f, 16, 4, 1));
    exec_clocks_sync_row(&f->clocks, 0, 0xffff, 0xffff);
    exec_clocks_sync_row(&f->clocks, 0, 0xffff0000, 0xffff0000);
    assert_false(reads(f, 1, 0));
    assert_true(reads(f, 17, 0));
    assert_false(writes(f, 2, 8, 1));
    exec_clocks_sync_row(&f->clocks, 0, 0xffff, ~0u); /* one path, then the other */
    exec_clocks_sync_row(&f->clocks, 0, 0xffff0000, ~0u);
    assert_false(reads(f, 17, 8));
    assert_true(reads(f, 32, 8));
}

static bool copies(struct fixture *f, uint32_t thread, uint32_t offset) {
    uint32_t value = thread + 1;
    struct exec_toucher toucher = {thread, exec_clocks_twin(&f->clocks, thread), exec_clocks_copy(&f->clocks), 7,
                                   EXEC_TOUCH_WRITE};
    return exec_shadow_touch(&f->shadow, &f->clocks, &toucher, offset, 4, (const unsigned char *)&value, &f->race);
}

static void a_copy_is_ordered_when_its_thread_has_waited(void **state) {
    struct fixture *f = *state;
    assert_false(copies(f, 0, 0));
    assert_true(reads(f, 0, 0));
    exec_clocks_commit(&f->clocks, 0, 1);
    assert_false(copies(f, 0, 4));
    exec_clocks_commit(&f->clocks, 0, 2);
    exec_clocks_wait(&f->clocks, 0, 2, 1); /* the second may still be in flight */
    assert_false(reads(f, 0, 0));
    assert_true(reads(f, 0, 4));
    assert_true(reads(f, 1, 0)); /* has not met thread 0 */
    meet(f, ~0u, ~0u);
    exec_shadow_forget(&f->shadow, &f->clocks, 0);
    assert_false(reads(f, 1, 0));
    assert_true(reads(f, 1, 4)); /* the barrier does not end a copy */
    exec_clocks_wait_all(&f->clocks, 0);
    assert_false(reads(f, 0, 4));
}

static void an_mbarrier_tells_those_who_waited(void **state) {
    struct fixture *f = *state;
    assert_false(writes(f, 0, 0, 1));
    exec_clocks_arrive(&f->clocks, 32, 0, 1);
    assert_true(reads(f, 40, 0));
    exec_clocks_learn(&f->clocks, 32, 1, 1u << 9);
    assert_false(reads(f, 41, 0));
    assert_false(writes(f, 0, 4, 1));
    exec_clocks_arrive(&f->clocks, 32, 0, 1); /* the next phase */
    assert_true(reads(f, 41, 4));
}

static void a_bulk_copy_is_ordered_by_its_mbarrier(void **state) {
    struct fixture *f = *state;
    uint32_t stamp = exec_clocks_copy(&f->clocks);
    struct exec_toucher toucher = {0, exec_clocks_bulk(&f->clocks), stamp, 7, EXEC_TOUCH_WRITE};
    static const unsigned char value[16];
    assert_false(exec_shadow_touch(&f->shadow, &f->clocks, &toucher, 0, 16, value, &f->race));
    exec_clocks_complete(&f->clocks, 32, stamp);
    assert_true(reads(f, 0, 12)); /* its own thread too */
    exec_clocks_learn(&f->clocks, 32, 0, 2);
    assert_false(reads(f, 1, 12));
}

static void bytes_are_written_one_by_one(void **state) {
    struct fixture *f = *state;
    touch(f, 0, EXEC_TOUCH_WRITE, 5, 2, 0);
    touch(f, 0, EXEC_TOUCH_READ, 0, 4, 0);
    assert_false(exec_shadow_is_written(&f->shadow, 0, 5));
    assert_true(exec_shadow_is_written(&f->shadow, 0, 6));
    assert_true(exec_shadow_is_written(&f->shadow, 6, 4));
    assert_false(exec_shadow_is_written(&f->shadow, 7, 8));
    exec_shadow_unwrite(&f->shadow, 6, 1);
    assert_false(exec_shadow_is_written(&f->shadow, 6, 4));
}

/* --- against a plain reference: for each byte every access, and for each pair of threads what one knows of the other
 * ---
 */

struct old {
    uint32_t thread, stamp;
    enum exec_touch touch;
    unsigned char value;
};

struct reference {
    uint32_t known[THREADS][THREADS], now[THREADS], n[BYTES];
    struct old old[BYTES][512];
};

static bool reference_touch(struct reference *r, uint32_t thread, enum exec_touch touch, uint32_t offset,
                            uint32_t bytes, const unsigned char *value) {
    bool races = false;
    for (uint32_t b = offset; b < offset + bytes; b++) {
        for (uint32_t i = 0; i < r->n[b]; i++) {
            const struct old *old = &r->old[b][i];
            bool conflicts = old->touch != touch || touch == EXEC_TOUCH_WRITE;
            bool is_ordered = old->thread == thread || r->known[thread][old->thread] >= old->stamp;
            races |= conflicts && !is_ordered;
        }
        r->old[b][r->n[b]++] = (struct old){thread, r->now[thread], touch, value[b - offset]};
    }
    return races;
}

static void reference_meet(struct reference *r, const uint32_t mask[ROWS]) {
    uint32_t all[THREADS] = {0};
    for (uint32_t t = 0; t < THREADS; t++) {
        if (!(mask[t / 32] >> t % 32 & 1))
            continue;
        for (uint32_t u = 0; u < THREADS; u++)
            all[u] = r->known[t][u] > all[u] ? r->known[t][u] : all[u];
        all[t] = r->now[t] > all[t] ? r->now[t] : all[t];
    }
    for (uint32_t t = 0; t < THREADS; t++)
        if (mask[t / 32] >> t % 32 & 1) {
            memcpy(r->known[t], all, sizeof all);
            r->now[t]++;
        }
}

/* A race is found in the same step as by the reference: pruning loses none before the first. Every value is another, so
 * that no write equals one before. */
static void random_accesses_race_as_in_the_reference(void **state) {
    struct fixture *f = *state;
    struct reference *r = malloc(sizeof *r);
    assert_non_null(r);
    unsigned n_races = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        srand(seed);
        exec_clocks_start(&f->clocks);
        exec_shadow_start(&f->shadow);
        memset(r, 0, sizeof *r);
        for (uint32_t t = 0; t < THREADS; t++)
            r->now[t] = 1;
        bool has_raced = false;
        for (unsigned step = 1; step < 500 && !has_raced; step++) {
            static const uint32_t threads[] = {0, 1, 5, 33, 34};
            if (rand() % 3 == 0) {
                uint32_t mask[ROWS] = {0};
                for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
                    mask[threads[i] / 32] |= (uint32_t)(rand() % 5 != 0) << threads[i] % 32;
                meet(f, mask[0], mask[1]);
                reference_meet(r, mask);
                continue;
            }
            uint32_t thread = threads[rand() % 5], bytes = 1u << rand() % 4, offset = (uint32_t)rand() % 16 & -bytes;
            enum exec_touch kind = rand() % 8 ? EXEC_TOUCH_READ : rand() % 2 ? EXEC_TOUCH_WRITE : EXEC_TOUCH_ATOMIC;
            uint64_t value = step * 0x0101010101010101ull;
            bool expected = reference_touch(r, thread, kind, offset, bytes, (const unsigned char *)&value);
            has_raced = touch(f, thread, kind, offset, bytes, value);
            assert_int_equal(has_raced, expected);
        }
        n_races += has_raced;
    }
    free(r);
    assert_in_range(n_races, 100, 400);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(two_threads_race_if_one_of_them_writes),
        TEST(a_thread_does_not_race_with_itself),
        TEST(other_bytes_of_a_word_do_not_race),
        TEST(equal_values_and_atomics_do_not_race),
        TEST(a_barrier_orders_those_who_met),
        TEST(knowledge_is_passed_on),
        TEST(an_arrival_tells_and_does_not_learn),
        TEST(a_barrier_of_all_threads_forgets),
        TEST(lanes_of_a_row_meet_where_they_name_each_other),
        TEST(a_copy_is_ordered_when_its_thread_has_waited),
        TEST(an_mbarrier_tells_those_who_waited),
        TEST(a_bulk_copy_is_ordered_by_its_mbarrier),
        TEST(bytes_are_written_one_by_one),
        TEST(random_accesses_race_as_in_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
