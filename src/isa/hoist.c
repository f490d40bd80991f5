/* Loads move ahead of branches. Where both ways of a branch meet again, the code behind is executed by the same threads
 * as the code before the branch. ptxas moves loads from there to the place before the branch, with the instructions
 * that compute their addresses, so that the loads of several such branches wait together. An example is an unrolled
 * loop that keeps the smallest of the values it loads.
 *
 * ptxas 13.0 does so on small kernels if the branch skips a single basic block, however long, or becomes a predicate.
 * Loads stay where they are if the block stores to their memory, or contains a call, a barrier or a shuffle, if it
 * contains branches that remain, or if the registers do not suffice. Loops in the skipped block are left out, across
 * which ptxas also moves loads.
 *
 * Every thread computes the same as before. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

struct hoisting {
    struct ptx_function *function;
    struct ptx_analysis *analysis;
    bool *is_predicated; /* per block: the branch at its end */
    uint32_t *pressure;  /* per block: machine registers */
    uint8_t *words;      /* per register */
    uint32_t limit;      /* of the pressure */
    /* Per register: the last move that found it written, or read, by an instruction that stays. */
    uint32_t *written, *read;
    uint32_t move;
    bool *moves; /* per instruction of the block behind */
    struct ptx_instruction *kept;
    uint32_t change;  /* words that an instruction writes */
    bool is_possible; /* for the registers that are visited */
    bool is_needed;
};

static struct ptx_instruction *last_of(const struct hoisting *hoisting, uint32_t b) {
    const struct ptx_block *block = &hoisting->analysis->block[b];
    return &hoisting->function->instruction[block->first + block->count - 1];
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Returns whether paths enter and leave the blocks between two only through these. */
static bool are_inside(const struct ptx_analysis *analysis, uint32_t before, uint32_t behind) {
    for (uint32_t b = before + 1; b < behind; b++) {
        const struct ptx_block *block = &analysis->block[b];
        for (uint32_t k = 0; k < block->n_predecessors; k++)
            if (block->predecessor[k] < before || block->predecessor[k] >= behind)
                return false;
        for (uint32_t k = 0; k < block->n_successors; k++)
            if (block->successor[k] <= before || block->successor[k] > behind)
                return false;
    }
    return true;
}

/* Returns the block where the ways of the branch at the end of the block meet, if loads may come from there. */
static uint32_t find_behind(const struct hoisting *hoisting, uint32_t before) {
    const struct ptx_analysis *analysis = hoisting->analysis;
    const struct ptx_block *block = &analysis->block[before];
    uint32_t behind = block->post_dominator;
    if (block->n_successors != 2 || !block->count || last_of(hoisting, before)->opcode != PTX_OP_BRA ||
        behind == PTX_NO_BLOCK || behind <= before + 1 || behind + 1 >= analysis->n_blocks ||
        analysis->block[behind].dominator != before || analysis->block[behind].loop_header != block->loop_header ||
        !are_inside(analysis, before, behind))
        return ISA_NONE;
    bool is_short = hoisting->is_predicated[before] || block->successor[0] == behind || block->successor[1] == behind;
    for (uint32_t b = before + 1; b < behind && is_short; b++)
        is_short = analysis->block[b].n_successors < 2 || hoisting->is_predicated[b];
    return is_short ? behind : ISA_NONE;
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static bool is_plain_load(const struct ptx_instruction *insn) {
    return isa_is_slow_load(insn) && (insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_LDU) &&
           !ptx_has(insn, PTX_MOD_VOLATILE) && !ptx_has(insn, PTX_MOD_RELAXED) && !ptx_has(insn, PTX_MOD_ACQUIRE);
}

static bool is_address_arithmetic(const struct ptx_instruction *insn) {
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_BITS:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_CONVERT:
        return insn->opcode != PTX_OP_DIV && insn->opcode != PTX_OP_REM && !isa_is_fixed(insn);
    default:
        return (insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_PARAM) || insn->opcode == PTX_OP_CVTA;
    }
}

static void stay(void *user, uint32_t r, bool is_write) {
    struct hoisting *hoisting = user;
    (is_write ? hoisting->written : hoisting->read)[r] = hoisting->move;
}

static void check(void *user, uint32_t r, bool is_write) {
    struct hoisting *hoisting = user;
    hoisting->is_possible &=
        hoisting->written[r] != hoisting->move && !(is_write && hoisting->read[r] == hoisting->move);
    hoisting->change += is_write * hoisting->words[r];
}

/* `written` and `read` serve as the registers that moving instructions read, and those that they write. */
static void look_for_need(void *user, uint32_t r, bool is_write) {
    struct hoisting *hoisting = user;
    hoisting->is_needed |= is_write && hoisting->read[r] == hoisting->move;
}

static void need(void *user, uint32_t r, bool is_write) {
    struct hoisting *hoisting = user;
    if (!is_write)
        hoisting->read[r] = hoisting->move;
}

/* Marks the block's loads, and the instructions that compute their addresses. */
static bool find_wanted(struct hoisting *hoisting, const struct ptx_block *block) {
    bool has_load = false;
    hoisting->move++;
    for (uint32_t k = block->count; k-- > 0;) {
        const struct ptx_instruction *insn = &hoisting->function->instruction[block->first + k];
        bool is_load = is_plain_load(insn);
        hoisting->is_needed = is_load;
        if (is_address_arithmetic(insn))
            ptx_for_each_register(insn, look_for_need, hoisting);
        hoisting->moves[k] = hoisting->is_needed;
        if (hoisting->is_needed)
            ptx_for_each_register(insn, need, hoisting);
        has_load |= is_load;
    }
    return has_load;
}

/* Returns whether the load may move across an instruction. */
static bool may_cross(const struct ptx_instruction *load, const struct ptx_instruction *insn) {
    return !isa_is_ordered(insn) || !isa_may_meet(load, insn);
}

/* Decides which of the wanted instructions move. Returns how many. */
static uint32_t choose(struct hoisting *hoisting, uint32_t before, uint32_t behind) {
    const struct ptx_block *block = &hoisting->analysis->block[behind];
    const struct ptx_instruction *all = hoisting->function->instruction;
    uint32_t n = 0, n_loads = 0, first = (uint32_t)(last_of(hoisting, before) - all);
    hoisting->move++;
    for (uint32_t i = first; i < block->first; i++) {
        if ((isa_is_fixed(&all[i]) && all[i].opcode != PTX_OP_BRA) ||
            ptx_opcode_family(all[i].opcode) == PTX_FAMILY_WARP)
            return 0;
        ptx_for_each_register(&all[i], stay, hoisting);
    }
    bool is_open = true;
    for (uint32_t k = 0; k < block->count; k++) {
        const struct ptx_instruction *insn = &all[block->first + k];
        hoisting->is_possible = is_open && hoisting->moves[k];
        hoisting->change = 0;
        ptx_for_each_register(insn, check, hoisting);
        bool is_load = isa_is_slow_load(insn);
        for (uint32_t i = first; i < block->first + k && is_load && hoisting->is_possible; i++)
            hoisting->is_possible =
                (i >= block->first && hoisting->moves[i - block->first]) || may_cross(insn, &all[i]);
        for (uint32_t b = before; b <= behind && is_load && hoisting->is_possible; b++)
            hoisting->is_possible = is_open = hoisting->pressure[b] + hoisting->change <= hoisting->limit;
        for (uint32_t b = before; b <= behind && is_load && hoisting->is_possible; b++)
            hoisting->pressure[b] += hoisting->change;
        hoisting->moves[k] = hoisting->is_possible;
        n += hoisting->is_possible;
        n_loads += is_load && hoisting->is_possible;
        is_open &= !isa_is_fixed(insn);
        if (!hoisting->is_possible)
            ptx_for_each_register(insn, stay, hoisting);
    }
    return n_loads && n < block->count ? n : 0;
}

/* Puts the chosen instructions before the branch. */
static void put_before(struct hoisting *hoisting, uint32_t before, uint32_t behind, uint32_t n) {
    struct ptx_block *block = hoisting->analysis->block;
    struct ptx_instruction *all = hoisting->function->instruction;
    uint32_t branch = block[before].first + block[before].count - 1, n_kept = 0, n_moved = 0;
    uint32_t end = block[behind].first + block[behind].count;
    for (uint32_t i = branch; i < block[behind].first; i++)
        hoisting->kept[n_kept++] = all[i];
    for (uint32_t k = 0; k < block[behind].count; k++)
        if (hoisting->moves[k])
            all[branch + n_moved++] = all[block[behind].first + k];
        else
            hoisting->kept[n_kept++] = all[block[behind].first + k];
    memcpy(&all[branch + n], hoisting->kept, n_kept * sizeof *all);
    for (uint32_t i = 0; i < hoisting->function->n_instructions; i++) {
        if (isa_has_target(&all[i]) && all[i].operand[0].target > branch && all[i].operand[0].target < end)
            all[i].operand[0].target += n;
        for (uint32_t t = 0; t < all[i].n_targets; t++)
            all[i].target[t] += all[i].target[t] > branch && all[i].target[t] < end ? n : 0;
    }
    block[before].count += n;
    for (uint32_t b = before + 1; b <= behind; b++)
        block[b].first += n;
    block[behind].count -= n;
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static struct hoisting start(const struct isa_target *target, struct ptx_function *function) {
    struct hoisting hoisting = {.function = function, .analysis = ptx_analyze_flow(function)};
    const struct ptx_analysis *analysis = hoisting.analysis;
    struct isa_code code = isa_estimate(target, analysis);
    uint32_t *pressure = isa_find_pressure(&code);
    hoisting.is_predicated = base_allocate(analysis->n_blocks, sizeof(bool));
    hoisting.pressure = base_allocate(analysis->n_blocks, sizeof(uint32_t));
    hoisting.words = base_allocate(function->n_registers + 1, sizeof(uint8_t));
    hoisting.written = base_allocate(function->n_registers + 1, sizeof(uint32_t));
    hoisting.read = base_allocate(function->n_registers + 1, sizeof(uint32_t));
    hoisting.moves = base_allocate(function->n_instructions + 1, sizeof(bool));
    hoisting.kept = base_allocate(function->n_instructions + 1, sizeof *hoisting.kept);
    hoisting.limit = isa_find_need(target, function).enough - ISA_RESERVED_REGISTERS;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            hoisting.pressure[b] = pressure[i] > hoisting.pressure[b] ? pressure[i] : hoisting.pressure[b];
        hoisting.is_predicated[b] = block->count && code.insn[block->first + block->count - 1].is_predicated;
    }
    isa_find_words(&code, hoisting.words);
    isa_code_free(&code);
    free(pressure);
    return hoisting;
}

static void finish(struct hoisting *hoisting) {
    ptx_analysis_free(hoisting->analysis);
    free(hoisting->is_predicated);
    free(hoisting->pressure);
    free(hoisting->words);
    free(hoisting->written);
    free(hoisting->read);
    free(hoisting->moves);
    free(hoisting->kept);
}

/* Goes through the blocks from the last to the first, so that a load passes several branches. */
void isa_hoist_loads(const struct isa_target *target, struct ptx_function *function) {
    if (function->n_instructions < 2)
        return;
    struct hoisting hoisting = start(target, function);
    for (uint32_t before = hoisting.analysis->n_blocks - 1; before-- > 0;) {
        uint32_t behind = find_behind(&hoisting, before);
        if (behind == ISA_NONE || !find_wanted(&hoisting, &hoisting.analysis->block[behind]))
            continue;
        uint32_t n = choose(&hoisting, before, behind);
        if (n)
            put_before(&hoisting, before, behind, n);
    }
    finish(&hoisting);
}
