/* The options of the database workloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command.h"

static void verified(const char *words, const char *text) {
    struct outcome outcome = heddle("run -q %s", words);
    expect_status(&outcome, 0);
    expect_text(outcome.out, text);
    outcome_free(&outcome);
}

static void refused(const char *words, const char *text) {
    struct outcome outcome = heddle("run -q --functional %s", words);
    expect_status(&outcome, 2);
    expect_line(&outcome, text);
    outcome_free(&outcome);
}

static void aggregates_have_groups_or_none(void **state) {
    (void)state;
    verified("aggregate --functional -- --groups 0 --selectivity 1", "verified, 32768 of 32768 rows, 1 group,");
    verified("aggregate --functional -- --groups 1000 --selectivity 7", " rows, 1000 groups,");
    verified("aggregate --functional --blocks 1 -- --groups 1", " 1 group, 1 blocks");
    refused("aggregate -- --groups 1025", "--groups takes a number from 0 to 1024, not '1025'");
}

static void joins_have_a_version_with_heddles_own_instructions(void **state) {
    (void)state;
    verified("hashjoin -m narasiman2014-db -- --code cond_acc", "hash_probe_cond_acc");
    verified("indexjoin -m narasiman2014-db -- --code extended", "indexjoin_extended");
    verified("hashjoin --functional -- --build 1 --probe 7", "pairs of 1 and 7 rows");
    verified("hashjoin --functional -- --selectivity 1 --build 33", "16384 pairs of 33 and 16384 rows");
    verified("indexjoin --functional -- --rows 77 --keys 30 --selectivity 1", "77 pairs of 77 rows and 30 keys");
    refused("hashjoin -- --code ballots", "--code is ballot or cond_acc, not 'ballots'");
    refused("indexjoin -- --code both", "--code is plain or extended, not 'both'");
}

static void an_index_can_have_any_number_of_levels(void **state) {
    (void)state;
    verified("index --functional -- --keys 1", "1 keys, 1 levels");
    verified("index --functional -- --keys 930 --code both", "930 keys, 2 levels");
    verified("index --functional -- --keys 931 --code traverse", "931 keys, 3 levels");
    verified("index --functional -- --keys 27705631 --queries 100", "27705631 keys, 6 levels");
    verified("index --functional -- --queries 33", "33 queries");
}

/* Keys fill all leaves except the last ones; with 28,830 there is a group for searches after the last key. */
static void an_index_is_made_whole_or_as_far_as_needed(void **state) {
    (void)state;
    verified("index --functional -- --keys 1000000 --queries 4096", "4096 queries, 1000000 keys, 5 levels");
    verified("index --functional -- --keys 28830 --tree whole --code both", "28830 keys, 3 levels");
    verified("index --functional -- --keys 28830 --tree needed", "28830 keys, 3 levels");
    verified("index --functional -- --keys 1000000000 --queries 64", "64 queries, 1000000000 keys, 7 levels");
    refused("index -- --tree half", "--tree is whole or needed, not 'half'");
    refused("index -- --keys 1000000001", "--keys takes a number from 1 to 1000000000, not '1000000001'");
}

static void insertions_need_room(void **state) {
    (void)state;
    verified("insert -m narasiman2014-db -- --code extended", "512 updates, 512 insertions and 0 without room");
    verified("insert --functional -- --leaf-keys 30", "512 updates, 0 insertions and 512 without room");
    verified("insert --functional -- --keys 30 --operations 30", "30 keys");
    verified("insert --functional -- --leaf-keys 25 --keys 3000 --operations 1000 --seed 3", "500 updates, ");
    refused("insert -- --keys 10 --operations 11", "--operations is at most --keys, 10, here");
    refused("insert -- --keys 27705630 --leaf-keys 1", "need more than 923521 leaves");
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregates_have_groups_or_none),
        cmocka_unit_test(joins_have_a_version_with_heddles_own_instructions),
        cmocka_unit_test(an_index_can_have_any_number_of_levels),
        cmocka_unit_test(an_index_is_made_whole_or_as_far_as_needed),
        cmocka_unit_test(insertions_need_room),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
