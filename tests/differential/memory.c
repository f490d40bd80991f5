/* Memory accesses and atomics whose outcome does not depend on the order of the threads: each thread has its own slices
 * of global, shared and local memory, constants are only read, and each word that all threads update has one
 * commutative operation, whose result is not read.
 *
 * In the kernel %scratch and %common are addresses in global memory, %slice and %pool in shared memory, "array" is in
 * local and "table" in constant memory; %w0, %w1 and %a0 are free. */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "layout.h"

struct access_type {
    const char *name;
    unsigned bytes;
    const char *into; /* kinds of register for loads and stores */
};

static const struct access_type access_types[] = {
    {"b8", 1, "hrl"},  {"u8", 1, "hrl"},   {"s8", 1, "hrl"}, {"b16", 2, "hebrl"}, {"u16", 2, "hrl"},
    {"s16", 2, "hrl"}, {"b32", 4, "rxfl"}, {"u32", 4, "rl"}, {"s32", 4, "rl"},    {"f32", 4, "f"},
    {"b64", 8, "ld"},  {"u64", 8, "l"},    {"s64", 8, "l"},  {"f64", 8, "d"},
};

enum place { PLACE_GLOBAL, PLACE_GENERIC, PLACE_SHARED, PLACE_LOCAL, PLACE_CONST, N_PLACES };

struct address {
    const char *space; /* suffix of ld and st */
    char text[64];     /* inside the brackets */
};

static enum place pick_place(struct program *p, bool is_load) {
    unsigned choice = random_below(&p->random, is_load ? 12 : 10);
    enum place place = choice < 4    ? PLACE_GLOBAL
                       : choice < 6  ? PLACE_GENERIC
                       : choice < 8  ? PLACE_SHARED
                       : choice < 10 ? PLACE_LOCAL
                                     : PLACE_CONST;
    p->uses_shared |= place == PLACE_SHARED;
    p->uses_local |= place == PLACE_LOCAL;
    p->uses_const |= place == PLACE_CONST;
    return place;
}

/* Computes a multiple of `bytes` below `room` from a register, in %w0; room and bytes are powers of two. */
static void emit_index(struct program *p, unsigned room, unsigned bytes) {
    program_line(p, "and.b32 %%w0, %%r%u, %u;", program_pick_source(p, KIND_I32), (room - 1) & ~(bytes - 1));
}

static struct address fixed_address(struct program *p, enum place place, unsigned bytes) {
    static const char *const base[N_PLACES] = {"%scratch", "%scratch", "%slice", "array", "table"};
    static const char *const space[N_PLACES] = {".global", "", ".shared", ".local", ".const"};
    static const unsigned room[N_PLACES] = {LAYOUT_OPEN, LAYOUT_OPEN, LAYOUT_SHARED_SLICE, LAYOUT_LOCAL, LAYOUT_CONST};
    struct address address = {.space = space[place]};
    unsigned offset = bytes * random_below(&p->random, room[place] / bytes);
    snprintf(address.text, sizeof address.text, "%s+%u", base[place], offset);
    return address;
}

/* The same, at a place that the program computes. */
static struct address indexed_address(struct program *p, enum place place, unsigned bytes) {
    struct address address = fixed_address(p, place, bytes);
    switch (place) {
    case PLACE_GLOBAL:
    case PLACE_GENERIC:
        emit_index(p, 64, bytes);
        program_line(p, "cvt.u64.u32 %%a0, %%w0;");
        program_line(p, "add.u64 %%a0, %%a0, %%scratch;");
        snprintf(address.text, sizeof address.text, "%%a0+%u", bytes * random_below(&p->random, 32 / bytes));
        break;
    case PLACE_SHARED:
        emit_index(p, LAYOUT_SHARED_SLICE, bytes);
        program_line(p, "add.u32 %%w0, %%w0, %%slice;");
        strcpy(address.text, "%w0");
        break;
    case PLACE_LOCAL:
        emit_index(p, LAYOUT_LOCAL, bytes);
        program_line(p, "mov.u32 %%w1, array;");
        program_line(p, "add.u32 %%w0, %%w0, %%w1;");
        strcpy(address.text, "%w0");
        break;
    default:
        emit_index(p, LAYOUT_CONST, bytes);
        program_line(p, "mov.u64 %%a0, table;");
        program_line(p, "cvt.u64.u32 %%a1, %%w0;");
        program_line(p, "add.u64 %%a0, %%a0, %%a1;");
        strcpy(address.text, "%a0");
        break;
    }
    return address;
}

static const char *pick_qualifier(struct program *p, enum place place, bool is_load) {
    static const char *const loads[] = {".ca",          ".cg",          ".cs",         ".volatile",
                                        ".relaxed.cta", ".relaxed.gpu", ".acquire.gpu"};
    static const char *const stores[] = {".wb",          ".cg",          ".cs",         ".volatile",
                                         ".relaxed.cta", ".relaxed.gpu", ".release.gpu"};
    if (random_chance(&p->random, 70) || place == PLACE_CONST || place == PLACE_LOCAL)
        return "";
    if (place == PLACE_SHARED)
        return ".volatile";
    return (is_load ? loads : stores)[random_below(&p->random, 7)];
}

static void emit_access(struct program *p, bool is_load) {
    const struct access_type *type =
        &access_types[random_below(&p->random, sizeof access_types / sizeof *access_types)];
    enum place place = pick_place(p, is_load);
    unsigned n = 1u << (random_chance(&p->random, 30) ? 1 + random_below(&p->random, 2) : 0);
    while (n * type->bytes > 16)
        n /= 2;
    unsigned bytes = n * type->bytes;
    struct address address =
        random_chance(&p->random, 30) ? indexed_address(p, place, bytes) : fixed_address(p, place, bytes);
    char letter = type->into[random_below(&p->random, (uint32_t)strlen(type->into))];
    /* the driver's compiler wrongly converts a floating-point number whose low part is stored, and gets the high part
     * of narrow loads wrong */
    bool is_narrow = 8 * type->bytes < kinds[program_kind(letter)].bits;
    char operand[8], registers[64], text[TEMPLATE_ROOM];
    snprintf(operand, sizeof operand, "%%%c%c", is_load ? '=' : is_narrow ? '~' : '.', letter);
    snprintf(registers, sizeof registers,
             n == 1   ? "%s"
             : n == 2 ? "{%s, %s}"
                      : "{%s, %s, %s, %s}",
             operand, operand, operand, operand);
    const char *vector = n == 1 ? "" : n == 2 ? ".v2" : ".v4", *qualifier = pick_qualifier(p, place, is_load);
    char escaped[80] = ""; /* the address itself has percent signs */
    snprintf(escaped, sizeof escaped, "%s%s", address.text[0] == '%' ? "%" : "", address.text);
    if (is_load)
        snprintf(text, sizeof text, "%sld%s%s%s.%s %s, [%s]", is_narrow ? "+" : "", qualifier, address.space, vector,
                 type->name, registers, escaped);
    else
        snprintf(text, sizeof text, "st%s%s%s.%s [%s], %s", qualifier, address.space, vector, type->name, escaped,
                 registers);
    program_emit(p, text, true);
}

void program_emit_memory(struct program *p) { emit_access(p, random_chance(&p->random, 55)); }

/* The compiler expands a sum in shared memory to a loop, which decides which of two NaNs stays: so the operand is made
 * a number first. */
static void emit_number(struct program *p, char *form, size_t size) {
    unsigned number = program_pick_source(p, KIND_F64);
    program_line(p, "setp.nan.f64 %%isnan, %%d%u, %%d%u;", number, number);
    program_line(p, "selp.b64 %%d%u, 0x3ff0000000000000, %%d%u, %%isnan;", number, number);
    snprintf(form, size, "add.f64 %%=d, [AT], %%%%d%u", number);
}

/* Atomics on the thread's own memory, with the result. In shared memory the compiler expands most of them to loops,
 * after which the lanes of an enclosing loop do not reconverge: there these are left out. */
static void emit_private_atomic(struct program *p) {
    static const struct {
        unsigned bytes;
        const char *form;
    } atomics[] = {
        {4, "(add.(u32|s32)|(min|max).(u32|s32)|(and|or|xor|exch).b32|(inc|dec).u32) %=r, [AT], %.r"},
        {4, "cas.b32 %=r, [AT], %.r, %.r"},
        {8, "(add.u64|(min|max).(u64|s64)|(and|or|xor|exch).b64) %=l, [AT], %.l"},
        {8, "cas.b64 %=l, [AT], %.l, %.l"},
        {4, "add.f32 %=f, [AT], %.f"},
        {4, "add.noftz.f16x2 %=x, [AT], %~x"},
        {4, "add.noftz.bf16x2 %=y, [AT], %~y"},
        {2, "add.noftz.f16 %=e, [AT], %.e"},
        {2, "add.noftz.bf16 %=b, [AT], %.b"},
        {2, "cas.b16 %=h, [AT], %.h, %.h"},
        {8, "add.f64 %=d, [AT], %.d"},
    };
    unsigned n = sizeof atomics / sizeof *atomics, choice = random_below(&p->random, 2 * n);
    const char *form = atomics[choice < n ? choice : choice % 4].form;
    unsigned bytes = atomics[choice < n ? choice : choice % 4].bytes;
    bool is_loop = bytes != 4 || strstr(form, "add.noftz") || strstr(form, ".f32");
    enum place place = random_chance(&p->random, 50) && !(is_loop && p->n_loops > 0) ? PLACE_SHARED : PLACE_GLOBAL;
    p->uses_shared |= place == PLACE_SHARED;
    struct address address = fixed_address(p, place, bytes);
    char operand[TEMPLATE_ROOM];
    if (place == PLACE_SHARED && strstr(form, ".f64")) {
        emit_number(p, operand, sizeof operand);
        form = operand;
    }
    const char *at = strstr(form, "AT"), *scope = random_chance(&p->random, 70) ? "" : "(.relaxed|.acq_rel).(cta|gpu)";
    char text[TEMPLATE_ROOM];
    snprintf(text, sizeof text, "atom%s%s.%.*s%%%s%s", scope, address.space, (int)(at - form), form, address.text,
             at + 2);
    program_emit(p, text, true);
}

/* Atomics on words that all threads update: each word has one operation. In shared memory 64-bit ones become loops too.
 */
static void emit_common_atomic(struct program *p) {
    static const char *const reds[] = {
        "add.u32 [AT], %.r", "min.s32 [AT], %.r", "max.u32 [AT], %.r", "and.b32 [AT], %.r",
        "or.b32 [AT], %.r",  "xor.b32 [AT], %.r", "min.u32 [AT], %.r", "max.s32 [AT], %.r",
        "add.u64 [AT], %.l", "min.s64 [AT], %.l", "max.u64 [AT], %.l", "and.b64 [AT], %.l",
        "or.b64 [AT], %.l",  "xor.b64 [AT], %.l", "inc.u32 [AT], 37",  "dec.u32 [AT], 41"};
    unsigned word = random_below(&p->random, sizeof reds / sizeof *reds);
    bool is_loop = strstr(reds[word], "64"), is_shared = random_chance(&p->random, 40) && !(is_loop && p->n_loops > 0);
    p->uses_shared |= is_shared;
    const char *form = reds[word], *at = strstr(form, "AT");
    char text[TEMPLATE_ROOM];
    snprintf(text, sizeof text, "red%s.%.*s%%%s+%u%s", is_shared ? ".shared" : ".global", (int)(at - form), form,
             is_shared ? "%pool" : "%common", 8 * word, at + 2);
    program_emit(p, text, true);
}

void program_emit_atomic(struct program *p) {
    if (random_chance(&p->random, 65))
        emit_private_atomic(p);
    else
        emit_common_atomic(p);
}
