/* For random_test.c: functions at random. Half of them are nested loops and conditions, the others have jumps
 * to anywhere; some end in calls that do not return, and some have parameters and a result. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ptx/analysis.h"

enum { MAX_INSTRUCTIONS = 96, MAX_REGISTERS = 14, MAX_TARGETS = 3 };

static inline uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

struct builder {
    uint64_t state;
    struct base_arena arena;
    struct ptx_function function;
    struct ptx_register reg[MAX_REGISTERS];
    struct ptx_variable parameter[2], result[1];
    struct ptx_instruction instruction[MAX_INSTRUCTIONS];
    struct ptx_function noreturn;
    bool is_mostly_uniform; /* all registers start written and equal; few results differ by thread */
};

static inline uint32_t pick(struct builder *b, uint32_t n) {
    b->state += 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(mix(b->state) >> 32) % n;
}

static inline uint32_t pick_register(struct builder *b, enum ptx_width width) {
    uint32_t start = pick(b, b->function.n_registers);
    for (uint32_t i = 0; i < b->function.n_registers; i++) {
        uint32_t r = (start + i) % b->function.n_registers;
        if (ptx_type_width(b->reg[r].type) == width)
            return r;
    }
    abort();
}

static inline struct ptx_operand register_operand(uint32_t r) {
    return (struct ptx_operand){.kind = PTX_OPERAND_REGISTER, .register_id = r, .pair_id = PTX_NO_INDEX};
}

static inline struct ptx_operand special_operand(enum ptx_special special) {
    return (struct ptx_operand){
        .kind = PTX_OPERAND_SPECIAL, .special = special, .register_id = PTX_NO_INDEX, .pair_id = PTX_NO_INDEX};
}

/* Returns whether there is room for one more instruction of a structured part, its branches and the final ret. */
static inline bool has_room(const struct builder *b) { return b->function.n_instructions + 8 < MAX_INSTRUCTIONS; }

static inline struct ptx_instruction *emit(struct builder *b, enum ptx_opcode opcode, uint32_t n_operands) {
    struct ptx_instruction *instruction = &b->instruction[b->function.n_instructions++];
    *instruction = (struct ptx_instruction){.opcode = opcode,
                                            .guard = PTX_NO_INDEX,
                                            .n_operands = (uint8_t)n_operands,
                                            .operand = BASE_ARENA_ARRAY(&b->arena, struct ptx_operand, n_operands)};
    for (uint32_t i = 0; i < n_operands; i++)
        instruction->operand[i] = (struct ptx_operand){.register_id = PTX_NO_INDEX, .pair_id = PTX_NO_INDEX};
    return instruction;
}

static inline void maybe_guard(struct builder *b, struct ptx_instruction *instruction, uint32_t one_in) {
    if (pick(b, one_in) == 0) {
        instruction->guard = pick_register(b, PTX_WIDTH_PRED);
        instruction->guard_negated = pick(b, 2);
    }
}

static inline void emit_load_pair(struct builder *b) {
    struct ptx_instruction *instruction = emit(b, PTX_OP_LD, 2);
    instruction->space = PTX_SPACE_GLOBAL;
    instruction->operand[0].kind = PTX_OPERAND_VECTOR;
    instruction->operand[0].n_elements = 2;
    instruction->operand[0].element = BASE_ARENA_ARRAY(&b->arena, struct ptx_operand, 2);
    for (uint32_t i = 0; i < 2; i++)
        instruction->operand[0].element[i] = register_operand(pick_register(b, PTX_WIDTH_32));
    instruction->operand[1] = register_operand(pick_register(b, PTX_WIDTH_64));
    instruction->operand[1].kind = PTX_OPERAND_ADDRESS;
    maybe_guard(b, instruction, 4);
}

static inline void emit_plain(struct builder *b) {
    static const enum ptx_width widths[] = {PTX_WIDTH_32, PTX_WIDTH_32, PTX_WIDTH_32, PTX_WIDTH_64, PTX_WIDTH_PRED};
    enum ptx_width width = widths[pick(b, 5)];
    struct ptx_instruction *instruction;
    switch (b->is_mostly_uniform && pick(b, 16) ? 3 + pick(b, 5) : pick(b, 8)) {
    case 0:
        instruction = emit(b, PTX_OP_MOV, 2);
        instruction->operand[1] = special_operand(pick(b, 3) ? PTX_SPECIAL_CTAID_X : PTX_SPECIAL_TID_X);
        break;
    case 1:
        emit_load_pair(b);
        return;
    case 2: /* shuffles: destinations apart from sources */
        instruction = emit(b, PTX_OP_SHFL, 3);
        instruction->operand[1] = register_operand(pick_register(b, width));
        instruction->operand[2] = register_operand(pick_register(b, PTX_WIDTH_32));
        break;
    case 3:
        instruction = emit(b, PTX_OP_SETP, 3);
        width = PTX_WIDTH_PRED;
        instruction->operand[1] = register_operand(pick_register(b, PTX_WIDTH_32));
        instruction->operand[2] = register_operand(pick_register(b, PTX_WIDTH_32));
        break;
    default:
        instruction = emit(b, PTX_OP_ADD, 3);
        instruction->operand[1] = register_operand(pick_register(b, width));
        instruction->operand[2] = register_operand(pick_register(b, width));
    }
    instruction->operand[0] = register_operand(pick_register(b, width));
    if (instruction->opcode == PTX_OP_SETP && pick(b, 2))
        instruction->operand[0].pair_id = pick_register(b, PTX_WIDTH_PRED);
    maybe_guard(b, instruction, 4);
}

static inline struct ptx_instruction *emit_branch(struct builder *b, uint32_t target, bool is_guarded) {
    struct ptx_instruction *instruction = emit(b, PTX_OP_BRA, 1);
    instruction->operand[0].kind = PTX_OPERAND_LABEL;
    instruction->operand[0].target = target;
    if (is_guarded)
        maybe_guard(b, instruction, 1);
    return instruction;
}

static inline void emit_structured(struct builder *b, uint32_t depth);

static inline void emit_condition(struct builder *b, uint32_t depth) {
    struct ptx_instruction *skip = emit_branch(b, 0, true);
    emit_structured(b, depth - 1);
    struct ptx_instruction *over = pick(b, 2) ? emit_branch(b, 0, false) : NULL;
    skip->operand[0].target = b->function.n_instructions;
    if (over) {
        emit_structured(b, depth - 1);
        over->operand[0].target = b->function.n_instructions;
    }
}

static inline void emit_loop(struct builder *b, uint32_t depth) {
    uint32_t head = b->function.n_instructions;
    struct ptx_instruction *leave = pick(b, 2) ? emit_branch(b, 0, true) : NULL;
    emit_structured(b, depth - 1);
    emit_branch(b, head, !leave || pick(b, 2));
    if (leave)
        leave->operand[0].target = b->function.n_instructions;
}

static inline void emit_structured(struct builder *b, uint32_t depth) {
    uint32_t n_parts = 1 + pick(b, 3);
    for (uint32_t i = 0; i < n_parts && has_room(b); i++) {
        uint32_t kind = depth == 0 ? 0 : pick(b, 6);
        if (kind < 2)
            emit_plain(b);
        else if (pick(b, 40) == 0)
            emit(b, PTX_OP_BAR, 0);
        else if (kind < 4)
            emit_condition(b, depth);
        else if (kind == 4)
            emit_loop(b, depth);
        else /* often guarded; otherwise the code after it is reached by jumps, or never */
            maybe_guard(b, emit(b, pick(b, 2) ? PTX_OP_RET : PTX_OP_EXIT, 0), 1 + pick(b, 2));
    }
}

static inline void emit_ending(struct builder *b) {
    struct ptx_instruction *instruction;
    switch (pick(b, 6)) {
    case 0:
        instruction = emit(b, PTX_OP_TRAP, 0);
        break;
    case 1:
        instruction = emit(b, PTX_OP_CALL, 0);
        instruction->call = BASE_ARENA_NEW(&b->arena, struct ptx_call);
        instruction->call->target = (struct ptx_operand){.kind = PTX_OPERAND_FUNCTION, .function = &b->noreturn};
        break;
    default:
        instruction = emit(b, pick(b, 2) ? PTX_OP_RET : PTX_OP_EXIT, 0);
    }
    maybe_guard(b, instruction, 2);
}

static inline void emit_unstructured(struct builder *b) {
    uint32_t n = b->function.n_instructions + 4 + pick(b, 28);
    while (b->function.n_instructions < n) {
        uint32_t kind = pick(b, 12);
        if (kind < 5) {
            emit_plain(b);
        } else if (kind < 10) {
            emit_branch(b, pick(b, n + 1), pick(b, 4) > 0);
        } else if (kind == 10) {
            struct ptx_instruction *brx = emit(b, PTX_OP_BRX, 1);
            brx->operand[0] = register_operand(pick_register(b, PTX_WIDTH_32));
            brx->n_targets = 1 + pick(b, MAX_TARGETS);
            brx->target = BASE_ARENA_ARRAY(&b->arena, uint32_t, brx->n_targets);
            for (uint32_t t = 0; t < brx->n_targets; t++)
                brx->target[t] = pick(b, n + 1);
        } else {
            emit_ending(b);
        }
    }
}

static inline void emit_prologue(struct builder *b) {
    for (uint32_t r = 0; r < MAX_REGISTERS; r++) {
        struct ptx_instruction *instruction = emit(b, PTX_OP_MOV, 2);
        instruction->operand[0] = register_operand(r);
        instruction->operand[1] = special_operand(r == 0 ? PTX_SPECIAL_TID_X : PTX_SPECIAL_CTAID_X);
    }
}

static inline void build(struct builder *b, uint64_t seed) {
    static const enum ptx_type types[] = {PTX_PRED, PTX_PRED, PTX_PRED, PTX_B32, PTX_B32, PTX_B32, PTX_U32,
                                          PTX_F32,  PTX_B64,  PTX_U64,  PTX_B16, PTX_F32, PTX_S32, PTX_PRED};
    *b = (struct builder){.state = mix(seed + 1), .noreturn = {.name = "abort", .is_noreturn = true}};
    for (uint32_t r = 0; r < MAX_REGISTERS; r++)
        b->reg[r] = (struct ptx_register){.name = "%r", .type = types[r]};
    b->function = (struct ptx_function){.name = "f",
                                        .is_entry = seed % 3 != 0,
                                        .has_body = true,
                                        .reg = b->reg,
                                        .n_registers = MAX_REGISTERS,
                                        .instruction = b->instruction};
    if (!b->function.is_entry) {
        b->function.parameter = b->parameter;
        b->function.n_parameters = 2;
        b->function.result = b->result;
        b->function.n_results = 1;
        b->parameter[0].register_id = 3;
        b->parameter[1].register_id = 4;
        b->result[0].register_id = 5;
    }
    b->is_mostly_uniform = seed % 8 < 4;
    if (b->is_mostly_uniform)
        emit_prologue(b);
    if (seed % 2) {
        emit_unstructured(b);
    } else {
        emit_structured(b, 3);
        emit(b, PTX_OP_RET, 0);
    }
}
