/* Tests of recordings: fields in quotes, sums over launches, and malformed lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/validate/recording.h"

static int read_text(const char *text, struct cli_recording *recording, struct base_arena *arena) {
    char path[] = "/tmp/recording-XXXXXX";
    int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    int status = cli_read_recording(path, recording, arena);
    unlink(path);
    return status;
}

static void launches_of_a_workload_are_summed(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(
        read_text("workload,size,kernel,grid,cycles\n"
                  "bfs,medium,k,\"(4, 1, 1)\",100\nbfs,medium,k,\"(4, 1, 1)\",50\nbfs,paper,k,\"(4, 1, 1)\",7\n",
                  &recording, &arena),
        COMMAND_DONE);
    assert_int_equal(recording.count, 2);
    assert_string_equal(recording.item[0].workload, "bfs");
    assert_int_equal(recording.item[0].n_launches, 2);
    assert_true(recording.item[0].cycles == 150);
    assert_string_equal(recording.item[1].size, "paper");
    base_arena_free(&arena);
}

static void kernels_and_their_instructions_are_read_too(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(
        read_text("workload,size,cycles,warp_inst\nbfs,medium,100,7\nbfs,medium,50,8\n", &recording, &arena),
        COMMAND_DONE);
    assert_int_equal(read_text("workload,size,cycles\njacobi,-,100\n", &recording, &arena), COMMAND_DONE);
    assert_int_equal(recording.count, 2);
    assert_true(recording.item[0].instructions == 15 && !recording.item[0].is_kernel);
    assert_true(recording.item[1].instructions == 0 && recording.item[1].is_kernel);
    base_arena_free(&arena);
}

static void what_is_no_recording_is_refused(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(read_text("workload,size\nbfs,medium\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\nbfs,medium,many\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\nbfs\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(cli_read_recording("/nonexistent", &recording, &arena), COMMAND_ERROR);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_a_workload_are_summed),
        cmocka_unit_test(kernels_and_their_instructions_are_read_too),
        cmocka_unit_test(what_is_no_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
