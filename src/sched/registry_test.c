/* Tests of the list of schedulers and of the text that selects one. */
#include "sched/fixture.h"

#include <stdio.h>

static void every_scheduler_is_complete(void **state) {
    (void)state;
    size_t count;
    const struct sched_ops *const *list = sched_list(&count);
    assert_true(count >= 11);
    for (size_t i = 0; i < count; i++) {
        const struct sched_ops *ops = list[i];
        assert_non_null(ops->name);
        assert_true(ops->help && ops->help[0] && strlen(ops->help) < 100);
        assert_ptr_equal(sched_find(ops->name), ops); /* names are unique */
        assert_true(ops->state_bytes > 0);
        assert_int_equal(ops->option != NULL, ops->options_bytes > 0);
        assert_true(ops->start && ops->arrive && ops->leave && ops->stall && ops->wake && ops->pick && ops->issued);
        for (const struct config_plugin_option *option = ops->option; option && option->name; option++) {
            assert_true(option->offset + sizeof(uint32_t) <= ops->options_bytes);
            assert_non_null(option->help);
            assert_int_equal(option->choices != NULL, option->type != CONFIG_PLUGIN_UINT);
            assert_true(option->choices ||
                        (option->least <= option->default_value && option->default_value <= option->most));
        }
    }
    assert_null(sched_find("two_level"));
}

/* Expects the parser to read the text as these options. */
static void reads_as(const char *text, const char *expected) {
    const struct sched_ops *ops;
    void *options;
    char error[256] = "", described[256];
    if (!sched_parse(text, &ops, &options, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(options != NULL, ops->options_bytes > 0);
    sched_describe(ops, options, described, sizeof described);
    free(options);
    assert_string_equal(described, expected);
}

static void names_and_options_are_parsed(void **state) {
    (void)state;
    reads_as("lrr", "lrr");
    reads_as("two-level", "two-level:group=8,switch=empty,timeout=32768,inner=rr,outer=rr");
    reads_as("two-level:switch=stall", "two-level:group=8,switch=stall,timeout=32768,inner=rr,outer=rr");
    reads_as("two-level:outer=gto,group=128,timeout=0,inner=gto",
             "two-level:group=128,switch=empty,timeout=0,inner=gto,outer=gto");
    reads_as("two-level:timeout=4294967295,group=0x10",
             "two-level:group=16,switch=empty,timeout=4294967295,inner=rr,outer=rr");
    reads_as("two-level-opt:active=1", "two-level-opt:active=1");
}

static void a_description_parses_as_the_same_options(void **state) {
    (void)state;
    size_t count;
    const struct sched_ops *const *list = sched_list(&count);
    for (size_t i = 0; i < count; i++) {
        const struct sched_ops *ops;
        void *options;
        char error[256], described[256];
        assert_true(sched_parse(list[i]->name, &ops, &options, error, sizeof error));
        sched_describe(ops, options, described, sizeof described);
        reads_as(described, described);
        free(options);
    }
}

static void refused(const char *text, const char *message) {
    const struct sched_ops *ops = NULL;
    void *options = NULL;
    char error[1024] = "";
    assert_false(sched_parse(text, &ops, &options, error, sizeof error));
    assert_string_equal(error, message);
    assert_null(options);
}

/* "no scheduler 'fifo'; there are: srr, lrr, ..." */
static void refused_with_all_names(const char *text) {
    size_t count, used;
    const struct sched_ops *const *list = sched_list(&count);
    char message[1024];
    used = (size_t)snprintf(message, sizeof message, "no scheduler '%s'; there are: ", text);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(message + used, sizeof message - used, "%s%s", i ? ", " : "", list[i]->name);
    refused(text, message);
}

static void a_mistake_is_named_with_what_would_be_right(void **state) {
    (void)state;
    refused("gt0", "no scheduler 'gt0'; did you mean 'gto'?");
    refused("two_level", "no scheduler 'two_level'; did you mean 'two-level'?");
    refused_with_all_names("fifo");
    refused_with_all_names("");
    refused("two-level:grup=8", "two-level has no option 'grup'; did you mean 'group'?");
    refused("two-level:x=8",
            "two-level has no option 'x'; there are: group, switch, timeout, inner, outer, 2011, 2014");
    refused("gto:group=8", "gto has no options, so 'group' cannot be one");
    refused("two-level:group", "two-level: group needs a value, such as group=8");
    refused("two-level:group=", "two-level: group needs a value, such as group=8");
    refused("two-level:switch", "two-level: switch needs a value: switch=empty|stall");
    refused("two-level:group=0", "two-level: group takes a whole number from 1 to 128, not '0'");
    refused("two-level:group=129", "two-level: group takes a whole number from 1 to 128, not '129'");
    refused("two-level:group=8x", "two-level: group takes a whole number from 1 to 128, not '8x'");
    refused("two-level:timeout=4294967296",
            "two-level: timeout takes a whole number from 0 to 4294967295, not '4294967296'");
    refused("two-level:switch=stal", "two-level: switch takes empty|stall, not 'stal'; did you mean 'stall'?");
    refused("two-level:inner=lifo", "two-level: inner takes rr|gto, not 'lifo'");
    refused("two-level:group=8,group=9", "two-level: group is set twice");
    refused("two-level:", "two-level: an option is missing; write two-level:KEY=VALUE,...");
    refused("two-level:group=8,", "two-level: an option is missing; write two-level:KEY=VALUE,...");
    refused("two-level:,group=8", "two-level: an option is missing; write two-level:KEY=VALUE,...");
    refused("lrr:", "lrr has no options; write it without ':'");
}

static void a_message_is_cut_to_its_buffer(void **state) {
    (void)state;
    const struct sched_ops *ops;
    void *options;
    char error[12];
    assert_false(sched_parse("fifo", &ops, &options, error, sizeof error));
    assert_string_equal(error, "no schedule");
    char long_name[300];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_false(sched_parse(long_name, &ops, &options, error, sizeof error));
    assert_string_equal(error, "no schedule");
}

static void a_description_is_cut_to_its_buffer(void **state) {
    (void)state;
    const struct sched_ops *ops;
    void *options;
    char error[256], described[20];
    assert_true(sched_parse("two-level", &ops, &options, error, sizeof error));
    sched_describe(ops, options, described, sizeof described);
    assert_string_equal(described, "two-level:group=8,s");
    free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheduler_is_complete),
        cmocka_unit_test(names_and_options_are_parsed),
        cmocka_unit_test(a_description_parses_as_the_same_options),
        cmocka_unit_test(a_mistake_is_named_with_what_would_be_right),
        cmocka_unit_test(a_message_is_cut_to_its_buffer),
        cmocka_unit_test(a_description_is_cut_to_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
