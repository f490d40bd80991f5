/* Basic blocks and the edges between them.
 *
 * A block ends before a branch target and after bra, brx, ret, exit, an unguarded trap, and a call of a function that
 * never returns. A guarded trap stays inside its block: it ends the whole kernel, so no path continues from it. Two
 * edges from one block to the same block are one edge. */
#include "ptx/analysis/passes.h"

#include <assert.h>
#include <string.h>

static bool is_guarded(const struct ptx_instruction *instruction) { return instruction->guard != PTX_NO_INDEX; }

static bool never_returns(const struct ptx_instruction *instruction) {
    if (instruction->opcode != PTX_OP_CALL)
        return false;
    const struct ptx_call *call = instruction->call;
    if (call->target.kind == PTX_OPERAND_FUNCTION)
        return call->target.function->is_noreturn;
    for (uint32_t i = 0; i < call->n_candidates; i++)
        if (!call->candidate[i]->is_noreturn)
            return false;
    return call->n_candidates > 0 || (call->prototype && call->prototype->is_noreturn);
}

static bool ends_block(const struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        return true;
    case PTX_OP_TRAP:
        return !is_guarded(instruction);
    default:
        return never_returns(instruction);
    }
}

static uint32_t branch_target(const struct ptx_instruction *bra) {
    assert(bra->n_operands == 1 && bra->operand[0].kind == PTX_OPERAND_LABEL);
    return bra->operand[0].target;
}

static void mark_leaders(const struct ptx_function *function, bool *is_leader) {
    uint32_t n = function->n_instructions;
    is_leader[0] = true;
    is_leader[n] = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_instruction *instruction = &function->instruction[i];
        if (ends_block(instruction))
            is_leader[i + 1] = true;
        if (instruction->opcode == PTX_OP_BRA)
            is_leader[branch_target(instruction)] = true;
        if (instruction->opcode == PTX_OP_BRX)
            for (uint32_t t = 0; t < instruction->n_targets; t++)
                is_leader[instruction->target[t]] = true;
    }
}

static void cut_blocks(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n = passes->function->n_instructions;
    bool *is_leader = BASE_ARENA_ARRAY(passes->scratch, bool, (size_t)n + 1);
    mark_leaders(passes->function, is_leader);
    for (uint32_t i = 0; i <= n; i++)
        analysis->n_blocks += is_leader[i];
    analysis->block = BASE_ARENA_ARRAY(analysis->arena, struct ptx_block, analysis->n_blocks);
    analysis->block_of = BASE_ARENA_ARRAY(analysis->arena, uint32_t, n);
    uint32_t block = UINT32_MAX;
    for (uint32_t i = 0; i <= n; i++) {
        if (is_leader[i])
            analysis->block[++block].first = i;
        if (i < n) {
            analysis->block_of[i] = block;
            analysis->block[block].count++;
        }
    }
}

/* The successors of one block, without repeats. */
struct edge_list {
    uint32_t *to;
    uint32_t count;
    uint32_t *seen_from; /* per block: the last block that had it in its list, plus one */
};

static void add_edge(struct edge_list *list, uint32_t from, uint32_t to) {
    if (list->seen_from[to] == from + 1)
        return;
    list->seen_from[to] = from + 1;
    list->to[list->count++] = to;
}

static uint32_t block_at(const struct ptx_analysis *analysis, uint32_t instruction) {
    return instruction < analysis->function->n_instructions ? analysis->block_of[instruction] : analysis->n_blocks - 1;
}

static void collect_successors(struct ptx_passes *passes, uint32_t block, struct edge_list *list) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t exit = analysis->n_blocks - 1, next = block + 1;
    const struct ptx_block *from = &analysis->block[block];
    const struct ptx_instruction *last = &passes->function->instruction[from->first + from->count - 1];
    if (!ends_block(last) || is_guarded(last))
        add_edge(list, block, next);
    if (!ends_block(last))
        return;
    if (last->opcode == PTX_OP_BRA) {
        add_edge(list, block, block_at(analysis, branch_target(last)));
    } else if (last->opcode == PTX_OP_BRX) {
        for (uint32_t t = 0; t < last->n_targets; t++)
            add_edge(list, block, block_at(analysis, last->target[t]));
    } else {
        bool ends_function = last->opcode == PTX_OP_RET || (last->opcode == PTX_OP_EXIT && passes->function->is_entry);
        passes->aborts[block] = !ends_function && list->seen_from[exit] != block + 1;
        add_edge(list, block, exit);
    }
}

static uint32_t most_successors(const struct ptx_function *function) {
    uint32_t most = 2;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (function->instruction[i].n_targets >= most)
            most = function->instruction[i].n_targets + 1;
    return most;
}

static void connect_blocks(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n_blocks = analysis->n_blocks;
    struct edge_list list = {.to = BASE_ARENA_ARRAY(passes->scratch, uint32_t, most_successors(passes->function)),
                             .seen_from = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_blocks)};
    for (uint32_t b = 0; b + 1 < n_blocks; b++) {
        list.count = 0;
        collect_successors(passes, b, &list);
        struct ptx_block *block = &analysis->block[b];
        block->n_successors = list.count;
        block->successor = BASE_ARENA_ARRAY(analysis->arena, uint32_t, list.count);
        if (list.count > 0)
            memcpy(block->successor, list.to, list.count * sizeof *list.to);
        for (uint32_t s = 0; s < list.count; s++)
            analysis->block[list.to[s]].n_predecessors++;
    }
    for (uint32_t b = 0; b < n_blocks; b++) {
        struct ptx_block *block = &analysis->block[b];
        block->predecessor = BASE_ARENA_ARRAY(analysis->arena, uint32_t, block->n_predecessors);
        block->n_predecessors = 0;
    }
    for (uint32_t b = 0; b < n_blocks; b++)
        for (uint32_t s = 0; s < analysis->block[b].n_successors; s++) {
            struct ptx_block *to = &analysis->block[analysis->block[b].successor[s]];
            to->predecessor[to->n_predecessors++] = b;
        }
}

static void mark_reachable(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t *stack = BASE_ARENA_ARRAY(passes->scratch, uint32_t, analysis->n_blocks), depth = 0;
    stack[depth++] = 0;
    analysis->block[0].is_reachable = true;
    while (depth > 0) {
        const struct ptx_block *block = &analysis->block[stack[--depth]];
        for (uint32_t s = 0; s < block->n_successors; s++) {
            struct ptx_block *to = &analysis->block[block->successor[s]];
            if (!to->is_reachable)
                stack[depth++] = block->successor[s];
            to->is_reachable = true;
        }
    }
}

void ptx_build_blocks(struct ptx_passes *passes) {
    cut_blocks(passes);
    passes->aborts = BASE_ARENA_ARRAY(passes->scratch, bool, passes->analysis->n_blocks);
    connect_blocks(passes);
    mark_reachable(passes);
}
