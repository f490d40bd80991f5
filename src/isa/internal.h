/* The passes and their common data: the function, the instructions that define and read each register, and the machine
 * instructions found so far. */
#pragma once

#include "isa/isa.h"

#include <string.h>

enum { ISA_NONE = PTX_NO_INDEX };

struct isa_code {
    const struct isa_target *target;
    const struct ptx_analysis *analysis;
    const struct ptx_function *function;
    uint32_t n; /* instructions */
    struct isa_insn *insn;
    /* Per register: */
    uint32_t *n_definitions, *definition; /* definition: the last one in the text */
    uint32_t *use, *first_use;            /* instructions that read it: use[first_use[r]] to use[first_use[r + 1]] */
    bool *is_short; /* 64 bits, but only the lower 32 matter: addresses in shared or local memory */
};

/* The limits of a compiler, which the passes follow. Lengths are in machine instructions. */
struct isa_compiler {
    struct {
        uint32_t times;        /* that a loop's body is repeated if its iterations are known only at run time */
        uint32_t most_body;    /* the longest such body: without loads, */
        uint32_t most_shared;  /* with loads from shared memory, */
        uint32_t more_shared;  /* longer by this for each of them, */
        uint32_t most_global;  /* with loads that take longer, */
        uint32_t most;         /* and with any */
        uint32_t complete;     /* the most iterations, times the square of the body, of a loop that disappears, */
        uint32_t few;          /* or times the body itself */
        uint32_t partial_body; /* the longest body, without branches, of a loop that is unrolled in part, */
        uint32_t partial;      /* and the longest code of such a loop, with the iterations that remain */
        uint32_t entry_cost;   /* of the choice between the unrolled loop and its remainder */
    } unroll;
    struct {
        uint32_t divergent, uniform; /* the longest path of a branch that may diverge, and of one that does not */
        uint32_t loading;            /* the longest path that loads from global memory */
        uint32_t both;               /* of each of two paths */
    } predicate;
    struct {
        int32_t registers; /* for which loads may wait: those that a thread of a full SM can use */
    } schedule;
};

/* Members are asked for every instruction of a function, those that touch memory included. */
struct isa_target {
    const char *name;
    const struct isa_compiler *compiler; /* NULL: PTX is the machine code */
    /* Machine instructions that the PTX instruction becomes by itself, before anything is folded into another. */
    unsigned (*cost)(const struct isa_code *code, uint32_t i);
    /* Chooses the unit of arithmetic. Special functions have theirs already, double precision and everything else too
     * unless this changes it. */
    void (*choose_unit)(const struct ptx_instruction *source, struct isa_insn *insn);
    unsigned sequence_passes; /* of a division or an IEEE root through the special-function unit */
};
#define CONFIG_TARGET(name) extern const struct isa_target isa_##name;
#include "config/targets.def"
#undef CONFIG_TARGET

/* Common parts of the targets with a compiler. */
extern const struct isa_compiler isa_ptxas; /* ptxas.c */

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static inline const struct ptx_instruction *isa_source(const struct isa_code *code, uint32_t i) {
    return &code->function->instruction[i];
}

/* Returns the register that the instruction writes, if it is a single one. */
static inline uint32_t isa_result(const struct ptx_instruction *insn) {
    bool has_one = insn->n_operands && insn->operand[0].kind == PTX_OPERAND_REGISTER && insn->opcode != PTX_OP_ST &&
                   insn->opcode != PTX_OP_RED && ptx_opcode_family(insn->opcode) != PTX_FAMILY_CONTROL;
    return has_one ? insn->operand[0].register_id : ISA_NONE;
}

static inline uint32_t isa_n_uses(const struct isa_code *code, uint32_t r) {
    return code->first_use[r + 1] - code->first_use[r];
}

/* Returns the only instruction that defines the operand's register, or ISA_NONE. */
static inline uint32_t isa_definition(const struct isa_code *code, const struct ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_REGISTER || code->n_definitions[operand->register_id] != 1)
        return ISA_NONE;
    return code->definition[operand->register_id];
}

static inline bool isa_is_constant(const struct ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_INTEGER || operand->kind == PTX_OPERAND_FLOAT32 ||
           operand->kind == PTX_OPERAND_FLOAT64;
}

static inline enum ptx_type isa_type(const struct ptx_instruction *insn) {
    return insn->n_types ? insn->type[0] : PTX_B32;
}

/* The type that a conversion reads; for other instructions the second type, if they have two. */
static inline enum ptx_type isa_source_type(const struct ptx_instruction *insn) {
    return insn->n_types > 1 ? insn->type[1] : isa_type(insn);
}

static inline bool isa_is_float(const struct ptx_instruction *insn) {
    return ptx_type_kind(isa_type(insn)) == PTX_KIND_F;
}

/* An integer instruction on registers of 64 bits whose upper half matters. */
static inline bool isa_is_wide(const struct isa_code *code, const struct ptx_instruction *insn) {
    uint32_t r = isa_result(insn);
    return ptx_type_bits(isa_type(insn)) == 64 && !(r != ISA_NONE && code->is_short[r]);
}

static inline bool isa_is_access(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_LDU ||
           insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || insn->opcode == PTX_OP_PREFETCH;
}

static inline bool isa_has_target(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_BRA && insn->operand[0].kind == PTX_OPERAND_LABEL;
}

static inline bool isa_is_sum(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_ADD || insn->opcode == PTX_OP_SUB;
}

static inline bool isa_is_in_block_of(const struct isa_code *code, uint32_t a, uint32_t b) {
    return code->analysis->block_of[a] == code->analysis->block_of[b];
}

/* Returns whether the sum contains a product, a shift or an extended number already. */
bool isa_is_full_sum(const struct isa_code *code, const struct ptx_instruction *insn);

/* Returns whether every reader of the register satisfies the test. */
bool isa_all_uses(const struct isa_code *code, uint32_t r,
                  bool (*test)(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r));

/* Returns whether all lanes have the same address here. */
static inline bool isa_is_uniform_address(const struct isa_code *code, const struct ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_ADDRESS &&
           (operand->register_id == PTX_NO_INDEX || code->analysis->is_uniform[operand->register_id]);
}

/* Returns the integer that a move copies, from the instruction or from a register with that one value; NULL: another
 * value. */
const struct ptx_operand *isa_moved_integer(const struct isa_code *code, const struct ptx_instruction *move);

/* Returns whether the operand is a constant, perhaps in a register. */
bool isa_is_known(const struct isa_code *code, const struct ptx_operand *operand);

/* Returns whether the instruction reads the register as the base of an address, and in no other way. */
bool isa_reads_as_address(const struct ptx_instruction *insn, uint32_t r);

/* Returns whether the upper 32 bits of a 64-bit operand are known to be 0: instructions then read the zero register. */
bool isa_has_empty_half(const struct isa_code *code, const struct ptx_operand *operand);

/* PTX gives fragments of wmma in 16 bits twice the registers that their elements fill: the others need no machine
 * register. Clears their `words`, if the instruction loads a fragment. */
void isa_drop_copies(const struct ptx_instruction *insn, uint8_t *words);

/* Returns whether the value that the register has after instruction i may still be read. */
bool isa_is_live_after(const struct isa_code *code, uint32_t r, uint32_t i);

/* Returns whether the instruction divides words by a value that its loop does not change: the reciprocal is computed
 * before the loop. */
bool isa_leaves_reciprocal(const struct isa_code *code, uint32_t i);

/* Divisions and roots that are rounded, and divisions of 64 bits, call a function for rare operands: a branch, which
 * nothing moves across, and for which no loop is unrolled. */
bool isa_has_rare_path(const struct ptx_instruction *insn);

/* ---- Rewriting passes -------------------------------------------------------------------------------------------- */

/* What a thread computes does not change. */
/* Puts the counters of loops before the bounds that they are compared with. */
void isa_turn_counters(struct ptx_function *function);
void isa_unroll(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena);
/* Removes jumps to the next instruction, and those that a branch only skips. */
void isa_turn_branches(struct ptx_function *function);
void isa_predicate(const struct isa_target *target, struct ptx_function *function);
void isa_reuse_loads(struct ptx_function *function);
/* Takes instructions out. Branches to one of them go to the next. */
void isa_take_out(struct ptx_function *function, const bool *is_gone);
void isa_reduce_atomics(struct ptx_function *function);
void isa_join_accesses(struct ptx_function *function, struct base_arena *arena);
void isa_hoist_loads(const struct isa_target *target, struct ptx_function *function);
void isa_schedule(const struct isa_target *target, struct ptx_function *function);
/* schedule.c: what may change places */
bool isa_is_fixed(const struct ptx_instruction *insn);     /* nothing moves across it */
bool isa_is_slow_load(const struct ptx_instruction *insn); /* worth an early place; constants have uniform registers */
/* Instructions on memory, other than loads, keep their order among themselves and to the loads that they may meet.
 * Different memories hold different data. Constants, parameters, and data read through the cache for constants do not
 * change. */
bool isa_is_ordered(const struct ptx_instruction *insn);
bool isa_may_meet(const struct ptx_instruction *first, const struct ptx_instruction *second);
/* The most registers that a kernel's own directives and the names of registers allow. */
uint32_t isa_allowed_registers(const struct ptx_function *function);
enum { ISA_RESERVED_REGISTERS = 2 }; /* which the code does not use */
/* The registers that a thread cannot do without in the order of the text, and the most that cost no more threads. */
struct isa_need {
    uint32_t least, enough;
};
struct isa_need isa_find_need(const struct isa_target *target, const struct ptx_function *function);
/* Finds the machine registers that each value takes if registers are scarce: those that all threads have in common are
 * in uniform registers, parameters and constants are operands. */
void isa_find_words(const struct isa_code *code, uint8_t *words);
/* Returns the registers in use at each instruction, if they are scarce; to be freed by the caller. */
uint32_t *isa_find_pressure(const struct isa_code *code);
/* Returns whether the function needs more registers than it may have. */
bool isa_count_registers(const struct isa_target *target, struct ptx_function *function);
void isa_spill(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena);

/* insert.c: accesses to local memory that a pass adds to a function */
struct isa_insertion {
    uint32_t at, number; /* before the instruction `at`; in the order in which they were inserted */
    struct ptx_instruction insn;
};
struct isa_insertions {
    struct ptx_function *function;
    struct base_arena *arena;
    struct isa_insertion *insertion;
    uint32_t n, room;
    struct ptx_register *reg; /* new ones */
    uint32_t n_registers, register_room;
};
/* Adds an empty local variable. */
struct ptx_variable *isa_insert_frame(struct isa_insertions *insertions, const char *name);
uint32_t isa_insert_register(struct isa_insertions *insertions, struct ptx_register reg);
/* Adds a load before the instruction `at`, to which branches go, or a store after the one before it. `near` gives the
 * place in the source and, if asked for, the guard. */
void isa_insert_access(struct isa_insertions *insertions, uint32_t at, const struct ptx_instruction *near,
                       enum ptx_opcode opcode, uint32_t r, struct ptx_variable *frame, uint64_t offset,
                       bool is_guarded);
/* Changes the function and forgets the insertions. */
void isa_insert_all(struct isa_insertions *insertions);

/* frame.c: stores and loads of registers that an open function leaves as they were */
void isa_save_registers(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena);

/* The place where most values are live. */
struct isa_peak {
    uint32_t excess; /* machine registers beyond those that the function may have */
    uint8_t *words;  /* per register: machine registers, if it is live there and its instruction does not use it */
};
struct isa_peak isa_find_peak(const struct isa_code *code);

/* ---- Passes over the code ---------------------------------------------------------------------------------------- */

/* code.c: each instruction at its own cost. isa_code_free() leaves the instructions if they were taken. */
struct isa_code isa_code_new(const struct isa_target *target, const struct ptx_analysis *analysis);
void isa_code_free(struct isa_code *code);
/* lower.c: the code up to the branches, for rewriting passes */
struct isa_code isa_estimate(const struct isa_target *target, const struct ptx_analysis *analysis);

/* branches.c: whether threads that come here end without doing anything else */
bool isa_is_end(const struct isa_code *code, uint32_t at);

void isa_fold_addresses(struct isa_code *code);   /* addresses.c, the first part of: */
void isa_fold(struct isa_code *code);             /* fold.c: instructions that become a part of another one */
void isa_load_constants(struct isa_code *code);   /* constants.c: constants that an instruction cannot contain */
void isa_convert_branches(struct isa_code *code); /* branches.c: short branches become predicates */
void isa_amortize_loops(struct isa_code *code);   /* loops.c: counters that are paid for once in several iterations */
void isa_place_bases(struct isa_code *code);      /* bases.c: where parameters, addresses and reciprocals are brought */
void isa_mark_regions(struct isa_code *code);     /* branches.c: instructions around divergent branches */
void isa_mark_jumps(struct isa_code *code);       /* branches.c: isa_insn.jumps */
void isa_add_prologue(struct isa_code *code);     /* frame.c */
void isa_pass_arguments(struct isa_code *code);   /* frame.c: arguments and results of functions are in registers */
void isa_choose_units(struct isa_code *code);     /* units.c */

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static inline void isa_use(struct isa_insn *insn, enum isa_unit unit, enum isa_latency latency) {
    insn->unit = insn->lanes = (uint8_t)unit;
    insn->latency = (uint8_t)latency;
}

bool isa_multiplies(const struct ptx_instruction *insn);  /* products, of integers or not */
bool isa_converts(const struct ptx_instruction *insn);    /* to or from floating-point numbers */
bool isa_saturates(const struct ptx_instruction *insn);   /* a single-precision number, to 0..1 */
bool isa_counts_bits(const struct ptx_instruction *insn); /* or turns them round */
/* Products whose upper half matters take two passes. */
void isa_take_twice_if_long(const struct ptx_instruction *source, struct isa_insn *insn);
/* sm_89.c: the unit of arithmetic other than conversions and counts of bits */
void isa_choose_half(const struct ptx_instruction *source, struct isa_insn *insn);

/* ---- Costs and loops --------------------------------------------------------------------------------------------- */

unsigned isa_ptxas_cost(const struct isa_code *code, uint32_t i);   /* costs.c */
unsigned isa_cost_of_call(const struct isa_code *code, uint32_t i); /* frame.c */
bool isa_is_joined(const struct isa_code *code, const struct ptx_instruction *insn);

/* A loop that a compiler unrolls. */
struct isa_loop {
    uint32_t header; /* a block */
    uint32_t branch, comparison,
        step;                    /* instructions: back to the header if the comparison holds; the counter's step */
    int64_t by;                  /* what the step adds */
    uint32_t conjunction, other; /* an instruction: both the comparison and this register must hold; ISA_NONE */
    uint64_t iterations;         /* 0: known at run time only */
    uint32_t times;              /* iterations that become one; 0: all */
};
bool isa_find_loop(const struct isa_code *code, uint32_t l, struct isa_loop *loop);
bool isa_is_in_loop(const struct isa_code *code, uint32_t i, uint32_t header);
/* A register that the loop changes only by adding a constant: returns that addition, or ISA_NONE. */
uint32_t isa_find_step(const struct isa_code *code, uint32_t r, uint32_t header, int64_t *step);
