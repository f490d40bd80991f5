/* Makes an instruction from a form: chooses among its alternatives and fills in registers and immediates.
 *
 * In a form, (a|b|c) is a choice, and may nest; operands start with %:
 *   %=k  a destination of kind k (the letters of registers.c)     %k  a source: a register or an immediate
 *   %.k  a source that is a register                              %!p a predicate that may be negated
 *   %~k  the same, and the compiler cannot see what wrote it      %#9 an immediate from 0 to 9
 *   %n   a shift amount or bit position                           %%  a percent sign, ^ a bar */
#include "program.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

struct form {
    unsigned weight;
    const char *text;
};

/* The weight of a family is divided among its forms, so that families with few forms are as frequent as those with
 * many.
 */
struct family {
    unsigned weight;
    const struct form *form;
    unsigned n_forms;
};

#define FAMILY(name, weight) static const struct form name##_forms[] = {
#define FORM(weight, text) {weight, text},
#define END_FAMILY                                                                                                     \
    }                                                                                                                  \
    ;
#include "forms.def"
#undef FAMILY
#undef FORM
#undef END_FAMILY

static const struct family families[] = {
#define FAMILY(name, weight) {weight, name##_forms, sizeof name##_forms / sizeof name##_forms[0]},
#define FORM(weight, text)
#define END_FAMILY
#include "forms.def"
#undef FAMILY
#undef FORM
#undef END_FAMILY
};

struct destination {
    enum kind kind, as; /* the kinds of the register and of the value that the instruction writes */
    unsigned number;
};

struct instruction {
    char text[TEMPLATE_ROOM];
    size_t length;
    struct destination destination[MAX_OPERANDS];
    unsigned n_destinations;
    uint32_t hidden[N_KINDS]; /* bit i: register i is a hidden source */
    bool has_immediate, is_possible;
};

static void add(struct instruction *insn, const char *bytes, size_t length) {
    assert(insn->length + length < sizeof insn->text);
    memcpy(insn->text + insn->length, bytes, length);
    insn->text[insn->length += length] = 0;
}

/* Returns the place after the parenthesis that closes the one at `open`. Sets start to the starts of the alternatives
 * and one past their end. */
static const char *close_of(const char *open, const char **start, unsigned *n) {
    unsigned depth = 0;
    *n = 0;
    start[(*n)++] = open + 1;
    for (const char *c = open;; c++) {
        assert(*c);
        depth += *c == '(';
        depth -= *c == ')';
        if (*c == '|' && depth == 1)
            start[(*n)++] = c + 1;
        if (depth == 0) {
            start[*n] = c + 1;
            return c + 1;
        }
    }
}

static void expand(struct random *random, const char *from, const char *to, struct instruction *out) {
    const char *start[32];
    while (from < to) {
        if (*from != '(') {
            add(out, from++, 1);
            continue;
        }
        unsigned n;
        const char *end = close_of(from, start, &n);
        unsigned chosen = random_below(random, n);
        expand(random, start[chosen], start[chosen + 1] - 1, out);
        from = end;
    }
}

/* Returns with some probability another kind of the same width: the bits are then read as another type. */
static enum kind reinterpret(struct program *p, enum kind kind, unsigned percent) {
    if (kind == KIND_PRED || !random_chance(&p->random, percent))
        return kind;
    enum kind other = random_below(&p->random, N_KINDS);
    return kinds[other].bits == kinds[kind].bits && p->count[other] ? other : kind;
}

static void add_register(struct instruction *insn, enum kind kind, unsigned number) {
    char name[16];
    add(insn, name, (size_t)snprintf(name, sizeof name, "%%%c%u", kinds[kind].letter, number));
}

static bool is_taken(const struct instruction *insn, enum kind kind, unsigned number) {
    for (unsigned i = 0; i < insn->n_destinations; i++)
        if (insn->destination[i].kind == kind && insn->destination[i].number == number)
            return true;
    return false;
}

static void add_destination(struct program *p, struct instruction *insn, enum kind as) {
    enum kind kind = reinterpret(p, as, 4);
    unsigned number = program_pick_destination(p, kind);
    for (unsigned i = 0; i < p->count[kind] && is_taken(insn, kind, number); i++)
        number = (number + 1) % p->count[kind];
    if (number == PROGRAM_NO_REGISTER || is_taken(insn, kind, number)) {
        insn->is_possible = false;
        return;
    }
    insn->destination[insn->n_destinations++] = (struct destination){kind, as, number};
    add_register(insn, kind, number);
}

static void add_source(struct program *p, struct instruction *insn, enum kind kind, bool may_be_immediate) {
    char immediate[32];
    if (may_be_immediate && !insn->has_immediate && random_chance(&p->random, 15) &&
        program_immediate(p, kind, immediate, sizeof immediate)) {
        insn->has_immediate = true;
        add(insn, immediate, strlen(immediate));
        return;
    }
    kind = reinterpret(p, kind, 6);
    unsigned number = program_pick_source(p, kind);
    if (number == PROGRAM_NO_REGISTER)
        insn->is_possible = false;
    else
        add_register(insn, kind, number);
}

/* Adds a register whose origin the compiler does not see: a different one each time, while there are some. */
static void add_hidden_source(struct program *p, struct instruction *insn, enum kind kind) {
    kind = reinterpret(p, kind, 6);
    unsigned number = program_pick_source(p, kind);
    if (number == PROGRAM_NO_REGISTER) {
        insn->is_possible = false;
        return;
    }
    while (insn->hidden[kind] >> number & 1 && ~insn->hidden[kind] & ((1u << p->count[kind]) - 1))
        number = (number + 1) % p->count[kind];
    insn->hidden[kind] |= 1u << number;
    program_emit_hidden(p, kind, number);
    add_register(insn, kind, number);
}

static void add_number(struct program *p, struct instruction *insn, unsigned below) {
    char number[16];
    add(insn, number, (size_t)snprintf(number, sizeof number, "%u", random_below(&p->random, below)));
}

/* Adds the operand whose letters start at c, after the percent sign. Returns the place after it. */
static const char *add_operand(struct program *p, struct instruction *insn, const char *c) {
    char *end;
    switch (*c) {
    case '%':
        add(insn, "%", 1);
        return c + 1;
    case '=':
        add_destination(p, insn, program_kind(c[1]));
        return c + 2;
    case '.':
        add_source(p, insn, program_kind(c[1]), false);
        return c + 2;
    case '~':
        add_hidden_source(p, insn, program_kind(c[1]));
        return c + 2;
    case '!':
        if (random_chance(&p->random, 40))
            add(insn, "!", 1);
        add_source(p, insn, KIND_PRED, false);
        return c + 2;
    case '#':
        add_number(p, insn, (unsigned)strtoul(c + 1, &end, 10) + 1);
        return end;
    case 'n':
        if (random_chance(&p->random, 40))
            add_number(p, insn, 70);
        else
            add_source(p, insn, KIND_I32, false);
        return c + 1;
    default:
        assert(program_kind(*c) != N_KINDS);
        add_source(p, insn, program_kind(*c), true);
        return c + 1;
    }
}

void program_line(struct program *p, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < sizeof line);
    text_add(p->is_function ? &p->functions : &p->body, "    %s\n", line);
}

/* Emits zeros that are known only at launch, three of each width: equal ones would make equal results. */
void program_emit_nothing(struct program *p) {
    static const char *const zeros[] = {"tid.y", "tid.z", "ctaid.y"};
    program_line(p, ".reg .b16 %%nothing16_<3>;");
    program_line(p, ".reg .b32 %%nothing32_<3>;");
    program_line(p, ".reg .b64 %%nothing64_<3>;");
    program_line(p, ".reg .pred %%never;");
    for (unsigned i = 0; i < 3; i++) {
        program_line(p, "mov.u32 %%nothing32_%u, %%%s;", i, zeros[i]);
        program_line(p, "cvt.u16.u32 %%nothing16_%u, %%nothing32_%u;", i, i);
        program_line(p, "cvt.u64.u32 %%nothing64_%u, %%nothing32_%u;", i, i);
    }
    program_line(p, "setp.ne.u32 %%never, %%nothing32_0, 0;");
}

void program_emit_hidden(struct program *p, enum kind kind, unsigned number) {
    const struct kind_info *info = &kinds[kind];
    assert(kind != KIND_PRED);
    program_line(p, "or.b%u %%%c%u, %%%c%u, %%nothing%u_%u;", info->bits, info->letter, number, info->letter, number,
                 info->bits, p->n_hidden++ % 3);
}

/* Leaves room for the rest of a piece of program that has begun. */
bool program_is_full(const struct program *p) {
    return p->n_traced > MAX_TRACED - 64 || p->n_dynamic + 32 * p->multiplicity > LAYOUT_TRACE_ENTRIES - 512;
}

void program_trace(struct program *p, enum kind kind, unsigned number, const char *text) {
    if (p->is_function)
        return;
    assert(p->n_traced < MAX_TRACED);
    p->n_dynamic += p->multiplicity;
    assert(p->n_dynamic <= LAYOUT_TRACE_ENTRIES);
    p->traced[p->n_traced].text = text_resize(NULL, strlen(text) + 1);
    strcpy(p->traced[p->n_traced].text, text);
    unsigned id = p->n_traced++, bits = kinds[kind].bits;
    if (!p->is_traced)
        return;
    if (kind == KIND_PRED)
        program_line(p, "selp.u64 %%value, 1, 0, %%p%u;", number);
    else if (bits == 64)
        program_line(p, "mov.b64 %%value, %%%c%u;", kinds[kind].letter, number);
    else
        program_line(p, bits == 16 ? "cvt.u64.u16 %%value, %%%c%u;" : "cvt.u64.u32 %%value, %%%c%u;",
                     kinds[kind].letter, number);
    program_line(p, "mov.u64 %%number, %u;", id);
    program_line(p, "st.global.v2.b64 [%%trace], {%%number, %%value};");
    program_line(p, "add.u64 %%trace, %%trace, %u;", LAYOUT_TRACE_ENTRY);
}

/* Replaces any NaN of the register, read as a kind, by the canonical one. */
static void emit_one_nan(struct program *p, struct destination d) {
    char reg[16];
    snprintf(reg, sizeof reg, "%%%c%u", kinds[d.kind].letter, d.number);
    bool is_bfloat = d.as == KIND_BF16 || d.as == KIND_BF16X2;
    switch (d.as) {
    case KIND_F32:
        program_line(p, "setp.nan.f32 %%isnan, %s, %s;", reg, reg);
        program_line(p, "selp.b32 %s, 0x7fffffff, %s, %%isnan;", reg, reg);
        break;
    case KIND_F64:
        program_line(p, "setp.nan.f64 %%isnan, %s, %s;", reg, reg);
        program_line(p, "selp.b64 %s, 0x7ff8000000000000, %s, %%isnan;", reg, reg);
        break;
    case KIND_F16:
    case KIND_BF16:
        program_line(p, "setp.nan.%s %%isnan, %s, %s;", is_bfloat ? "bf16" : "f16", reg, reg);
        program_line(p, "selp.b16 %s, 0x7fff, %s, %%isnan;", reg, reg);
        break;
    default:
        program_line(p, "mov.b32 {%%half0, %%half1}, %s;", reg);
        for (unsigned i = 0; i < 2; i++) {
            program_line(p, "setp.nan.%s %%isnan, %%half%u, %%half%u;", is_bfloat ? "bf16" : "f16", i, i);
            program_line(p, "selp.b16 %%half%u, 0x7fff, %%half%u, %%isnan;", i, i);
        }
        program_line(p, "mov.b32 %s, {%%half0, %%half1};", reg);
        break;
    }
}

/* NVIDIA's compiler reads the byte selector .b1024 as the name of a type and refuses the program. */
static void avoid_type_names(struct instruction *insn) {
    for (char *c = insn->text; (c = strstr(c, ".b1024")) != NULL; c++)
        c[5] = '5';
}

bool program_emit(struct program *p, const char *form, bool may_guard) {
    struct instruction expanded = {0}, insn = {.is_possible = true};
    bool has_one_nan = false, is_hidden = false;
    for (; strchr("~:+", *form); form++) {
        has_one_nan |= *form == '~';
        is_hidden |= *form == '+';
        may_guard &= *form != ':';
    }
    expand(&p->random, form, form + strlen(form), &expanded);
    if (may_guard && p->count[KIND_PRED] && random_chance(&p->random, 12)) {
        add(&insn, "@", 1);
        add_operand(p, &insn, "!p");
        add(&insn, " ", 1);
    }
    for (const char *c = expanded.text; *c && insn.is_possible;) {
        if (*c == '%') {
            c = add_operand(p, &insn, c + 1);
            continue;
        }
        add(&insn, *c == '^' ? "|" : c, 1);
        c++;
    }
    if (!insn.is_possible)
        return false;
    avoid_type_names(&insn);
    program_line(p, "%s;", insn.text);
    for (unsigned i = 0; i < insn.n_destinations; i++) {
        if (has_one_nan)
            emit_one_nan(p, insn.destination[i]);
        if (is_hidden)
            program_emit_hidden(p, insn.destination[i].kind, insn.destination[i].number);
        program_written(p, insn.destination[i].kind, insn.destination[i].number);
        program_trace(p, insn.destination[i].kind, insn.destination[i].number, insn.text);
    }
    return true;
}

void program_emit_pure(struct program *p) {
    unsigned n = sizeof families / sizeof families[0], total = 0, k = 0;
    for (unsigned i = 0; i < n; i++)
        total += families[i].weight;
    bool is_written = false;
    while (!is_written) {
        unsigned at = random_below(&p->random, total), weight = 0;
        for (k = 0; at >= families[k].weight; k++)
            at -= families[k].weight;
        const struct family *family = &families[k];
        for (unsigned i = 0; i < family->n_forms; i++)
            weight += family->form[i].weight;
        at = random_below(&p->random, weight);
        for (k = 0; at >= family->form[k].weight; k++)
            at -= family->form[k].weight;
        is_written = program_emit(p, family->form[k].text, true);
    }
}

/* add.cc, addc.cc, ..., addc; the same with products and with differences. Sums and differences do not mix: PTX does
 * not define a borrow as a carry. */
void program_emit_carry(struct program *p) {
    static const char *const first[] = {
        "add.cc.(s32|u32) %=r, %r, %r", "mad.(lo|hi).cc.(s32|u32) %=r, %r, %r, %r", "sub.cc.(s32|u32) %=r, %~r, %~r",
        "add.cc.(s64|u64) %=l, %l, %l", "mad.(lo|hi).cc.(s64|u64) %=l, %l, %l, %l", "sub.cc.(s64|u64) %=l, %~l, %~l"};
    static const char *const next[] = {
        "(addc.cc.(s32|u32) %=r, %r, %r|madc.(lo|hi).cc.(s32|u32) %=r, %r, %r, %r)", "subc.cc.(s32|u32) %=r, %~r, %~r",
        "(addc.cc.(s64|u64) %=l, %l, %l|madc.(lo|hi).cc.(s64|u64) %=l, %l, %l, %l)", "subc.cc.(s64|u64) %=l, %~l, %~l"};
    static const char *const last[] = {
        "(addc.(s32|u32) %=r, %r, %r|madc.(lo|hi).(s32|u32) %=r, %r, %r, %r)", "subc.(s32|u32) %=r, %~r, %~r",
        "(addc.(s64|u64) %=l, %l, %l|madc.(lo|hi).(s64|u64) %=l, %l, %l, %l)", "subc.(s64|u64) %=l, %~l, %~l"};
    unsigned start = random_below(&p->random, 6), chain = start / 3 * 2 + (start % 3 == 2);
    program_emit(p, first[start], false);
    for (unsigned n = random_below(&p->random, 3); n > 0; n--)
        program_emit(p, next[chain], false);
    program_emit(p, last[chain], false);
}

/* One operand comes from memory: a compiler that knows both cancels sums and drops the saturation. */
static void emit_saturating(struct program *p) {
    program_line(p, "ld.volatile.global.b32 %%w0, [%%scratch+%u];", 4 * random_below(&p->random, LAYOUT_OPEN / 4));
    program_emit(p, "((add|sub).sat.s32 %=r, (%%w0, %r|%.r, %%w0)|(mad|mad24).hi.sat.s32 %=r, %~r, %~r, %%w0)", true);
}

void program_emit_any(struct program *p) {
    unsigned choice = random_below(&p->random, 100);
    if (p->is_function || choice < 69)
        program_emit_pure(p);
    else if (choice < 70)
        emit_saturating(p);
    else if (choice < 74)
        program_emit_carry(p);
    else if (choice < 84)
        program_emit_memory(p);
    else if (choice < 90)
        program_emit_atomic(p);
    else if (p->is_uniform && choice < 97)
        program_emit_warp(p);
    else if (p->is_uniform)
        program_emit_barrier(p);
    else if (p->mask)
        program_emit_masked(p);
    else
        program_emit_pure(p);
}
