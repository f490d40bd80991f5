/* When asynchronous copies arrive, and the instructions that wait for them. */
#include "sm/fixture.h"

#define LOAD_ADDRESS ".shared .align 16 .b8 buffer[1024];\nld.param.u64 %d1, [p];\n"
#define COPY "cp.async.ca.shared.global [buffer], [%d1], 4;\ncp.async.commit_group;\n"

/* The address is there in 1 + 9; the copy issues in 10, its group in 11, and ret in 12. */
static void a_copy_holds_nothing(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY "ret;", 32), 12);
    /* a barrier and a fence do not wait for it either */
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY "membar.gl;\nret;", 32), 13);
    /* nor a pipeline without a scoreboard, on which a load holds its group */
    static const char *const barrel[] = {"sm.pipeline=barrel", "sm.stages=1", NULL};
    assert_true(fixture_cycles(barrel, LOAD_ADDRESS COPY "ret;", 32) < 20);
    assert_true(fixture_cycles(barrel, LOAD_ADDRESS "ld.global.u32 %r1, [%d1];\nret;", 32) > 40);
}

/* The line is requested in 11 and there in 51. */
static void a_wait_holds_the_next_instruction_until_the_data_is_there(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY "cp.async.wait_group 0;\nret;", 32), 51);
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY "cp.async.wait_all;\nret;", 32), 51);
    assert_int_equal(fixture_cycles(NULL,
                                    LOAD_ADDRESS "cp.async.ca.shared.global [buffer], [%d1], 4;\n"
                                                 "cp.async.wait_all;\nret;",
                                    32),
                     51);
}

/* A line that misses comes when it would for a load, whose result an instruction uses before ret. */
static void a_wait_holds_until_a_missing_line_has_come(void **state) {
    (void)state;
    static const char *const slow[] = {"memory.perfect=false", NULL};
    uint64_t copied = fixture_cycles(slow, LOAD_ADDRESS COPY "cp.async.wait_group 0;\nret;", 32);
    uint64_t loaded = fixture_cycles(slow, LOAD_ADDRESS "ld.global.u32 %r1, [%d1];\nmov.u32 %r2, %r1;\nret;", 32);
    assert_true(copied > 60);
    assert_int_equal(copied + 1, loaded);
    assert_int_equal(fixture_cycles(slow, LOAD_ADDRESS COPY "cp.async.wait_group 1;\nret;", 32), 13);
}

/* Groups are issued in 11, 13 and 15. A wait in 16 for all but one of three holds until 53, for all but two until 51; a
 * group that is not closed is not waited for. */
static void a_wait_leaves_the_latest_groups_in_flight(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY COPY COPY "cp.async.wait_group 0;\nret;", 32), 55);
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY COPY COPY "cp.async.wait_group 1;\nret;", 32), 53);
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY COPY COPY "cp.async.wait_group 2;\nret;", 32), 51);
    assert_int_equal(fixture_cycles(NULL, LOAD_ADDRESS COPY COPY COPY "cp.async.wait_group 3;\nret;", 32), 17);
    assert_int_equal(fixture_cycles(NULL,
                                    LOAD_ADDRESS "cp.async.ca.shared.global [buffer], [%d1], 4;\n"
                                                 "cp.async.wait_group 0;\nret;",
                                    32),
                     12);
}

/* Two warps copy in 10 and 11 (there in 51 and 52); only the first waits, whose guard is true. */
static void a_wait_is_for_the_copies_of_its_threads(void **state) {
    (void)state;
    const char *body = ".shared .align 16 .b8 buffer[1024];\nld.param.u64 %d1, [p];\nmov.u32 %r0, %tid.x;\n"
                       "setp.lt.u32 %p0, %r0, 32;\n" COPY "@%p0 bra L;\nret;\nL:\ncp.async.wait_all;\nret;";
    const char *other = ".shared .align 16 .b8 buffer[1024];\nld.param.u64 %d1, [p];\nmov.u32 %r0, %tid.x;\n"
                        "setp.ge.u32 %p0, %r0, 32;\n" COPY "@%p0 bra L;\nret;\nL:\ncp.async.wait_all;\nret;";
    assert_int_equal(fixture_cycles(NULL, body, 64) + 1, fixture_cycles(NULL, other, 64));
}

/* The mbarrier is initialised in 2, the copy issues in 10 and arrives in 11; a test in 12 sees the phase complete, and
 * its group goes on in 51. A test of the other phase, which is not complete, holds nothing. */
static void an_mbarrier_holds_what_has_seen_it_complete(void **state) {
    (void)state;
#define ARRIVE                                                                                                         \
    ".shared .align 8 .b64 barrier;\n" LOAD_ADDRESS "mbarrier.init.shared.b64 [barrier], 32;\n"                        \
    "cp.async.ca.shared.global [buffer], [%d1], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [barrier];\n"
    assert_int_equal(fixture_cycles(NULL, ARRIVE "mbarrier.test_wait.parity.shared.b64 %p1, [barrier], 0;\nret;", 32),
                     51);
    assert_int_equal(fixture_cycles(NULL, ARRIVE "mbarrier.test_wait.parity.shared.b64 %p1, [barrier], 1;\nret;", 32),
                     13);
}

/* 512 bytes are four lines, requested one after the other from the cycle after the copy issued. */
static void a_bulk_copy_signals_its_mbarrier(void **state) {
    (void)state;
#define BULK(bytes)                                                                                                    \
    ".shared .align 8 .b64 barrier;\n.shared .align 16 .b8 large[16384];\n" LOAD_ADDRESS                               \
    "mbarrier.init.shared.b64 [barrier], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [barrier], " #bytes ";\n"         \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [large], [%d1], " #bytes ", [barrier];\n"
    static const char *const lines[] = {"l1.line=128", NULL};
    uint64_t short_one =
        fixture_cycles(lines, BULK(512) "mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;\nret;", 1);
    assert_int_equal(fixture_cycles(lines, BULK(512) "ret;", 1), 11);
    assert_int_equal(short_one, 51);
    /* 16 KiB are 128 lines: more than a request holds at once, so that it goes on when the first 64 have come */
    static const char *const slow[] = {"l1.line=128", "memory.perfect=false", NULL};
    uint64_t half = fixture_cycles(slow, BULK(8192) "mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;\nret;", 1);
    uint64_t all = fixture_cycles(slow, BULK(16384) "mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;\nret;", 1);
    assert_true(half > 51 + 64 && all > half + 64);
    struct stats_counters counters =
        fixture_run(lines, BULK(16384) "mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;\nret;", 1, 1);
    assert_int_equal(counters.long_instructions, 1);
}

static void a_bulk_group_is_waited_for(void **state) {
    (void)state;
    const char *body = LOAD_ADDRESS "cp.async.bulk.global.shared::cta.bulk_group [%d1], [buffer], 256;\n"
                                    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;";
    const char *open = LOAD_ADDRESS "cp.async.bulk.global.shared::cta.bulk_group [%d1], [buffer], 256;\nret;";
    assert_int_equal(fixture_cycles(NULL, open, 1), 11);
    assert_true(fixture_cycles(NULL, body, 1) >= 13);
}

/* The engine requests a line of 128 bytes per cycle, and takes more cycles for a shorter piece. */
static void an_engine_takes_its_time_for_lines_and_pieces(void **state) {
    (void)state;
#define WAIT "mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;\nret;"
#define ENGINE "l1.line=32", "copies.present=true", "copies.load_cycles=0", "copies.store_cycles=0"
    static const char *const quick[] = {ENGINE, NULL}, *const late[] = {ENGINE, "copies.load_cycles=100", NULL},
                             *const pieces[] = {ENGINE, "copies.piece_cycles=9", NULL};
    uint64_t one = fixture_cycles(quick, BULK(128) WAIT, 1);
    assert_int_equal(fixture_cycles(quick, BULK(1024) WAIT, 1), one + 7);
    assert_int_equal(fixture_cycles(late, BULK(1024) WAIT, 1), one + 107);
    assert_int_equal(fixture_cycles(pieces, BULK(1024) WAIT, 1), one + 7);
    assert_true(fixture_cycles(pieces, BULK(912) WAIT, 1) > one + 7);
#undef WAIT
}

static void an_engine_writes_a_sector_in_a_cycle(void **state) {
    (void)state;
#define STORE(bytes, operation)                                                                                        \
    LOAD_ADDRESS "cp" operation "[%d1], [buffer], " #bytes ";\ncp.async.bulk.commit_group;\n"                          \
                 "cp.async.bulk.wait_group 0;\nret;"
#define COPIES ".async.bulk.global.shared::cta.bulk_group "
#define ADDS ".reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
    static const char *const quick[] = {ENGINE, NULL}, *const late[] = {ENGINE, "copies.store_cycles=100", NULL},
                             *const adds[] = {ENGINE, "copies.reduce_sector_cycles=4", NULL};
    uint64_t some = fixture_cycles(quick, STORE(512, COPIES), 1);
    assert_int_equal(fixture_cycles(quick, STORE(1024, COPIES), 1), some + 16);
    assert_int_equal(fixture_cycles(late, STORE(1024, COPIES), 1), some + 116);
    assert_int_equal(fixture_cycles(adds, STORE(1024, COPIES), 1), some + 16);
    /* the 32nd sector goes out in 42, after 31 cycles, and the engine is busy for 96 more */
    assert_int_equal(fixture_cycles(adds, STORE(1024, ADDS), 1), 139);
}

/* Copies that read nothing take no line. */
static void a_copy_of_zeros_is_there_at_once(void **state) {
    (void)state;
    struct stats_counters counters = fixture_run(
        NULL, LOAD_ADDRESS "cp.async.ca.shared.global [buffer], [%d1], 4, 0;\ncp.async.wait_all;\nret;", 1, 32);
    assert_int_equal(counters.cycles, 12);
    assert_int_equal(counters.long_instructions, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_holds_nothing),
        cmocka_unit_test(a_wait_holds_the_next_instruction_until_the_data_is_there),
        cmocka_unit_test(a_wait_holds_until_a_missing_line_has_come),
        cmocka_unit_test(a_wait_leaves_the_latest_groups_in_flight),
        cmocka_unit_test(a_wait_is_for_the_copies_of_its_threads),
        cmocka_unit_test(an_mbarrier_holds_what_has_seen_it_complete),
        cmocka_unit_test(a_bulk_copy_signals_its_mbarrier),
        cmocka_unit_test(a_bulk_group_is_waited_for),
        cmocka_unit_test(an_engine_takes_its_time_for_lines_and_pieces),
        cmocka_unit_test(an_engine_writes_a_sector_in_a_cycle),
        cmocka_unit_test(a_copy_of_zeros_is_there_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
