/* Stores that an SM keeps: its own loads see them at once, and memory contains them after they are applied. */
#include "exec/memory/stores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "exec/internal.h"

enum { WORDS = 4096, ADDRESS = 0x10000 };

struct fixture {
    uint32_t word[WORDS];
    struct exec_memory memory;
    struct exec_grid grid;
    struct exec_context *cx;
};

static void start(struct fixture *f) {
    for (uint32_t i = 0; i < WORDS; i++)
        f->word[i] = i;
    f->memory = (struct exec_memory){.delta = (ptrdiff_t)((uintptr_t)f->word - ADDRESS)};
    f->grid = (struct exec_grid){.memory = &f->memory};
    f->cx = base_allocate_aligned(sizeof *f->cx);
    f->cx->grid = &f->grid;
    f->cx->stores = base_allocate(1, sizeof *f->cx->stores);
}

static void end(struct fixture *f) {
    exec_stores_free(f->cx->stores);
    free(f->cx);
}

/* The view of memory itself. */
static void look(struct fixture *f, enum exec_pattern pattern, struct exec_view *view) {
    view->pattern = pattern;
    view->first = (unsigned char *)f->word + (f->cx->address[0] - ADDRESS);
    view->places = (struct exec_places){f->cx->address, (uintptr_t)f->word - ADDRESS, 0};
}

static void aim(struct fixture *f, uint32_t first, uint32_t step) {
    for (uint32_t i = 0; i < EXEC_LANES; i++)
        f->cx->address[i] = ADDRESS + 4 * (first + i * step);
}

static void store(struct fixture *f, enum exec_pattern pattern, uint32_t mask, uint64_t cycle, uint32_t value) {
    struct exec_view view;
    f->cx->time = cycle;
    look(f, pattern, &view);
    exec_stores_view(f->cx, mask, mask, 4, true, &view);
    if (pattern == EXEC_PATTERN_LANES)
        EXEC_FOR_ACTIVE(l, mask) * (uint32_t *)exec_place(view.places, l) = value + (uint32_t)l;
    else
        for (uint32_t l = 0; l < (pattern == EXEC_PATTERN_CONSECUTIVE ? EXEC_LANES : 1); l++)
            ((uint32_t *)view.first)[l] = value + l;
}

static uint32_t seen(struct fixture *f, uint32_t lane) {
    struct exec_view view;
    look(f, EXEC_PATTERN_LANES, &view);
    exec_stores_view(f->cx, ~0u, ~0u, 4, false, &view);
    return *(uint32_t *)exec_place(view.places, lane);
}

static void an_sm_sees_its_stores_and_memory_does_not(void **state) {
    (void)state;
    static struct fixture f;
    start(&f);
    aim(&f, 100, 1);
    store(&f, EXEC_PATTERN_CONSECUTIVE, ~0u, 5, 1000);
    aim(&f, 110, 7);
    store(&f, EXEC_PATTERN_LANES, 0x80000001, 6, 2000); /* 110, and 110 + 31 * 7 */
    aim(&f, 500, 0);
    store(&f, EXEC_PATTERN_UNIFORM, ~0u, 7, 3000);
    assert_int_equal(f.word[100], 100);
    aim(&f, 100, 1);
    assert_int_equal(seen(&f, 0), 1000);
    assert_int_equal(seen(&f, 10), 2000); /* the later one */
    assert_int_equal(seen(&f, 31), 1031);
    aim(&f, 132, 1);
    assert_int_equal(seen(&f, 0), 132);
    aim(&f, 500, 1);
    assert_int_equal(seen(&f, 0), 3000);
    assert_int_equal(seen(&f, 1), 501);
    aim(&f, 110, 7);
    assert_int_equal(seen(&f, 31), 2031);
    assert_int_equal(seen(&f, 30), 110 + 30 * 7);
    end(&f);
}

static void stores_go_into_memory_by_cycle(void **state) {
    (void)state;
    static struct fixture f;
    start(&f);
    aim(&f, 100, 1);
    store(&f, EXEC_PATTERN_CONSECUTIVE, ~0u, 5, 1000);
    store(&f, EXEC_PATTERN_LANES, 4, 7, 4000);
    exec_stores_apply(f.cx->stores, &f.memory, 4);
    assert_int_equal(f.word[102], 102);
    exec_stores_apply(f.cx->stores, &f.memory, 6);
    assert_int_equal(f.word[102], 1002);
    assert_true(exec_stores_are_pending(f.cx->stores));
    f.word[103] = 7; /* another SM's store, which came later */
    assert_int_equal(seen(&f, 3), 7);
    assert_int_equal(seen(&f, 2), 4002);
    exec_stores_apply(f.cx->stores, &f.memory, 7);
    assert_int_equal(f.word[102], 4002);
    assert_false(exec_stores_are_pending(f.cx->stores));
    exec_stores_forget(f.cx->stores);
    f.word[102] = 9;
    aim(&f, 200, 1);
    store(&f, EXEC_PATTERN_CONSECUTIVE, ~0u, 8, 1);
    aim(&f, 100, 1);
    assert_int_equal(seen(&f, 2), 9);
    for (size_t i = 0; i < EXEC_STORES_BITS / 64; i++)
        f.cx->stores->filter[i] = ~0ull; /* a filter that is always wrong changes nothing */
    assert_int_equal(seen(&f, 2), 9);
    end(&f);
}

/* Two SMs: stores to a chunk of memory that both store to wait for their turn, the others do not. */
static void stores_that_meet_no_other_need_no_order(void **state) {
    (void)state;
    static struct fixture f, other;
    start(&f);
    start(&other);
    other.memory = f.memory;
    struct exec_claims *claims = base_allocate(1, sizeof *claims);
    claims->round = 1;
    f.cx->stores->claims = other.cx->stores->claims = claims;
    other.cx->stores->sm = 1;
    aim(&f, 128, 1);
    store(&f, EXEC_PATTERN_CONSECUTIVE, ~0u, 5, 1000);
    aim(&f, 1024, 1);
    store(&f, EXEC_PATTERN_CONSECUTIVE, ~0u, 6, 2000);
    aim(&other, 130, 300);
    store(&other, EXEC_PATTERN_LANES, 1, 4, 3000); /* the same chunk as the first, in an earlier cycle */
    store(&other, EXEC_PATTERN_LANES, 2, 4, 4000);
    exec_stores_apply_free(f.cx->stores, &f.memory);
    exec_stores_apply_free(other.cx->stores, &f.memory);
    assert_int_equal(f.word[128], 128);
    assert_int_equal(f.word[130], 130);
    assert_int_equal(f.word[1024], 2000);
    assert_int_equal(f.word[430], 4001);
    assert_true(exec_stores_are_pending(f.cx->stores) && exec_stores_are_pending(other.cx->stores));
    exec_stores_apply(other.cx->stores, &f.memory, 4);
    assert_int_equal(f.word[130], 3000);
    exec_stores_apply(f.cx->stores, &f.memory, 5);
    assert_int_equal(f.word[130], 1002);
    assert_false(exec_stores_are_pending(f.cx->stores) || exec_stores_are_pending(other.cx->stores));
    free(claims);
    end(&f);
    end(&other);
}

/* A store that waits for its turn because another SM stores to one of its chunks: a later store of its own SM to
 * another of its chunks waits too. */
static void stores_of_one_sm_stay_in_order(void **state) {
    (void)state;
    static struct fixture f, other;
    start(&f);
    start(&other);
    struct exec_claims *claims = base_allocate(1, sizeof *claims);
    claims->round = 1;
    f.cx->stores->claims = other.cx->stores->claims = claims;
    other.cx->stores->sm = 1;
    aim(&other, 128, 0);
    store(&other, EXEC_PATTERN_UNIFORM, 1, 4, 5000);
    aim(&f, 128, 256);
    store(&f, EXEC_PATTERN_LANES, 3, 5, 1000); /* to 128 and 384 */
    aim(&f, 384, 256);
    store(&f, EXEC_PATTERN_LANES, 3, 6, 2000); /* to 384 and 640 */
    aim(&f, 640, 0);
    store(&f, EXEC_PATTERN_UNIFORM, 1, 7, 3000);
    aim(&f, 1024, 0);
    store(&f, EXEC_PATTERN_UNIFORM, 1, 8, 4000);
    exec_stores_apply_free(f.cx->stores, &f.memory);
    assert_int_equal(f.word[384], 384);
    assert_int_equal(f.word[640], 640);
    assert_int_equal(f.word[1024], 4000);
    exec_stores_apply(f.cx->stores, &f.memory, 8);
    assert_int_equal(f.word[384], 2000);
    assert_int_equal(f.word[640], 3000);
    free(claims);
    end(&f);
    end(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_sm_sees_its_stores_and_memory_does_not),
        cmocka_unit_test(stores_go_into_memory_by_cycle),
        cmocka_unit_test(stores_that_meet_no_other_need_no_order),
        cmocka_unit_test(stores_of_one_sm_stay_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
