/* Tests of finding machine files: by name, by path, and through extends. */
#include "config/fixture.h"

static char folder[32];

static void write_file(const char *name, const char *text) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/heddle-config-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -r %s", folder);
    return system(line);
}

static bool load(struct config_machine *machine, const char *name, char error[CONFIG_ERROR_BYTES]) {
    error[0] = '\0';
    return config_load(machine, name, folder, error, CONFIG_ERROR_BYTES);
}

static void a_name_is_a_file_of_the_folder(void **state) {
    (void)state;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    write_file("small.yaml", "sm.count: 2\n");
    assert_true(load(&machine, "small", error));
    assert_int_equal(machine.sm.count, 2);
    assert_string_equal(machine.name, "small");
    assert_false(load(&machine, "smal", error));
    assert_string_equal(error, "no machine 'smal'; did you mean 'small'?");
    assert_false(load(&machine, "other", error));
    assert_string_equal(error,
                        "no machine 'other'; 'heddle list machines' lists them, and a file's name ends in .yaml");
}

static void a_path_is_used_as_it_is(void **state) {
    (void)state;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES], path[64], expected[128];
    write_file("mine.yml", "sm.count: 3\n");
    snprintf(path, sizeof path, "%s/mine.yml", folder);
    assert_true(config_load(&machine, path, "/nowhere", error, sizeof error));
    assert_int_equal(machine.sm.count, 3);
    assert_string_equal(machine.name, "mine");
    assert_false(load(&machine, "nothing.yaml", error));
    assert_string_equal(error, "cannot open 'nothing.yaml': No such file or directory");
    assert_false(load(&machine, folder, error));
    snprintf(expected, sizeof expected, "cannot read '%s': Is a directory", folder);
    assert_string_equal(error, expected);
}

static void a_missing_folder_is_named(void **state) {
    (void)state;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    assert_false(config_load(&machine, "x", "/nowhere", error, sizeof error));
    assert_string_equal(error, "cannot read the folder of machines '/nowhere': No such file or directory");
}

static void files_extend_names_and_neighbours(void **state) {
    (void)state;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES], path[64];
    write_file("base.yaml", "name: base\ndescription: the base\nsm.count: 5\nl1.ways: 8\n");
    write_file("by_name.yaml", "extends: base\nl1.ways: 2\n");
    write_file("by_path.yaml", "extends: by_name.yaml\nl1.mshrs: 9\n");
    snprintf(path, sizeof path, "%s/by_path.yaml", folder);
    assert_true(config_load(&machine, path, folder, error, sizeof error));
    assert_int_equal(machine.sm.count, 5);
    assert_int_equal(machine.l1.cache.ways, 2);
    assert_int_equal(machine.l1.cache.mshrs, 9);
    assert_string_equal(machine.name, "by_path");
}

static void a_mistake_in_an_extended_file_is_shown_in_that_file(void **state) {
    (void)state;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES], expected[256];
    write_file("bad.yaml", "sm.count: 0\n");
    write_file("on_bad.yaml", "extends: bad\n");
    assert_false(load(&machine, "on_bad", error));
    snprintf(expected, sizeof expected,
             "%s/bad.yaml:1:11: error: sm.count is '0', but takes a whole number from 1 to 1024\n    sm.count: 0\n"
             "              ^",
             folder);
    assert_string_equal(error, expected);
}

static void files_that_extend_each_other_in_a_ring_are_refused(void **state) {
    (void)state;
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    write_file("ring.yaml", "extends: gnir\n");
    write_file("gnir.yaml", "extends: ring\n");
    assert_false(load(&machine, "ring", error));
    assert_non_null(strstr(error, "more than 8 files extend each other; is there a cycle?"));
}

static void the_list_of_machines_is_sorted(void **state) {
    (void)state;
    struct base_arena arena = {0};
    char error[CONFIG_ERROR_BYTES], name[32];
    unsigned count;
    for (unsigned i = 0; i < 40; i++) { /* more than the first allocation holds */
        snprintf(name, sizeof name, "z%02u.yaml", i);
        write_file(name, "sm.count: 1\n");
    }
    write_file(".hidden.yaml", "");
    write_file("notes.txt", "");
    const char **names = config_list(folder, &arena, &count, error, sizeof error);
    assert_non_null(names);
    assert_true(count >= 40);
    for (unsigned i = 1; i < count; i++)
        assert_true(strcmp(names[i - 1], names[i]) < 0);
    assert_string_equal(names[count - 1], "z39");
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_a_file_of_the_folder),
        cmocka_unit_test(a_path_is_used_as_it_is),
        cmocka_unit_test(a_missing_folder_is_named),
        cmocka_unit_test(files_extend_names_and_neighbours),
        cmocka_unit_test(a_mistake_in_an_extended_file_is_shown_in_that_file),
        cmocka_unit_test(files_that_extend_each_other_in_a_ring_are_refused),
        cmocka_unit_test(the_list_of_machines_is_sorted),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
