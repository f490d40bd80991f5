/* Tests of policies with options and presets: parsing, precedence, and every message. */
#include "config/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct options {
    uint32_t size, mode, depth, colours;
};

static const struct config_plugin_option option_table[] = {
    {"size", CONFIG_PLUGIN_UINT, offsetof(struct options, size), 8, 1, 64, NULL, "a number"},
    {"mode", CONFIG_PLUGIN_CHOICE, offsetof(struct options, mode), 1, 0, 0, "none|lazy|aggress", "a word"},
    {"depth", CONFIG_PLUGIN_UINT, offsetof(struct options, depth), 0, 0, 4294967295u, NULL, "any number"},
    {.name = NULL},
};
static const struct config_preset presets[] = {
    {"big", "size=64,mode=aggress", "large"},
    {"deep", "depth=3", "deep"},
    {"huge", "big,depth=9", "a preset made of another"},
    {.name = NULL},
};
static const struct config_plugin_option set_table[] = {
    {"of", CONFIG_PLUGIN_SET, offsetof(struct options, colours), 5, 0, 0, "red|green|blue", "several words"},
    {.name = NULL},
};
static const struct config_plugin list[] = {
    {"plain", "has no options", NULL, NULL, 0},
    {"fancy", "has options and presets", option_table, presets, sizeof(struct options)},
    {"bare", "has options", option_table, NULL, sizeof(struct options)},
    {"mixed", "takes several words", set_table, NULL, sizeof(struct options)},
};
enum { N_PLUGINS = sizeof list / sizeof *list };

static void reads_as(const char *text, const char *expected) {
    size_t which = N_PLUGINS;
    void *options = NULL;
    char error[256] = "", described[256];
    if (!config_plugin_parse("thing", list, N_PLUGINS, text, &which, &options, error, sizeof error))
        fail_msg("%s: %s", text, error);
    assert_int_equal(options != NULL, list[which].options_bytes > 0);
    config_plugin_describe(&list[which], options, described, sizeof described);
    free(options);
    assert_string_equal(described, expected);
}

static void refused(const char *text, const char *message) {
    size_t which = N_PLUGINS;
    void *options = NULL;
    char error[256] = "";
    assert_false(config_plugin_parse("thing", list, N_PLUGINS, text, &which, &options, error, sizeof error));
    assert_string_equal(error, message);
    assert_null(options);
    assert_int_equal(which, N_PLUGINS);
}

static void an_option_that_is_not_set_has_its_default(void **state) {
    (void)state;
    reads_as("plain", "plain");
    reads_as("fancy", "fancy:size=8,mode=lazy,depth=0");
    reads_as("fancy:mode=none", "fancy:size=8,mode=none,depth=0");
    reads_as("fancy:depth=4294967295,size=0x10", "fancy:size=16,mode=lazy,depth=4294967295");
}

/* Described in the order of the row, each word once. */
static void a_set_is_written_with_plus_signs(void **state) {
    (void)state;
    reads_as("mixed", "mixed:of=red+blue");
    reads_as("mixed:of=green", "mixed:of=green");
    reads_as("mixed:of=blue+green+red", "mixed:of=red+green+blue");
    reads_as("mixed:of=blue+blue", "mixed:of=blue");
    refused("mixed:of=red+blu", "mixed: of takes red|green|blue, not 'blu'; did you mean 'blue'?");
    refused("mixed:of=red+", "mixed: of takes red|green|blue, not ''");
    refused("mixed:of=+red", "mixed: of takes red|green|blue, not ''");
    refused("mixed:of", "mixed: of needs a value: of=red|green|blue");
}

static void a_preset_stands_for_its_values(void **state) {
    (void)state;
    reads_as("fancy:big", "fancy:size=64,mode=aggress,depth=0");
    reads_as("fancy:big,deep", "fancy:size=64,mode=aggress,depth=3");
    reads_as("fancy:huge", "fancy:size=64,mode=aggress,depth=9");
    reads_as("fancy:huge,deep", "fancy:size=64,mode=aggress,depth=3"); /* the later of two presets wins */
    reads_as("fancy:deep,huge", "fancy:size=64,mode=aggress,depth=9");
}

/* A machine's rules are a preset, and written values win over it. A policy without that preset keeps its defaults. */
static void a_machines_rules_stand_in_for_the_defaults(void **state) {
    (void)state;
    static const char *const cases[][3] = {{"deep", "fancy", "fancy:size=8,mode=lazy,depth=3"},
                                           {"deep", "fancy:depth=5", "fancy:size=8,mode=lazy,depth=5"},
                                           {"other", "fancy", "fancy:size=8,mode=lazy,depth=0"},
                                           {"deep", "bare", "bare:size=8,mode=lazy,depth=0"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t which;
        void *options;
        char error[200], text[200];
        assert_true(config_plugin_parse_by(cases[i][0], "thing", list, N_PLUGINS, cases[i][1], &which, &options, error,
                                           sizeof error));
        config_plugin_describe(&list[which], options, text, sizeof text);
        assert_string_equal(text, cases[i][2]);
        free(options);
    }
}

/* In any order; setting a value after a preset that sets it too is not setting it twice. */
static void a_written_value_wins_over_a_preset(void **state) {
    (void)state;
    reads_as("fancy:big,size=2", "fancy:size=2,mode=aggress,depth=0");
    reads_as("fancy:size=2,big", "fancy:size=2,mode=aggress,depth=0");
    reads_as("fancy:mode=none,huge,size=1,deep", "fancy:size=1,mode=none,depth=3");
    refused("fancy:size=2,big,size=3", "fancy: size is set twice");
}

static void a_description_parses_as_the_same_options(void **state) {
    (void)state;
    reads_as("fancy:size=64,mode=aggress,depth=9", "fancy:size=64,mode=aggress,depth=9");
    reads_as("bare:size=8,mode=lazy,depth=0", "bare:size=8,mode=lazy,depth=0");
}

static void an_unknown_name_is_answered_with_the_nearest_or_all(void **state) {
    (void)state;
    refused("fanzy", "no thing 'fanzy'; did you mean 'fancy'?");
    refused("", "no thing ''; there are: plain, fancy, bare, mixed");
    refused("something", "no thing 'something'; there are: plain, fancy, bare, mixed");
    refused("plain,fancy", "no thing 'plain,fancy'; where several are taken, spaces separate them: \"A B\"");
    refused("fancy :big", "no thing 'fancy '; did you mean 'fancy'?");
}

static void an_unknown_option_is_answered_with_the_nearest_option_or_preset(void **state) {
    (void)state;
    refused("fancy:sise=3", "fancy has no option 'sise'; did you mean 'size'?");
    refused("fancy:hug", "fancy has no option 'hug'; did you mean 'huge'?");
    refused("fancy:colour=3", "fancy has no option 'colour'; there are: size, mode, depth, big, deep, huge");
    refused("bare:colour", "bare has no option 'colour'; there are: size, mode, depth");
    refused("bare:big", "bare has no option 'big'; there are: size, mode, depth");
    refused("plain:size=3", "plain has no options, so 'size' cannot be one");
    refused("plain:", "plain has no options; write it without ':'");
}

static void a_bad_value_is_answered_with_what_would_be_right(void **state) {
    (void)state;
    refused("fancy:size=0", "fancy: size takes a whole number from 1 to 64, not '0'");
    refused("fancy:size=65", "fancy: size takes a whole number from 1 to 64, not '65'");
    refused("fancy:size=4294967297", "fancy: size takes a whole number from 1 to 64, not '4294967297'");
    refused("fancy:size=8x", "fancy: size takes a whole number from 1 to 64, not '8x'");
    refused("fancy:mode=lasy", "fancy: mode takes none|lazy|aggress, not 'lasy'; did you mean 'lazy'?");
    refused("fancy:mode=sometimes", "fancy: mode takes none|lazy|aggress, not 'sometimes'");
    refused("fancy:size", "fancy: size needs a value, such as size=8");
    refused("fancy:mode=", "fancy: mode needs a value: mode=none|lazy|aggress");
    refused("fancy:", "fancy: an option is missing; write fancy:KEY=VALUE,...");
    refused("fancy:size=4,", "fancy: an option is missing; write fancy:KEY=VALUE,...");
    refused("fancy:size=4,size=4", "fancy: size is set twice");
}

static void a_description_that_does_not_fit_is_cut(void **state) {
    (void)state;
    size_t which;
    void *options;
    char error[256], text[12];
    assert_true(config_plugin_parse("thing", list, N_PLUGINS, "fancy", &which, &options, error, sizeof error));
    config_plugin_describe(&list[which], options, text, sizeof text);
    assert_string_equal(text, "fancy:size=");
    free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_that_is_not_set_has_its_default),
        cmocka_unit_test(a_set_is_written_with_plus_signs),
        cmocka_unit_test(a_preset_stands_for_its_values),
        cmocka_unit_test(a_machines_rules_stand_in_for_the_defaults),
        cmocka_unit_test(a_written_value_wins_over_a_preset),
        cmocka_unit_test(a_description_parses_as_the_same_options),
        cmocka_unit_test(an_unknown_name_is_answered_with_the_nearest_or_all),
        cmocka_unit_test(an_unknown_option_is_answered_with_the_nearest_option_or_preset),
        cmocka_unit_test(a_bad_value_is_answered_with_what_would_be_right),
        cmocka_unit_test(a_description_that_does_not_fit_is_cut),
    };
    return cmocka_run_group_tests_name("config/plugin", tests, NULL, NULL);
}
