/* Groups of blocks that are never left: strongly connected components without outgoing edges (Tarjan's search).
 *
 * The search follows all edges, so it enters a group at the block where threads enter. The caller decides which
 * outgoing edges count. An edge that does not count never leads back to its source, so the components are the same
 * without it. */
#include "ptx/analysis/passes.h"

struct group_search {
    const struct ptx_analysis *analysis;
    ptx_edge_fn *counts;
    ptx_group_fn *found;
    void *user;
    uint32_t *number; /* per block: order of discovery from 1; 0: not seen */
    uint32_t *low;
    uint32_t *path, path_depth;   /* blocks being explored */
    uint32_t *group, group_depth; /* blocks whose component is still open */
    uint32_t *next;               /* per block: the successor to look at next */
    bool *is_open;
    uint32_t n_seen;
};

static void open_block(struct group_search *search, uint32_t block) {
    search->number[block] = search->low[block] = ++search->n_seen;
    search->is_open[block] = true;
    search->path[search->path_depth++] = block;
    search->group[search->group_depth++] = block;
}

/* Removes the component that starts with `root` from the open blocks and reports it if no edge that counts leaves it. A
 * component is closed after all its successors, so an edge to a closed block leaves it. */
static void close_component(struct group_search *search, uint32_t root) {
    uint32_t first = search->group_depth;
    while (search->group[--first] != root)
        ;
    bool is_final = true;
    for (uint32_t i = first; i < search->group_depth; i++) {
        uint32_t at = search->group[i];
        const struct ptx_block *block = &search->analysis->block[at];
        for (uint32_t s = 0; s < block->n_successors; s++) {
            uint32_t to = block->successor[s];
            is_final &= !search->counts(search->user, at, s) ||
                        (search->is_open[to] && search->number[to] >= search->number[root]);
        }
    }
    for (uint32_t i = first; i < search->group_depth; i++)
        search->is_open[search->group[i]] = false;
    if (is_final)
        search->found(search->user, &search->group[first], search->group_depth - first);
    search->group_depth = first;
}

static void search_from(struct group_search *search, uint32_t start) {
    open_block(search, start);
    while (search->path_depth > 0) {
        uint32_t at = search->path[search->path_depth - 1];
        const struct ptx_block *block = &search->analysis->block[at];
        if (search->next[at] < block->n_successors) {
            uint32_t to = block->successor[search->next[at]++];
            if (search->number[to] == 0)
                open_block(search, to);
            else if (search->is_open[to] && search->number[to] < search->low[at])
                search->low[at] = search->number[to];
            continue;
        }
        search->path_depth--;
        if (search->path_depth > 0 && search->low[at] < search->low[search->path[search->path_depth - 1]])
            search->low[search->path[search->path_depth - 1]] = search->low[at];
        if (search->low[at] == search->number[at])
            close_component(search, at);
    }
}

void ptx_find_final_groups(struct ptx_passes *passes, ptx_edge_fn *counts, ptx_group_fn *found, void *user) {
    uint32_t n = passes->analysis->n_blocks;
    struct group_search search = {.analysis = passes->analysis,
                                  .counts = counts,
                                  .found = found,
                                  .user = user,
                                  .number = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                  .low = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                  .path = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                  .group = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                  .next = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n),
                                  .is_open = BASE_ARENA_ARRAY(passes->scratch, bool, n)};
    for (uint32_t b = 0; b < n; b++)
        if (search.number[b] == 0)
            search_from(&search, b);
}
