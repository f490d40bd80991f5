/* Aliases of workloads (workloads.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "command/command.h"
#include "program/program_options.h"
#include "program/workloads.h"

static void every_alias_stands_for_a_workload(void **state) {
    (void)state;
    assert_true(program_n_aliases > 0);
    for (unsigned i = 0; i < program_n_aliases; i++) {
        const struct program_workload *workload = program_find_workload(program_aliases[i].name);
        if (!workload)
            fail_msg("%s stands for %s, which is no workload", program_aliases[i].name, program_aliases[i].workload);
        assert_string_equal(workload->name, program_aliases[i].workload);
        assert_true(strlen(program_aliases[i].papers) > 0);
    }
}

static const char *name_at(unsigned i) {
    return i < program_n_workloads ? program_workloads[i].name : program_aliases[i - program_n_workloads].name;
}

static void no_name_means_two_things(void **state) {
    (void)state;
    for (unsigned i = 0; i < program_n_workloads + program_n_aliases; i++)
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(name_at(i), name_at(j));
}

static void a_workload_is_no_alias(void **state) {
    (void)state;
    assert_non_null(program_find_workload("bfs"));
    assert_null(program_find_alias("bfs"));
    assert_null(program_find_workload("frobnicate"));
    assert_null(program_find_alias("frobnicate"));
}

static void a_misspelt_alias_is_recognised(void **state) {
    (void)state;
    assert_string_equal(program_nearest_workload("bfs_11"), "bfs_1");
    assert_string_equal(program_nearest_workload("nqueen"), "nqueens");
}

/* The program's arguments in one string, with a space after each. */
static const char *started_with(const char *name, unsigned size, struct base_arena *arena) {
    struct program program = {.kind = PROGRAM_WORKLOAD, .name = name};
    struct program_options given = PROGRAM_DEFAULTS;
    const char *own[] = {"--nodes", "64"}, *all = "";
    given.size = size;
    given.seed = 7;
    struct command_words words =
        program_arguments(&program, &given, &(struct command_words){.item = own, .count = 2}, arena);
    for (unsigned i = 0; i < words.count; i++)
        all = base_arena_printf(arena, "%s%s ", all, words.item[i]);
    return all;
}

static void an_alias_has_its_papers_input_at_size_paper_alone(void **state) {
    (void)state;
    struct base_arena arena = {0};
    assert_string_equal(started_with("nw", 2, &arena),
                        "--size paper --length 1024 --pairs matrix --seed 7 --nodes 64 ");
    assert_string_equal(started_with("nw", 1, &arena), "--size medium --seed 7 --nodes 64 ");
    assert_string_equal(started_with("nw", PROGRAM_SIZE_NOT_GIVEN, &arena), "--size small --seed 7 --nodes 64 ");
    base_arena_free(&arena);
}

static void a_variant_is_its_papers_at_every_size(void **state) {
    (void)state;
    struct base_arena arena = {0};
    assert_string_equal(started_with("bfs_1", 2, &arena),
                        "--size paper --nodes 65536 --seed 7 --nodes 64 "); /* the last one counts */
    assert_string_equal(started_with("bfs_1", 1, &arena),
                        "--size medium --nodes 65536 --average 6 --seed 7 --nodes 64 ");
    assert_string_equal(started_with("bfs_1", PROGRAM_SIZE_NOT_GIVEN, &arena),
                        "--size small --nodes 4096 --average 6 --seed 7 --nodes 64 ");
    assert_string_equal(started_with("nn_2", 0, &arena), "--size small --layers 2 --seed 7 --nodes 64 ");
    assert_string_equal(started_with("bfs", 2, &arena), "--size paper --seed 7 --nodes 64 ");
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_alias_stands_for_a_workload),
        cmocka_unit_test(no_name_means_two_things),
        cmocka_unit_test(a_workload_is_no_alias),
        cmocka_unit_test(a_misspelt_alias_is_recognised),
        cmocka_unit_test(an_alias_has_its_papers_input_at_size_paper_alone),
        cmocka_unit_test(a_variant_is_its_papers_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
