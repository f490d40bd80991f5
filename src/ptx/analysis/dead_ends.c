/* Dead ends: edges of a kernel after which threads end without rejoining any others.
 *
 * The remaining lanes reconverge where they would if the ended threads had never existed, as on hardware: an exit
 * removes its lanes from every mask that a reconvergence point waits for, and compilers place these points without
 * regard to paths that end. So if a branch has both dead ends and other paths, the dead ends are ignored
 * (reconvergence.c). An edge is a dead end if it ends the thread, by a guarded exit or a jump to a block that only
 * returns, or if every block reachable from it is reachable only through it, so that all paths from there end without a
 * join. If all edges of a branch are dead ends, nothing after it reconverges, and the dead ends are kept.
 *
 * A dead end in which threads may wait at a barrier or a warp-wide instruction is not ignored, because they may wait
 * for threads at the reconvergence point. Then the other dead ends of its branch must be ignored. Otherwise threads
 * with nothing left to do would wait at the function's end for the others, and the others would wait at the barrier for
 * them. This applies to branches that are not uniform.
 *
 * In a called function a return is not an end: the thread continues in the caller, where all threads reconverge. An
 * exit in a called function is like a trap (cfg.c). */
#include "ptx/analysis/passes.h"

bool ptx_ends_threads(const struct ptx_passes *passes, uint32_t block) {
    const struct ptx_block *range = &passes->analysis->block[block];
    if (range->count != 1)
        return range->count == 0;
    const struct ptx_instruction *only = &passes->function->instruction[range->first];
    return (only->opcode == PTX_OP_RET || only->opcode == PTX_OP_EXIT) && only->guard == PTX_NO_INDEX;
}

/* Returns whether threads wait here for others of the block or, in models in which lanes run apart, of the warp. */
static bool waits_for_others(const struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
    case PTX_OP_VOTE:
    case PTX_OP_SHFL:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_COND_ACC:
    case PTX_OP_TREE_TRAVERSE:
        return true;
    default:
        return false;
    }
}

/* Returns false only for a leaf function whose body is known and does not wait. */
static bool callee_may_wait(const struct ptx_call *call) {
    if (call->target.kind != PTX_OPERAND_FUNCTION || !call->target.function->has_body)
        return true;
    const struct ptx_function *callee = call->target.function;
    for (uint32_t i = 0; i < callee->n_instructions; i++)
        if (callee->instruction[i].opcode == PTX_OP_CALL || waits_for_others(&callee->instruction[i]))
            return true;
    return false;
}

bool ptx_may_wait(const struct ptx_passes *passes, uint32_t block) {
    const struct ptx_block *range = &passes->analysis->block[block];
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const struct ptx_instruction *instruction = &passes->function->instruction[i];
        if (waits_for_others(instruction) || (instruction->opcode == PTX_OP_CALL && callee_may_wait(instruction->call)))
            return true;
    }
    return false;
}

bool ptx_is_divergent(struct ptx_passes *passes, uint32_t block) {
    const struct ptx_block *range = &passes->analysis->block[block];
    passes->needs_uniformity = true;
    return passes->analysis->is_uniform_branch && !passes->analysis->is_uniform_branch[range->first + range->count - 1];
}

struct dead_ends {
    struct ptx_passes *passes;
    const struct ptx_analysis *analysis;
    const bool *returns;
    bool *leads_elsewhere; /* per block: an edge leads from a block that it dominates to one that it does not */
    bool *may_wait;        /* per block: it dominates a block that may wait */
};

static bool may_return(const struct dead_ends *ends, uint32_t block, uint32_t s) {
    uint32_t to = ends->analysis->block[block].successor[s];
    return ends->returns[to] && !(to == ends->analysis->n_blocks - 1 && ends->passes->aborts[block]);
}

/* The edge leaves the region dominated by the source and by each of its dominators, up to one that also dominates the
 * target. */
static void note_edge(struct dead_ends *ends, uint32_t from, uint32_t to) {
    uint32_t common = ends->analysis->block[to].dominator;
    for (uint32_t at = from; at != to && at != common; at = ends->analysis->block[at].dominator)
        ends->leads_elsewhere[at] = true;
}

static void note_block(struct dead_ends *ends, uint32_t block) {
    const struct ptx_block *range = &ends->analysis->block[block];
    for (uint32_t s = 0; s < range->n_successors; s++)
        if (may_return(ends, block, s) && !ptx_ends_threads(ends->passes, range->successor[s]))
            note_edge(ends, block, range->successor[s]);
    uint32_t at = ptx_may_wait(ends->passes, block) ? block : PTX_NO_BLOCK;
    for (; at != PTX_NO_BLOCK && !ends->may_wait[at]; at = ends->analysis->block[at].dominator)
        ends->may_wait[at] = true;
}

/* Returns whether the edge from its dominator is the only entry of the block, apart from back edges. */
static bool has_one_entry(const struct dead_ends *ends, uint32_t block) {
    const struct ptx_block *entered = &ends->analysis->block[block];
    for (uint32_t p = 0; p < entered->n_predecessors; p++) {
        uint32_t at = entered->predecessor[p];
        if (at == entered->dominator || !ends->analysis->block[at].is_reachable)
            continue;
        while (at != block && at != entered->dominator)
            at = ends->analysis->block[at].dominator;
        if (at != block)
            return false;
    }
    return true;
}

/* Returns whether all blocks after the edge are reachable only through it. */
static bool is_closed(const struct dead_ends *ends, uint32_t from, uint32_t to) {
    return ptx_ends_threads(ends->passes, to) ||
           (ends->analysis->block[to].dominator == from && !ends->leads_elsewhere[to] && has_one_entry(ends, to));
}

static void ignore_dead_ends(struct dead_ends *ends, uint32_t block) {
    const struct ptx_block *from = &ends->analysis->block[block];
    bool *is_ignored = &ends->passes->is_ignored[ends->passes->first_edge[block]];
    uint32_t n_joining = 0, n_waiting = 0;
    for (uint32_t s = 0; s < from->n_successors; s++) {
        uint32_t to = from->successor[s];
        bool is_dead = may_return(ends, block, s) && is_closed(ends, block, to);
        n_joining += may_return(ends, block, s) && !is_dead;
        n_waiting += is_dead && ends->may_wait[to];
        is_ignored[s] = is_dead && !ends->may_wait[to];
    }
    bool ignores_any = n_joining > 0 || (n_waiting > 0 && ptx_is_divergent(ends->passes, block));
    for (uint32_t s = 0; s < from->n_successors && !ignores_any; s++)
        is_ignored[s] = false;
}

void ptx_find_dead_ends(struct ptx_passes *passes, const bool *returns) {
    const struct ptx_analysis *analysis = passes->analysis;
    uint32_t n = analysis->n_blocks, n_edges = 0;
    passes->first_edge = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n);
    for (uint32_t b = 0; b < n; b++) {
        passes->first_edge[b] = n_edges;
        n_edges += analysis->block[b].n_successors;
    }
    passes->is_ignored = BASE_ARENA_ARRAY(passes->scratch, bool, n_edges);
    if (!passes->function->is_entry)
        return;
    struct dead_ends ends = {.passes = passes,
                             .analysis = analysis,
                             .returns = returns,
                             .leads_elsewhere = BASE_ARENA_ARRAY(passes->scratch, bool, n),
                             .may_wait = BASE_ARENA_ARRAY(passes->scratch, bool, n)};
    for (uint32_t b = 0; b < n; b++)
        if (analysis->block[b].is_reachable)
            note_block(&ends, b);
    for (uint32_t b = 0; b < n; b++)
        if (analysis->block[b].is_reachable && analysis->block[b].n_successors > 1)
            ignore_dead_ends(&ends, b);
}
