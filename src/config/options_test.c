/* Tests of the table of options and of --set. */
#include "config/fixture.h"

static void every_row_of_the_table_is_valid(void **state) {
    (void)state;
    struct config_machine machine;
    config_defaults(&machine);
    for (unsigned i = 0; i < config_n_options; i++) {
        const struct config_option *option = &config_options[i];
        char text[CONFIG_VALUE_BYTES];
        assert_ptr_equal(config_find_option(option->name), option); /* names are unique */
        config_format(option, &machine, text);
        assert_string_equal(text, option->initial); /* defaults are written in the form that is shown */
        config_describe(option, text);
        assert_true(strlen(text) > 3);
        static const size_t bytes[] = {[CONFIG_BYTES] = sizeof(uint32_t),
                                       [CONFIG_FLOAT] = sizeof(double),
                                       [CONFIG_BOOL] = sizeof(bool),
                                       [CONFIG_CHOICE] = sizeof(unsigned)};
        if (option->type == CONFIG_UINT)
            assert_true(option->bytes == sizeof(uint32_t) || option->bytes == sizeof(uint64_t));
        else if (option->type != CONFIG_TEXT)
            assert_int_equal(option->bytes, bytes[option->type]);
    }
}

/* Catches two rows with the same field and a field without a row. */
static void the_rows_cover_the_machine_without_overlap(void **state) {
    (void)state;
    unsigned char covered[sizeof(struct config_machine)] = {0};
    for (unsigned i = 0; i < config_n_options; i++)
        for (size_t j = 0; j < config_options[i].bytes; j++) {
            assert_int_equal(covered[config_options[i].offset + j], 0);
            covered[config_options[i].offset + j] = 1;
        }
    size_t gap = 0;
    for (size_t i = 0; i < sizeof covered; i++) {
        gap = covered[i] ? 0 : gap + 1;
        assert_true(gap < sizeof(uint64_t)); /* padding, never a field of 8 bytes */
        if (i % sizeof(uint32_t) == 3)
            assert_true(gap < sizeof(uint32_t) || i % sizeof(uint64_t) == 7);
    }
}

static void the_options_of_a_group_are_adjacent(void **state) {
    (void)state;
    for (unsigned i = 1; i < config_n_options; i++) {
        const char *name = config_options[i].name, *dot = strchr(name, '.');
        size_t length = dot ? (size_t)(dot - name) + 1 : 0;
        if (!dot) {
            assert_null(strchr(config_options[i - 1].name, '.'));
            continue;
        }
        if (strncmp(config_options[i - 1].name, name, length) == 0)
            continue;
        for (unsigned j = 0; j < i; j++)
            assert_true(strncmp(config_options[j].name, name, length) != 0);
    }
}

static void every_kind_of_value_is_stored(void **state) {
    (void)state;
    struct config_machine machine;
    config_defaults(&machine);
    set(&machine, "name=mine");
    set(&machine, "clock=1.25");
    set(&machine, "sm.count=0x10");
    set(&machine, "l1.size=64K");
    set(&machine, "l2.size=3m");
    set(&machine, "l2.line=256");
    set(&machine, "l1.write=back");
    set(&machine, "dram.policy=fcfs");
    set(&machine, "sm.pipeline=switch-on-access");
    set(&machine, "memory.coherence=mesi");
    set(&machine, "memory.perfect=yes");
    set(&machine, "l1.present=off");
    set(&machine, "limits.max_cycles=5000000000");
    set(&machine, "scheduler=two-level:group=8,switch=stall");
    set(&machine, "description=");
    assert_string_equal(machine.name, "mine");
    assert_true(machine.clock_ghz == 1.25);
    assert_int_equal(machine.sm.count, 16);
    assert_int_equal(machine.l1.cache.size_bytes, 65536);
    assert_int_equal(machine.l2.cache.size_bytes, 3 * 1024 * 1024);
    assert_int_equal(machine.l2.cache.line_bytes, 256);
    assert_int_equal(machine.l1.writes.policy, CONFIG_WRITE_BACK);
    assert_string_equal(machine.dram.policy, "fcfs");
    assert_int_equal(machine.sm.pipeline, CONFIG_PIPELINE_SWITCH_ON_ACCESS);
    assert_int_equal(machine.memory.coherence, CONFIG_COHERENCE_MESI);
    assert_true(machine.memory.is_perfect);
    assert_false(machine.l1.cache.is_present);
    assert_int_equal(machine.limits.max_cycles, 5000000000);
    assert_string_equal(machine.scheduler, "two-level:group=8,switch=stall");
    assert_string_equal(machine.description, "");
}

static void the_words_of_a_choice_are_in_the_order_of_its_enumeration(void **state) {
    (void)state;
    assert_string_equal(config_find_option("sm.pipeline")->allowed, "barrel|scoreboard|switch-on-access");
    assert_int_equal(CONFIG_PIPELINE_BARREL, 0);
    assert_int_equal(CONFIG_PIPELINE_SCOREBOARD, 1);
    assert_int_equal(CONFIG_WRITE_THROUGH, 0);
    assert_int_equal(CONFIG_DRAM_HASH_ROW, 0);
    assert_int_equal(CONFIG_COHERENCE_NONE, 0);
}

static void the_last_value_wins(void **state) {
    (void)state;
    struct config_machine machine;
    config_defaults(&machine);
    set(&machine, "sm.count=4");
    set(&machine, "sm.count=8");
    assert_int_equal(machine.sm.count, 8);
}

static void a_wrong_value_says_what_is_allowed(void **state) {
    (void)state;
    expect_set_refused("sm.count=0", "sm.count is '0', but takes a whole number from 1 to 1024");
    expect_set_refused("sm.count=1025", "sm.count is '1025', but takes a whole number from 1 to 1024");
    expect_set_refused("sm.count=-1", "sm.count is '-1', but takes a whole number from 1 to 1024");
    expect_set_refused("sm.count=4 ", "sm.count is '4 ', but takes a whole number from 1 to 1024");
    expect_set_refused("sm.count=16K", "sm.count is '16K', but takes a whole number from 1 to 1024");
    expect_set_refused("sm.count=", "sm.count is '', but takes a whole number from 1 to 1024");
    expect_set_refused("l1.size=16", "l1.size is '16', but takes a number of bytes from 32 to 64M, such as 512 or 16K");
    expect_set_refused("l1.size=16KB",
                       "l1.size is '16KB', but takes a number of bytes from 32 to 64M, such as 512 or 16K");
    expect_set_refused("l1.size=K", "l1.size is 'K', but takes a number of bytes from 32 to 64M, such as 512 or 16K");
    expect_set_refused("l1.size=17179869184G", /* 2^64 */
                       "l1.size is '17179869184G', but takes a number of bytes from 32 to 64M, such as 512 or 16K");
    expect_set_refused("clock=0", "clock is '0', but takes a number from 0.001 to 10");
    expect_set_refused("clock=1e", "clock is '1e', but takes a number from 0.001 to 10");
    expect_set_refused("clock=nan", "clock is 'nan', but takes a number from 0.001 to 10");
    expect_set_refused("clock=0x1", "clock is '0x1', but takes a number from 0.001 to 10");
    expect_set_refused("l1.perfect=maybe", "l1.perfect is 'maybe', but takes true or false");
    expect_set_refused("dram.bank_hash=rows", "dram.bank_hash is 'rows', but takes row or fold");
    expect_set_refused("dram.bank_hash=ro", "dram.bank_hash is 'ro', but takes row or fold");
    expect_set_refused("dram.bank_hash=", "dram.bank_hash is '', but takes row or fold");
    expect_set_refused("sm.pipeline=x", "sm.pipeline is 'x', but takes barrel, scoreboard or switch-on-access");
    expect_set_refused("name=a\tb", "name is 'a\tb', but takes up to 63 printable ASCII characters");
    expect_set_refused("name=0123456789012345678901234567890123456789012345678901234567890123",
                       "name is '0123456789012345678901234567890123456789012345678901234567890123', but takes up "
                       "to 63 printable ASCII characters");
}

static void an_unknown_key_suggests_the_nearest_one(void **state) {
    (void)state;
    expect_set_refused("l1.sise=16K", "unknown key 'l1.sise'; did you mean 'l1.size'?");
    expect_set_refused("dram.policies=fcfs", "unknown key 'dram.policies'; did you mean 'dram.policy'?");
    expect_set_refused("row_hit=5", "unknown key 'row_hit'; did you mean 'dram.row_hit'?");
    expect_set_refused("frobnicate=1", "unknown key 'frobnicate'; 'heddle list options' lists the keys");
    expect_set_refused("l1=1", "unknown key 'l1'; 'heddle list options' lists the keys");
}

static void a_key_with_an_earlier_name_says_the_present_one(void **state) {
    (void)state;
    static const char *const names[][2] = {
#define CONFIG_RENAMED(earlier, name) {earlier, name},
#include "config/renamed.def"
#undef CONFIG_RENAMED
    };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        char assignment[80], message[160];
        snprintf(assignment, sizeof assignment, "%s=1", names[i][0]);
        snprintf(message, sizeof message, "'%s' is now '%s'", names[i][0], names[i][1]);
        expect_set_refused(assignment, message);
        assert_non_null(config_find_option(names[i][1]));
    }
}

static void a_parameter_switches_its_mechanism_on(void **state) {
    (void)state;
    struct config_machine machine, defaults;
    config_defaults(&machine);
    defaults = machine;
    assert_false(machine.halves.is_present);
    set(&machine, "halves.read_cycles=7");
    assert_true(machine.halves.is_present);
    assert_int_equal(machine.halves.read_cycles, 7);
    assert_int_equal(machine.halves.host_cycles, defaults.halves.host_cycles);
    set(&machine, "halves.present=false");
    assert_memory_equal(&machine, &defaults, sizeof machine); /* its parameters are forgotten */
    set(&machine, "halves.present=true");
    assert_true(machine.halves.is_present);
    set(&machine, "l1.present=false"); /* not a mechanism: every machine has an L1 unless it says otherwise */
    set(&machine, "l1.size=32K");
    assert_false(machine.l1.cache.is_present);
}

static void an_assignment_has_a_key_and_a_value(void **state) {
    (void)state;
    expect_set_refused("l1.size", "'l1.size' is not of the form KEY=VALUE, such as l1.size=32K");
    expect_set_refused("=5", "'=5' is not of the form KEY=VALUE, such as l1.size=32K");
    expect_set_refused("", "'' is not of the form KEY=VALUE, such as l1.size=32K");
}

/* Sets an option and checks how it is shown. */
static void expect_shown(const char *assignment, const char *name, const char *text) {
    struct config_machine machine;
    char shown[CONFIG_VALUE_BYTES];
    config_defaults(&machine);
    set(&machine, assignment);
    config_format(config_find_option(name), &machine, shown);
    assert_string_equal(shown, text);
}

static void values_are_shown_as_people_write_them(void **state) {
    (void)state;
    expect_shown("l1.size=16384", "l1.size", "16K");
    expect_shown("l1.size=1536", "l1.size", "1536");
    expect_shown("l1.size=1024", "l1.size", "1K");
    expect_shown("l2.size=1048576K", "l2.size", "1G");
    expect_shown("shared.size=0", "shared.size", "0");
    expect_shown("clock=0.1", "clock", "0.1");
    expect_shown("clock=0.30000000000000004", "clock", "0.30000000000000004");
    expect_shown("l1.present=no", "l1.present", "false");
    expect_shown("limits.max_cycles=18446744073709551615", "limits.max_cycles", "18446744073709551615");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table_is_valid),
        cmocka_unit_test(the_rows_cover_the_machine_without_overlap),
        cmocka_unit_test(the_options_of_a_group_are_adjacent),
        cmocka_unit_test(every_kind_of_value_is_stored),
        cmocka_unit_test(the_words_of_a_choice_are_in_the_order_of_its_enumeration),
        cmocka_unit_test(the_last_value_wins),
        cmocka_unit_test(a_wrong_value_says_what_is_allowed),
        cmocka_unit_test(an_unknown_key_suggests_the_nearest_one),
        cmocka_unit_test(a_key_with_an_earlier_name_says_the_present_one),
        cmocka_unit_test(a_parameter_switches_its_mechanism_on),
        cmocka_unit_test(an_assignment_has_a_key_and_a_value),
        cmocka_unit_test(values_are_shown_as_people_write_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
