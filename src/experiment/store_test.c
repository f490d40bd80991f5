/* The store of results. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiment/store.h"

static char folder[] = "/tmp/heddle-store-XXXXXX";
static char path[64];
static struct base_arena arena;

static struct experiment_stored_run a_run(const char *arguments) {
    return (struct experiment_stored_run){.version = "v1",
                                          .program = "bfs",
                                          .input = "i1",
                                          .arguments = arguments,
                                          .size = "small",
                                          .machine = "gtx480",
                                          .scheduler = "lrr",
                                          .divergence = "stack",
                                          .configuration = "name: m\nclock: 1\n",
                                          .records = "0",
                                          .seconds = 0.5,
                                          .statistics = "{\"total\": {}}"};
}

static void a_run_is_found_by_all_that_its_results_depend_on(void **state) {
    (void)state;
    struct experiment_store *store;
    struct experiment_stored_run run = a_run("--x"), other;
    assert_int_equal(experiment_store_open(&store, path), 0);
    assert_null(experiment_store_find(store, &run, &arena));
    assert_true(experiment_store_add(store, &run));
    assert_true(experiment_store_add(store, &run)); /* once more is no mistake */
    assert_string_equal(experiment_store_find(store, &run, &arena), "{\"total\": {}}");
    const char **field[] = {&other.version, &other.input, &other.arguments, &other.configuration, &other.records};
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++) {
        other = run;
        *field[i] = "another";
        assert_null(experiment_store_find(store, &other, &arena));
    }
    experiment_store_close(store);
}

static void a_run_is_found_whatever_its_machine_is_called(void **state) {
    (void)state;
    struct experiment_stored_run run = a_run("--x"), other = run;
    run.configuration = "name: m\ndescription: \"a\"\nclock: 1\ndevice:\n  name: \"A\"\n  l2: 0\nsm:\n  count: 1\n";
    const char *key = experiment_store_key(&run, &arena);
    other.configuration = "name: n\ndescription: \"b\"\nclock: 1\ndevice:\n  name: \"B\"\n  l2: 9\nsm:\n  count: 1\n";
    assert_string_equal(experiment_store_key(&other, &arena), key);
    other.configuration = "name: n\nclock: 1\nsm:\n  count: 1";
    assert_string_not_equal(experiment_store_key(&other, &arena), key); /* the last line differs by its end */
    other.configuration = "name: m\nclock: 1\nsm:\n  count: 2\n";
    assert_string_not_equal(experiment_store_key(&other, &arena), key);
    run.reads_device = other.reads_device = true;
    key = experiment_store_key(&run, &arena);
    other.configuration = "name: m\nclock: 1\ndevice:\n  name: \"B\"\n  l2: 0\nsm:\n  count: 1\n";
    assert_string_not_equal(experiment_store_key(&other, &arena), key);
}

static void a_run_takes_as_long_as_those_most_like_it(void **state) {
    (void)state;
    struct experiment_store *store;
    struct experiment_stored_run run = a_run("--a");
    run.program = "mum";
    assert_int_equal(experiment_store_open(&store, path), 0);
    assert_true(experiment_store_seconds(store, &run) == 0);
    run.seconds = 8;
    assert_true(experiment_store_add(store, &run));
    run.arguments = "--b";
    assert_true(experiment_store_seconds(store, &run) == 8);
    run.seconds = 2;
    run.scheduler = run.configuration = "gto";
    assert_true(experiment_store_add(store, &run));
    assert_true(experiment_store_seconds(store, &run) == 2);
    run.scheduler = "lrr";
    assert_true(experiment_store_seconds(store, &run) == 2); /* the same arguments */
    experiment_store_close(store);
}

static void the_last_verdict_on_a_claim_counts(void **state) {
    (void)state;
    struct experiment_store *store;
    assert_int_equal(experiment_store_open(&store, path), 0);
    assert_true(experiment_store_set_claim(store, &(struct experiment_stored_claim){"fig1", "small", "c", "open"}));
    assert_true(experiment_store_set_claim(store, &(struct experiment_stored_claim){"fig1", "medium", "c", "holds"}));
    assert_string_equal(experiment_store_claim(store, "fig1", "c", &arena), "holds at size medium");
    assert_null(experiment_store_claim(store, "fig2", "c", &arena));
    experiment_store_close(store);
}

/* Adds runs until it is killed, and tells of each by a byte. */
static void add_for_ever(int pipe_end) {
    struct experiment_store *store;
    if (experiment_store_open(&store, path) != 0)
        _exit(1);
    for (unsigned i = 0;; i++) {
        struct experiment_stored_run run = a_run(base_arena_printf(&arena, "%d %u", (int)getpid(), i));
        if (!experiment_store_add(store, &run) || write(pipe_end, "", 1) != 1)
            _exit(1);
    }
}

static void what_was_added_survives_a_kill_of_several_writers(void **state) {
    (void)state;
    enum { WRITERS = 3, EACH = 20 };
    pid_t writer[WRITERS];
    int ends[WRITERS][2];
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pipe(ends[i]), 0);
        writer[i] = fork();
        if (writer[i] == 0)
            add_for_ever(ends[i][1]);
    }
    for (int i = 0; i < WRITERS; i++) {
        char byte;
        for (int k = 0; k < EACH; k++)
            assert_int_equal(read(ends[i][0], &byte, 1), 1);
    }
    for (int i = 0; i < WRITERS; i++) {
        kill(writer[i], SIGKILL);
        waitpid(writer[i], NULL, 0);
        close(ends[i][0]);
        close(ends[i][1]);
    }
    struct experiment_store *store;
    assert_int_equal(experiment_store_open(&store, path), 0);
    for (int i = 0; i < WRITERS; i++)
        for (int k = 0; k < EACH; k++) {
            struct experiment_stored_run run = a_run(base_arena_printf(&arena, "%d %d", (int)writer[i], k));
            assert_non_null(experiment_store_find(store, &run, &arena));
        }
    experiment_store_close(store);
}

static void readers_do_without_a_file(void **state) {
    (void)state;
    struct experiment_store *store;
    experiment_store_open_to_read(&store, "/tmp/heddle-no-store");
    assert_null(store);
    experiment_store_open_to_read(&store, path);
    assert_non_null(store);
    experiment_store_close(store);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/deep/results.db", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    base_arena_free(&arena);
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_found_by_all_that_its_results_depend_on),
        cmocka_unit_test(a_run_is_found_whatever_its_machine_is_called),
        cmocka_unit_test(a_run_takes_as_long_as_those_most_like_it),
        cmocka_unit_test(the_last_verdict_on_a_claim_counts),
        cmocka_unit_test(what_was_added_survives_a_kill_of_several_writers),
        cmocka_unit_test(readers_do_without_a_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
