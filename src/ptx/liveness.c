/* Which registers are live at the start of each block.
 *
 * Register by register: from each block that reads it before writing it, walk back over the predecessors that do not
 * write it (B. Boissinot and others, "Computing Liveness Sets for SSA-Form Programs", 2011; nothing in that walk needs
 * SSA form). The cost is the size of the result. Most registers of compiled PTX live inside one block and cost nothing.
 *
 * A thread whose guard is false keeps its register, so a guarded write does not end the life of the old value, unless
 * there is no old value: the first writing of a register, as in `@p mov r,1; @!p mov r,2`. Liveness of one thread is
 * exact for all, since a thread only ever sees its own registers; divergence does not matter here. */
#include "ptx/passes.h"

#include <string.h>

/* Where each register is mentioned: register r's places are place[start[r] .. start[r + 1]), in program order. */
struct mentions {
    uint32_t *start;
    struct mention {
        uint32_t block;
        struct ptx_access *access;
    } * place;
};

struct live_list {
    uint32_t *register_id;
    uint32_t count, capacity;
};

struct walk {
    struct ptx_passes *passes;
    struct mentions mentions;
    struct live_list *live; /* per block */
    uint32_t *stack, *mark; /* mark: per block, the register plus one that last touched it */
};

static struct mentions find_mentions(struct ptx_passes *passes) {
    uint32_t n_registers = passes->function->n_registers, n = passes->function->n_instructions;
    uint32_t n_accesses = passes->access_start[n];
    struct mentions mentions = {.start = BASE_ARENA_ARRAY(passes->scratch, uint32_t, (size_t)n_registers + 1),
                                .place = BASE_ARENA_ARRAY(passes->scratch, struct mention, n_accesses)};
    for (uint32_t a = 0; a < n_accesses; a++)
        mentions.start[passes->access[a].register_id + 1]++;
    for (uint32_t r = 0; r < n_registers; r++)
        mentions.start[r + 1] += mentions.start[r];
    uint32_t *filled = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_registers);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++) {
            uint32_t r = passes->access[a].register_id;
            mentions.place[mentions.start[r] + filled[r]++] =
                (struct mention){passes->analysis->block_of[i], &passes->access[a]};
        }
    return mentions;
}

static bool is_parameter(const struct ptx_function *function, uint32_t register_id) {
    for (uint32_t p = 0; !function->is_entry && p < function->n_parameters; p++)
        if (function->parameter[p].register_id == register_id)
            return true;
    return false;
}

/* Marks the blocks at whose start some writing of the register may have happened. */
static void mark_written_before(struct walk *walk, uint32_t r) {
    const struct ptx_analysis *analysis = walk->passes->analysis;
    uint32_t depth = 0, previous = PTX_NO_BLOCK;
    for (uint32_t m = walk->mentions.start[r]; m < walk->mentions.start[r + 1]; m++) {
        const struct mention *mention = &walk->mentions.place[m];
        if (!mention->access->is_write || mention->block == previous)
            continue;
        previous = mention->block;
        uint32_t from = previous;
        for (;;) { /* the writing block's successors, then theirs */
            const struct ptx_block *block = &analysis->block[from];
            for (uint32_t s = 0; s < block->n_successors; s++) {
                if (walk->mark[block->successor[s]] == r + 1)
                    continue;
                walk->mark[block->successor[s]] = r + 1;
                walk->stack[depth++] = block->successor[s];
            }
            if (depth == 0)
                break;
            from = walk->stack[--depth];
        }
    }
}

/* Lets the guarded writes of a register that no other write can precede end lives as unguarded ones do. */
static void find_first_writes(struct walk *walk, uint32_t r) {
    bool is_candidate = false;
    for (uint32_t m = walk->mentions.start[r]; m < walk->mentions.start[r + 1]; m++)
        is_candidate |= walk->mentions.place[m].access->is_write && !walk->mentions.place[m].access->is_kill;
    if (!is_candidate || is_parameter(walk->passes->function, r))
        return;
    mark_written_before(walk, r);
    uint32_t previous = PTX_NO_BLOCK;
    for (uint32_t m = walk->mentions.start[r]; m < walk->mentions.start[r + 1]; m++) {
        const struct mention *mention = &walk->mentions.place[m];
        if (!mention->access->is_write)
            continue;
        if (mention->block != previous && walk->mark[mention->block] != r + 1)
            mention->access->is_kill = true;
        previous = mention->block;
    }
}

static void append(struct base_arena *arena, struct live_list *list, uint32_t register_id) {
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? 2 * list->capacity : 8;
        uint32_t *larger = BASE_ARENA_ARRAY(arena, uint32_t, capacity);
        if (list->count > 0)
            memcpy(larger, list->register_id, list->count * sizeof *larger);
        list->register_id = larger;
        list->capacity = capacity;
    }
    list->register_id[list->count++] = register_id;
}

static bool is_live_at(const struct walk *walk, uint32_t block, uint32_t r) {
    const struct live_list *list = &walk->live[block];
    return list->count > 0 && list->register_id[list->count - 1] == r; /* registers come in ascending order */
}

static void make_live(struct walk *walk, uint32_t block, uint32_t r, uint32_t *depth) {
    if (is_live_at(walk, block, r))
        return;
    append(walk->passes->scratch, &walk->live[block], r);
    walk->stack[(*depth)++] = block;
}

static void spread_back(struct walk *walk, uint32_t r, uint32_t depth) {
    const struct ptx_analysis *analysis = walk->passes->analysis;
    while (depth > 0) {
        const struct ptx_block *block = &analysis->block[walk->stack[--depth]];
        for (uint32_t p = 0; p < block->n_predecessors; p++)
            if (walk->mark[block->predecessor[p]] != r + 1) /* not killed there */
                make_live(walk, block->predecessor[p], r, &depth);
    }
}

static void find_live_blocks(struct walk *walk, uint32_t r, bool is_result) {
    const struct mentions *mentions = &walk->mentions;
    uint32_t depth = 0, killed_in = PTX_NO_BLOCK;
    for (uint32_t m = mentions->start[r]; m < mentions->start[r + 1]; m++)
        if (mentions->place[m].access->is_kill)
            walk->mark[mentions->place[m].block] = r + 1;
    for (uint32_t m = mentions->start[r]; m < mentions->start[r + 1]; m++) {
        const struct mention *mention = &mentions->place[m];
        if (!mention->access->is_write && mention->block != killed_in)
            make_live(walk, mention->block, r, &depth);
        if (mention->access->is_kill)
            killed_in = mention->block;
    }
    if (is_result)
        make_live(walk, walk->passes->analysis->n_blocks - 1, r, &depth);
    spread_back(walk, r, depth);
}

void ptx_compute_liveness(struct ptx_passes *passes) {
    const struct ptx_function *function = passes->function;
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n_blocks = analysis->n_blocks;
    struct walk walk = {.passes = passes,
                        .mentions = find_mentions(passes),
                        .live = BASE_ARENA_ARRAY(passes->scratch, struct live_list, n_blocks),
                        .stack = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_blocks),
                        .mark = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_blocks)};
    bool *is_result = BASE_ARENA_ARRAY(passes->scratch, bool, function->n_registers);
    for (uint32_t i = 0; !function->is_entry && i < function->n_results; i++)
        if (function->result[i].register_id < function->n_registers)
            is_result[function->result[i].register_id] = true;
    for (uint32_t r = 0; r < function->n_registers; r++)
        find_first_writes(&walk, r);
    memset(walk.mark, 0, n_blocks * sizeof *walk.mark);
    for (uint32_t r = 0; r < function->n_registers; r++)
        find_live_blocks(&walk, r, is_result[r]);
    analysis->live_in = BASE_ARENA_ARRAY(analysis->arena, struct ptx_register_set, n_blocks);
    for (uint32_t b = 0; b < n_blocks; b++) {
        uint32_t count = walk.live[b].count;
        analysis->live_in[b].count = count;
        analysis->live_in[b].register_id = BASE_ARENA_ARRAY(analysis->arena, uint32_t, count);
        if (count > 0)
            memcpy(analysis->live_in[b].register_id, walk.live[b].register_id, count * sizeof(uint32_t));
    }
}
