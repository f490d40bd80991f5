/* For the tests of passes: makes a kernel from the text of its body, and checks the result of a pass. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/internal.h"

/* The kernel has a pointer in %rd0, a number that is the same for all threads in %r0, and the thread's in %r1. */
#define FIXTURE_HEAD                                                                                                   \
    ".version 7.8\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 s[4096];\n"                                  \
    ".const .align 16 .b32 table[64];\n.global .align 16 .b32 words[64];\n.visible .entry k(.param .u64 p, .param "    \
    ".u32 q) {\n"                                                                                                      \
    ".reg .b16 %h<4>;\n.reg .b32 %r<32>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<32>;\n.reg .f64 %d<4>;\n"                   \
    ".reg .pred %p<8>;\nld.param.u64 %rd0, [p];\nld.param.u32 %r0, [q];\nmov.u32 %r1, %tid.x;\n"
enum { FIXTURE_N_HEAD = 3 }; /* instructions of the head */

struct fixture {
    struct ptx_module *module;
    struct ptx_function *function;
    struct ptx_analysis *analysis;
    struct isa_code code; /* each instruction at its own cost */
};

static inline struct fixture fixture_of(const struct isa_target *target, const char *text, const char *name) {
    struct fixture f = {0};
    struct ptx_messages messages = {0};
    f.module = ptx_parse("test", text, strlen(text), &messages);
    if (!f.module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    f.function = ptx_find_function(f.module, name);
    f.analysis = ptx_analyze(f.function);
    f.code = isa_code_new(target, f.analysis);
    return f;
}

/* The head, the body and a ret, for sm_90. */
static inline struct fixture fixture_new(const char *body) {
    static char text[1 << 14];
    snprintf(text, sizeof text, "%s%sret;\n}\n", FIXTURE_HEAD, body);
    return fixture_of(&isa_sm_90, text, "k");
}

static inline void fixture_free(struct fixture *f) {
    isa_code_free(&f->code);
    ptx_analysis_free(f->analysis);
    ptx_module_free(f->module);
}

/* The body's k-th instruction. */
static inline const struct isa_insn *fixture_at(const struct fixture *f, unsigned k) {
    return &f->code.insn[FIXTURE_N_HEAD + k];
}

/* Expects the body's instructions to become so many machine instructions each, and frees the fixture. */
static inline void fixture_expect(struct fixture *f, unsigned n, const double *machine_instructions) {
    for (unsigned k = 0; k < n; k++) {
        double found = (double)fixture_at(f, k)->parts / ISA_PARTS;
        if (found != machine_instructions[k])
            fail_msg("instruction %u becomes %g, expected %g", k, found, machine_instructions[k]);
    }
    fixture_free(f);
}

#define FIXTURE_EXPECT(f, ...)                                                                                         \
    fixture_expect(f, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})
