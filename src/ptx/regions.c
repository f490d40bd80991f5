/* Meeting points: where threads of a warp wait for each other on a GPU with convergence barriers (compute
 * capability 7.0 and later), as a compiler places them. Found by giving small kernels to ptxas 13.0:
 * - A branch inside a loop meets where its paths meet within one iteration. A path that leaves the loop does not count:
 *   threads that take it leave every barrier of the iteration (BREAK).
 * - Threads that leave a loop meet where all its ways out meet, again within one iteration of the loop around it; the
 *   end of that iteration is a meeting point too.
 * - A branch straight back to the loop's beginning, with a way out of the loop on its other side, has no meeting point
 *   in the loop: threads that take it go on with the next iteration alone.
 *
 * Outside of loops, and in functions in which threads may wait for others (barriers, warp-wide instructions), meeting
 * points are the reconvergence points of reconvergence.c: threads that went their own way out of a loop might not be
 * there together. So they are in functions with so many loops and blocks that finding them would take long. */
#include "ptx/passes.h"

enum { MOST_WORK = 1 << 21 }; /* loops times blocks */

struct regions {
    struct ptx_passes *passes;
    struct ptx_analysis *analysis;
    uint32_t n;           /* blocks; also the number of the node that stands for an iteration's end */
    uint32_t *loop_of;    /* per block: its innermost loop, or PTX_NO_INDEX */
    bool *is_kept;        /* per loop: it keeps the reconvergence points */
    uint32_t **dominator; /* per loop: for each block, where its paths meet within an iteration; n: at its end */
};

static bool is_inside(const struct regions *regions, uint32_t block, uint32_t loop) {
    uint32_t at = regions->loop_of[block];
    while (at != PTX_NO_INDEX && at != loop)
        at = regions->analysis->loop[at].parent;
    return at == loop;
}

static void find_loops_of_blocks(struct regions *regions) {
    const struct ptx_analysis *analysis = regions->analysis;
    uint32_t *loop_at = BASE_ARENA_ARRAY(regions->passes->scratch, uint32_t, regions->n); /* per header */
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        loop_at[analysis->loop[l].header] = l;
    for (uint32_t b = 0; b < regions->n; b++) {
        uint32_t header = analysis->block[b].loop_header;
        regions->loop_of[b] = header == PTX_NO_BLOCK ? PTX_NO_INDEX : loop_at[header];
    }
}

/* All loops of a function follow one rule. */
static void find_kept_loops(struct regions *regions) {
    const struct ptx_analysis *analysis = regions->analysis;
    bool is_kept = (uint64_t)analysis->n_loops * regions->n > MOST_WORK;
    for (uint32_t b = 0; b < regions->n && !is_kept; b++)
        is_kept = ptx_may_wait(regions->passes, b);
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        regions->is_kept[l] = is_kept;
}

/* Post-dominators within an iteration: back edges lead to its end, edges that leave the loop do not count. */
static uint32_t *dominators_of(const struct regions *regions, uint32_t loop) {
    const struct ptx_analysis *analysis = regions->analysis;
    uint32_t n_edges = 0, capacity = 0, header = analysis->loop[loop].header;
    for (uint32_t b = 0; b < regions->n; b++)
        capacity += is_inside(regions, b, loop) ? analysis->block[b].n_successors : 0;
    struct ptx_edge *edge = BASE_ARENA_ARRAY(regions->passes->scratch, struct ptx_edge, capacity);
    for (uint32_t b = 0; b < regions->n; b++)
        for (uint32_t s = 0; s < analysis->block[b].n_successors && is_inside(regions, b, loop); s++) {
            uint32_t to = analysis->block[b].successor[s];
            if (is_inside(regions, to, loop))
                edge[n_edges++] = (struct ptx_edge){to == header ? regions->n : to, b}; /* reversed */
        }
    uint32_t *dominator = BASE_ARENA_ARRAY(regions->passes->scratch, uint32_t, regions->n + 1);
    struct ptx_graph graph = ptx_build_graph(regions->passes->scratch, regions->n + 1, edge, n_edges);
    ptx_find_dominators(regions->passes->scratch, &graph, regions->n, dominator);
    return dominator;
}

/* ---- Ways out ---------------------------------------------------------------------------------------------------- */

/* Returns the block after `at` on the way to the end of an iteration of the loop, or to the function's end. */
static uint32_t next_on_way(const struct regions *regions, uint32_t loop, uint32_t at) {
    return loop == PTX_NO_INDEX ? regions->analysis->block[at].post_dominator : regions->dominator[loop][at];
}

/* Returns the first block that both have on their ways, the end included. */
static uint32_t meet(const struct regions *regions, uint32_t loop, uint32_t a, uint32_t b) {
    uint32_t end = loop == PTX_NO_INDEX ? regions->n - 1 : regions->n;
    for (;; a = next_on_way(regions, loop, a)) {
        for (uint32_t at = b;; at = next_on_way(regions, loop, at)) {
            if (at == a)
                return a;
            if (at == end || at == PTX_NO_BLOCK)
                break;
        }
        if (a == end || a == PTX_NO_BLOCK)
            return end;
    }
}

/* Returns the block where threads meet that leave the loop, or n if there is none. Ways that end threads count only if
 * there is no other. */
static uint32_t find_exit(const struct regions *regions, uint32_t loop) {
    const struct ptx_analysis *analysis = regions->analysis;
    uint32_t around = analysis->loop[loop].parent, found = PTX_NO_BLOCK;
    for (uint32_t b = 0; b < regions->n; b++)
        for (uint32_t s = 0; s < analysis->block[b].n_successors && is_inside(regions, b, loop); s++) {
            uint32_t to = analysis->block[b].successor[s];
            if (is_inside(regions, to, loop) || ptx_ends_threads(regions->passes, to) ||
                (around != PTX_NO_INDEX && !is_inside(regions, to, around)))
                continue;
            if (around != PTX_NO_INDEX && to == analysis->loop[around].header)
                to = regions->n;
            found = found == PTX_NO_BLOCK ? to : meet(regions, around, found, to);
        }
    if (around == PTX_NO_INDEX)
        return found == PTX_NO_BLOCK ? regions->n - 1 : found;
    return found == PTX_NO_BLOCK ? analysis->loop[around].exit
           : found == regions->n ? analysis->loop[around].header
                                 : found;
}

/* ---- Branches ---------------------------------------------------------------------------------------------------- */

/* Returns the outermost loop that the edge leaves, or PTX_NO_INDEX. */
static uint32_t loop_left(const struct regions *regions, uint32_t from, uint32_t to) {
    uint32_t left = PTX_NO_INDEX;
    for (uint32_t l = regions->loop_of[from]; l != PTX_NO_INDEX && !is_inside(regions, to, l);
         l = regions->analysis->loop[l].parent)
        left = l;
    return left;
}

/* Returns whether a thread can leave the loop from this block before the iteration ends. */
static bool may_leave(const struct regions *regions, uint32_t loop, uint32_t block) {
    const struct ptx_analysis *analysis = regions->analysis;
    bool *is_seen = BASE_ARENA_ARRAY(regions->passes->scratch, bool, regions->n);
    uint32_t *stack = BASE_ARENA_ARRAY(regions->passes->scratch, uint32_t, regions->n), depth = 0;
    stack[depth++] = block;
    is_seen[block] = true;
    while (depth > 0) {
        uint32_t at = stack[--depth];
        for (uint32_t s = 0; s < analysis->block[at].n_successors; s++) {
            uint32_t to = analysis->block[at].successor[s];
            if (!is_inside(regions, to, loop))
                return true;
            if (to == analysis->loop[loop].header || is_seen[to])
                continue;
            is_seen[to] = true;
            stack[depth++] = to;
        }
    }
    return false;
}

static uint32_t meeting_block(const struct regions *regions, uint32_t block) {
    const struct ptx_analysis *analysis = regions->analysis;
    const struct ptx_block *from = &analysis->block[block];
    uint32_t loop = regions->loop_of[block], n_inside = 0, left = PTX_NO_INDEX;
    bool goes_back = false;
    for (uint32_t s = 0; s < from->n_successors; s++) {
        uint32_t out = loop_left(regions, block, from->successor[s]);
        n_inside += out == PTX_NO_INDEX;
        if (out != PTX_NO_INDEX && !ptx_ends_threads(regions->passes, from->successor[s]) && out < left)
            left = out; /* outer loops come first */
        goes_back |= from->successor[s] == analysis->loop[loop].header;
    }
    if (from->n_successors == 1 && n_inside == 1) /* taken or not, the branch leads to the same block */
        return from->successor[0];
    if (n_inside < 2 || left != PTX_NO_INDEX)
        return analysis->loop[left == PTX_NO_INDEX ? loop : left].exit;
    uint32_t found = regions->dominator[loop][block];
    if (found < regions->n)
        return found;
    return goes_back && may_leave(regions, loop, block) ? analysis->loop[loop].exit : analysis->loop[loop].header;
}

void ptx_set_meetings(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n = analysis->n_blocks;
    struct regions regions = {.passes = passes,
                              .analysis = analysis,
                              .n = n,
                              .loop_of = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                              .is_kept = BASE_ARENA_ARRAY(passes->scratch, bool, analysis->n_loops),
                              .dominator = BASE_ARENA_ARRAY(passes->scratch, uint32_t *, analysis->n_loops)};
    find_loops_of_blocks(&regions);
    find_kept_loops(&regions);
    for (uint32_t l = 0; l < analysis->n_loops; l++) { /* outer ones first */
        analysis->loop[l].is_region = !regions.is_kept[l];
        if (regions.is_kept[l])
            continue;
        regions.dominator[l] = dominators_of(&regions, l);
        analysis->loop[l].exit = find_exit(&regions, l);
    }
    analysis->meeting = BASE_ARENA_ARRAY(analysis->arena, uint32_t, passes->function->n_instructions);
    for (uint32_t i = 0; i < passes->function->n_instructions; i++) {
        uint32_t block = analysis->block_of[i], loop = regions.loop_of[block];
        bool is_jump = passes->function->instruction[i].opcode == PTX_OP_BRA ||
                       passes->function->instruction[i].opcode == PTX_OP_BRX;
        bool is_ruled =
            is_jump && analysis->reconvergence[i] != PTX_NO_INDEX && loop != PTX_NO_INDEX && !regions.is_kept[loop];
        analysis->meeting[i] =
            is_ruled ? analysis->block[meeting_block(&regions, block)].first : analysis->reconvergence[i];
    }
}
