/* The caches of instructions and textures. Cycle counts are derived on paper (fixture.h). */
#include "mem/fixture.h"

static void instructions_come_through_their_own_cache(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, fixture_machine());
    fixture_miss(&f, 0, 100, MEM_FETCH, 0, 1);
    fixture_miss(&f, 0, 100, MEM_READ, 1, 2);
    /* Latency 1: the header leaves at 101, the rest is as for data. */
    fixture_answer(&f, 0, 1, 100 + CONFLICT - 9);
    fixture_hit(&f, 0, 300, MEM_FETCH, 0, 301);
    fixture_miss(&f, 0, 1000, MEM_READ, 0, 3); /* not in the data cache */
    assert_int_equal(mem_counters(f.mem)->icache_accesses, 2);
    assert_int_equal(mem_counters(f.mem)->icache_misses, 1);
    fixture_end(&f);
}

static struct config_machine machine_with_textures(void) {
    struct config_machine machine = fixture_machine();
    machine.texture = machine.l1.cache;
    machine.texture.latency_cycles = 7;
    return machine;
}

/* Latency 7: three cycles less than the L1. A kernel's end empties it, with a coherent L1 too. */
static void textures_come_through_their_own_cache(void **state) {
    (void)state;
    struct fixture f;
    fixture_start(&f, machine_with_textures());
    fixture_miss(&f, 0, 100, MEM_TEXTURE, 0, 1);
    fixture_answer(&f, 0, 1, 100 + CONFLICT - 3);
    fixture_hit(&f, 0, 400, MEM_TEXTURE, 0, 407);
    fixture_miss(&f, 0, 500, MEM_READ, 0, 2); /* not in the data cache */
    fixture_answer(&f, 1, 2, 500 + L2_HIT);
    assert_int_equal(mem_counters(f.mem)->texture_accesses, 2);
    assert_int_equal(mem_counters(f.mem)->texture_misses, 1);
    assert_int_equal(mem_counters(f.mem)->l1_accesses, 1);
    mem_flush_l1(f.mem, 600);
    fixture_miss(&f, 0, 700, MEM_TEXTURE, 0, 3);
    fixture_answer(&f, 2, 3, 700 + L2_HIT - 3);
    fixture_end(&f);
}

static void a_perfect_texture_cache_always_hits(void **state) {
    (void)state;
    struct fixture f;
    struct config_machine machine = machine_with_textures();
    machine.texture.is_perfect = true;
    fixture_start(&f, machine);
    for (uint32_t line = 0; line < 100; line++)
        fixture_hit(&f, 0, 100 + line, MEM_TEXTURE, line, 107 + line);
    assert_int_equal(mem_counters(f.mem)->texture_misses, 0);
    fixture_end(&f);
}

/* In one cycle each bank takes one line: lines 0 and 1 with two banks, but not line 2. */
static void a_texture_cache_takes_a_line_for_each_bank(void **state) {
    (void)state;
    for (uint32_t banks = 1; banks <= 2; banks++) {
        struct fixture f;
        uint64_t ready;
        struct config_machine machine = machine_with_textures();
        machine.texture.banks = banks;
        machine.texture.is_perfect = true;
        fixture_start(&f, machine);
        fixture_hit(&f, 0, 400, MEM_TEXTURE, 0, 407);
        enum mem_answer answer = fixture_access(&f, 0, 400, MEM_TEXTURE, 1, 0, &ready);
        assert_int_equal(answer, banks == 1 ? MEM_REFUSED : MEM_HIT);
        assert_int_equal(ready, banks == 1 ? 401 : 407);
        assert_int_equal(fixture_access(&f, 0, 400, MEM_TEXTURE, 2, 0, &ready), MEM_REFUSED);
        fixture_hit(&f, 0, 401, MEM_TEXTURE, 2, 408);
        fixture_end(&f);
    }
}

/* Two requests wait for a line; a third is refused until the line is there. */
static void as_many_textures_wait_for_a_line_as_merge(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = machine_with_textures();
    machine.texture.mshr_merges = 2;
    fixture_start(&f, machine);
    fixture_miss(&f, 0, 100, MEM_TEXTURE, 0, 1);
    fixture_miss(&f, 0, 101, MEM_TEXTURE, 0, 2);
    assert_int_equal(fixture_access(&f, 0, 102, MEM_TEXTURE, 0, 3, &ready), MEM_REFUSED);
    fixture_answer(&f, 0, 1, 100 + CONFLICT - 3);
    assert_int_equal(f.n_log, 2);
    fixture_hit(&f, 0, 100 + CONFLICT, MEM_TEXTURE, 0, 107 + CONFLICT);
    fixture_end(&f);
}

static void shorter_instruction_lines_lie_in_memory_lines(void **state) {
    (void)state;
    struct fixture f;
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.icache.line_bytes = 32;
    fixture_start(&f, machine);
    assert_int_equal(mem_access(f.mem, 0, 100, MEM_FETCH, 96, 32, 1, &ready), MEM_MISS);
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, 1);
    assert_int_equal(mem_access(f.mem, 0, 1000, MEM_FETCH, 96, 32, 1, &ready), MEM_HIT);
    assert_int_equal(mem_access(f.mem, 0, 1001, MEM_FETCH, 64, 32, 2, &ready), MEM_MISS);
    mem_advance(f.mem, MEM_NEVER);
    /* an L2 hit with 40 bytes back: leaves at 1002, at the bank 1007.25 -> 1008, 1028, 1033 + 1.25 -> 1035 */
    assert_int_equal(f.log[1].cycle, 1035);
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_come_through_their_own_cache),
        cmocka_unit_test(textures_come_through_their_own_cache),
        cmocka_unit_test(a_perfect_texture_cache_always_hits),
        cmocka_unit_test(a_texture_cache_takes_a_line_for_each_bank),
        cmocka_unit_test(as_many_textures_wait_for_a_line_as_merge),
        cmocka_unit_test(shorter_instruction_lines_lie_in_memory_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
