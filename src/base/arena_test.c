/* Tests of the arena: allocations are zeroed, aligned, do not overlap, and last until the arena is freed. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

static void memory_is_zeroed_even_after_a_reset(void **state) {
    (void)state;
    struct base_arena arena = {0};
    memset(base_arena_alloc(&arena, 1000, 16), 0xAB, 1000);
    base_arena_reset(&arena);
    base_arena_alloc(&arena, 400, 16); /* part of the used memory, then the rest of it and more */
    const unsigned char *again = base_arena_alloc(&arena, 1000, 16);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(again[i], 0);
    base_arena_free(&arena);
}

static void alignment_is_honoured_at_every_offset(void **state) {
    (void)state;
    struct base_arena arena = {0};
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        base_arena_alloc(&arena, 1, 1);
        assert_int_equal((uintptr_t)base_arena_alloc(&arena, 3, alignment) % alignment, 0);
    }
    base_arena_free(&arena);
}

static void a_pair_of_cache_lines_begins_where_asked(void **state) {
    (void)state;
    struct base_arena arena = {0};
    for (unsigned i = 1; i < 200; i += 7) {
        base_arena_alloc(&arena, i, 1);
        base_arena_begin_pair(&arena);
        assert_int_equal((uintptr_t)base_arena_alloc(&arena, 1, 1) % BASE_PAIR_BYTES, 0);
    }
    base_arena_free(&arena);
}

static void memory_that_grows_keeps_its_bytes_in_lines_of_its_own(void **state) {
    (void)state;
    unsigned char *memory = NULL;
    for (size_t bytes = 10; bytes < 1000; bytes *= 2) {
        memory = base_grow_aligned(memory, bytes > 10 ? bytes / 2 : 0, bytes);
        assert_int_equal((uintptr_t)memory % BASE_PAIR_BYTES, 0);
        for (size_t i = 0; i < bytes; i++) {
            if (i < bytes / 2 && bytes > 10)
                assert_int_equal(memory[i], (unsigned char)(i + 1));
            memory[i] = (unsigned char)(i + 1);
        }
    }
    free(memory);
}

static void allocations_do_not_overlap_while_the_arena_grows(void **state) {
    (void)state;
    enum { COUNT = 500 };
    struct base_arena arena = {0};
    unsigned *numbers[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        numbers[i] = BASE_ARENA_ARRAY(&arena, unsigned, i + 1);
        for (unsigned j = 0; j <= i; j++)
            numbers[i][j] = i;
    }
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j <= i; j++)
            assert_int_equal(numbers[i][j], i);
    base_arena_free(&arena);
}

static void an_allocation_larger_than_a_chunk_fits(void **state) {
    (void)state;
    struct base_arena arena = {0};
    char *large = base_arena_alloc(&arena, 10 << 20, 16);
    large[(10 << 20) - 1] = 1;
    base_arena_free(&arena);
}

static void a_reset_reuses_the_memory(void **state) {
    (void)state;
    struct base_arena arena = {0};
    void *first = base_arena_alloc(&arena, 16, 16);
    base_arena_reset(&arena);
    assert_ptr_equal(base_arena_alloc(&arena, 16, 16), first);
    base_arena_free(&arena);
}

static void an_arena_may_live_in_itself(void **state) {
    (void)state;
    struct base_arena first = {0};
    struct base_arena *arena = BASE_ARENA_NEW(&first, struct base_arena);
    *arena = first;
    memset(base_arena_alloc(arena, 100000, 1), 1, 100000);
    base_arena_free(arena);
}

static void text_is_copied_and_formatted(void **state) {
    (void)state;
    struct base_arena arena = {0};
    assert_string_equal(base_arena_copy(&arena, "add.f32", 3), "add");
    assert_string_equal(base_arena_printf(&arena, "%s.%d", "sm", 70), "sm.70");
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_even_after_a_reset),
        cmocka_unit_test(alignment_is_honoured_at_every_offset),
        cmocka_unit_test(a_pair_of_cache_lines_begins_where_asked),
        cmocka_unit_test(memory_that_grows_keeps_its_bytes_in_lines_of_its_own),
        cmocka_unit_test(allocations_do_not_overlap_while_the_arena_grows),
        cmocka_unit_test(an_allocation_larger_than_a_chunk_fits),
        cmocka_unit_test(a_reset_reuses_the_memory),
        cmocka_unit_test(an_arena_may_live_in_itself),
        cmocka_unit_test(text_is_copied_and_formatted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
