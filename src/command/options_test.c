/* Tests of the option parser: every kind of value arrives in its field, and words keep their order. */
#include "command/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command/command.h"

struct values {
    bool is_loud, has_check;
    unsigned color;
    const char *text;
    uint64_t number;
    double seconds, share;
    struct command_words list;
};

static const struct command_option options[] = {
    {"--loud", 'l', COMMAND_FLAG, NULL, "", offsetof(struct values, is_loud), 0, 0},
    {"--no-check", 0, COMMAND_NO_FLAG, NULL, "", offsetof(struct values, has_check), 0, 0},
    {"--color", 'c', COMMAND_CHOICE, "auto|always|never", "", offsetof(struct values, color), 0, 0},
    {"--text", 0, COMMAND_TEXT, "WORD", "", offsetof(struct values, text), 0, 0},
    {"--number", 'n', COMMAND_NUMBER, "N", "", offsetof(struct values, number), 5, 10},
    {"--seconds", 0, COMMAND_SECONDS, "S", "", offsetof(struct values, seconds), 0, 0},
    {"--share", 0, COMMAND_PERCENT, "[P%]", "", offsetof(struct values, share), 2500, 0},
    {"--item", 0, COMMAND_LIST, "X", "", offsetof(struct values, list), 0, 0},
};
static const struct command command = {
    .name = "try", .summary = "", .usage = "try", .options = options, .n_options = sizeof options / sizeof options[0]};

enum { MOST_WORDS = 16 };

struct parsed {
    struct base_arena arena;
    struct values values;
    struct command_words words;
    int status;
    bool is_good;
    char line[128];
    char *argv[MOST_WORDS];
};

/* Parses the words of a line, separated by single blanks. */
static void parse(struct parsed *parsed, const char *line) {
    *parsed = (struct parsed){.values = {.has_check = true}, .status = -1};
    int argc = 0;
    snprintf(parsed->line, sizeof parsed->line, "try %s", line);
    for (char *rest, *word = strtok_r(parsed->line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        parsed->argv[argc++] = word;
    parsed->is_good =
        command_parse(&command, argc, parsed->argv, &parsed->values, &parsed->words, &parsed->arena, &parsed->status);
}

static void every_kind_of_value_arrives(void **state) {
    (void)state;
    struct parsed parsed;
    parse(&parsed, "--loud --no-check --color never --text=a=b --number 0x7 --seconds 1.5 --item x --item=y");
    assert_true(parsed.is_good);
    assert_true(parsed.values.is_loud);
    assert_false(parsed.values.has_check);
    assert_int_equal(parsed.values.color, 2);
    assert_string_equal(parsed.values.text, "a=b");
    assert_int_equal(parsed.values.number, 7);
    assert_true(parsed.values.seconds == 1.5);
    assert_int_equal(parsed.values.list.count, 2);
    assert_string_equal(parsed.values.list.item[1], "y");
    assert_int_equal(parsed.words.count, 0);
    base_arena_free(&parsed.arena);
}

static void letters_stand_for_names(void **state) {
    (void)state;
    struct parsed parsed;
    parse(&parsed, "-l -n 5 -c=always");
    assert_true(parsed.is_good);
    assert_true(parsed.values.is_loud);
    assert_int_equal(parsed.values.number, 5);
    assert_int_equal(parsed.values.color, 1);
    base_arena_free(&parsed.arena);
}

static void words_and_options_may_be_mixed(void **state) {
    (void)state;
    struct parsed parsed;
    parse(&parsed, "a --loud b - -3 -- --loud -- c");
    assert_true(parsed.is_good);
    assert_int_equal(parsed.words.count, 7);
    assert_int_equal(parsed.words.n_before, 4);
    static const char *const expected[] = {"a", "b", "-", "-3", "--loud", "--", "c"};
    for (unsigned i = 0; i < 7; i++)
        assert_string_equal(parsed.words.item[i], expected[i]);
    base_arena_free(&parsed.arena);
}

static void the_last_value_counts(void **state) {
    (void)state;
    struct parsed parsed;
    parse(&parsed, "--number 6 --number 8");
    assert_true(parsed.is_good);
    assert_int_equal(parsed.values.number, 8);
    base_arena_free(&parsed.arena);
}

static void a_percentage_may_be_left_out(void **state) {
    (void)state;
    static const struct {
        const char *line;
        double share;
        unsigned n_words;
    } cases[] = {{"--share", 0.025, 0},      {"--share 1%", 0.01, 0},     {"--share=0.5%", 0.005, 0},
                 {"--share name", 0.025, 1}, {"--share -- 1%", 0.025, 1}, {"--share -- 3", 0.025, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed parsed;
        parse(&parsed, cases[i].line);
        assert_true(parsed.is_good);
        assert_float_equal(parsed.values.share, cases[i].share, 1e-12);
        assert_int_equal(parsed.words.count, cases[i].n_words);
        base_arena_free(&parsed.arena);
    }
}

static void wrong_values_are_wrong_usage(void **state) {
    (void)state;
    static const char *const lines[] = {"--number 4",  "--number 11",  "--number x",  "--number",     "--color",
                                        "--color nev", "--loud=1",     "--seconds 0", "--seconds -1", "--seconds inf",
                                        "--sound",     "-x",           "--number=",   "--share=1",    "--share=0%",
                                        "--share=x%",  "--share=101%", "--share 0%",  "--share 300%", "--share 3",
                                        "--share 0",   "--share -1",   "--share -1%"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct parsed parsed;
        parse(&parsed, lines[i]);
        assert_false(parsed.is_good);
        assert_int_equal(parsed.status, COMMAND_USAGE);
        base_arena_free(&parsed.arena);
    }
}

static void a_value_may_look_like_an_option(void **state) {
    (void)state;
    struct parsed parsed;
    parse(&parsed, "--text --loud");
    assert_true(parsed.is_good);
    assert_string_equal(parsed.values.text, "--loud");
    assert_false(parsed.values.is_loud);
    base_arena_free(&parsed.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_arrives),    cmocka_unit_test(letters_stand_for_names),
        cmocka_unit_test(words_and_options_may_be_mixed), cmocka_unit_test(the_last_value_counts),
        cmocka_unit_test(wrong_values_are_wrong_usage),   cmocka_unit_test(a_value_may_look_like_an_option),
        cmocka_unit_test(a_percentage_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
