/* The PTX text of a random program. See program.h.
 *
 * Registers: %r<8> hold values, %p<4> conditions that statements compute, %c<8> the loop counters by nesting level, %q
 * and %w temporaries of one statement, %junk values that are never read. */
#include <stdarg.h>
#include <stdio.h>

#include "differential/random.h"
#include "program.h"

enum { N_VALUES = 8, N_CONDITIONS = 4, N_COUNTERS = 8, LOCAL_WORDS = 4 };

struct labels {
    unsigned next, end;
};

struct emitter {
    const struct program *program;
    struct text *text;
    unsigned n_labels;
    unsigned level;                 /* of nested loops and graphs: the number of the free counter */
    struct labels loop[N_COUNTERS]; /* by level; of a graph: its end, twice */
    bool in_function;
    unsigned function;
};

static unsigned label(struct emitter *e) { return e->n_labels++; }
static unsigned value(struct random *random) { return random_below(random, N_VALUES); }
static unsigned condition(struct random *random) { return random_below(random, N_CONDITIONS); }

/* A guard, or nothing. */
static const char *guard(struct random *random, char buffer[16]) {
    buffer[0] = '\0';
    if (random_chance(random, 25)) {
        unsigned which = condition(random);
        snprintf(buffer, 16, "@%s%%p%u ", random_chance(random, 50) ? "!" : "", which);
    }
    return buffer;
}

__attribute__((format(printf, 2, 3))) static void line(struct emitter *e, const char *format, ...) {
    char buffer[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    text_add(e->text, "    %s\n", buffer);
}

static void emit_block(struct emitter *e, const struct statement *statement);

/* --- computation --- */

static void emit_float(struct emitter *e, struct random *random, unsigned d, unsigned a) {
    line(e, "cvt.rn.f32.u32 %%f0, %%r%u;", a);
    if (random_chance(random, 50))
        line(e, "fma.rn.f32 %%f0, %%f0, 0f3F000000, 0f40400000;");
    else
        line(e, "sqrt.approx.f32 %%f0, %%f0;");
    line(e, "cvt.rzi.u32.f32 %%r%u, %%f0;", d);
}

static void emit_compute_one(struct emitter *e, struct random *random) {
    static const char *const binary[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32",
                                         "and.b32", "or.b32",  "min.u32",    "max.s32"};
    static const char *const comparison[] = {"eq.u32", "ne.u32", "lt.u32", "gt.s32", "le.u32", "ge.s32"};
    char buffer[16];
    const char *on = guard(random, buffer);
    unsigned d = value(random), a = value(random), b = value(random), choice = random_below(random, 12);
    unsigned form = random_below(random, 8), number = random_below(random, 32), p = condition(random);
    switch (choice) {
    case 0:
    case 1:
        line(e, "%ssetp.%s %%p%u, %%r%u, %%r%u;", on, comparison[form % 6], p, a, b);
        break;
    case 2:
        line(e, "and.b32 %%w, %%r%u, 7;", a);
        line(e, "%ssetp.%s %%p%u, %%w, %u;", on, comparison[form % 6], p, number & 7);
        break;
    case 3:
        line(e, "%sselp.b32 %%r%u, %%r%u, %%r%u, %%p%u;", on, d, a, b, p);
        break;
    case 4:
        line(e, "or.b32 %%w, %%r%u, 1;", b);
        line(e, "%sdiv.u32 %%r%u, %%r%u, %%w;", on, d, a);
        break;
    case 5:
        emit_float(e, random, d, a);
        break;
    case 6:
        line(e, "%sshr.u32 %%r%u, %%r%u, %u;", on, d, a, number);
        break;
    case 7:
        line(e, "%smad.lo.u32 %%r%u, %%r%u, %u, %%r%u;", on, d, a, number + 1, b);
        break;
    default:
        line(e, "%s%s %%r%u, %%r%u, %%r%u;", on, binary[form], d, a, b);
    }
}

static void emit_compute(struct emitter *e, struct random *random) {
    for (unsigned n = 1 + random_below(random, 3); n > 0; n--)
        emit_compute_one(e, random);
}

/* Emits a condition in %q that mostly differs from thread to thread. */
static void emit_condition(struct emitter *e, struct random *random) {
    unsigned a = value(random), choice = random_below(random, 4), number = random_below(random, 8);
    if (choice == 0) {
        line(e, "setp.lt.u32 %%q, %%r%u, %%r%u;", a, value(random));
        return;
    }
    line(e, "shr.u32 %%w, %%r%u, %u;", a, random_below(random, 8));
    line(e, "and.b32 %%w, %%w, 7;");
    line(e, "setp.%s.u32 %%q, %%w, %u;", choice == 1 ? "eq" : choice == 2 ? "gt" : "le", number);
}

static void emit_uniform_condition(struct emitter *e, struct random *random) {
    const char *comparison = random_chance(random, 50) ? "eq" : "ne";
    line(e, "mov.u32 %%w, %%ctaid.x;");
    line(e, "setp.%s.u32 %%q, %%w, %u;", comparison, random_below(random, 3));
}

/* --- memory --- */

static void emit_local(struct emitter *e, struct random *random, const char *on, unsigned r, bool is_load) {
    line(e, "and.b32 %%w, %%r%u, %u;", value(random), LOCAL_WORDS - 1);
    line(e, "mov.u64 %%a, stash;");
    line(e, "mad.wide.u32 %%a, %%w, 4, %%a;");
    if (is_load)
        line(e, "%sld.local.u32 %%r%u, [%%a];", on, r);
    else
        line(e, "%sst.local.u32 [%%a], %%r%u;", on, r);
}

static void emit_memory(struct emitter *e, struct random *random) {
    char buffer[16];
    const char *on = guard(random, buffer);
    unsigned r = value(random), word = SLICE_WORDS / 2 + random_below(random, ORDER_WORD - SLICE_WORDS / 2);
    unsigned choice = random_below(random, e->program->uses_shared ? 8 : 6), other = value(random);
    switch (choice) {
    case 0:
        line(e, "%sst.global.u32 [%%slice+%u], %%r%u;", on, 4 * word, r);
        break;
    case 1:
        line(e, "%sld.global.u32 %%r%u, [%%slice+%u];", on, r, 4 * word);
        break;
    case 2:
    case 3:
        line(e, "and.b32 %%w, %%r%u, %u;", other, N_INPUTS - 1);
        line(e, "mov.u64 %%a, in;");
        line(e, "mad.wide.u32 %%a, %%w, 4, %%a;");
        line(e, "%sld.global.u32 %%r%u, [%%a];", on, r);
        break;
    case 4:
    case 5:
        emit_local(e, random, on, r, choice == 4);
        break;
    case 6:
        line(e, "%sst.shared.u32 [%%mine], %%r%u;", on, r);
        break;
    default:
        line(e, "%sld.shared.u32 %%r%u, [%%mine];", on, r);
    }
}

/* Words i, i + 6, i + 12, i + 18 take atomics of kind i. */
static void emit_atomic(struct emitter *e, struct random *random) {
    static const char *const kinds[] = {"add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"};
    char buffer[16];
    const char *on = guard(random, buffer);
    unsigned kind = random_below(random, 6), r = value(random), where = value(random);
    bool is_shared = e->program->uses_shared && random_chance(random, 50), is_red = random_chance(random, 50);
    const char *space = is_shared ? "shared" : "global";
    line(e, "and.b32 %%w, %%r%u, 3;", where);
    line(e, "mov.u64 %%a, %s;", is_shared ? "tally" : "sums");
    line(e, "mad.wide.u32 %%a, %%w, 24, %%a;");
    if (is_red) {
        line(e, "%sred.%s.%s [%%a+%u], %%r%u;", on, space, kinds[kind], 4 * kind, r);
    } else {
        line(e, "%satom.%s.%s %%junk, [%%a+%u], %%r%u;", on, space, kinds[kind], 4 * kind, r);
        line(e, "%sst.global.u32 [%%slice+%u], %%junk;", on, 4 * ORDER_WORD);
    }
}

/* --- control flow --- */

static void emit_if(struct emitter *e, const struct statement *statement, struct random *random) {
    unsigned other = label(e), end = label(e);
    if (statement->is_uniform)
        emit_uniform_condition(e, random);
    else
        emit_condition(e, random);
    const char *form = statement->is_uniform && random_chance(random, 50) ? "bra.uni" : "bra";
    line(e, "@%s%%q %s L%u;", random_chance(random, 50) ? "!" : "", form, other);
    emit_block(e, statement->body[0]);
    if (statement->n_bodies > 1)
        line(e, "bra L%u;", end);
    text_add(e->text, "L%u:\n", other);
    if (statement->n_bodies > 1) {
        emit_block(e, statement->body[1]);
        text_add(e->text, "L%u:\n", end);
    }
}

static void emit_loop(struct emitter *e, const struct statement *statement, struct random *random) {
    unsigned start = label(e), level = e->level++;
    bool tests_first = random_chance(random, 50);
    e->loop[level].next = label(e);
    e->loop[level].end = label(e);
    if (statement->is_uniform) {
        line(e, "mov.u32 %%w, %%ctaid.x;");
        line(e, "add.u32 %%w, %%w, %u;", random_below(random, 4));
        line(e, "and.b32 %%c%u, %%w, 3;", level);
    } else {
        line(e, "and.b32 %%c%u, %%r%u, 3;", level, value(random));
    }
    if (tests_first) {
        line(e, "setp.eq.u32 %%q, %%c%u, 0;", level);
        line(e, "@%%q bra L%u;", e->loop[level].end);
    }
    text_add(e->text, "L%u:\n", start);
    emit_block(e, statement->body[0]);
    text_add(e->text, "L%u:\n", e->loop[level].next);
    line(e, "sub.u32 %%c%u, %%c%u, 1;", level, level);
    line(e, "setp.gt.s32 %%q, %%c%u, 0;", level);
    line(e, "@%%q bra L%u;", start);
    text_add(e->text, "L%u:\n", e->loop[level].end);
    e->level--;
}

static void emit_jump(struct emitter *e, const struct statement *statement, struct random *random) {
    const struct labels *loop = &e->loop[e->level - 1];
    emit_condition(e, random);
    line(e, "@%%q bra L%u;", statement->kind == BREAK ? loop->end : loop->next);
}

static void emit_switch(struct emitter *e, const struct statement *statement, struct random *random) {
    unsigned n = statement->n_bodies, first = e->n_labels, end = first + n, table = end + 1;
    e->n_labels += n + 2;
    line(e, "rem.u32 %%w, %%r%u, %u;", value(random), n);
    text_add(e->text, "T%u: .branchtargets ", table);
    for (unsigned i = 0; i < n; i++)
        text_add(e->text, "%sL%u", i ? ", " : "", first + i);
    text_add(e->text, ";\n");
    line(e, "brx.idx %%w, T%u;", table);
    for (unsigned i = 0; i < n; i++) {
        text_add(e->text, "L%u:\n", first + i);
        emit_block(e, statement->body[i]);
        if (!random_chance(random, 25)) /* otherwise falls through into the next case */
            line(e, "bra L%u;", end);
    }
    text_add(e->text, "L%u:\n", end);
}

/* Each block continues at one of two others, forwards or backwards, until the fuel is used up. */
static void emit_graph(struct emitter *e, const struct statement *statement, struct random *random) {
    unsigned n = statement->n_bodies, first = e->n_labels, end = first + n, level = e->level++;
    e->n_labels += n + 1;
    e->loop[level] = (struct labels){end, end}; /* breaks and continues leave the graph */
    line(e, "and.b32 %%c%u, %%r%u, 7;", level, value(random));
    line(e, "add.u32 %%c%u, %%c%u, 3;", level, level);
    if (random_chance(random, 50)) { /* two entries */
        emit_condition(e, random);
        line(e, "@%%q bra L%u;", first + random_below(random, n));
    }
    for (unsigned i = 0; i < n; i++) {
        text_add(e->text, "L%u:\n", first + i);
        emit_block(e, statement->body[i]);
        line(e, "sub.u32 %%c%u, %%c%u, 1;", level, level);
        line(e, "setp.eq.u32 %%q, %%c%u, 0;", level);
        line(e, "@%%q bra L%u;", end);
        emit_condition(e, random);
        line(e, "@%%q bra L%u;", first + random_below(random, n));
        unsigned other = first + random_below(random, n);
        if (other != first + i + 1)
            line(e, "bra L%u;", other);
    }
    text_add(e->text, "L%u:\n", end);
    e->level--;
}

/* A guarded end, a jump to the kernel's last return, or an end that a branch skips. */
static void emit_exit(struct emitter *e, struct random *random) {
    bool is_return = random_chance(random, 50), leads_around = random_chance(random, 50);
    const char *end = is_return && !e->in_function ? "ret" : "exit";
    emit_condition(e, random);
    if (leads_around) {
        unsigned on = label(e);
        line(e, "@!%%q bra L%u;", on);
        line(e, "st.global.u32 [%%slice+28], %%r%u;", value(random));
        line(e, "%s;", end);
        text_add(e->text, "L%u:\n", on);
        return;
    }
    line(e, "@%%q st.global.u32 [%%slice+28], %%r%u;", value(random));
    if (!e->in_function && random_chance(random, 50))
        line(e, "@%%q bra END;");
    else
        line(e, "@%%q %s;", end);
}

static void emit_return(struct emitter *e, struct random *random) {
    unsigned on = label(e);
    emit_condition(e, random);
    line(e, "@!%%q bra L%u;", on);
    line(e, "st.param.b32 [result], %%r%u;", value(random));
    line(e, "ret;");
    text_add(e->text, "L%u:\n", on);
}

/* --- calls --- */

#define PARAMETERS "(.param .b32 first, .param .b32 second, .param .b64 words, .param .b32 depth)"

/* `callee` is a function's name, or a register that holds its address. */
static void emit_call_to(struct emitter *e, struct random *random, const char *callee, const char *depth,
                         const char *prototype, const char *on) {
    unsigned a = value(random), b = value(random), d = value(random);
    line(e, "{");
    line(e, ".param .b32 x, y, n, back;");
    line(e, ".param .b64 s;");
    line(e, "st.param.b32 [x], %%r%u;", a);
    line(e, "st.param.b32 [y], %%r%u;", b);
    line(e, "st.param.b64 [s], %%slice;");
    line(e, "st.param.b32 [n], %s;", depth);
    if (*prototype)
        line(e, "%s: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _, .param .b32 _);",
             prototype);
    line(e, "%scall (back), %s, (x, y, s, n)%s%s;", on, callee, *prototype ? ", " : "", prototype);
    line(e, "%sld.param.b32 %%r%u, [back];", on, d);
    line(e, "}");
}

static void emit_call(struct emitter *e, struct random *random) {
    char callee[16], buffer[16];
    const char *on = e->program->is_single_path ? "" : guard(random, buffer);
    unsigned n = e->program->n_functions - e->function;
    snprintf(callee, sizeof callee, "f%u", e->function + random_below(random, n));
    line(e, "and.b32 %%w, %%r%u, 3;", value(random));
    emit_call_to(e, random, callee, "%w", "", on);
}

static void emit_call_indirect(struct emitter *e, struct random *random) {
    char prototype[16];
    unsigned n = e->program->n_functions - e->function, first = e->function + random_below(random, n);
    snprintf(prototype, sizeof prototype, "P%u", label(e));
    line(e, "mov.u64 %%a, f%u;", first);
    line(e, "mov.u64 %%b, f%u;", e->function + random_below(random, n));
    emit_condition(e, random);
    line(e, "selp.b64 %%a, %%a, %%b, %%q;");
    line(e, "and.b32 %%w, %%r%u, 3;", value(random));
    emit_call_to(e, random, "%a", "%w", prototype, "");
}

static void emit_recursion(struct emitter *e, struct random *random) {
    char callee[16];
    unsigned on = label(e);
    snprintf(callee, sizeof callee, "f%u", e->function - 1);
    line(e, "setp.eq.u32 %%q, %%deep, 0;");
    line(e, "@%%q bra L%u;", on);
    line(e, "sub.u32 %%w, %%deep, 1;");
    emit_call_to(e, random, callee, "%w", "", "");
    text_add(e->text, "L%u:\n", on);
}

/* --- barriers and warp-wide instructions --- */

static void emit_barrier(struct emitter *e, struct random *random) {
    unsigned d = value(random), a = value(random), choice = random_below(random, 4), number = random_below(random, 3);
    if (e->program->uses_shared && choice < 2) {
        line(e, "st.shared.u32 [%%mine], %%r%u;", a);
        line(e, "bar.sync 0;");
        line(e, "add.u32 %%w, %%me, %u;", 1 + random_below(random, 70));
        line(e, "rem.u32 %%w, %%w, %%n;");
        line(e, "mov.u64 %%a, pot;");
        line(e, "mad.wide.u32 %%a, %%w, 4, %%a;");
        line(e, "ld.shared.u32 %%r%u, [%%a];", d);
        line(e, "bar.sync %u;", number);
    } else if (choice == 2) {
        line(e, "bar.red.popc.u32 %%r%u, %u, %%p%u;", d, number, condition(random));
    } else if (choice == 3) {
        unsigned p = condition(random), from = condition(random);
        line(e, "bar.red.%s.pred %%p%u, %u, %%p%u;", a & 1 ? "and" : "or", p, number, from);
    } else {
        line(e, "bar.sync %u;", number);
    }
}

static void emit_split_barrier(struct emitter *e, struct random *random) {
    unsigned other = label(e), end = label(e), number = 3 + random_below(random, 2);
    emit_condition(e, random);
    line(e, "@%%q bra L%u;", other);
    emit_compute(e, random);
    line(e, "barrier.sync %u;", number);
    line(e, "bra L%u;", end);
    text_add(e->text, "L%u:\n", other);
    emit_memory(e, random);
    line(e, "barrier.sync %u;", number);
    text_add(e->text, "L%u:\n", end);
}

/* All threads of the warp that have not ended execute this. Values come from lanes that have a thread; when threads may
 * have ended, no value comes from another lane. */
static void emit_warp(struct emitter *e, struct random *random) {
    unsigned d = value(random), a = value(random), p = condition(random), choice = random_below(random, 6);
    unsigned number = 1 + random_below(random, 31);
    switch (choice) {
    case 0:
        line(e, "vote.sync.ballot.b32 %%r%u, %%p%u, -1;", d, p);
        break;
    case 1:
        line(e, "vote.sync.%s.pred %%p%u, %%p%u, -1;", number & 1 ? "any" : "all", p, condition(random));
        break;
    case 2:
        line(e, "redux.sync.add.u32 %%r%u, %%r%u, -1;", d, a);
        break;
    case 3:
        line(e, "match.any.sync.b32 %%r%u, %%r%u, -1;", d, a);
        break;
    case 4:
        line(e, "bar.warp.sync -1;");
        break;
    default:
        if (e->program->may_end_outside || e->program->may_end_anywhere) {
            line(e, "vote.sync.uni.pred %%p%u, %%p%u, -1;", p, p);
            return;
        }
        line(e, "xor.b32 %%w, %%lane, %u;", number);
        line(e, "setp.lt.u32 %%q, %%w, %%width;");
        line(e, "selp.b32 %%w, %%w, %%lane, %%q;");
        line(e, "shfl.sync.idx.b32 %%r%u, %%r%u, %%w, 31, -1;", d, a);
    }
}

static void emit_with_members(struct emitter *e, struct random *random, const char *members) {
    unsigned d = value(random), a = value(random), choice = random_below(random, 4);
    emit_compute(e, random);
    if (random_chance(random, 50))
        emit_memory(e, random);
    switch (choice) {
    case 0:
        line(e, "vote.sync.ballot.b32 %%r%u, %%p%u, %s;", d, condition(random), members);
        break;
    case 1:
        line(e, "redux.sync.or.b32 %%r%u, %%r%u, %s;", d, a, members);
        break;
    case 2:
        line(e, "bar.warp.sync %s;", members);
        break;
    default: /* from the first member */
        line(e, "brev.b32 %%w, %s;", members);
        line(e, "clz.b32 %%w, %%w;");
        line(e, "shfl.sync.idx.b32 %%r%u, %%r%u, %%w, 31, %s;", d, a, members);
    }
}

static void emit_masked(struct emitter *e, struct random *random) {
    unsigned other = label(e), end = label(e);
    emit_condition(e, random);
    line(e, "vote.sync.ballot.b32 %%here, %%q, -1;");
    line(e, "not.b32 %%there, %%here;");
    line(e, "@%%q bra L%u;", other);
    emit_with_members(e, random, "%there");
    line(e, "bra L%u;", end);
    text_add(e->text, "L%u:\n", other);
    emit_with_members(e, random, "%here");
    text_add(e->text, "L%u:\n", end);
}

/* --- the program --- */

static void emit_statement(struct emitter *e, const struct statement *statement) {
    struct random random = {statement->seed};
    switch (statement->kind) {
    case MEMORY:
        emit_memory(e, &random);
        break;
    case ATOMIC:
        emit_atomic(e, &random);
        break;
    case IF:
        emit_if(e, statement, &random);
        break;
    case LOOP:
        emit_loop(e, statement, &random);
        break;
    case BREAK:
    case CONTINUE:
        emit_jump(e, statement, &random);
        break;
    case SWITCH:
        emit_switch(e, statement, &random);
        break;
    case GRAPH:
        emit_graph(e, statement, &random);
        break;
    case EXIT:
        emit_exit(e, &random);
        break;
    case CALL:
        emit_call(e, &random);
        break;
    case CALL_INDIRECT:
        emit_call_indirect(e, &random);
        break;
    case RECURSE:
        emit_recursion(e, &random);
        break;
    case RETURN:
        emit_return(e, &random);
        break;
    case BARRIER:
        emit_barrier(e, &random);
        break;
    case SPLIT_BARRIER:
        emit_split_barrier(e, &random);
        break;
    case WARP:
        emit_warp(e, &random);
        break;
    case MASKED:
        emit_masked(e, &random);
        break;
    default:
        emit_compute(e, &random);
    }
}

static void emit_block(struct emitter *e, const struct statement *statement) {
    for (; statement; statement = statement->next)
        if (!statement->is_dropped)
            emit_statement(e, statement);
}

static void emit_declarations(struct emitter *e) {
    line(e, ".reg .b32 %%r<%u>, %%c<%u>, %%w, %%junk, %%me, %%n, %%lane, %%width, %%here, %%there, %%deep;", N_VALUES,
         N_COUNTERS);
    line(e, ".reg .f32 %%f0;");
    line(e, ".reg .b64 %%slice, %%a, %%b;");
    line(e, ".reg .pred %%q, %%p<%u>;", N_CONDITIONS);
    line(e, ".local .align 4 .b32 stash[%u];", LOCAL_WORDS);
    if (e->program->uses_shared)
        line(e, ".reg .b64 %%mine;");
    line(e, "mov.u32 %%w, %%tid.y;");
    line(e, "mov.u32 %%n, %%ntid.x;");
    line(e, "mov.u32 %%me, %%tid.x;");
    line(e, "mad.lo.u32 %%me, %%w, %%n, %%me;");
    line(e, "mov.u32 %%w, %%ntid.y;");
    line(e, "mul.lo.u32 %%n, %%n, %%w;");
    if (e->program->uses_shared) {
        line(e, "mov.u64 %%mine, pot;");
        line(e, "mad.wide.u32 %%mine, %%me, 4, %%mine;");
    }
    for (unsigned i = 0; i < LOCAL_WORDS; i++)
        line(e, "st.local.u32 [stash+%u], %u;", 4 * i, 7 * i);
}

static void emit_values(struct emitter *e, struct random *random, unsigned first) {
    for (unsigned i = first; i < N_VALUES; i++) {
        unsigned factor = 3 + 2 * random_below(random, 9), more = random_below(random, 99);
        line(e, "mad.lo.u32 %%w, %%r%u, %u, %u;", i - 1, factor, more);
        line(e, "and.b32 %%w, %%w, %u;", N_INPUTS - 1);
        line(e, "mov.u64 %%a, in;");
        line(e, "mad.wide.u32 %%a, %%w, 4, %%a;");
        line(e, "ld.global.u32 %%r%u, [%%a];", i);
    }
    for (unsigned i = 0; i < N_CONDITIONS; i++)
        line(e, "setp.lt.s32 %%p%u, %%r%u, %%r%u;", i, i, i + 1);
}

static void emit_function(struct emitter *e, unsigned number) {
    struct random random = random_stream(e->program->seed, e->program->number, 10 + number);
    e->in_function = true;
    e->function = number + 1;
    text_add(e->text, ".func (.param .b32 result) f%u" PARAMETERS "\n{\n", number);
    emit_declarations(e);
    line(e, "ld.param.b32 %%r0, [first];");
    line(e, "ld.param.b32 %%r1, [second];");
    line(e, "ld.param.b64 %%slice, [words];");
    line(e, "ld.param.b32 %%deep, [depth];");
    for (unsigned i = 2; i < N_VALUES; i++)
        line(e, "mad.lo.u32 %%r%u, %%r%u, %u, %%r%u;", i, i - 1, random_below(&random, 32), i - 2);
    for (unsigned i = 0; i < N_CONDITIONS; i++)
        line(e, "setp.lt.s32 %%p%u, %%r%u, %%r%u;", i, i, i + 1);
    emit_block(e, e->program->function[number]);
    line(e, "st.param.b32 [result], %%r%u;", value(&random));
    line(e, "ret;");
    text_add(e->text, "}\n\n");
}

static void emit_kernel(struct emitter *e) {
    struct random random = random_stream(e->program->seed, e->program->number, 1);
    e->in_function = false;
    e->function = 0;
    text_add(e->text, ".visible .entry k(.param .u64 out)\n{\n");
    emit_declarations(e);
    line(e, "mov.u32 %%w, %%ctaid.x;");
    line(e, "mad.lo.u32 %%r0, %%w, %%n, %%me;");
    line(e, "ld.param.u64 %%slice, [out];");
    line(e, "mad.wide.u32 %%slice, %%r0, %u, %%slice;", 4 * SLICE_WORDS);
    emit_values(e, &random, 1);
    if (e->program->uses_warps) {
        line(e, "mov.u32 %%lane, %%laneid;");
        line(e, "sub.u32 %%width, %%me, %%lane;");
        line(e, "sub.u32 %%width, %%n, %%width;");
    }
    emit_block(e, e->program->kernel);
    for (unsigned i = 0; i + 1 < SLICE_WORDS / 2; i++) /* word 7 is for threads that end early */
        line(e, "st.global.u32 [%%slice+%u], %%r%u;", 4 * i, i);
    if (e->program->uses_shared) { /* store tally: each block has its own words after the slices */
        line(e, "bar.sync 0;");
        line(e, "setp.lt.u32 %%q, %%me, %u;", N_SUMS);
        line(e, "@!%%q ret;");
        line(e, "mov.u64 %%a, tally;");
        line(e, "mad.wide.u32 %%a, %%me, 4, %%a;");
        line(e, "ld.shared.u32 %%r0, [%%a];");
        line(e, "ld.param.u64 %%b, [out];");
        line(e, "mov.u32 %%w, %%nctaid.x;");
        line(e, "mul.lo.u32 %%w, %%w, %%n;");
        line(e, "mad.wide.u32 %%b, %%w, %u, %%b;", 4 * SLICE_WORDS);
        line(e, "mov.u32 %%w, %%ctaid.x;");
        line(e, "mad.wide.u32 %%b, %%w, %u, %%b;", 4 * N_SUMS);
        line(e, "mad.wide.u32 %%b, %%me, 4, %%b;");
        line(e, "st.global.u32 [%%b], %%r0;");
    }
    text_add(e->text, "END:\n");
    line(e, "ret;");
    text_add(e->text, "}\n");
}

static void emit_words(struct text *text, const char *name, unsigned count, struct random *random) {
    text_add(text, ".global .align 8 .u32 %s[%u] = {", name, count);
    for (unsigned i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)random_next(random);
        text_add(text, "%s%u", i ? ", " : "", random_chance(random, 50) ? bits & 15 : bits);
    }
    text_add(text, "};\n");
}

void program_emit(const struct program *program, struct text *text) {
    struct random random = random_stream(program->seed, program->number, 2);
    struct emitter emitter = {.program = program, .text = text};
    text_add(text, ".version 7.8\n.target sm_80\n.address_size 64\n\n");
    emit_words(text, "in", N_INPUTS, &random);
    emit_words(text, "sums", N_SUMS, &random);
    if (program->uses_shared)
        text_add(text, ".shared .align 8 .b32 pot[%u];\n.shared .align 8 .b32 tally[%u];\n", program_threads(program),
                 N_SUMS);
    for (unsigned i = 0; i < program->n_functions; i++)
        text_add(text, ".func (.param .b32 result) f%u" PARAMETERS ";\n", i);
    text_add(text, "\n");
    for (unsigned i = 0; i < program->n_functions; i++)
        emit_function(&emitter, i);
    emit_kernel(&emitter);
}
