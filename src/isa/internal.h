/* What the steps of the estimate share: the function, who defines and reads each register, and the costs so far. */
#pragma once

#include "isa/isa.h"

#include <string.h>

enum { ISA_NONE = PTX_NO_INDEX };

struct isa_pass {
    const struct ptx_analysis *analysis;
    const struct ptx_function *function;
    uint32_t n; /* instructions */
    uint16_t *cost;
    /* Per register: */
    uint32_t *n_definitions, *definition; /* definition: the last one in the text */
    uint32_t *use, *first_use;            /* instructions that read it: use[first_use[r]] to use[first_use[r + 1]] */
    bool *is_short;     /* 64 bits of which only the lower 32 matter: addresses in shared or local memory */
    bool *is_converted; /* per instruction: a branch that becomes predicates */
};

static inline const struct ptx_instruction *isa_insn(const struct isa_pass *pass, uint32_t i) {
    return &pass->function->instruction[i];
}

/* Returns the register that the instruction writes, if it is a single one. */
static inline uint32_t isa_result(const struct ptx_instruction *insn) {
    bool has_one = insn->n_operands && insn->operand[0].kind == PTX_OPERAND_REGISTER && insn->opcode != PTX_OP_ST &&
                   insn->opcode != PTX_OP_RED && ptx_opcode_family(insn->opcode) != PTX_FAMILY_CONTROL;
    return has_one ? insn->operand[0].register_id : ISA_NONE;
}

static inline uint32_t isa_n_uses(const struct isa_pass *pass, uint32_t r) {
    return pass->first_use[r + 1] - pass->first_use[r];
}

/* Returns the only instruction that defines the operand's register, or ISA_NONE. */
static inline uint32_t isa_definition(const struct isa_pass *pass, const struct ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_REGISTER || pass->n_definitions[operand->register_id] != 1)
        return ISA_NONE;
    return pass->definition[operand->register_id];
}

static inline bool isa_is_constant(const struct ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_INTEGER || operand->kind == PTX_OPERAND_FLOAT32 ||
           operand->kind == PTX_OPERAND_FLOAT64;
}

static inline enum ptx_type isa_type(const struct ptx_instruction *insn) {
    return insn->n_types ? insn->type[0] : PTX_B32;
}

static inline bool isa_is_float(const struct ptx_instruction *insn) {
    return ptx_type_kind(isa_type(insn)) == PTX_KIND_F;
}

/* An integer instruction on registers of 64 bits whose upper half matters. */
static inline bool isa_is_wide(const struct isa_pass *pass, const struct ptx_instruction *insn) {
    uint32_t r = isa_result(insn);
    return ptx_type_bits(isa_type(insn)) == 64 && !(r != ISA_NONE && pass->is_short[r]);
}

static inline bool isa_is_access(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_LDU ||
           insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || insn->opcode == PTX_OP_PREFETCH;
}

/* Returns whether the instruction reads the register as the base of an address, and in no other way. */
bool isa_reads_as_address(const struct ptx_instruction *insn, uint32_t r);

/* costs.c: what each instruction costs by itself, in machine instructions */
unsigned isa_own_cost(const struct isa_pass *pass, uint32_t i);
/* fold.c: instructions that become a part of another one */
void isa_fold(struct isa_pass *pass);
/* branches.c: short branches become predicates; regions of divergent branches are marked by instructions */
void isa_convert_branches(struct isa_pass *pass);
void isa_mark_regions(struct isa_pass *pass);
/* unroll.c: loops whose counter is paid for once in several iterations */
void isa_unroll(struct isa_pass *pass);

/* A loop that a compiler unrolls. */
struct isa_loop {
    uint32_t header; /* a block */
    uint32_t branch, comparison,
        step;            /* instructions: back to the header if the comparison holds; the counter's step */
    int64_t by;          /* what the step adds */
    uint64_t iterations; /* 0: known at run time only */
    uint32_t times;      /* iterations that become one; 0: all */
};
bool isa_find_loop(const struct isa_pass *pass, uint32_t l, struct isa_loop *loop);
bool isa_is_innermost(const struct ptx_analysis *analysis, uint32_t l);
bool isa_is_in_loop(const struct isa_pass *pass, uint32_t i, uint32_t header);
/* A register that the loop changes only by adding a constant: returns that addition, or ISA_NONE. */
uint32_t isa_find_step(const struct isa_pass *pass, uint32_t r, uint32_t header, int64_t *step);

/* sm_90.c: a pass with the costs up to the branches, and its end */
struct isa_pass isa_pass_new(const struct ptx_analysis *analysis);
void isa_pass_free(struct isa_pass *pass);
