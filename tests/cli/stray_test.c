/* Accesses outside allocations: they go through where a GPU maps memory, with one warning; --memcheck makes them
 * errors. A kernel that fails makes the run fail, whatever the program's exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static struct outcome run(int status, const char *options) {
    struct outcome outcome = heddle("run %s/stray --quiet %s", programs(), options);
    expect_status(&outcome, status);
    return outcome;
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static void an_access_near_an_allocation_goes_through_with_one_warning(void **state) {
    (void)state;
    static const char *const machine[] = {"--functional", "-m gtx480 -j 1", "-m h200 -j 3", "--divergence dwf"};
    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++) {
        char options[100];
        snprintf(options, sizeof options, "64 again %s", machine[i]);
        struct outcome outcome = run(0, options);
        expect_text(outcome.out, "result 0, value 0\n");
        expect_text(outcome.err, "heddle: warning: stray access to 0x");
        expect_text(outcome.err,
                    "(4 bytes) in kernel 'k', block (0,0,0), thread (0,0,0), <module 1>:8 (ld.global.u32), "
                    "out of bounds: ends 4 bytes past the 64-byte allocation at 0x");
        assert_int_equal(count(outcome.err, "warning"), 1); /* of two launches */
        outcome_free(&outcome);
    }
    struct outcome outcome = run(0, "60 --functional");
    expect_text(outcome.out, "result 0, value 5\n");
    assert_int_equal(count(outcome.err, "warning"), 0);
    outcome_free(&outcome);
}

static void memcheck_makes_it_an_error(void **state) {
    (void)state;
    struct outcome outcome = run(1, "64 --functional --memcheck");
    expect_text(outcome.out, "result 700,");
    expect_text(outcome.err, "ended with exit status 0 although a kernel failed: illegal address 0x");
    outcome_free(&outcome);
}

/* 8 MB further there is no allocation in the same 2 MB. */
static void an_access_far_away_fails_the_run(void **state) {
    (void)state;
    struct outcome outcome = run(1, "8388608 --functional");
    expect_text(outcome.out, "result 700,");
    expect_text(outcome.err, "although a kernel failed: illegal address");
    outcome_free(&outcome);
    outcome = run(0, "8388608 --functional --keep-going");
    outcome_free(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_near_an_allocation_goes_through_with_one_warning),
        cmocka_unit_test(memcheck_makes_it_an_error),
        cmocka_unit_test(an_access_far_away_fails_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
