/* `heddle run --memcheck`: uninitialised reads and races in shared memory are found, with both source lines, and
 * programs without them are not accused. The messages and the statistics do not depend on the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static const char *const engine[] = {"--functional",      "-m gtx480",        "-m h200 --set sm.count=8 -j 3",
                                     "--divergence mimd", "--divergence dwf", "--divergence tbc",
                                     "--divergence dws",  "--divergence lwm"};
enum { N_ENGINES = sizeof engine / sizeof *engine };

static struct outcome run(int status, const char *program, const char *options) {
    struct outcome outcome = heddle("run %s/memcheck --quiet --memcheck %s %s", programs(), options, program);
    expect_status(&outcome, status);
    return outcome;
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* Program number k runs on these engines: without timing and, one after the other, on two of the rest. */
static bool runs_on(const char *program, unsigned k, unsigned i) {
    bool is_h200 = strstr(engine[i], "h200"); /* its compiler moves the load before the copy */
    return i == 0 || (i % 4 == 1 + k % 3 && !(is_h200 && strcmp(program, "copy_own") == 0)) || i == 4 + k % 4;
}

static void expect_clean(const char *const *program) {
    for (unsigned k = 0; program[k]; k++)
        for (unsigned i = 0; i < N_ENGINES; i++) {
            if (!runs_on(program[k], k, i))
                continue;
            struct outcome outcome = run(0, program[k], engine[i]);
            assert_int_equal(count(outcome.err, "error"), 0);
            outcome_free(&outcome);
        }
}

static void expect_found(const char *const *program, const char *what) {
    for (unsigned k = 0; program[k]; k++)
        for (unsigned i = 0; i < N_ENGINES; i++) {
            if (!runs_on(program[k], k, i))
                continue;
            struct outcome outcome = run(1, program[k], engine[i]);
            expect_text(outcome.err, what);
            assert_int_equal(count(outcome.err, what), 1); /* of two launches */
            outcome_free(&outcome);
        }
}

static void races_are_found(void **state) {
    (void)state;
    static const char *const program[] = {"read",
                                          "write_after",
                                          "write",
                                          "write_atomic_plain",
                                          "warp",
                                          "warp_sync_other",
                                          "named_apart",
                                          "named_early",
                                          "copy_no_wait",
                                          "copy_early",
                                          "copy_own",
                                          "copy_no_barrier",
                                          "mbarrier_no_wait",
                                          NULL};
    expect_found(program, "heddle: error: race at 0x");
}

static void synchronised_accesses_do_not_race(void **state) {
    (void)state;
    static const char *const program[] = {"read_barrier",
                                          "read_reduced",
                                          "read_byte",
                                          "write_after_barrier",
                                          "write_same",
                                          "write_atomic",
                                          "warp_sync",
                                          "named",
                                          "copy",
                                          "copy_group",
                                          "copy_mbarrier",
                                          "mbarrier",
                                          NULL};
    expect_clean(program);
}

static void uninitialised_reads_are_found(void **state) {
    (void)state;
    static const char *const global[] = {"global new", "global new-pool", "global gap", "copy new", NULL};
    static const char *const shared[] = {"shared", "shared_moved_used", NULL};
    expect_found(global, "of global memory in kernel");
    expect_found(shared, "of shared memory in kernel");
}

/* Blocks of a cluster access each other's shared memory. */
static void clusters_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *program, *finding;
    } check[] = {
        {"cluster_read", NULL},
        {"cluster_unwritten", "error: uninitialised read of 4 bytes at 0x0 of shared memory"},
        {"cluster_write", NULL},
        {"cluster_race", "error: race at 0x"},
        {"cluster_copy", NULL},
        {"cluster_signals", NULL},
        {"cluster_silence", "error: race at 0x"},
    };
    static const char *const machine[] = {"--functional", "-m h200 --set sm.count=8"};
    for (size_t i = 0; i < sizeof check / sizeof *check; i++)
        for (size_t m = 0; m < sizeof machine / sizeof *machine; m++) {
            struct outcome outcome = run(check[i].finding ? 1 : 0, check[i].program, machine[m]);
            const char *finding = check[i].finding ? check[i].finding : "error";
            assert_int_equal(count(outcome.err, finding), check[i].finding ? 1 : 0);
            outcome_free(&outcome);
        }
}

static void written_memory_is_initialised(void **state) {
    (void)state;
    static const char *const program[] = {"global",      "global managed", "global mapped",
                                          "global pool", "global box",     "global kernel",
                                          "padding new", "shared_moved",   NULL};
    expect_clean(program);
}

/* Two blocks of 64 threads write their own words, and read those of the others. */
static void a_race_names_both_threads_and_lines(void **state) {
    (void)state;
    struct outcome outcome = run(1, "read", "-m gtx480");
    expect_text(outcome.err,
                "heddle: error: race at 0x0 of shared memory in kernel 'read', block (0,0,0): thread (0,0,0) writes at "
                "planted.cu:7 (st.shared.u32) and thread (63,0,0) reads at planted.cu:9 (ld.shared.u32), without a "
                "barrier between them; 127 more in this launch\n");
    expect_text(outcome.err, "256 races in shared memory\n");
    outcome_free(&outcome);
}

static void an_uninitialised_read_names_thread_line_and_allocation(void **state) {
    (void)state;
    struct outcome outcome = run(1, "global gap", "-m gtx480");
    expect_text(outcome.err, "heddle: error: uninitialised read of 4 bytes at 0x");
    expect_text(outcome.err, " of global memory in kernel 'global', block (0,0,0), thread (16,0,0), planted.cu:20 "
                             "(ld.global.u32), 64 bytes into the 512-byte allocation at 0x");
    outcome_free(&outcome);
}

/* Kernels without .loc: the line of the PTX. */
static void a_kernel_without_source_lines_names_the_lines_of_its_ptx(void **state) {
    (void)state;
    struct outcome outcome = run(1, "warp", "--functional");
    expect_text(outcome.err, " writes at <module 1>:");
    outcome_free(&outcome);
}

static void the_text_does_not_depend_on_threads(void **state) {
    (void)state;
    static const char *const program[] = {"read", "global new", "copy_no_wait"};
    for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
        struct outcome one = run(1, program[i], "-m h200 --set sm.count=8 -j 1"),
                       three = run(1, program[i], "-m h200 --set sm.count=8 -j 3");
        assert_string_equal(one.err, three.err);
        assert_string_equal(one.out, three.out);
        outcome_free(&one);
        outcome_free(&three);
    }
}

static void checks_change_no_statistic(void **state) {
    (void)state;
    static const char *const workload[] = {"sort", "bfs", "scan"};
    for (size_t i = 0; i < sizeof workload / sizeof *workload; i++) {
        struct outcome plain = heddle("run %s", workload[i]), checked = heddle("run %s --memcheck", workload[i]);
        expect_status(&checked, 0);
        char *host[] = {strstr(plain.out, "\nhost:"), strstr(checked.out, "\nhost:")}; /* the time that it took */
        assert_non_null(host[0]);
        assert_non_null(host[1]);
        *host[0] = *host[1] = '\0';
        assert_string_equal(plain.out, checked.out);
        outcome_free(&plain);
        outcome_free(&checked);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_are_found),
        cmocka_unit_test(synchronised_accesses_do_not_race),
        cmocka_unit_test(uninitialised_reads_are_found),
        cmocka_unit_test(clusters_are_checked),
        cmocka_unit_test(written_memory_is_initialised),
        cmocka_unit_test(a_race_names_both_threads_and_lines),
        cmocka_unit_test(an_uninitialised_read_names_thread_line_and_allocation),
        cmocka_unit_test(a_kernel_without_source_lines_names_the_lines_of_its_ptx),
        cmocka_unit_test(the_text_does_not_depend_on_threads),
        cmocka_unit_test(checks_change_no_statistic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
