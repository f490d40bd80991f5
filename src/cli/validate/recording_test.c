/* Tests of recordings: fields in quotes, sums over launches, metrics, and malformed lines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/validate/fixture.h"

/* Reads a file with this text; without an arena, only the metrics that the recording lacks. */
static int read_text(const char *text, struct cli_recording *recording, struct base_arena *arena) {
    char path[] = "/tmp/recording-XXXXXX";
    int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    int status = arena ? cli_read_recording(path, recording, arena) : cli_read_more_metrics(path, recording);
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

static void metrics_are_sums_of_columns_and_unknown_without_one(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(read_text("workload,size,sm__cycles_elapsed.max,smsp__inst_executed.sum,"
                               "smsp__thread_inst_executed.sum,"
                               "lts__t_sectors_srcunit_tex_op_atom.sum,"
                               "lts__t_sectors_srcunit_tex_op_red.sum\n"
                               "bfs,medium,100,10,200,3,4\nbfs,medium,100,30,700,5,6\n",
                               &recording, &arena),
                     COMMAND_DONE);
    const struct cli_recorded *bfs = &recording.item[0];
    assert_true(bfs->cycles == 200 && bfs->instructions == 40);
    assert_true(bfs->metric[0].sum == 40 && bfs->metric[0].per == 1);   /* instructions */
    assert_true(bfs->metric[1].sum == 900 && bfs->metric[1].per == 40); /* active threads per instruction */
    assert_true(isnan(bfs->metric[3].sum));                             /* loads and stores */
    assert_true(bfs->metric[row("atomics at the L2")].sum == 18);
    base_arena_free(&arena);
}

static void averages_of_launches_are_weighted(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(read_text("workload,size,cycles,registers,warps_active_pct\n"
                               "bfs,medium,100,20,50\nbfs,medium,300,30,10\n",
                               &recording, &arena),
                     COMMAND_DONE);
    const struct cli_recorded *bfs = &recording.item[0];
    unsigned registers = row("registers"), occupancy = row("occupancy");
    assert_true(bfs->metric[registers].sum == 50 && bfs->metric[registers].per == 2);
    assert_true(bfs->metric[occupancy].sum == 100 * 50 + 300 * 10 && bfs->metric[occupancy].per == 100 * 400);
    base_arena_free(&arena);
}

static void launches_of_the_users_programs_belong_to_kernels(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(read_text("workload,size,kernel,cycles\n"
                               "app,own,a,1\napp,own,b,10\napp,own,a,2\nother,own,a,7\napp,own,a,4\napp,own,b,20\n",
                               &recording, &arena),
                     COMMAND_DONE);
    assert_int_equal(recording.count, 3);
    const struct cli_recorded *a = &recording.item[0], *b = &recording.item[1], *other = &recording.item[2];
    assert_string_equal(a->kernel, "a");
    assert_string_equal(b->kernel, "b");
    assert_true(a->cycles == 7 && a->n_launches == 3 && b->cycles == 30 && b->n_launches == 2);
    assert_true(a->launch[0] == 0 && a->launch[1] == 2 && a->launch[2] == 3);
    assert_true(b->launch[0] == 1 && b->launch[1] == 4);
    assert_true(other->n_launches == 1 && other->launch[0] == 0);
    base_arena_free(&arena);
}

static void a_second_recording_adds_the_metrics_of_the_same_launches(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    unsigned registers = row("registers"), dram = row("sectors at the L2 from DRAM");
    assert_int_equal(read_text("workload,size,cycles,registers\nbfs,medium,1,20\nbfs,medium,1,20\naes,medium,1,16\n"
                               "aes,medium,1,16\n",
                               &recording, &arena),
                     COMMAND_DONE);
    assert_int_equal(
        read_text("workload,size,cycles,registers,dram_read,l2_sectors\nbfs,medium,1,99,64,4\n"
                  "bfs,medium,1,99,32,2\nbfs,medium,1,99,500,500\nnn,medium,1,99,1,1\naes,medium,1,99,1,1\n",
                  &recording, NULL),
        COMMAND_DONE);
    assert_int_equal(recording.count, 2);
    assert_true(recording.item[0].metric[registers].sum == 40); /* was known */
    assert_true(recording.item[0].metric[dram].sum == 96 && recording.item[0].metric[dram].per == 32 * 6);
    assert_true(recording.item[0].cycles == 2 && recording.item[0].n_launches == 2);
    assert_true(isnan(recording.item[1].metric[dram].sum)); /* a launch is missing there */
    base_arena_free(&arena);
}

static void files_of_spreadsheets_are_read(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(read_text("\xEF\xBB\xBFworkload,size,cycles\r\nbfs,medium,100\r\n", &recording, &arena),
                     COMMAND_DONE);
    assert_int_equal(recording.count, 1);
    assert_true(recording.item[0].cycles == 100);
    base_arena_free(&arena);
}

static void what_is_no_recording_is_refused(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recording recording = {0};
    assert_int_equal(read_text("workload,size\nbfs,medium\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\nbfs,medium,many\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\nbfs,medium,nan\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\nbfs,medium,inf\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\nbfs\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("workload,size,cycles\n", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(read_text("", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(cli_read_recording("/nonexistent", &recording, &arena), COMMAND_ERROR);
    assert_int_equal(cli_read_recording("/tmp", &recording, &arena), COMMAND_ERROR);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_a_workload_are_summed),
        cmocka_unit_test(kernels_and_their_instructions_are_read_too),
        cmocka_unit_test(metrics_are_sums_of_columns_and_unknown_without_one),
        cmocka_unit_test(averages_of_launches_are_weighted),
        cmocka_unit_test(launches_of_the_users_programs_belong_to_kernels),
        cmocka_unit_test(a_second_recording_adds_the_metrics_of_the_same_launches),
        cmocka_unit_test(files_of_spreadsheets_are_read),
        cmocka_unit_test(what_is_no_recording_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
