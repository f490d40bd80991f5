/* Tag arrays and MSHRs by themselves. */
#include "mem/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mem/mshr.h"

static void put(struct mem_cache *cache, uint64_t line) {
    mem_cache_put(cache, mem_cache_victim(cache, line), line, MEM_SHARED);
}

static void the_least_recently_used_line_leaves(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_cache cache = {0};
    mem_cache_init(&cache, &arena, 2 * 3 * 128, 3, 128, 1); /* 2 sets of 3 ways */
    put(&cache, 0);
    put(&cache, 2);
    put(&cache, 4);
    put(&cache, 1); /* the other set */
    mem_cache_touch(&cache, mem_cache_find(&cache, 0));
    assert_int_equal(cache.lines[mem_cache_victim(&cache, 6)], 2);
    cache.is_pinned[mem_cache_find(&cache, 2)] = true;
    assert_int_equal(cache.lines[mem_cache_victim(&cache, 6)], 4);
    cache.is_pinned[mem_cache_find(&cache, 4)] = cache.is_pinned[mem_cache_find(&cache, 0)] = true;
    assert_int_equal(mem_cache_victim(&cache, 6), MEM_NONE);
    mem_cache_drop(&cache, mem_cache_find(&cache, 2));
    assert_int_equal(mem_cache_find(&cache, 2), MEM_NONE);
    assert_true(cache.lines[mem_cache_victim(&cache, 6)] == MEM_NO_LINE);
    base_arena_free(&arena);
}

/* A set of two tags, of 4 lines each: a line goes beside others of its tag, and takes the place of the older tag. */
static void lines_that_share_a_tag_have_their_places_together(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_cache cache = {0};
    mem_cache_init(&cache, &arena, 8 * 32, 8, 32, 1);
    cache.tag_bits = 2;
    put(&cache, 1);
    put(&cache, 10);
    put(&cache, 3);
    assert_int_equal(mem_cache_find(&cache, 1), 1);
    assert_int_equal(mem_cache_find(&cache, 3), 3);
    assert_int_equal(mem_cache_find(&cache, 10), 4 + 2);
    assert_int_equal(mem_cache_victim(&cache, 20), 4); /* that of line 10, which is older than line 3 */
    mem_cache_touch(&cache, mem_cache_find(&cache, 10));
    assert_int_equal(mem_cache_victim(&cache, 20), 0);
    cache.is_pinned[1] = true;
    assert_int_equal(mem_cache_victim(&cache, 20), 4);
    assert_int_equal(mem_cache_tag_slots(&cache, 6), 4);
    base_arena_free(&arena);
}

/* 16 tags at any distance of a power of two fill 16 sets evenly. */
static void a_hash_spreads_powers_of_two_over_the_sets(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_cache cache = {0};
    mem_cache_init(&cache, &arena, 16 * 4 * 32, 4, 32, 1);
    cache.tag_bits = 2;
    cache.is_hashed = true;
    for (unsigned shift = 2; shift < 40; shift++) {
        uint32_t seen = 0;
        for (uint64_t i = 0; i < 16; i++)
            seen |= 1u << mem_cache_set(&cache, i << shift);
        assert_int_equal(seen, 0xffff);
    }
    base_arena_free(&arena);
}

/* A set of 8 lines and 9 lines in a circle: LRU never hits, a random choice does. */
static void a_random_choice_keeps_some_lines_of_a_circle(void **state) {
    (void)state;
    for (unsigned is_random = 0; is_random < 2; is_random++) {
        struct base_arena arena = {0};
        struct mem_cache cache = {0};
        unsigned n_hits = 0;
        mem_cache_init(&cache, &arena, 8 * 32, 8, 32, 1);
        cache.is_random = is_random;
        for (unsigned i = 0; i < 900; i++) {
            uint32_t slot = mem_cache_find(&cache, i % 9);
            n_hits += slot != MEM_NONE;
            if (slot == MEM_NONE)
                put(&cache, i % 9);
            else
                mem_cache_touch(&cache, slot);
        }
        assert_in_range(n_hits, is_random ? 450 : 0, is_random ? 850 : 0);
        base_arena_free(&arena);
    }
}

/* One of 3 banks: it holds the lines 0, 3, 6, ... in all its 5 sets. */
static void a_bank_uses_all_its_sets(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_cache cache = {0};
    mem_cache_init(&cache, &arena, 3 * 5 * 128, 1, 128, 3);
    for (uint64_t i = 0; i < 5; i++)
        put(&cache, 3 * i);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(mem_cache_find(&cache, 3 * i), i);
    put(&cache, 15);
    assert_int_equal(mem_cache_find(&cache, 0), MEM_NONE);
    base_arena_free(&arena);
}

static uint32_t slots_after_resize(struct mem_cache *cache, uint32_t n_lines, uint32_t sets, uint32_t ways) {
    mem_cache_resize(cache, n_lines);
    assert_int_equal(cache->sets, sets);
    assert_int_equal(cache->ways, ways);
    for (uint64_t i = 0; i < mem_cache_slots(cache); i++)
        put(cache, i);
    for (uint64_t i = 0; i < mem_cache_slots(cache); i++)
        mem_cache_drop(cache, mem_cache_find(cache, i)); /* all of them fit */
    return mem_cache_slots(cache);
}

static void a_smaller_cache_keeps_at_least_half_of_its_ways(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_cache cache = {0};
    mem_cache_init(&cache, &arena, 8 * 6 * 128, 6, 128, 1); /* 8 sets of 6 ways */
    assert_int_equal(slots_after_resize(&cache, 47, 8, 5), 40);
    assert_int_equal(slots_after_resize(&cache, 24, 8, 3), 24);
    assert_int_equal(slots_after_resize(&cache, 23, 4, 5), 20);
    assert_int_equal(slots_after_resize(&cache, 2, 1, 2), 2);
    assert_int_equal(slots_after_resize(&cache, 48, 8, 6), 48);
    base_arena_free(&arena);
}

static void lines_with_equal_hashes_are_told_apart(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_lines lines;
    uint32_t entry[64];
    mem_lines_init(&lines, &arena, 64);
    for (uint32_t i = 0; i < 64; i++)
        entry[i] = mem_lines_take(&lines, (uint64_t)i << 40);
    assert_int_equal(mem_lines_take(&lines, 1), MEM_NONE);
    for (uint32_t i = 0; i < 64; i += 2)
        mem_lines_release(&lines, entry[i]);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(mem_lines_find(&lines, (uint64_t)i << 40), i % 2 == 0 ? MEM_NONE : entry[i]);
    assert_int_equal(lines.n_used, 32);
    base_arena_free(&arena);
}

static void an_mshr_holds_a_limited_number_and_answers_in_order(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_mshrs mshrs;
    struct mem_waiter waiter = {0};
    mem_mshrs_init(&mshrs, &arena, 2, 3);
    uint32_t id = mem_mshrs_take(&mshrs, 5);
    for (uint32_t token = 10; token < 13; token++)
        assert_true(mem_mshrs_wait(&mshrs, id, token, token == 11));
    assert_false(mem_mshrs_wait(&mshrs, id, 13, false));
    for (uint32_t token = 10; token < 13; token++) {
        assert_true(mem_mshrs_next(&mshrs, id, &waiter));
        assert_int_equal(waiter.token, token);
        assert_int_equal(waiter.is_write, token == 11);
    }
    assert_false(mem_mshrs_next(&mshrs, id, &waiter));
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_recently_used_line_leaves),
        cmocka_unit_test(lines_that_share_a_tag_have_their_places_together),
        cmocka_unit_test(a_hash_spreads_powers_of_two_over_the_sets),
        cmocka_unit_test(a_random_choice_keeps_some_lines_of_a_circle),
        cmocka_unit_test(a_bank_uses_all_its_sets),
        cmocka_unit_test(a_smaller_cache_keeps_at_least_half_of_its_ways),
        cmocka_unit_test(lines_with_equal_hashes_are_told_apart),
        cmocka_unit_test(an_mshr_holds_a_limited_number_and_answers_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
