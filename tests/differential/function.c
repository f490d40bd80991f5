/* Functions that programs call: arguments in registers or in .param space, some of them recursive. They take two words
 * and return one, compute in between with registers of every kind, and access no memory.
 *
 * Left out because of the driver's compiler (CUDA 13.0): it crashes when the only call of a recursive function is in
 * dead code, so every thread executes these calls; and threads that recurse to different depths do not always
 * reconverge, so a program with recursion has no barriers and no instructions that read other lanes. */
#include "program.h"

#include <stdio.h>

enum function_style { STYLE_REGISTERS, STYLE_PARAMETERS, STYLE_RECURSIVE, N_STYLES };
enum { MAX_FUNCTIONS = 2, MAX_RECURSION = 4 };

static enum function_style style_of(const struct program *p, unsigned k) {
    struct random random = random_stream(p->seed, p->number, 100 + k);
    return random_below(&random, N_STYLES);
}

/* Sets registers of every kind from %u and %v, so that every form finds operands. */
static void emit_registers(struct program *p) {
    static const unsigned count[N_KINDS] = {
        [KIND_I16] = 2,   [KIND_F16] = 2,    [KIND_BF16] = 2, [KIND_I32] = 4, [KIND_F32] = 2,
        [KIND_F16X2] = 2, [KIND_BF16X2] = 2, [KIND_I64] = 2,  [KIND_F64] = 2, [KIND_PRED] = 2};
    static const char *const lines[] = {
        "mov.b32 %r0, %u;",        "mov.b32 %r1, %v;",         "xor.b32 %r2, %u, %v;",     "add.u32 %r3, %u, %v;",
        "mov.b32 %f0, %u;",        "mov.b32 %f1, %v;",         "mov.b32 %x0, %v;",         "mov.b32 %x1, %u;",
        "mov.b32 %y0, %u;",        "mov.b32 %y1, %v;",         "mov.b64 %l0, {%u, %v};",   "mov.b64 %l1, {%v, %u};",
        "mov.b64 %d0, {%v, %u};",  "mov.b64 %d1, {%u, %v};",   "mov.b32 {%h0, %h1}, %u;",  "mov.b32 {%e0, %e1}, %v;",
        "mov.b32 {%b0, %b1}, %u;", "setp.lt.s32 %p0, %u, %v;", "setp.eq.u32 %p1, %u, %v;",
    };
    program_line(p, ".reg .pred %%isnan;");
    program_line(p, ".reg .b16 %%half<2>;");
    program_emit_nothing(p);
    for (enum kind kind = 0; kind < N_KINDS; kind++) {
        p->count[kind] = count[kind];
        p->unread[kind] = 0;
        program_line(p, ".reg .%s%.0u %%%c<%u>;", kind == KIND_PRED ? "pred" : "b",
                     kind == KIND_PRED ? 0 : kinds[kind].bits, kinds[kind].letter, count[kind]);
    }
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        program_line(p, "%s", lines[i]);
}

/* Sets %u to a mixture of the registers. */
static void emit_mixture(struct program *p) {
    static const char *const lines[] = {
        "xor.b32 %u, %r0, %r1;",       "mad.lo.u32 %u, %u, 31, %r2;",
        "xor.b32 %u, %u, %r3;",        "mad.lo.u32 %u, %u, 31, %f0;",
        "xor.b32 %u, %u, %f1;",        "mad.lo.u32 %u, %u, 31, %x0;",
        "xor.b32 %u, %u, %x1;",        "mad.lo.u32 %u, %u, 31, %y0;",
        "xor.b32 %u, %u, %y1;",        "mov.b64 {%r0, %r1}, %l0;",
        "xor.b32 %u, %u, %r0;",        "mad.lo.u32 %u, %u, 31, %r1;",
        "mov.b64 {%r0, %r1}, %d0;",    "xor.b32 %u, %u, %r0;",
        "mad.lo.u32 %u, %u, 31, %r1;", "mov.b32 %r0, {%h0, %e0};",
        "xor.b32 %u, %u, %r0;",        "mov.b32 %r0, {%h1, %b0};",
        "mad.lo.u32 %u, %u, 31, %r0;", "selp.b32 %r0, 0x55, 0xaa00, %p0;",
        "xor.b32 %u, %u, %r0;",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        program_line(p, "%s", lines[i]);
}

/* f(u, v): v is the depth. f(u, v) = mix(f(compute(u), v - 1), u) until v is 0. */
static void add_recursive(struct program *p, unsigned k) {
    unsigned long long number = p->number;
    text_add(&p->functions, ".func (.param .b32 result) f%llu_%u(.param .b32 first, .param .b32 second);\n", number, k);
    text_add(&p->functions, ".func (.param .b32 result) f%llu_%u(.param .b32 first, .param .b32 second)\n{\n", number,
             k);
    program_line(p, ".reg .b32 %%u, %%v, %%kept;");
    program_line(p, ".reg .pred %%q;");
    program_line(p, "ld.param.b32 %%u, [first];");
    program_line(p, "ld.param.b32 %%v, [second];");
    program_line(p, "mov.b32 %%kept, %%u;");
    program_line(p, "setp.eq.u32 %%q, %%v, 0;");
    program_line(p, "@%%q bra done;");
    emit_registers(p);
    for (unsigned n = 2 + random_below(&p->random, 4); n > 0; n--)
        program_emit_pure(p);
    emit_mixture(p);
    program_line(p, "sub.u32 %%v, %%v, 1;");
    program_line(p, "{");
    program_line(p, ".param .b32 x, y, z;");
    program_line(p, "st.param.b32 [x], %%u;");
    program_line(p, "st.param.b32 [y], %%v;");
    program_line(p, "call (z), f%llu_%u, (x, y);", number, k);
    program_line(p, "ld.param.b32 %%u, [z];");
    program_line(p, "}");
    program_line(p, "mad.lo.u32 %%u, %%u, 33, %%kept;");
    text_add(&p->functions, "done:\n");
    program_line(p, "st.param.b32 [result], %%u;");
    program_line(p, "ret;");
    text_add(&p->functions, "}\n");
}

static void add_plain(struct program *p, unsigned k, bool uses_registers) {
    const char *space = uses_registers ? ".reg" : ".param", *prefix = uses_registers ? "%" : "";
    text_add(&p->functions, ".func (%s .b32 %sresult) f%llu_%u(%s .b32 %sfirst, %s .b32 %ssecond)\n{\n", space, prefix,
             (unsigned long long)p->number, k, space, prefix, space, prefix);
    program_line(p, ".reg .b32 %%u, %%v;");
    program_line(p, uses_registers ? "mov.b32 %%u, %%first;" : "ld.param.b32 %%u, [first];");
    program_line(p, uses_registers ? "mov.b32 %%v, %%second;" : "ld.param.b32 %%v, [second];");
    emit_registers(p);
    for (unsigned n = 4 + random_below(&p->random, 8); n > 0; n--)
        program_emit_pure(p);
    emit_mixture(p);
    program_line(p, uses_registers ? "mov.b32 %%result, %%u;" : "st.param.b32 [result], %%u;");
    program_line(p, "ret;");
    text_add(&p->functions, "}\n");
}

void program_add_functions(struct program *p) {
    p->n_functions = random_below(&p->random, MAX_FUNCTIONS + 1);
    p->is_function = true;
    for (unsigned k = 0; k < p->n_functions; k++) {
        enum function_style style = style_of(p, k);
        p->has_recursion |= style == STYLE_RECURSIVE;
        if (style == STYLE_RECURSIVE)
            add_recursive(p, k);
        else
            add_plain(p, k, style == STYLE_REGISTERS);
    }
    p->is_function = false;
}

void program_emit_call(struct program *p) {
    if (p->n_functions == 0)
        return;
    unsigned k = random_below(&p->random, p->n_functions), d = program_pick_destination(p, KIND_I32);
    unsigned a = program_pick_source(p, KIND_I32), b = program_pick_source(p, KIND_I32);
    unsigned long long number = p->number;
    char text[64];
    enum function_style style = style_of(p, k);
    if (style == STYLE_RECURSIVE && p->depth > 0)
        return;
    if (style == STYLE_RECURSIVE)
        program_line(p, "and.b32 %%w0, %%r%u, %u;", b, MAX_RECURSION - 1);
    else
        program_line(p, "mov.b32 %%w0, %%r%u;", b);
    if (style == STYLE_REGISTERS) {
        program_line(p, "call (%%r%u), f%llu_%u, (%%r%u, %%w0);", d, number, k, a);
    } else {
        program_line(p, "{");
        program_line(p, ".param .b32 x, y, z;");
        program_line(p, "st.param.b32 [x], %%r%u;", a);
        program_line(p, "st.param.b32 [y], %%w0;");
        program_line(p, "call (z), f%llu_%u, (x, y);", number, k);
        program_line(p, "ld.param.b32 %%r%u, [z];", d);
        program_line(p, "}");
    }
    snprintf(text, sizeof text, "call (%%r%u), f%llu_%u, (%%r%u, %%r%u)", d, number, k, a, b);
    program_written(p, KIND_I32, d);
    program_trace(p, KIND_I32, d, text);
}
