/* Checks that docs/machines.md contains the current tables of options and machines. To update it:
 *     tools/docs machines */
#include "config/fixture.h"

static const char path[] = "docs/machines.md";

static char *read_text(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* A table between its two marking comments. */
struct section {
    const char *name;
    void (*write)(FILE *file);
};

/* Every machine of the folder. */
static void write_values(FILE *file) {
    struct base_arena arena = {0};
    char error[CONFIG_ERROR_BYTES];
    unsigned count;
    const char **names = config_list(MACHINES, &arena, &count, error, sizeof error);
    assert_non_null(names);
    struct config_machine *machines = BASE_ARENA_ARRAY(&arena, struct config_machine, count);
    for (unsigned i = 0; i < count; i++)
        assert_true(config_load(&machines[i], names[i], MACHINES, error, sizeof error));
    config_write_values(file, machines, count);
    base_arena_free(&arena);
}

static const struct section sections[] = {{"options", config_write_options}, {"values", write_values}};
enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

/* Returns the text with every table up to date. */
static char *renew(const char *text) {
    char *renewed, mark[64];
    size_t length;
    FILE *file = open_memstream(&renewed, &length);
    assert_non_null(file);
    for (unsigned i = 0; i < N_SECTIONS; i++) {
        snprintf(mark, sizeof mark, "<!-- %s -->\n", sections[i].name);
        const char *start = strstr(text, mark);
        assert_non_null(start);
        start += strlen(mark);
        fwrite(text, 1, (size_t)(start - text), file);
        sections[i].write(file);
        text = strstr(start, "<!-- end -->\n");
        assert_non_null(text);
    }
    fputs(text, file);
    fclose(file);
    return renewed;
}

static void the_tables_are_up_to_date(void **state) {
    (void)state;
    char *text = read_text(), *expected = renew(text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s is out of date; run tools/docs machines", path);
    free(text);
    free(expected);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        char *text = read_text(), *renewed = renew(text);
        FILE *file = fopen(path, "w");
        if (!file || fputs(renewed, file) < 0 || fclose(file) != 0)
            return 1;
        free(text);
        free(renewed);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_are_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
