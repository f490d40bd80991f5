/* --machine, --set and --dump-config as a command uses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "command/command.h"
#include "command/machine_options.h"

struct values {
    bool is_loud;
    struct command_machine_options machine;
};

static const struct command_option options[] = {
    COMMAND_MACHINE_ROW(offsetof(struct values, machine)),
    COMMAND_SET_ROW(offsetof(struct values, machine)),
    COMMAND_DUMP_ROW(offsetof(struct values, machine)),
};
static const struct command command = {.name = "test", .options = options, .n_options = 3};

/* Parses the words, ended by NULL, and loads the machine. Returns the exit status. */
static int load(struct config_machine *machine, bool *dump, char **argv) {
    struct base_arena arena = {0};
    struct values values = {0};
    struct command_words words = {0};
    int argc = 0, status = COMMAND_DONE;
    while (argv[argc])
        argc++;
    assert_true(command_parse(&command, argc, argv, &values, &words, &arena, &status));
    *dump = values.machine.dump;
    status = command_load_machine(machine, &values.machine, "machines");
    base_arena_free(&arena);
    return status;
}

static void without_options_it_is_the_default_machine(void **state) {
    (void)state;
    struct config_machine machine;
    bool dump;
    assert_int_equal(load(&machine, &dump, (char *[]){"test", NULL}), COMMAND_DONE);
    assert_string_equal(machine.name, "gtx480");
    assert_false(dump);
}

static void settings_follow_the_file_in_order(void **state) {
    (void)state;
    struct config_machine machine;
    bool dump;
    char *words[] = {"test", "--set", "l1.size=16K", "-m", "meng2010", "--set=l1.size=64K", "--dump-config", NULL};
    assert_int_equal(load(&machine, &dump, words), COMMAND_DONE);
    assert_string_equal(machine.name, "meng2010");
    assert_int_equal(machine.l1.cache.size_bytes, 65536);
    assert_true(dump);
}

/* Between one valid machine and another, single settings may not fit together. */
static void only_the_outcome_is_checked(void **state) {
    (void)state;
    struct config_machine machine;
    bool dump;
    char *words[] = {"test", "--set", "sm.warp_size=8", "--set", "sm.simd_width=8", "--set", "sm.threads=1024", NULL};
    assert_int_equal(load(&machine, &dump, words), COMMAND_DONE);
    words[5] = NULL;
    assert_int_equal(load(&machine, &dump, words), COMMAND_ERROR); /* 192 warps */
}

static void mistakes_have_the_status_of_their_kind(void **state) {
    (void)state;
    struct config_machine machine;
    bool dump;
    assert_int_equal(load(&machine, &dump, (char *[]){"test", "-m", "nothing", NULL}), COMMAND_USAGE);
    assert_int_equal(load(&machine, &dump, (char *[]){"test", "-m", "nothing.yaml", NULL}), COMMAND_ERROR);
    assert_int_equal(load(&machine, &dump, (char *[]){"test", "--set", "x=1", NULL}), COMMAND_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_it_is_the_default_machine),
        cmocka_unit_test(settings_follow_the_file_in_order),
        cmocka_unit_test(only_the_outcome_is_checked),
        cmocka_unit_test(mistakes_have_the_status_of_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
