/* Natural loops: an edge to a block that dominates its source closes a loop whose blocks reach the source without
 * passing the header. Loops with the same header are one loop. Cycles with several entries (irreducible flow) have no
 * such edge and are not loops. */
#include "ptx/analysis/passes.h"

struct loop_finder {
    struct ptx_passes *passes;
    uint32_t *enter,
        *leave;      /* per block: interval in a walk of the dominator tree; enter is 0 for unreachable blocks */
    uint32_t *order; /* blocks by enter, from 1 */
    uint32_t n_order;
    uint32_t *loop_of; /* per block: innermost loop found so far, or PTX_NO_INDEX */
    uint32_t *stack;
};

/* Numbers the dominator tree so that a dominates b exactly when a's interval contains b's. */
static void number_tree(struct loop_finder *finder) {
    const struct ptx_analysis *analysis = finder->passes->analysis;
    uint32_t n = analysis->n_blocks, depth = 0;
    uint32_t *child = BASE_ARENA_ARRAY(finder->passes->scratch, uint32_t, n);
    uint32_t *sibling = BASE_ARENA_ARRAY(finder->passes->scratch, uint32_t, n); /* links hold block + 1, 0 ends */
    for (uint32_t b = n; b-- > 0;) {
        uint32_t above = analysis->block[b].dominator;
        if (above == PTX_NO_BLOCK)
            continue;
        sibling[b] = child[above];
        child[above] = b + 1;
    }
    finder->stack[depth++] = 0;
    finder->enter[0] = 1;
    finder->order[1] = 0;
    finder->n_order = 1;
    while (depth > 0) {
        uint32_t b = finder->stack[depth - 1];
        if (child[b] == 0) {
            finder->leave[b] = finder->n_order;
            depth--;
            continue;
        }
        uint32_t below = child[b] - 1;
        child[b] = sibling[below];
        finder->enter[below] = ++finder->n_order;
        finder->order[finder->n_order] = below;
        finder->stack[depth++] = below;
    }
}

static bool dominates(const struct loop_finder *finder, uint32_t a, uint32_t b) {
    return finder->enter[b] != 0 && finder->enter[a] <= finder->enter[b] && finder->enter[b] <= finder->leave[a];
}

static bool is_header(const struct loop_finder *finder, uint32_t b) {
    const struct ptx_block *block = &finder->passes->analysis->block[b];
    for (uint32_t p = 0; p < block->n_predecessors; p++)
        if (dominates(finder, b, block->predecessor[p]))
            return true;
    return false;
}

/* Returns the outermost loop found so far around a loop. */
static uint32_t outermost(uint32_t index, uint32_t *root) {
    uint32_t top = index;
    while (root[top] != top)
        top = root[top];
    while (root[index] != top) {
        uint32_t above = root[index];
        root[index] = top;
        index = above;
    }
    return top;
}

/* Adds everything that leads to the header's back edges to its loop. Inner loops are already found: each is one
 * step. */
static void fill_loop(struct loop_finder *finder, uint32_t index, uint32_t *root) {
    struct ptx_analysis *analysis = finder->passes->analysis;
    struct ptx_loop *loop = &analysis->loop[index];
    uint32_t depth = 0;
    finder->loop_of[loop->header] = index;
    loop->n_blocks = 1;
    const struct ptx_block *header = &analysis->block[loop->header];
    for (uint32_t p = 0; p < header->n_predecessors; p++)
        if (dominates(finder, loop->header, header->predecessor[p]))
            finder->stack[depth++] = header->predecessor[p];
    while (depth > 0) {
        uint32_t b = finder->stack[--depth], at = b;
        if (finder->loop_of[b] == PTX_NO_INDEX) {
            finder->loop_of[b] = index;
            loop->n_blocks++;
        } else {
            uint32_t inner = outermost(finder->loop_of[b], root);
            if (inner == index)
                continue;
            root[inner] = index;
            analysis->loop[inner].parent = index;
            loop->n_blocks += analysis->loop[inner].n_blocks;
            at = analysis->loop[inner].header;
        }
        const struct ptx_block *block = &analysis->block[at];
        for (uint32_t p = 0; p < block->n_predecessors; p++)
            if (finder->enter[block->predecessor[p]] != 0)
                finder->stack[depth++] = block->predecessor[p];
    }
}

static void set_depths(struct loop_finder *finder) {
    struct ptx_analysis *analysis = finder->passes->analysis;
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        struct ptx_loop *loop = &analysis->loop[l];
        loop->depth = loop->parent == PTX_NO_INDEX ? 1 : analysis->loop[loop->parent].depth + 1;
    }
    for (uint32_t b = 0; b < analysis->n_blocks; b++) {
        uint32_t l = finder->loop_of[b];
        analysis->block[b].loop_header = l == PTX_NO_INDEX ? PTX_NO_BLOCK : analysis->loop[l].header;
        analysis->block[b].loop_depth = l == PTX_NO_INDEX ? 0 : analysis->loop[l].depth;
    }
}

void ptx_find_loops(struct ptx_passes *passes) {
    struct ptx_analysis *analysis = passes->analysis;
    struct base_arena *scratch = passes->scratch;
    uint32_t n = analysis->n_blocks, n_edges = 0;
    for (uint32_t b = 0; b < n; b++)
        n_edges += analysis->block[b].n_predecessors;
    struct loop_finder finder = {.passes = passes,
                                 .enter = BASE_ARENA_ARRAY(scratch, uint32_t, n),
                                 .leave = BASE_ARENA_ARRAY(scratch, uint32_t, n),
                                 .order = BASE_ARENA_ARRAY(scratch, uint32_t, (size_t)n + 1),
                                 .loop_of = BASE_ARENA_ARRAY(scratch, uint32_t, n),
                                 .stack = BASE_ARENA_ARRAY(scratch, uint32_t, (size_t)n_edges + n)};
    number_tree(&finder);
    bool *is_head = BASE_ARENA_ARRAY(scratch, bool, n);
    for (uint32_t b = 0; b < n; b++) {
        finder.loop_of[b] = PTX_NO_INDEX;
        is_head[b] = is_header(&finder, b);
        analysis->n_loops += is_head[b];
    }
    analysis->loop = BASE_ARENA_ARRAY(analysis->arena, struct ptx_loop, analysis->n_loops);
    uint32_t *root = BASE_ARENA_ARRAY(scratch, uint32_t, analysis->n_loops);
    /* In the tree walk an outer header comes before the inner ones, so the backward walk fills inner loops first. */
    uint32_t index = analysis->n_loops;
    for (uint32_t v = finder.n_order; v > 0; v--) {
        if (!is_head[finder.order[v]])
            continue;
        index--;
        root[index] = index;
        analysis->loop[index] = (struct ptx_loop){.header = finder.order[v], .parent = PTX_NO_INDEX};
        fill_loop(&finder, index, root);
    }
    set_depths(&finder);
}
