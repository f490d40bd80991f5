/* Shared by the tests of config: loading, setting and dumping machines, with the expected messages. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"

/* Tests run in the root of the sources. */
#define MACHINES "machines"

/* Loads the text, which must be valid. */
static inline struct config_machine loaded(const char *text) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES] = "";
    if (!config_load_text(&machine, text, "test.yaml", MACHINES, error, sizeof error))
        fail_msg("%s", error);
    return machine;
}

/* Expects loading the text to fail with exactly this message. */
static inline void expect_refused(const char *text, const char *message) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES] = "";
    assert_false(config_load_text(&machine, text, "test.yaml", MACHINES, error, sizeof error));
    assert_string_equal(error, message);
}

/* Applies an assignment, which must be valid. */
static inline void set(struct config_machine *machine, const char *assignment) {
    char error[CONFIG_ERROR_BYTES] = "";
    if (!config_set(machine, assignment, error, sizeof error))
        fail_msg("%s", error);
}

static inline void expect_set_refused(const char *assignment, const char *message) {
    struct config_machine machine, before;
    char error[CONFIG_ERROR_BYTES] = "";
    config_defaults(&machine);
    before = machine;
    assert_false(config_set(&machine, assignment, error, sizeof error));
    assert_string_equal(error, message);
    assert_memory_equal(&machine, &before, sizeof machine);
}

static inline char *dumped(const struct config_machine *machine) {
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    config_dump(machine, file);
    fclose(file);
    return text;
}
