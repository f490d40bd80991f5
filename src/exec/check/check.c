/* The state of checks: findings of a launch, shadows of blocks, barriers. See check.h; observe.c notes the accesses. */
#include "exec/check/internal.h"

#include "base/memory.h"

/* --- findings --- */

static int compare(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_sides(const struct exec_finding_side *a, const struct exec_finding_side *b) {
    int by_thread = compare(a->thread, b->thread), by_pc = compare(a->pc, b->pc);
    return by_thread ? by_thread : by_pc ? by_pc : compare(a->touch, b->touch);
}

static bool comes_before(const struct exec_finding *a, const struct exec_finding *b) {
    int by_block = compare(a->block, b->block), by_first = compare_sides(&a->side[0], &b->side[0]),
        by_second = compare_sides(&a->side[1], &b->side[1]);
    return (by_block ? by_block : by_first ? by_first : by_second ? by_second : compare(a->address, b->address)) < 0;
}

void exec_check_add(struct exec_check *check, enum exec_finding_kind kind, const struct exec_finding *finding) {
    struct exec_findings *findings = &check->findings[kind];
    if (findings->count++ == 0 || comes_before(finding, &findings->first))
        findings->first = *finding;
}

/* --- blocks --- */

/* Returns whether the program has asynchronous copies. */
static bool has_copies(const struct exec_program *program) {
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        const struct ptx_instruction *insn = program->source[pc];
        if (insn && (insn->opcode == PTX_OP_CP || ptx_has(insn, PTX_MOD_ASYNC)))
            return true;
    }
    return false;
}

struct exec_check_block *exec_check_block_new(const struct exec_grid *grid, uint32_t n_rows) {
    struct exec_check_block *block = base_allocate(1, sizeof *block);
    exec_clocks_open(&block->clocks, n_rows, has_copies(grid->program));
    exec_shadow_open(&block->shadow, grid->shared_bytes);
    block->moving = base_allocate(block->clocks.n_threads, sizeof *block->moving);
    return block;
}

void exec_check_block_free(struct exec_check_block *block) {
    if (!block)
        return;
    exec_clocks_close(&block->clocks);
    exec_shadow_close(&block->shadow);
    free(block->moving);
    free(block);
}

void exec_check_block_start(struct exec_check_block *block) {
    exec_clocks_start(&block->clocks);
    exec_shadow_start(&block->shadow);
    memset(block->moving, 0, block->clocks.n_threads * sizeof *block->moving);
}

/* --- synchronisation --- */

void exec_check_arrive(struct exec_block *block, uint32_t number, uint32_t row, uint32_t mask, bool waits) {
    struct exec_clocks *clocks = &block->check->clocks;
    exec_clocks_come(clocks, &clocks->barrier[number], row, mask, waits);
}

/* Returns whether all threads wait at the barrier, and one of them in *thread. A barrier of the whole block does not
 * wait for threads that have ended, so they count as having arrived. */
static bool waits_for_all(const struct exec_cta *cta, uint32_t number, const struct exec_meeting *meeting,
                          uint32_t *thread) {
    bool is_any = false, is_whole = cta->barrier[number].expected == 0;
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        if ((is_whole ? cta->row[i].live : cta->row[i].threads) & ~meeting->waiting[i])
            return false;
        if (cta->row[i].live) {
            *thread = i * EXEC_LANES + (uint32_t)__builtin_ctz(cta->row[i].live);
            is_any = true;
        }
    }
    return is_any;
}

void exec_check_release(struct exec_cta *cta, uint32_t number) {
    struct exec_check_block *block = cta->block.check;
    struct exec_meeting *meeting = &block->clocks.barrier[number];
    uint32_t thread;
    bool is_of_all = waits_for_all(cta, number, meeting, &thread);
    exec_clocks_end(&block->clocks, meeting);
    if (is_of_all)
        exec_shadow_forget(&block->shadow, &block->clocks, thread);
}

void exec_check_sync_row(struct exec_row *row, const struct exec_insn *insn, uint32_t mask) {
    const uint32_t *members = (const uint32_t *)(row->base[insn->operand[0].base] + insn->operand[0].offset);
    uint32_t left = mask, participants;
    while (left) { /* lanes may name different members */
        uint32_t group = exec_next_group(&left, members, &participants);
        uint32_t named = (members[__builtin_ctz(group)] | group) & row->live;
        exec_clocks_sync_row(&row->block->check->clocks, row->index, group, named);
    }
}
