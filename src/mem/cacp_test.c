/* Tests of the ways for critical lines. The cache has one set of four ways: 0 and 1 are for critical lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mem/cacp.h"

enum { LINE_BYTES = 128, WAYS = 4 };

struct bench {
    struct base_arena arena;
    struct mem_cache cache;
    struct mem_cacp cacp;
};

static void start(struct bench *bench, uint32_t ways) {
    memset(bench, 0, sizeof *bench);
    mem_cache_init(&bench->cache, &bench->arena, (uint64_t)ways * LINE_BYTES, ways, LINE_BYTES, 1);
    mem_cacp_init(&bench->cacp, &bench->arena, ways, 50);
}

/* Brings the line of an access with this signature. Returns its way. */
static uint32_t bring(struct bench *bench, uint64_t line, uint8_t signature) {
    uint32_t slot = mem_cacp_victim(&bench->cacp, &bench->cache, line, signature);
    if (bench->cache.lines[slot] != MEM_NO_LINE)
        mem_cacp_evict(&bench->cacp, &bench->cache, slot);
    mem_cache_put(&bench->cache, slot, line, MEM_SHARED);
    mem_cacp_put(&bench->cacp, slot, signature);
    return slot;
}

static void use(struct bench *bench, uint64_t line, bool is_critical) {
    bench->cacp.is_critical = is_critical;
    mem_cacp_hit(&bench->cacp, mem_cache_find(&bench->cache, line));
}

static void a_signature_xors_the_pc_and_the_region(void **state) {
    (void)state;
    struct mem_cacp cacp = {.pc = 0x10f};
    assert_int_equal(mem_cacp_signature(&cacp, 0x3000), 0x0c);
    assert_int_equal(mem_cacp_signature(&cacp, 0x3fff), 0x0c);
    assert_int_equal(mem_cacp_signature(&cacp, 0x103000), 0x0c);
}

/* Two uses by critical warps make the counter 2. */
static void lines_that_critical_warps_use_go_to_their_ways(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, WAYS);
    assert_int_equal(bring(&bench, 1, 7), 2);
    use(&bench, 1, false);
    use(&bench, 1, true);
    assert_int_equal(bring(&bench, 2, 7), 3);
    use(&bench, 2, true);
    assert_int_equal(bring(&bench, 3, 7), 0);
    assert_int_equal(bring(&bench, 4, 7), 1);
    assert_int_equal(bring(&bench, 5, 9), 2); /* another signature: the first of two equal lines in the other ways */
    base_arena_free(&bench.arena);
}

/* Lines 1 and 2 start with distance 2. Line 1 is used: 0. For line 3, distances grow by 1, and line 2 leaves. For line
 * 4, line 3 has 2 and line 1 has 1: line 3 leaves, and line 1 has 2. */
static void the_line_with_the_largest_distance_leaves(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, WAYS);
    assert_int_equal(bring(&bench, 1, 1), 2);
    assert_int_equal(bring(&bench, 2, 2), 3);
    use(&bench, 1, false);
    assert_int_equal(bring(&bench, 3, 3), 3);
    assert_int_equal(bench.cacp.distance[2], 1);
    assert_int_equal(bring(&bench, 4, 4), 3);
    assert_int_equal(bench.cacp.distance[2], 2);
    assert_int_equal(bench.cacp.distance[3], 2);
    assert_int_equal(bring(&bench, 5, 5), 2); /* equal distances: the first way */
    base_arena_free(&bench.arena);
}

/* A line that leaves unused lowers its signature's counter from 1 to 0. The next line of that signature starts with 3
 * and leaves first. A use raises the counter again. */
static void a_signature_that_is_never_used_starts_distant(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, WAYS);
    bring(&bench, 1, 1);
    bring(&bench, 2, 2);
    bring(&bench, 3, 3); /* line 1 leaves unused */
    assert_int_equal(bench.cacp.any_use[1], 0);
    assert_int_equal(bring(&bench, 4, 1), 3); /* line 2 leaves, because its distance has grown to 3 */
    assert_int_equal(bench.cacp.distance[3], 3);
    assert_int_equal(bring(&bench, 5, 5), 3);
    bring(&bench, 6, 1);
    use(&bench, 6, false);
    assert_int_equal(bench.cacp.any_use[1], 1); /* 0 after line 4, at least 0 after line 5; one use */
    base_arena_free(&bench.arena);
}

/* Line 1 is brought as critical, but only another warp uses it. */
static void a_line_that_only_others_use_lowers_the_prediction(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, WAYS);
    bench.cacp.critical_use[7] = 3;
    assert_int_equal(bring(&bench, 1, 7), 0);
    use(&bench, 1, false);
    assert_int_equal(bring(&bench, 2, 7), 1);
    use(&bench, 2, true);
    assert_int_equal(bring(&bench, 3, 7), 0); /* both have distance 0: the first */
    assert_int_equal(bench.cacp.critical_use[7], 2);
    use(&bench, 3, true);
    bring(&bench, 4, 7); /* line 2 leaves: a critical warp has used it */
    assert_int_equal(bench.cacp.critical_use[7], 3);
    base_arena_free(&bench.arena);
}

static void pinned_lines_stay(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, WAYS);
    bring(&bench, 1, 1);
    bring(&bench, 2, 2);
    bench.cache.is_pinned[2] = true;
    assert_int_equal(bring(&bench, 3, 3), 3);
    bench.cache.is_pinned[3] = true;
    assert_true(mem_cacp_victim(&bench.cacp, &bench.cache, 4, 4) == MEM_NONE);
    base_arena_free(&bench.arena);
}

static void one_way_is_not_divided(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, 1);
    bench.cacp.critical_use[7] = 3;
    assert_int_equal(bring(&bench, 1, 7), 0);
    assert_int_equal(bring(&bench, 2, 1), 0);
    base_arena_free(&bench.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signature_xors_the_pc_and_the_region),
        cmocka_unit_test(lines_that_critical_warps_use_go_to_their_ways),
        cmocka_unit_test(the_line_with_the_largest_distance_leaves),
        cmocka_unit_test(a_signature_that_is_never_used_starts_distant),
        cmocka_unit_test(a_line_that_only_others_use_lowers_the_prediction),
        cmocka_unit_test(pinned_lines_stay),
        cmocka_unit_test(one_way_is_not_divided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
