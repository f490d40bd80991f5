/* For the tests of the analysis: parses and analyses a small function. */
#pragma once

#include "ptx/analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One function under analysis. */
struct subject {
    struct ptx_module *module;
    const struct ptx_function *function;
    struct ptx_analysis *analysis;
};

static const char subject_header[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                     ".func callee(.param .b32 x);\n.func .noreturn stop();\n.const .b32 table[4];\n";
static const char subject_registers[] = ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<8>;\n";

static inline struct subject open_function(const char *declaration, const char *body) {
    size_t size = sizeof subject_header + sizeof subject_registers + strlen(declaration) + strlen(body) + 16;
    char *text = malloc(size);
    assert_non_null(text);
    int length = snprintf(text, size, "%s%s\n{\n%s%s}\n", subject_header, declaration, subject_registers, body);
    struct ptx_messages messages = {0};
    struct subject subject = {.module = ptx_parse("test.ptx", text, (size_t)length, &messages)};
    if (messages.text)
        fputs(messages.text, stderr);
    assert_non_null(subject.module);
    ptx_messages_free(&messages);
    free(text);
    subject.function = ptx_find_function(subject.module, "f");
    assert_non_null(subject.function);
    subject.analysis = ptx_analyze(subject.function);
    return subject;
}

static inline struct subject open_kernel(const char *body) {
    return open_function(".entry f(.param .b32 a, .param .b64 b)", body);
}

static inline void close_subject(struct subject *subject) {
    ptx_analysis_free(subject->analysis);
    ptx_module_free(subject->module);
}
