/* For the tests of this folder: wraps the line under test in PTX text. */
#pragma once

#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FIXTURE_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n"

/* Lines 4 to 7 of a body's module; the body starts on line 8, column 1. */
#define FIXTURE_KERNEL                                                                                                 \
    ".global .u32 cell; .const .u32 fixed; .shared .u32 common;\n"                                                     \
    ".func (.param .b32 back) helper (.param .b32 a) { ret; }\n"                                                       \
    ".entry kernel (.param .u64 pointer, .param .align 4 .b8 block[12]) {\n"                                           \
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<4>; .reg .f64 %fd<4>;\n"

static inline struct ptx_module *fixture_parse(const char *text) {
    struct ptx_messages messages;
    struct ptx_module *module = ptx_parse("t.ptx", text, strlen(text), &messages);
    if (!module)
        fail_msg("unexpected errors:\n%s", messages.text);
    assert_null(messages.text);
    assert_int_equal(messages.n_errors, 0);
    return module;
}

/* A module of the given lines after the preamble. */
static inline struct ptx_module *fixture_module(const char *lines) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s", FIXTURE_HEADER, lines);
    return fixture_parse(text);
}

/* A module whose last function is a kernel with the given body. */
static inline struct ptx_module *fixture_body(const char *body) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s\n}\n", FIXTURE_HEADER FIXTURE_KERNEL, body);
    return fixture_parse(text);
}

static inline const struct ptx_function *fixture_kernel(const struct ptx_module *module) {
    return module->function[module->n_functions - 1];
}

/* Returns the messages about a text that must not parse, in a static buffer. */
static inline const char *fixture_errors(const char *text, size_t length, unsigned *n_errors) {
    static char kept[16384];
    struct ptx_messages messages;
    struct ptx_module *module = ptx_parse("t.ptx", text, length, &messages);
    if (module)
        fail_msg("parsed without errors: %s", text);
    snprintf(kept, sizeof kept, "%s", messages.text);
    if (n_errors)
        *n_errors = messages.n_errors;
    ptx_messages_free(&messages);
    return kept;
}

static inline const char *fixture_module_errors(const char *lines) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s", FIXTURE_HEADER, lines);
    return fixture_errors(text, strlen(text), NULL);
}

static inline const char *fixture_body_errors(const char *body) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s\n}\n", FIXTURE_HEADER FIXTURE_KERNEL, body);
    return fixture_errors(text, strlen(text), NULL);
}

/* Expects the first line of the messages about a body to be "t.ptx:8:COLUMN: error: TEXT". */
static inline void fixture_rejects(const char *body, unsigned column, const char *text) {
    char expected[1024], got[1024];
    snprintf(expected, sizeof expected, "t.ptx:8:%u: error: %s", column, text);
    const char *errors = fixture_body_errors(body);
    snprintf(got, sizeof got, "%.*s", (int)strcspn(errors, "\n"), errors);
    assert_string_equal(got, expected);
}

/* The same for lines of a module, which start on line 4. */
static inline void fixture_module_rejects(const char *lines, unsigned column, const char *text) {
    char expected[1024], got[1024];
    snprintf(expected, sizeof expected, "t.ptx:4:%u: error: %s", column, text);
    const char *errors = fixture_module_errors(lines);
    snprintf(got, sizeof got, "%.*s", (int)strcspn(errors, "\n"), errors);
    assert_string_equal(got, expected);
}

/* Instruction `index` of a body's kernel. */
static inline const struct ptx_instruction *fixture_instruction(const struct ptx_module *module, uint32_t index) {
    const struct ptx_function *kernel = fixture_kernel(module);
    assert_true(index < kernel->n_instructions);
    return &kernel->instruction[index];
}

static inline const char *fixture_register(const struct ptx_module *module, uint32_t id) {
    const struct ptx_function *kernel = fixture_kernel(module);
    assert_true(id < kernel->n_registers);
    return kernel->reg[id].name;
}
