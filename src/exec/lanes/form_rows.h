/* Selection tables of the integer files: one row per form, made from the same .def line as the function it selects.
 *
 * A .def line contains the opcode, the types and modifiers of the form, the C type of each operand and an expression in
 * a, b, c (and imm). Modifiers are a set of bits in the vocabulary of the including file. An instruction matches a row
 * only if it has exactly the row's modifiers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "exec/lanes/lanes.h"

enum { LANES_ROW_SOURCES = 4 };

struct lanes_row {
    uint8_t opcode;
    uint8_t dst_bits, src_bits[LANES_ROW_SOURCES]; /* slot sizes; 0: no such operand */
    uint32_t types, second_types;                  /* sets of enum ptx_type; second_types 0: the form has one type */
    uint32_t modifiers;
    exec_lanes_fn *function;
};

#define LANES_TYPE(id) (1u << PTX_##id)
_Static_assert(PTX_N_TYPES <= 32, "a set of types fits 32 bits");

#define LANES_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LANES_BITS(type) (sizeof(type) * 8)

/* Sets *set to the instruction's modifiers: bit k for vocabulary[k]. Returns false if it has others. */
static inline bool lanes_modifier_set(const struct ptx_instruction *insn, const uint8_t *vocabulary, size_t n,
                                      uint32_t *set) {
    uint64_t rest[PTX_MODIFIER_WORDS], any = 0;
    for (unsigned w = 0; w < PTX_MODIFIER_WORDS; w++)
        rest[w] = insn->modifiers[w];
    *set = 0;
    for (size_t k = 0; k < n; k++)
        if (ptx_has(insn, (enum ptx_modifier)vocabulary[k])) {
            *set |= 1u << k;
            rest[vocabulary[k] / 64] &= ~(1ull << vocabulary[k] % 64);
        }
    for (unsigned w = 0; w < PTX_MODIFIER_WORDS; w++)
        any |= rest[w];
    return any == 0;
}

/* A slot of size 0 in the form fits any operand. */
static inline bool lanes_slots_fit(const struct lanes_row *row, const struct exec_form *form) {
    bool fits = form->n_dst == 0 || form->dst_bits[0] == 0 || form->dst_bits[0] == row->dst_bits;
    for (unsigned k = 0; k < LANES_ROW_SOURCES && k < form->n_src; k++)
        fits = fits && (row->src_bits[k] == 0 || form->src_bits[k] == 0 || form->src_bits[k] == row->src_bits[k]);
    return fits;
}

static inline exec_lanes_fn *lanes_find_row(const struct lanes_row *row, size_t n_rows, const struct exec_form *form,
                                            const uint8_t *vocabulary, size_t n_vocabulary) {
    const struct ptx_instruction *insn = form->insn;
    uint32_t modifiers;
    if (insn->n_types == 0 || !lanes_modifier_set(insn, vocabulary, n_vocabulary, &modifiers))
        return NULL;
    uint32_t first = 1u << insn->type[0], second = insn->n_types > 1 ? 1u << insn->type[1] : 0;
    for (; n_rows > 0; n_rows--, row++)
        if (row->opcode == insn->opcode && row->types & first && row->modifiers == modifiers &&
            (row->second_types == second || row->second_types & second) && lanes_slots_fit(row, form))
            return row->function;
    return NULL;
}

/* Macros that expand .def lines to functions. */
#define LANES_DEFINE1(name, td, ta, expression)                                                                        \
    static void name(const struct exec_operands *o) {                                                                  \
        td *d = o->dst[0];                                                                                             \
        const ta *pa = o->src[0];                                                                                      \
        EXEC_FOR_LANES {                                                                                               \
            const ta a = pa[i];                                                                                        \
            d[i] = (td)(expression);                                                                                   \
        }                                                                                                              \
    }
#define LANES_DEFINE2(name, td, ta, tb, expression)                                                                    \
    static void name(const struct exec_operands *o) {                                                                  \
        td *d = o->dst[0];                                                                                             \
        const ta *pa = o->src[0];                                                                                      \
        const tb *pb = o->src[1];                                                                                      \
        EXEC_FOR_LANES {                                                                                               \
            const ta a = pa[i];                                                                                        \
            const tb b = pb[i];                                                                                        \
            d[i] = (td)(expression);                                                                                   \
        }                                                                                                              \
    }
#define LANES_DEFINE3(name, td, ta, tb, tc, expression) LANES_LOOP3(EXEC_FOR_LANES, name, td, ta, tb, tc, expression)
/* For an expression that compilers do not vectorise, and that would make clang warn under EXEC_FOR_LANES. */
#define LANES_SCALAR3(name, td, ta, tb, tc, expression)                                                                \
    LANES_LOOP3(for (int i = 0; i < EXEC_LANES; i++), name, td, ta, tb, tc, expression)
#define LANES_LOOP3(loop, name, td, ta, tb, tc, expression)                                                            \
    static void name(const struct exec_operands *o) {                                                                  \
        td *d = o->dst[0];                                                                                             \
        const ta *pa = o->src[0];                                                                                      \
        const tb *pb = o->src[1];                                                                                      \
        const tc *pc = o->src[2];                                                                                      \
        const uint32_t imm = o->imm; /* before the loop: the compiler cannot know that its stores leave o alone */     \
        (void)imm;                                                                                                     \
        loop {                                                                                                         \
            const ta a = pa[i];                                                                                        \
            const tb b = pb[i];                                                                                        \
            const tc c = pc[i];                                                                                        \
            d[i] = (td)(expression);                                                                                   \
        }                                                                                                              \
    }
