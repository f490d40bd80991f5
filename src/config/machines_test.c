/* Tests of the bundled machines: they are valid, are the same after a dump, and have the numbers of their papers. */
#include "config/fixture.h"

static struct config_machine machine_named(const char *name) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES] = "";
    if (!config_load(&machine, name, MACHINES, error, sizeof error) || !config_check(&machine, error, sizeof error))
        fail_msg("%s: %s", name, error);
    return machine;
}

/* Calls the function for every machine of the folder. */
static void for_each(void (*function)(const char *name)) {
    struct base_arena arena = {0};
    char error[CONFIG_ERROR_BYTES] = "";
    unsigned count;
    const char **names = config_list(MACHINES, &arena, &count, error, sizeof error);
    assert_non_null(names);
    assert_true(count >= 7);
    for (unsigned i = 0; i < count; i++)
        function(names[i]);
    base_arena_free(&arena);
}

static void expect_good(const char *name) {
    struct config_machine machine = machine_named(name);
    assert_string_equal(machine.name, name);
    assert_true(strlen(machine.description) > 10);
}

static void every_machine_is_valid_and_has_the_name_of_its_file(void **state) {
    (void)state;
    for_each(expect_good);
}

static void expect_round_trip(const char *name) {
    struct config_machine machine = machine_named(name);
    char *first = dumped(&machine);
    struct config_machine again = loaded(first);
    assert_memory_equal(&machine, &again, sizeof machine);
    char *second = dumped(&again);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void every_machine_is_the_same_after_a_dump_and_a_load(void **state) {
    (void)state;
    for_each(expect_round_trip);
}

static void words_that_yaml_could_misread_are_quoted(void **state) {
    (void)state;
    static const char *const words[] = {"- x", "a: b", "x #y", "\"q\" \\",          "{",
                                        "'",   "",     "~",    "two-level:group=8", " a "};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct config_machine machine = machine_named("gtx480");
        strcpy(machine.scheduler, words[i]);
        memset(machine.description, 0, sizeof machine.description);
        strcpy(machine.description, words[i]);
        char *text = dumped(&machine);
        assert_string_equal(loaded(text).scheduler, words[i]);
        assert_string_equal(loaded(text).description, words[i]);
        free(text);
    }
}

static void the_dump_has_units_and_comments(void **state) {
    (void)state;
    struct config_machine machine = machine_named("gtx480");
    char *text = dumped(&machine);
    assert_non_null(strstr(text, "name: gtx480\n"));
    assert_non_null(strstr(text, "\nl1:\n  present: true                  # a data cache per SM; without it every "
                                 "access goes to the next level\n"));
    assert_non_null(strstr(text, "\n  size: 16K                      # bytes; capacity\n"));
    free(text);
}

/* The defaults are gtx480's. */
static void the_defaults_are_the_default_machine(void **state) {
    (void)state;
    struct config_machine machine = machine_named("gtx480"), defaults;
    config_defaults(&defaults);
    memcpy(defaults.name, machine.name, sizeof machine.name);
    memcpy(defaults.description, machine.description, sizeof machine.description);
    char *expected = dumped(&machine), *text = dumped(&defaults);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

/* A machine without a mechanism has the values of h200 for its parameters, until it switches it on. */
static void the_defaults_of_mechanisms_are_those_of_h200(void **state) {
    (void)state;
    struct config_machine machine = machine_named("h200"), defaults;
    config_defaults(&defaults);
    static const char *const groups[] = {"constant_cache.", "matrix.",  "unified.", "serial_atomics.",
                                         "halves.",         "cluster.", "copies."};
    for (unsigned i = 0; i < config_n_options; i++)
        for (unsigned j = 0; j < sizeof groups / sizeof groups[0]; j++) {
            char text[CONFIG_VALUE_BYTES];
            const char *name = config_options[i].name;
            if (strncmp(name, groups[j], strlen(groups[j])) != 0)
                continue;
            config_format(&config_options[i], &machine, text);
            assert_string_equal(text, strstr(name, ".present") ? "true" : config_options[i].initial);
        }
}

static void a_dump_leaves_out_the_parameters_of_absent_mechanisms(void **state) {
    (void)state;
    struct config_machine machine = machine_named("a100");
    char *text = dumped(&machine);
    assert_non_null(strstr(text, "\nhalves:\n  present: false "));
    assert_null(strstr(text, "\n  host_cycles: "));
    assert_non_null(strstr(text, "\n  slice_cycles: 1.16 "));
    free(text);
}

static void machines_whose_papers_have_no_energy_have_no_figures(void **state) {
    (void)state;
    static const struct config_energy none = {0};
    static const char *const without[] = {"gtx480", "liu2023", "malits2012", "narasiman2011", "narasiman2014"};
    struct config_machine machine = machine_named("meng2010");
    assert_memory_not_equal(&machine.energy, &none, sizeof none);
    for (unsigned i = 0; i < sizeof without / sizeof without[0]; i++) {
        machine = machine_named(without[i]);
        assert_memory_equal(&machine.energy, &none, sizeof none);
    }
}

/* ---- The papers' numbers ----------------------------------------------------------------------------------------- */

static void expect_values(const char *name, const char *const (*values)[2]) {
    struct config_machine machine = machine_named(name);
    for (; (*values)[0]; values++) {
        char text[CONFIG_VALUE_BYTES];
        const struct config_option *option = config_find_option((*values)[0]);
        assert_non_null(option);
        config_format(option, &machine, text);
        if (strcmp(text, (*values)[1]) != 0)
            fail_msg("%s: %s is %s, not %s", name, (*values)[0], text, (*values)[1]);
    }
}

static void narasiman2011_is_its_table_1(void **state) {
    (void)state;
    static const char *const values[][2] = {
        {"sm.count", "1"},
        {"sm.threads", "1024"},
        {"sm.warp_size", "32"},
        {"sm.simd_width", "32"},
        {"sm.pipeline", "barrel"},
        {"sm.stages", "7"},
        {"sm.registers", "0"}, /* 1024 threads, whatever a kernel needs */
        {"sm.schedulers", "1"},
        {"icache.size", "4K"},
        {"icache.banks", "1"},
        {"l1.size", "32K"},
        {"l1.ways", "4"},
        {"l1.line", "128"},
        {"l1.latency", "1"},
        {"l1.banks", "1"},
        {"l2.present", "false"},
        {"shared.size", "128K"},
        {"shared.banks", "32"},
        {"dram.banks", "8"},
        {"dram.row", "4K"},
        {"dram.policy", "fcfs-bank"},
        {"dram.bank_hash", "fold"},
        {"dram.row_hit", "100"},
        {"dram.row_conflict", "300"},
        {"dram.bytes_per_cycle", "32"},
        {"clock", "1"},
        {"scheduler", "lrr"},
        {NULL, NULL},
    };
    expect_values("narasiman2011", values);
}

static void narasiman2014_differs_in_its_data_cache_and_its_rules(void **state) {
    (void)state;
    struct config_machine before = machine_named("narasiman2011"), machine = machine_named("narasiman2014");
    assert_int_equal(machine.l1.cache.size_bytes, 128 * 1024);
    assert_string_equal(machine.rules, "2014");
    machine.l1.cache.size_bytes = before.l1.cache.size_bytes;
    memcpy(machine.rules, before.rules, sizeof before.rules);
    memcpy(machine.name, before.name, sizeof before.name);
    memcpy(machine.description, before.description, sizeof before.description);
    char *text = dumped(&machine), *expected = dumped(&before);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

static void narasiman2014_db_is_its_table_8_1(void **state) {
    (void)state;
    static const char *const values[][2] = {
        {"l1.size", "32K"},
        {"l1.ways", "4"},
        {"l2.present", "true"},
        {"l2.size", "1M"},
        {"shared.size", "32K"},
        {"shared.banks", "32"},
        {"dram.policy", "fr-fcfs"},
        {"dram.channels", "1"},
        {"dram.bytes_per_cycle", "32"},
        {"dram.row_hit", "100"},
        {"dram.row_conflict", "300"},
        {"sm.threads", "1024"},
        {"icache.size", "4K"},
        {NULL, NULL},
    };
    expect_values("narasiman2014-db", values);
}

static void malits2012_is_its_table_2(void **state) {
    (void)state;
    static const char *const values[][2] = {
        {"sm.count", "28"},      {"sm.warp_size", "32"},    {"sm.simd_width", "8"},     {"sm.threads", "1024"},
        {"sm.blocks", "8"},      {"sm.registers", "16384"}, {"memory.perfect", "true"}, {"icache.perfect", "true"},
        {"l1.present", "false"}, {"l2.present", "false"},   {"scheduler", "lrr"},       {NULL, NULL},
    };
    static const char *const memory[][2] = {
        {"memory.perfect", "false"}, {"dram.channels", "8"}, {"sm.count", "28"}, {"l1.present", "false"}, {NULL, NULL},
    };
    expect_values("malits2012", values);
    expect_values("malits2012-memory", memory);
}

static void meng2010_is_its_table_3(void **state) {
    (void)state;
    static const char *const values[][2] = {
        {"sm.count", "4"},
        {"sm.threads", "64"},
        {"sm.warp_size", "16"},
        {"sm.simd_width", "16"},
        {"clock", "1"},
        {"sm.alu_cycles", "1"},
        {"sm.pipeline", "switch-on-access"},
        {"scheduler", "gtrr:next=warp"}, /* sections 3.3, 4.5: only an access to the cache switches warps */
        {"icache.size", "16K"},
        {"icache.ways", "4"},
        {"icache.line", "128"},
        {"icache.latency", "1"},
        {"icache.mshrs", "4"},
        {"l1.size", "32K"},
        {"l1.ways", "8"},
        {"l1.line", "128"},
        {"l1.latency", "3"},
        {"l1.banks", "16"},
        {"l1.bank_queues", "true"},
        {"l1.mshrs", "32"},
        {"l1.mshr_merges", "32"},
        {"l1.write", "back"},
        {"l2.size", "4M"},
        {"l2.ways", "16"},
        {"l2.line", "128"},
        {"l2.latency", "30"},
        {"l2.mshrs", "256"},
        {"l2.mshr_merges", "64"},
        {"memory.coherence", "mesi"},
        {"dram.row_hit", "100"},
        {"dram.row_conflict", "100"},
        {"dram.bytes_per_cycle", "16"},
        {"shared.size", "0"},
        {NULL, NULL},
    };
    struct config_machine machine = machine_named("meng2010");
    expect_values("meng2010", values);
    assert_true(machine.energy.dram_nj == 220);                                                 /* section 3.3 */
    assert_true(machine.crossbar.bytes_per_cycle * machine.sm.count * machine.clock_ghz == 57); /* GB/s */
}

static void gtx480_is_table_1_of_liu_2023(void **state) {
    (void)state;
    static const char *const values[][2] = {
        {"sm.count", "15"},         {"sm.threads", "1536"},  {"sm.blocks", "8"},
        {"sm.registers", "32768"},  {"sm.warp_size", "32"},  {"shared.size", "48K"},
        {"l1.size", "16K"},         {"icache.size", "2K"},   {"l2.size", "768K"},
        {"l2.ways", "8"},           {"l2.banks", "12"},      {"sm.multiply_width", "32"},
        {"dram.policy", "fr-fcfs"}, {"dram.channels", "6"},  {"sm.schedulers", "2"},
        {"l1.ways", "4"},           {"l1.write", "through"}, {"l1.write_allocate", "false"},
        {"clock", "0.7"},           {"scheduler", "lrr"},    {NULL, NULL},
    };
    struct config_machine machine = machine_named("gtx480");
    expect_values("gtx480", values);
    /* 48 bytes per transfer, 3.696 G transfers per second. */
    double bandwidth = machine.dram.bytes_per_cycle * machine.dram.channels * machine.clock_ghz;
    assert_true(bandwidth > 177.4 && bandwidth < 177.42);
}

/* Liu 2023 used GPGPU-Sim 3.2.2 as it is: the sizes are gtx480's, the latencies the simulator's. */
static void liu2023_is_the_gtx480_of_gpgpu_sim(void **state) {
    (void)state;
    static const char *const values[][2] = {
        {"sm.fetch_cycles", "2"}, {"sm.branch_cycles", "3"},   {"sm.alu_cycles", "8"}, {"sm.fp32_cycles", "8"},
        {"sm.sfu_cycles", "14"},  {"sm.sfu_width", "4"},       {"l1.latency", "3"},    {"shared.latency", "8"},
        {"l2.latency", "125"},    {"crossbar.latency", "5"},   {"l1.size", "16K"},     {"l2.size", "768K"},
        {"scheduler", "lrr"},     {"sm.constant_cycles", "4"}, {NULL, NULL},
    };
    expect_values("liu2023", values);
}

/* ---- Cards ------------------------------------------------------------------------------------------------------- */

static void expect_about(double value, double expected) {
    if (value < 0.99 * expected || value > 1.01 * expected)
        fail_msg("%g is not about %g", value, expected);
}

/* Teraflops of the fused multiply-add on lanes that are one scheduler's. */
static double teraflops(const struct config_machine *machine, double lanes) {
    return lanes * machine->sm.schedulers * machine->sm.count * machine->clock_ghz * 2 / 1000;
}

static double bandwidth(const struct config_machine *machine) {
    return machine->dram.bytes_per_cycle * machine->dram.channels * machine->clock_ghz;
}

/* The peaks that the white papers print; bandwidth as measured (Luo 2024). */
static void a100_has_the_peaks_of_its_white_paper(void **state) {
    (void)state;
    struct config_machine machine = machine_named("a100");
    expect_about(teraflops(&machine, machine.sm.multiply_width), 19.5);
    expect_about(teraflops(&machine, machine.sm.fp64_width), 9.7);
    expect_about(teraflops(&machine, machine.matrix.rate), 312);
    expect_about(bandwidth(&machine), 1407);
    assert_int_equal(machine.l2.cache.size_bytes, 40 << 20);
    assert_int_equal(machine.sm.threads, 64 * 32);
}

static void rtx4090_has_the_peaks_of_its_white_paper(void **state) {
    (void)state;
    struct config_machine machine = machine_named("rtx4090");
    expect_about(teraflops(&machine, machine.sm.simd_width), 82.6);
    expect_about(teraflops(&machine, machine.sm.fp64_width), 82.6 / 64);
    expect_about(teraflops(&machine, machine.matrix.rate), 165.2);
    expect_about(bandwidth(&machine), 930);
    assert_int_equal(machine.l2.cache.size_bytes, 72 << 20);
    assert_int_equal(machine.sm.threads, 48 * 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_is_valid_and_has_the_name_of_its_file),
        cmocka_unit_test(every_machine_is_the_same_after_a_dump_and_a_load),
        cmocka_unit_test(words_that_yaml_could_misread_are_quoted),
        cmocka_unit_test(the_dump_has_units_and_comments),
        cmocka_unit_test(the_defaults_are_the_default_machine),
        cmocka_unit_test(the_defaults_of_mechanisms_are_those_of_h200),
        cmocka_unit_test(a_dump_leaves_out_the_parameters_of_absent_mechanisms),
        cmocka_unit_test(machines_whose_papers_have_no_energy_have_no_figures),
        cmocka_unit_test(narasiman2011_is_its_table_1),
        cmocka_unit_test(narasiman2014_differs_in_its_data_cache_and_its_rules),
        cmocka_unit_test(narasiman2014_db_is_its_table_8_1),
        cmocka_unit_test(malits2012_is_its_table_2),
        cmocka_unit_test(meng2010_is_its_table_3),
        cmocka_unit_test(gtx480_is_table_1_of_liu_2023),
        cmocka_unit_test(liu2023_is_the_gtx480_of_gpgpu_sim),
        cmocka_unit_test(a100_has_the_peaks_of_its_white_paper),
        cmocka_unit_test(rtx4090_has_the_peaks_of_its_white_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
