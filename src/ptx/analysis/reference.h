/* For random_test.c: finds the flow, register accesses and liveness of a random function's instructions, by
 * slow and obvious methods. */
#pragma once

#include <string.h>

#include "ptx/analysis/random_function.h"

/* The references' results for one function, per instruction; index n is the exit. */
struct reference {
    const struct builder *builder;
    uint32_t n;
    uint32_t next[MAX_INSTRUCTIONS][MAX_TARGETS + 2], n_next[MAX_INSTRUCTIONS + 1];
    bool aborts[MAX_INSTRUCTIONS]; /* its edge to the exit is not a return */
    bool reads[MAX_INSTRUCTIONS + 1][MAX_REGISTERS], writes[MAX_INSTRUCTIONS + 1][MAX_REGISTERS];
    bool kills[MAX_INSTRUCTIONS + 1][MAX_REGISTERS];
    bool live[MAX_INSTRUCTIONS + 1][MAX_REGISTERS]; /* before the instruction */
};

struct visitor {
    struct reference *reference;
    uint32_t i;
};

static inline void note_access(void *user, uint32_t register_id, bool is_write) {
    struct visitor *visitor = user;
    if (is_write)
        visitor->reference->writes[visitor->i][register_id] = true;
    else
        visitor->reference->reads[visitor->i][register_id] = true;
}

static inline void note_flow(struct reference *ref, uint32_t i) {
    const struct ptx_instruction *instruction = &ref->builder->instruction[i];
    bool falls_through = instruction->guard != PTX_NO_INDEX;
    uint32_t *n_next = &ref->n_next[i];
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        ref->next[i][(*n_next)++] = instruction->operand[0].target;
        break;
    case PTX_OP_BRX:
        for (uint32_t t = 0; t < instruction->n_targets; t++)
            ref->next[i][(*n_next)++] = instruction->target[t];
        break;
    case PTX_OP_RET:
    case PTX_OP_EXIT: /* in a called function, exit ends the thread, but the function does not return */
        ref->aborts[i] = instruction->opcode == PTX_OP_EXIT && !ref->builder->function.is_entry &&
                         !(falls_through && i + 1 == ref->n);
        ref->next[i][(*n_next)++] = ref->n;
        break;
    case PTX_OP_TRAP:
    case PTX_OP_CALL:
        ref->aborts[i] = !(falls_through && i + 1 == ref->n);
        if (!(falls_through && instruction->opcode == PTX_OP_TRAP))
            ref->next[i][(*n_next)++] = ref->n;
        break;
    default:
        falls_through = true;
    }
    if (falls_through)
        ref->next[i][(*n_next)++] = i + 1;
}

/* Marks the instructions reachable after one, itself only if it is in a cycle. */
static inline void mark_after(const struct reference *ref, uint32_t i, bool *seen) {
    for (uint32_t k = 0; k < ref->n_next[i]; k++)
        if (!seen[ref->next[i][k]]) {
            seen[ref->next[i][k]] = true;
            mark_after(ref, ref->next[i][k], seen);
        }
}

static inline bool is_parameter(const struct ptx_function *function, uint32_t r) {
    for (uint32_t p = 0; p < function->n_parameters; p++)
        if (function->parameter[p].register_id == r)
            return true;
    return false;
}

static inline void note_kills(struct reference *ref) {
    bool written_before[MAX_INSTRUCTIONS + 1][MAX_REGISTERS] = {0};
    for (uint32_t i = 0; i < ref->n; i++) {
        bool after[MAX_INSTRUCTIONS + 1] = {0};
        mark_after(ref, i, after);
        for (uint32_t j = 0; j <= ref->n; j++)
            for (uint32_t r = 0; r < MAX_REGISTERS; r++)
                written_before[j][r] |= after[j] && ref->writes[i][r];
    }
    for (uint32_t i = 0; i < ref->n; i++)
        for (uint32_t r = 0; r < MAX_REGISTERS; r++)
            ref->kills[i][r] =
                ref->writes[i][r] && (ref->builder->instruction[i].guard == PTX_NO_INDEX ||
                                      (!written_before[i][r] && !is_parameter(&ref->builder->function, r)));
}

static inline void note_live(struct reference *ref) {
    bool is_changing = true;
    while (is_changing) {
        is_changing = false;
        for (uint32_t i = ref->n + 1; i-- > 0;)
            for (uint32_t r = 0; r < MAX_REGISTERS; r++) {
                bool is_live = ref->reads[i][r];
                for (uint32_t k = 0; k < ref->n_next[i]; k++)
                    is_live |= ref->live[ref->next[i][k]][r] && !ref->kills[i][r];
                is_changing |= is_live != ref->live[i][r];
                ref->live[i][r] = is_live;
            }
    }
}

static inline void refer(struct reference *ref, const struct builder *b) {
    *ref = (struct reference){.builder = b, .n = b->function.n_instructions};
    for (uint32_t i = 0; i < ref->n; i++) {
        ptx_for_each_register(&b->instruction[i], note_access, &(struct visitor){ref, i});
        note_flow(ref, i);
    }
    for (uint32_t k = 0; k < b->function.n_results; k++)
        ref->reads[ref->n][b->result[k].register_id] = true;
    note_kills(ref);
    note_live(ref);
}
