/* Memories that cannot be built: mem_can_build() names the option. */
#include "mem/fixture.h"

static void expect_impossible(struct config_machine machine, const char *expected) {
    char text[256];
    assert_false(mem_can_build(&machine, text, sizeof text));
    assert_string_equal(text, expected);
}

static void impossible_machines_are_named(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.memory.coherence = CONFIG_COHERENCE_MESI;
    expect_impossible(machine, "memory.coherence is mesi, but needs l1.write back and l1.write_allocate true");
    machine = fixture_mesi();
    machine.sm.count = 65;
    expect_impossible(machine, "memory.coherence is mesi, but sm.count is 65 and its directory has room for 64");
    machine = fixture_mesi();
    machine.l1.cache.line_bytes = 64;
    expect_impossible(machine, "memory.coherence is mesi, but l1.line is 64 and l2.line 128: they must be equal");
    machine = fixture_machine();
    machine.l1.cache.line_bytes = 256;
    expect_impossible(machine, "l1.line is 256, but must be a power of two from 16 to a memory line's 128");
    machine = fixture_machine();
    machine.l2.writes.policy = CONFIG_WRITE_THROUGH;
    expect_impossible(machine, "l2.write is through, but only an L2 that writes back can be built");
    machine = fixture_machine();
    machine.dram.row_conflict_cycles = 49;
    expect_impossible(machine, "dram.row_conflict is 49, but must not be below dram.row_hit, 50");
    machine = fixture_machine();
    machine.l2.cache.size_bytes = 512;
    expect_impossible(machine, "l2.size is 512, but must hold a set of 4 ways of 128 bytes in each of 2 banks");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_machines_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
