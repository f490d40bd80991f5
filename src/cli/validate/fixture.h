/* For tests of metrics and recordings. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/validate/metrics.h"

/* Returns the row of metrics.def with this word. */
static inline unsigned row(const char *word) {
    unsigned m = 0;
    while (m < CLI_N_METRICS && strcmp(cli_metric_word(m), word) != 0)
        m++;
    assert_true(m < CLI_N_METRICS);
    return m;
}
