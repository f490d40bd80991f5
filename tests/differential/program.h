/* A random PTX program under construction, and the parts that add to it.
 *
 * Program number i of a seed is a kernel named k<i> and its initial memory (image.h). The generator draws every choice
 * from the program's stream of random numbers, never from the host. With is_traced the same program also stores each
 * instruction's result; otherwise it does not change. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "edge.h"
#include "random.h"
#include "text.h"

/* Incremented whenever the same seed generates other programs: older recordings are refused. */
enum { GENERATOR_VERSION = 3 };

enum { MAX_REGISTERS = 8, MAX_TRACED = 256, MAX_OPERANDS = 12, TEMPLATE_ROOM = 256 };

struct kind_info {
    char letter;
    unsigned bits, count, offset; /* count registers in a kernel, at offset bytes of a thread's slice */
};
extern const struct kind_info kinds[N_KINDS];

struct traced {
    char *text; /* the instruction or call */
};

struct program {
    uint64_t seed, number;
    struct random random;
    bool is_traced;
    struct text functions, body; /* the text before the kernel, and the kernel after its first lines */

    unsigned count[N_KINDS];  /* number of registers: fewer in a function */
    uint32_t unread[N_KINDS]; /* bit i: register i holds a result that has not been read */
    unsigned n_hidden;        /* how often program_emit_hidden() was called */
    bool is_function;         /* a function computes: no memory, no other lanes, no trace */

    unsigned n_labels, n_functions;
    unsigned depth;        /* of nested control flow */
    unsigned n_loops;      /* of them loops */
    unsigned multiplicity; /* the most times that this place can run */
    bool is_uniform;       /* every thread of the block executes this place */
    const char *mask;      /* the register with the active lanes of a divergent place, or NULL */
    bool uses_shared, uses_local, uses_const, has_exits, has_recursion;

    struct traced *traced; /* MAX_TRACED places */
    unsigned n_traced;
    unsigned n_dynamic; /* trace entries of a thread at most */
};

/* registers.c */

/* Returns the number of a register of the kind to write or to read; PROGRAM_NO_REGISTER when the kind has none here. */
enum { PROGRAM_NO_REGISTER = 0xff };
unsigned program_pick_source(struct program *p, enum kind kind);
unsigned program_pick_destination(struct program *p, enum kind kind);
/* Call after the instruction is written: the register now holds an unread result. */
void program_written(struct program *p, enum kind kind, unsigned number);
/* Returns the kind that a letter of a form stands for, or N_KINDS. */
enum kind program_kind(char letter);
/* Writes an immediate of the kind; returns false when PTX has none. */
bool program_immediate(struct program *p, enum kind kind, char *buffer, size_t size);

/* emit.c */

/* Returns whether the program is as long as its trace allows. */
bool program_is_full(const struct program *p);

/* Writes one instruction from a form (forms.def); returns false when the place has no registers for it. guard: it may
 * have one. */
bool program_emit(struct program *p, const char *form, bool may_guard);
/* Writes text as it is, as one line. */
__attribute__((format(printf, 2, 3))) void program_line(struct program *p, const char *format, ...);
/* Hides from the compiler which instruction wrote the register, so that it cannot combine it with the next one:
 * combines the register with a 0 that is known only at launch. program_emit_nothing() comes first, once in the kernel
 * and in each function. */
void program_emit_hidden(struct program *p, enum kind kind, unsigned number);
void program_emit_nothing(struct program *p);
/* A random instruction that computes from registers alone. */
void program_emit_pure(struct program *p);
/* Adds the value of a register to the trace, as the result of `text`. */
void program_trace(struct program *p, enum kind kind, unsigned number, const char *text);

/* One random memory access or atomic in private or commutative use (memory.c), one instruction that reads other
 * lanes (warp.c), one exchange through shared memory or barrier (barrier.c): the last two only in uniform places. */
void program_emit_memory(struct program *p);
void program_emit_atomic(struct program *p);
void program_emit_warp(struct program *p);
void program_emit_masked(struct program *p);
void program_emit_barrier(struct program *p);
/* A chain of sums with carry. */
void program_emit_carry(struct program *p);
/* Any of these that the place allows. */
void program_emit_any(struct program *p);

/* control.c: a piece of program with branches, loops, switches, calls and exits, of about `budget` instructions. */
void program_emit_block(struct program *p, unsigned budget);

/* function.c */
void program_add_functions(struct program *p);
void program_emit_call(struct program *p);

/* kernel.c */

/* Makes the program and appends its text to `module`. program_free() frees the rest. */
void program_make(struct program *p, uint64_t seed, uint64_t number, bool is_traced, struct text *module);
void program_add_header(struct text *module);
void program_free(struct program *p);
