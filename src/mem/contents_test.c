/* A memory system that receives the contents of another answers like that one from then on. */
#include "mem/fixture.h"

enum { N_LINES = 200, N_CYCLES = 30000 };

/* Random accesses in the cycles from `cycle` on, so few that no line has to wait for a way of the L2: those that do are
 * served in the order of their entries, which is none of the contents. */
static void access_at_random(struct fixture *f, uint64_t cycle, uint64_t seed) {
    f->n_log = 0;
    for (uint64_t end = cycle + N_CYCLES; cycle < end; cycle++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        static const enum mem_kind kinds[] = {MEM_READ, MEM_READ, MEM_READ, MEM_WRITE, MEM_ATOMIC, MEM_FETCH};
        uint64_t ready;
        uint32_t line = (uint32_t)(seed >> 40) % N_LINES;
        if (seed >> 60 > 13)
            fixture_access(f, (uint32_t)(seed >> 33) % f->machine.sm.count, cycle, kinds[(seed >> 50) % 6], line,
                           (uint32_t)cycle, &ready);
    }
    mem_advance(f->mem, MEM_NEVER);
}

/* The cycle of the last event. */
static uint64_t last_cycle(const struct mem *mem) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < mem->n_partitions; i++)
        last = mem->partitions[i].events.base > last ? mem->partitions[i].events.base : last;
    for (uint32_t i = 0; i < mem->n_sms; i++)
        last = mem->sms[i].events.base > last ? mem->sms[i].events.base : last;
    return last;
}

static void check_machine(struct config_machine machine) {
    struct fixture first, second;
    struct base_bytes contents = {0};
    fixture_start(&first, machine);
    fixture_start(&second, machine);
    access_at_random(&first, 0, 1);
    mem_save_contents(first.mem, &contents);
    mem_load_contents(second.mem, &contents);
    assert_true(contents.at == contents.n && !contents.is_short);
    struct stats_mem before = *mem_counters(first.mem);
    uint64_t now = last_cycle(first.mem);
    assert_true(now > N_CYCLES);
    access_at_random(&first, now, 2);
    access_at_random(&second, now, 2);
    assert_true(first.n_log > 100);
    assert_int_equal(first.n_log, second.n_log);
    assert_memory_equal(first.log, second.log, first.n_log * sizeof *first.log);
    const struct stats_mem *counters = mem_counters(second.mem);
    for (size_t i = 0; i < sizeof before / sizeof(uint64_t); i++)
        assert_int_equal(((const uint64_t *)mem_counters(first.mem))[i] - ((const uint64_t *)&before)[i],
                         ((const uint64_t *)counters)[i]);
    base_bytes_free(&contents);
    fixture_end(&first);
    fixture_end(&second);
}

static void a_write_through_l1_with_an_l2(void **state) {
    (void)state;
    check_machine(fixture_machine());
}

static void a_write_back_l1_without_an_l2(void **state) {
    (void)state;
    check_machine(fixture_narasiman());
}

static void coherent_caches(void **state) {
    (void)state;
    check_machine(fixture_mesi());
}

static void a_chip_of_two_halves(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.halves = (struct config_halves){true, .atomic_cycles = 30, .read_cycles = 20};
    check_machine(machine);
}

/* The machine that receives the contents asks DRAM for the same rest of a line. */
static void lines_of_which_parts_were_stored(void **state) {
    (void)state;
    struct fixture first, second;
    struct base_bytes contents = {0};
    uint64_t ready;
    struct config_machine machine = fixture_machine();
    machine.slice.keeps_parts = true;
    fixture_start(&first, machine);
    fixture_start(&second, machine);
    assert_int_equal(mem_access(first.mem, 0, 100, MEM_WRITE, 0, 64, 1, &ready), MEM_HIT);
    mem_advance(first.mem, MEM_NEVER);
    mem_save_contents(first.mem, &contents);
    mem_load_contents(second.mem, &contents);
    fixture_miss(&second, 1, 1000, MEM_READ, 0, 2);
    fixture_answer(&second, 0, 2, 1000 + CONFLICT);
    base_bytes_free(&contents);
    fixture_end(&first);
    fixture_end(&second);
}

static void contents_that_are_too_short_are_noticed(void **state) {
    (void)state;
    struct fixture f;
    struct base_bytes contents = {0};
    fixture_start(&f, fixture_machine());
    mem_save_contents(f.mem, &contents);
    contents.n--;
    mem_load_contents(f.mem, &contents);
    assert_true(contents.is_short);
    base_bytes_free(&contents);
    mem_free(f.mem);
    free(f.log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_through_l1_with_an_l2),
        cmocka_unit_test(a_write_back_l1_without_an_l2),
        cmocka_unit_test(coherent_caches),
        cmocka_unit_test(a_chip_of_two_halves),
        cmocka_unit_test(lines_of_which_parts_were_stored),
        cmocka_unit_test(contents_that_are_too_short_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
