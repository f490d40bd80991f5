/* Finds the registers that are live at the start of each block.
 *
 * This is the usual backward data flow over blocks. It uses bits only for registers that some block reads before it
 * writes them, because most registers of compiled PTX live inside one block.
 *
 * A thread whose guard is false keeps its register. So a guarded write does not kill the old value, unless there is no
 * old value: the first write of a register, as in `@p mov r,1; @!p mov r,2`. A thread sees only its own registers, so
 * the liveness of one thread is exact for all of them, and divergence does not matter. */
#include "ptx/analysis/passes.h"

#include <string.h>

/* The uses of each register: those of register r are item[start[r] .. start[r + 1]), in program order. */
struct mentions {
    uint32_t *start;
    struct mention {
        uint32_t block;
        struct ptx_access *access;
    } * item;
};

struct walk {
    struct ptx_passes *passes;
    struct mentions mentions;
    uint32_t *stack, *mark; /* mark: per block, the register plus one that last touched it */
};

static struct mentions find_mentions(struct ptx_passes *passes) {
    uint32_t n_registers = passes->function->n_registers, n = passes->function->n_instructions;
    uint32_t n_accesses = passes->access_start[n];
    struct mentions mentions = {.start = BASE_ARENA_ARRAY(passes->scratch, uint32_t, (size_t)n_registers + 1),
                                .item = BASE_ARENA_ARRAY(passes->scratch, struct mention, n_accesses)};
    for (uint32_t a = 0; a < n_accesses; a++)
        mentions.start[passes->access[a].register_id + 1]++;
    for (uint32_t r = 0; r < n_registers; r++)
        mentions.start[r + 1] += mentions.start[r];
    uint32_t *filled = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_registers);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++) {
            uint32_t r = passes->access[a].register_id;
            mentions.item[mentions.start[r] + filled[r]++] =
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

/* Marks the blocks at whose start the register may have been written. */
static void mark_written_before(struct walk *walk, uint32_t r) {
    const struct ptx_analysis *analysis = walk->passes->analysis;
    uint32_t depth = 0, previous = PTX_NO_BLOCK;
    for (uint32_t m = walk->mentions.start[r]; m < walk->mentions.start[r + 1]; m++) {
        const struct mention *mention = &walk->mentions.item[m];
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

/* Makes the guarded writes of a register that no other write can precede kills, like unguarded ones. */
static void find_first_writes(struct walk *walk, uint32_t r) {
    bool is_candidate = false;
    for (uint32_t m = walk->mentions.start[r]; m < walk->mentions.start[r + 1]; m++)
        is_candidate |= walk->mentions.item[m].access->is_write && !walk->mentions.item[m].access->is_kill;
    if (!is_candidate || is_parameter(walk->passes->function, r))
        return;
    mark_written_before(walk, r);
    uint32_t previous = PTX_NO_BLOCK;
    for (uint32_t m = walk->mentions.start[r]; m < walk->mentions.start[r + 1]; m++) {
        const struct mention *mention = &walk->mentions.item[m];
        if (!mention->access->is_write)
            continue;
        if (mention->block != previous && walk->mark[mention->block] != r + 1)
            mention->access->is_kill = true;
        previous = mention->block;
    }
}

static void find_all_first_writes(struct ptx_passes *passes) {
    uint32_t n_blocks = passes->analysis->n_blocks;
    struct walk walk = {.passes = passes,
                        .mentions = find_mentions(passes),
                        .stack = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_blocks),
                        .mark = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_blocks)};
    for (uint32_t r = 0; r < passes->function->n_registers; r++)
        find_first_writes(&walk, r);
}

/* Finds the registers that some block reads before it writes them, and those that hold the function's results. */
static void find_crossing(struct ptx_passes *passes) {
    const struct ptx_function *function = passes->function;
    struct ptx_analysis *analysis = passes->analysis;
    uint32_t n_registers = function->n_registers;
    bool *crosses = BASE_ARENA_ARRAY(passes->scratch, bool, n_registers);
    uint32_t *killed_in = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_registers); /* block plus one */
    for (uint32_t i = 0; i < function->n_instructions; i++)
        for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++) {
            const struct ptx_access *access = &passes->access[a];
            if (!access->is_write && killed_in[access->register_id] != analysis->block_of[i] + 1)
                crosses[access->register_id] = true;
            if (access->is_kill)
                killed_in[access->register_id] = analysis->block_of[i] + 1;
        }
    for (uint32_t k = 0; !function->is_entry && k < function->n_results; k++)
        if (function->result[k].register_id < n_registers)
            crosses[function->result[k].register_id] = true;
    analysis->crossing = BASE_ARENA_ARRAY(analysis->arena, uint32_t, n_registers);
    analysis->crossing_index = BASE_ARENA_ARRAY(analysis->arena, uint32_t, n_registers);
    for (uint32_t r = 0; r < n_registers; r++) {
        analysis->crossing_index[r] = crosses[r] ? analysis->n_crossing : PTX_NO_INDEX;
        if (crosses[r])
            analysis->crossing[analysis->n_crossing++] = r;
    }
}

void ptx_find_live_out(const struct ptx_analysis *analysis, uint32_t block, uint64_t *live) {
    size_t n_words = analysis->live_words;
    memset(live, 0, n_words * sizeof *live);
    for (uint32_t s = 0; s < analysis->block[block].n_successors; s++) {
        const uint64_t *live_in = &analysis->live_in[analysis->block[block].successor[s] * n_words];
        for (size_t w = 0; w < n_words; w++)
            live[w] |= live_in[w];
    }
}

/* Turns the registers live at a block's end into those live at its start. */
static void apply_block(const struct ptx_passes *passes, uint32_t b, uint64_t *live) {
    const struct ptx_block *block = &passes->analysis->block[b];
    uint32_t first = passes->access_start[block->first], end = passes->access_start[block->first + block->count];
    for (uint32_t a = end; a-- > first;) { /* an instruction's writes come after its reads */
        const struct ptx_access *access = &passes->access[a];
        uint32_t bit = passes->analysis->crossing_index[access->register_id];
        if (bit == PTX_NO_INDEX)
            continue;
        if (!access->is_write)
            live[bit / 64] |= 1ull << (bit % 64);
        else if (access->is_kill)
            live[bit / 64] &= ~(1ull << (bit % 64));
    }
}

/* Returns whether the registers live at the block's start have changed. */
static bool update_block(struct ptx_passes *passes, uint32_t b, uint64_t *live) {
    struct ptx_analysis *analysis = passes->analysis;
    uint64_t *live_in = &analysis->live_in[b * analysis->live_words];
    size_t bytes = analysis->live_words * sizeof *live;
    ptx_find_live_out(analysis, b, live);
    apply_block(passes, b, live);
    if (memcmp(live, live_in, bytes) == 0)
        return false;
    memcpy(live_in, live, bytes);
    return true;
}

/* Sweeps from the last block to the first over blocks whose successors have changed, until none has. Compiled code
 * needs few sweeps, since only loops have edges in the sweep's direction. */
static void solve(struct ptx_passes *passes) {
    const struct ptx_analysis *analysis = passes->analysis;
    uint32_t n_blocks = analysis->n_blocks, n_waiting = n_blocks - 1;
    uint64_t *live = BASE_ARENA_ARRAY(passes->scratch, uint64_t, analysis->live_words);
    bool *waits = BASE_ARENA_ARRAY(passes->scratch, bool, n_blocks);
    memset(waits, true, n_waiting);
    while (n_waiting > 0)
        for (uint32_t b = n_blocks - 1; b-- > 0;) {
            if (!waits[b])
                continue;
            waits[b] = false;
            n_waiting--;
            if (!update_block(passes, b, live))
                continue;
            for (uint32_t p = 0; p < analysis->block[b].n_predecessors; p++) {
                uint32_t from = analysis->block[b].predecessor[p];
                n_waiting += !waits[from];
                waits[from] = true;
            }
        }
}

void ptx_compute_liveness(struct ptx_passes *passes) {
    const struct ptx_function *function = passes->function;
    struct ptx_analysis *analysis = passes->analysis;
    find_all_first_writes(passes);
    find_crossing(passes);
    analysis->live_words = ((size_t)analysis->n_crossing + 63) / 64;
    analysis->live_in = BASE_ARENA_ARRAY(analysis->arena, uint64_t, analysis->n_blocks * analysis->live_words);
    uint64_t *at_exit = &analysis->live_in[(analysis->n_blocks - 1) * analysis->live_words];
    for (uint32_t k = 0; !function->is_entry && k < function->n_results; k++)
        if (function->result[k].register_id < function->n_registers) {
            uint32_t bit = analysis->crossing_index[function->result[k].register_id];
            at_exit[bit / 64] |= 1ull << (bit % 64);
        }
    solve(passes);
}
