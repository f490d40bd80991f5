/* Preparations for splits: before a launch, and when a block starts. See splits.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/splits/internal.h"

void divergence_splits_init(struct divergence_splits *splits, const struct divergence_setup *setup,
                            const struct divergence_splits_rules *rules) {
    splits->setup = *setup;
    splits->rules = *rules;
    splits->row_threads = setup->machine->sm.warp_size;
    splits->rows_per_warp = rules->warp_threads > splits->row_threads ? rules->warp_threads / splits->row_threads : 1;
    if (!splits->rules.n_entries)
        splits->rules.n_entries = setup->machine->sm.threads;
    splits->table = base_allocate(splits->rules.n_entries, sizeof(struct divergence_split *));
}

void divergence_splits_release(struct divergence_splits *splits) {
    for (uint32_t i = 0; i < splits->n_pool; i++)
        free(splits->pool[i]);
    while (splits->free_subdivision) {
        struct divergence_subdivision *subdivision = splits->free_subdivision;
        splits->free_subdivision = subdivision->next;
        divergence_stack_free(&subdivision->stack);
        free(subdivision);
    }
    free(splits->pool);
    free(splits->table);
    free(splits->next_memory);
    free(splits->next_stop);
    free(splits->is_short);
}

/* --- facts about the program --- */

/* Where splits of one warp must be one again before the instruction executes: wherever it may push or pop the stack,
 * or needs lanes of the warp. */
static bool is_stop(const struct exec_insn *insn) {
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH:
        return insn->guard.offset != 0;
    case EXEC_KIND_BRANCH_INDEXED:
    case EXEC_KIND_CALL:
    case EXEC_KIND_CALL_INDIRECT:
    case EXEC_KIND_RETURN:
    case EXEC_KIND_BARRIER:
        return true;
    default:
        return divergence_is_row_sync(insn);
    }
}

static bool goes_to_memory(const struct exec_insn *insn) {
    return insn->kind == EXEC_KIND_CONTEXT &&
           (insn->access.space == PTX_SPACE_GLOBAL || insn->access.space == PTX_SPACE_LOCAL ||
            insn->access.space == PTX_SPACE_GENERIC);
}

/* Instructions from the branch's post-dominator to the end of its basic block; 0 when that is the function's end. */
static uint32_t length_after(const struct exec_program *program, uint32_t pc) {
    uint32_t reconvergence = program->code[pc].reconvergence;
    if (reconvergence == EXEC_NO_PC)
        return 0;
    const struct exec_function *function = &program->function[program->function_of[pc]];
    const struct ptx_analysis *analysis = function->analysis;
    return analysis->block[analysis->block_of[reconvergence - function->first_pc]].count;
}

void divergence_splits_begin_grid(void *model) {
    struct divergence_splits *splits = model;
    const struct exec_program *program = splits->setup.cx->grid->program;
    uint32_t n = program->n_insns;
    free(splits->next_memory);
    free(splits->next_stop);
    free(splits->is_short);
    splits->program = program;
    splits->next_memory = base_allocate(n + 2, sizeof *splits->next_memory);
    splits->next_stop = base_allocate(n + 2, sizeof *splits->next_stop);
    splits->is_short = base_allocate(n, sizeof *splits->is_short);
    for (uint32_t i = 0; i < 2; i++)
        splits->next_memory[n + i] = splits->next_stop[n + i] = EXEC_NO_PC;
    for (uint32_t pc = n; pc-- > 0;) {
        const struct exec_insn *insn = &program->code[pc];
        splits->next_memory[pc] = goes_to_memory(insn) ? pc : splits->next_memory[pc + 1];
        splits->next_stop[pc] = is_stop(insn) ? pc : splits->next_stop[pc + 1];
        splits->is_short[pc] =
            insn->kind == EXEC_KIND_BRANCH && length_after(program, pc) <= splits->rules.branch_length;
    }
}

/* --- blocks --- */

void *divergence_splits_new_block(void *model, const struct exec_cta *cta) {
    const struct divergence_splits *splits = model;
    struct divergence_splits_block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->n_warps = (cta->n_rows + splits->rows_per_warp - 1) / splits->rows_per_warp;
    block->warp = base_allocate(block->n_warps, sizeof *block->warp);
    block->sync = divergence_sync_new(cta->n_rows);
    return block;
}

/* A block that a fault cut short still has subdivisions. */
void divergence_splits_free_block(void *model, void *state) {
    (void)model;
    struct divergence_splits_block *block = state;
    for (uint32_t i = 0; i < block->n_warps; i++)
        while (block->warp[i].subdivision) {
            struct divergence_subdivision *subdivision = block->warp[i].subdivision;
            block->warp[i].subdivision = subdivision->next;
            divergence_stack_free(&subdivision->stack);
            free(subdivision);
        }
    divergence_sync_free(block->sync);
    free(block->warp);
    free(block);
}

void divergence_splits_admit(void *model, struct divergence_block *place, uint64_t cycle) {
    struct divergence_splits *splits = model;
    struct divergence_splits_block *block = place->state;
    uint32_t first_pc = splits->program->function[0].first_pc;
    struct divergence_splits_hook hook;
    divergence_splits_enter(&hook, splits, NULL, cycle);
    divergence_sync_start(block->sync);
    for (uint32_t i = 0; i < block->n_warps; i++) {
        struct divergence_warp *warp = &block->warp[i];
        uint32_t first = i * splits->rows_per_warp, left = block->n_rows - first;
        *warp = (struct divergence_warp){
            .row = &place->cta->row[first],
            .n_rows = left < splits->rows_per_warp ? left : splits->rows_per_warp,
            .warp_id = divergence_take_warp_id(&splits->warp_ids),
            .block = place,
            .is_live = true,
        };
        struct divergence_subdivision *subdivision = divergence_subdivision_new(splits, warp, NULL);
        divergence_stack_start(&subdivision->stack, warp->row, warp->n_rows, first_pc);
        struct divergence_split *split = divergence_split_new(&hook, subdivision, NULL);
        memcpy(split->mask, divergence_stack_top(&subdivision->stack)->mask, warp->n_rows * sizeof *split->mask);
        split->group.pc = first_pc;
        divergence_split_run(&hook, split);
        divergence_splits_settle(&hook);
    }
    divergence_splits_leave(&hook);
}

static void visit_rows(const struct divergence_warp *warp, const uint32_t *mask, const struct divergence_group *group,
                       void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                      uint32_t lane),
                       void *user) {
    for (uint32_t i = 0; i < warp->n_rows; i++)
        for (uint32_t left = mask[i]; left; left &= left - 1)
            thread(user, group, &warp->row[i], (uint32_t)__builtin_ctz(left));
}

/* The stack of a warp's outermost subdivision has all its threads (after a broken join no single entry has); those in
 * no split wait there. */
void divergence_splits_visit(const void *model, const struct divergence_block *place,
                             void (*thread)(void *user, const struct divergence_group *group,
                                            const struct exec_row *row, uint32_t lane),
                             void *user) {
    (void)model;
    const struct divergence_splits_block *block = place->state;
    for (uint32_t i = 0; i < block->n_warps; i++) {
        const struct divergence_warp *warp = &block->warp[i];
        uint32_t waiting[EXEC_MAX_ROWS] = {0};
        for (const struct divergence_subdivision *subdivision = warp->subdivision; subdivision;
             subdivision = subdivision->next)
            for (uint32_t d = 0; d < subdivision->stack.depth && !subdivision->parent; d++)
                for (uint32_t row = 0; row < warp->n_rows; row++)
                    waiting[row] |= divergence_stack_at(&subdivision->stack, d)->mask[row];
        for (const struct divergence_subdivision *subdivision = warp->subdivision; subdivision;
             subdivision = subdivision->next)
            for (const struct divergence_split *split = subdivision->split; split; split = split->next) {
                divergence_masks_remove(waiting, split->mask, warp->n_rows);
                visit_rows(warp, split->mask, &split->group, thread, user);
            }
        visit_rows(warp, waiting, NULL, thread, user);
    }
}
