/* Meeting points: where threads of a warp wait for each other on a GPU with convergence barriers (compute capability
 * 7.0 and later). A compiler puts BSSY before a branch that may diverge, and BSYNC where its paths meet. BREAK lets
 * threads leave a barrier without passing its BSYNC. The rules, found by giving small kernels to ptxas 13.0:
 * - The region of a loop is one iteration. A branch inside a loop meets where its paths meet within the iteration, or
 *   at the latest where the next iteration begins. A path that leaves the loop does not count, because threads that
 *   take it leave every barrier of the loop (BREAK).
 * - Threads that leave a loop meet where all its ways out meet, within one iteration of the loop around it.
 * - A branch straight back to the loop's beginning, if the other side may still leave the loop in this iteration, has
 *   no meeting point inside the loop. Its threads meet where they meet after the loop.
 * - Outside loops, meeting points are the reconvergence points (reconvergence.c). They are also used throughout
 *   functions that have too many loops and blocks to search.
 *
 * A loop awaits other threads if a value that another thread may write decides whether it continues: a result of an
 * atomic, of a load that is volatile, relaxed or acquire, or of a test of an mbarrier. A compiler puts YIELD into such
 * loops. */
#include "ptx/analysis/passes.h"

enum { MOST_WORK = 1 << 21 }; /* loops times blocks */

struct meetings {
    struct ptx_passes *passes;
    struct ptx_analysis *analysis;
    uint32_t n;           /* blocks; also the number of the node that stands for an iteration's end */
    uint32_t **dominator; /* per loop: for each block, where its paths meet within an iteration; n: at its end */
};

/* --- loops --- */

static bool is_inside(const struct ptx_analysis *analysis, uint32_t block, uint32_t loop) {
    uint32_t at = analysis->loop_of[block];
    while (at != PTX_NO_INDEX && at != loop)
        at = analysis->loop[at].parent;
    return at == loop;
}

static void set_loops_of_blocks(struct meetings *meetings) {
    struct ptx_analysis *analysis = meetings->analysis;
    bool is_large = (uint64_t)analysis->n_loops * meetings->n > MOST_WORK;
    uint32_t *loop_at = BASE_ARENA_ARRAY(meetings->passes->scratch, uint32_t, meetings->n); /* per header */
    analysis->loop_of = BASE_ARENA_ARRAY(analysis->arena, uint32_t, meetings->n);
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        loop_at[analysis->loop[l].header] = l;
    for (uint32_t b = 0; b < meetings->n; b++) {
        uint32_t header = analysis->block[b].loop_header;
        analysis->loop_of[b] = header == PTX_NO_BLOCK || is_large ? PTX_NO_INDEX : loop_at[header];
    }
}

/* Post-dominators within an iteration: back edges lead to its end, and edges that leave the loop do not count. */
static uint32_t *dominators_of(const struct meetings *meetings, uint32_t loop) {
    const struct ptx_analysis *analysis = meetings->analysis;
    struct base_arena *scratch = meetings->passes->scratch;
    uint32_t n_edges = 0, capacity = 0, header = analysis->loop[loop].header;
    for (uint32_t b = 0; b < meetings->n; b++)
        capacity += is_inside(analysis, b, loop) ? analysis->block[b].n_successors : 0;
    struct ptx_edge *edge = BASE_ARENA_ARRAY(scratch, struct ptx_edge, capacity);
    for (uint32_t b = 0; b < meetings->n; b++)
        for (uint32_t s = 0; s < analysis->block[b].n_successors && is_inside(analysis, b, loop); s++) {
            uint32_t to = analysis->block[b].successor[s];
            if (is_inside(analysis, to, loop))
                edge[n_edges++] = (struct ptx_edge){to == header ? meetings->n : to, b}; /* reversed */
        }
    uint32_t *dominator = BASE_ARENA_ARRAY(scratch, uint32_t, meetings->n + 1);
    struct ptx_graph graph = ptx_build_graph(scratch, meetings->n + 1, edge, n_edges);
    ptx_find_dominators(scratch, &graph, meetings->n, dominator);
    return dominator;
}

/* Returns the instruction where threads that leave the loop meet. Every way from the header to the end of an iteration
 * of the loop around it passes the header's post-dominators, and the first of them outside the loop is the place. */
static uint32_t meeting_of_loop(const struct meetings *meetings, uint32_t loop) {
    const struct ptx_analysis *analysis = meetings->analysis;
    uint32_t around = analysis->loop[loop].parent, at = analysis->loop[loop].header, exit = meetings->n - 1;
    do {
        at = around == PTX_NO_INDEX ? meetings->passes->reconvergence_block[at] : meetings->dominator[around][at];
        if (at == meetings->n)
            return analysis->block[analysis->loop[around].header].first;
    } while (at < exit && is_inside(analysis, at, loop) && at != analysis->loop[loop].header);
    bool is_outside = at < exit && !is_inside(analysis, at, loop);
    return is_outside ? analysis->block[at].first : analysis->block[exit].first;
}

/* --- branches --- */

static uint32_t meeting_of_branch(const struct meetings *meetings, uint32_t block) {
    const struct ptx_analysis *analysis = meetings->analysis;
    uint32_t loop = analysis->loop_of[block], found = meetings->dominator[loop][block];
    return analysis->block[found < meetings->n ? found : analysis->loop[loop].header].first;
}

/* --- loops that await other threads --- */

static bool reads_what_others_write(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_ATOM:
    case PTX_OP_MBARRIER:
        return true;
    case PTX_OP_LD:
        return ptx_has(insn, PTX_MOD_VOLATILE) || ptx_has(insn, PTX_MOD_RELAXED) || ptx_has(insn, PTX_MOD_ACQUIRE);
    default:
        return false;
    }
}

/* One pass over the loop: marks registers that depend on writes of other threads. Returns whether there are more. */
static bool mark_dependent(const struct meetings *meetings, uint32_t loop, bool *is_marked) {
    const struct ptx_analysis *analysis = meetings->analysis;
    const struct ptx_passes *passes = meetings->passes;
    bool has_changed = false;
    for (uint32_t i = 0; i < passes->function->n_instructions; i++) {
        if (!is_inside(analysis, analysis->block_of[i], loop))
            continue;
        bool depends = reads_what_others_write(&passes->function->instruction[i]);
        for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++)
            if (!passes->access[a].is_write)
                depends |= is_marked[passes->access[a].register_id];
            else if (depends && !is_marked[passes->access[a].register_id])
                has_changed = is_marked[passes->access[a].register_id] = true;
    }
    return has_changed;
}

static bool awaits_others(const struct meetings *meetings, uint32_t loop) {
    const struct ptx_analysis *analysis = meetings->analysis;
    const struct ptx_function *function = meetings->passes->function;
    bool *is_marked = BASE_ARENA_ARRAY(meetings->passes->scratch, bool, function->n_registers);
    if (!mark_dependent(meetings, loop, is_marked))
        return false;
    while (mark_dependent(meetings, loop, is_marked)) {
    }
    for (uint32_t b = 0; b < meetings->n - 1; b++) {
        const struct ptx_block *block = &analysis->block[b];
        if (!block->count || !is_inside(analysis, b, loop))
            continue;
        bool leaves = false;
        for (uint32_t s = 0; s < block->n_successors; s++)
            leaves |= !is_inside(analysis, block->successor[s], loop);
        const struct ptx_instruction *last = &function->instruction[block->first + block->count - 1];
        if (leaves && last->guard != PTX_NO_INDEX && is_marked[last->guard])
            return true;
    }
    return false;
}

void ptx_set_meetings(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    struct meetings meetings = {.passes = passes,
                                .analysis = analysis,
                                .n = analysis->n_blocks,
                                .dominator = BASE_ARENA_ARRAY(passes->scratch, uint32_t *, analysis->n_loops)};
    set_loops_of_blocks(&meetings);
    for (uint32_t l = 0; l < analysis->n_loops; l++) { /* outer ones first */
        if (analysis->loop_of[analysis->loop[l].header] == PTX_NO_INDEX)
            continue;
        meetings.dominator[l] = dominators_of(&meetings, l);
        analysis->loop[l].meeting = meeting_of_loop(&meetings, l);
        analysis->loop[l].awaits = awaits_others(&meetings, l);
    }
    analysis->meeting = BASE_ARENA_ARRAY(analysis->arena, uint32_t, passes->function->n_instructions);
    for (uint32_t i = 0; i < passes->function->n_instructions; i++) {
        uint32_t block = analysis->block_of[i];
        enum ptx_opcode opcode = passes->function->instruction[i].opcode;
        bool is_jump = opcode == PTX_OP_BRA || opcode == PTX_OP_BRX;
        bool is_in_loop = is_jump && analysis->reconvergence[i] != PTX_NO_INDEX &&
                          analysis->loop_of[block] != PTX_NO_INDEX && analysis->block[block].is_reachable;
        analysis->meeting[i] = is_in_loop ? meeting_of_branch(&meetings, block) : analysis->reconvergence[i];
    }
}
