/* The memory of every bundled machine can be built and answers. */
#include "config/config.h"
#include "mem/fixture.h"

static void try_machine(const char *name) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES] = "";
    if (!config_load(&machine, name, "machines", error, sizeof error) || !config_check(&machine, error, sizeof error) ||
        !mem_can_build(&machine, error, sizeof error))
        fail_msg("%s: %s", name, error);
    struct fixture f;
    fixture_start(&f, machine);
    uint32_t n_misses = 0;
    for (uint64_t cycle = 1; cycle < 2000; cycle++) {
        mem_advance(f.mem, cycle);
        for (uint32_t sm = 0; sm < machine.sm.count; sm++) {
            uint64_t ready, line = (cycle * 7 + sm * 3) % 512 * machine.l1.cache.line_bytes;
            enum mem_kind kind = cycle % 3 == 0 ? MEM_WRITE : MEM_READ;
            n_misses += mem_access(f.mem, sm, cycle, kind, line, 4, n_misses, &ready) == MEM_MISS;
        }
    }
    mem_advance(f.mem, MEM_NEVER);
    assert_int_equal(f.n_log, n_misses);
    assert_true(machine.memory.is_perfect || n_misses > 0);
    fixture_end(&f);
}

static void every_bundled_machine_has_a_memory_that_answers(void **state) {
    (void)state;
    struct base_arena arena = {0};
    char error[CONFIG_ERROR_BYTES] = "";
    unsigned count;
    const char **names = config_list("machines", &arena, &count, error, sizeof error);
    assert_non_null(names);
    for (unsigned i = 0; i < count; i++)
        try_machine(names[i]);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bundled_machine_has_a_memory_that_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
