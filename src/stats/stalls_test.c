/* The words for stalls: each has its counters, and no other counter has such a word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/stalls.h"

/* The counters called stall_..., in their order, are those of the words. */
static void expect_words(const struct stats_counter *counter, unsigned n_counters, const struct stats_stall *stall,
                         unsigned n_stalls) {
    unsigned n = 0;
    for (unsigned i = 0; i < n_counters; i++) {
        if (strncmp(counter[i].name, "stall_", 6) != 0)
            continue;
        assert_true(n < n_stalls);
        assert_string_equal(counter[i].name + 6, stall[n].word);
        assert_int_equal(stall[n].at, i);
        n++;
    }
    assert_int_equal(n, n_stalls);
}

static void every_counter_of_stalls_is_called_by_its_word(void **state) {
    (void)state;
    expect_words(stats_list, STATS_N_COUNTERS, stats_sm_stalls, STATS_N_SM_STALLS);
    expect_words(stats_line_list, STATS_N_LINE, stats_line_stalls, STATS_N_LINE_STALLS);
}

static void a_heading_is_the_word_or_its_beginning(void **state) {
    (void)state;
    for (unsigned i = 0; i < STATS_N_SM_STALLS; i++) {
        const char *word = stats_sm_stalls[i].word, *heading = stats_sm_stalls[i].heading;
        size_t length = strcspn(heading, ".");
        assert_true(strncmp(word, heading, length) == 0 && strlen(heading) <= 7);
        assert_true(heading[length] == '.' ? strlen(word) > length : strlen(word) == length);
    }
}

static void a_line_stalls_for_the_sum_of_its_stalls(void **state) {
    (void)state;
    struct stats_line line = {.executed = 1000, .stall_memory = 1, .stall_fetch = 20, .stall_ready = 300};
    assert_int_equal(stats_line_stall_cycles(&line), 321);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_counter_of_stalls_is_called_by_its_word),
        cmocka_unit_test(a_heading_is_the_word_or_its_beginning),
        cmocka_unit_test(a_line_stalls_for_the_sum_of_its_stalls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
