/* Finds the registers that hold the same value in all threads of a block: those that do not depend on the thread's
 * identity.
 *
 * Registers are assumed uniform until one of their writes is not. A write is not uniform when the instruction's result
 * differs by thread (%tid, loads, atomics, warp-wide exchange, calls, clocks), when a source or the guard is not
 * uniform, or when paths of a divergent branch that wrote the register differently join: the register is written
 * between the branch and its reconvergence point and is live at a block that several of its paths reach. That covers
 * values carried out of a loop that threads leave after different numbers of iterations (temporal divergence; R.
 * Karrenberg and S. Hack, "Improving Performance of OpenCL on CPUs", 2012). There is one verdict per register, which is
 * imprecise if a register is reused.
 *
 * A register that may be read before it is written holds an old value of its slot and is not uniform. */
#include "ptx/analysis/passes.h"

#include <string.h>

/* Limit on the instructions visited while following branches. Beyond it every register that crosses a block boundary
 * counts as not uniform; only generated functions with many thousands of nested branches reach it. */
enum { STEP_BUDGET = 100 * 1000 * 1000 };

enum { PATH_NONE = 0, PATH_SEVERAL = UINT16_MAX };

struct spread {
    struct ptx_passes *passes;
    const struct ptx_function *function;
    bool *varies;                    /* per register */
    uint32_t *pending, n_pending;    /* varying registers whose readers are not processed yet */
    uint32_t *reader, *reader_start; /* instructions by the register they read */
    bool *is_divergent;              /* per instruction: a branch already followed */
    uint16_t *path;                  /* per block, while a branch is followed: the number of the path that reaches it */
    uint32_t *region, n_region;      /* blocks with a path */
    uint32_t *stack;
    uint64_t
        *written; /* while a branch is followed, bits of crossing registers: written in the region, not known to vary */
    uint64_t n_steps;
    bool has_given_up;
};

static void set_varying(struct spread *spread, uint32_t r) {
    if (spread->varies[r])
        return;
    spread->varies[r] = true;
    spread->pending[spread->n_pending++] = r;
}

static void set_results_varying(struct spread *spread, uint32_t i) {
    const struct ptx_passes *passes = spread->passes;
    for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++)
        if (passes->access[a].is_write)
            set_varying(spread, passes->access[a].register_id);
}

static bool special_varies(const struct ptx_function *function, enum ptx_special special) {
    switch (special) {
    case PTX_SPECIAL_TID_X:
    case PTX_SPECIAL_TID_Y:
    case PTX_SPECIAL_TID_Z: /* always 0 where the block is known to be one thread wide */
        return function->required_threads[special - PTX_SPECIAL_TID_X] != 1;
    case PTX_SPECIAL_LANEID:
    case PTX_SPECIAL_WARPID:
    case PTX_SPECIAL_LANEMASK_EQ:
    case PTX_SPECIAL_LANEMASK_LE:
    case PTX_SPECIAL_LANEMASK_LT:
    case PTX_SPECIAL_LANEMASK_GE:
    case PTX_SPECIAL_LANEMASK_GT:
    case PTX_SPECIAL_CLOCK:
    case PTX_SPECIAL_CLOCK_HI:
    case PTX_SPECIAL_CLOCK64:
    case PTX_SPECIAL_GLOBALTIMER:
    case PTX_SPECIAL_GLOBALTIMER_LO:
    case PTX_SPECIAL_GLOBALTIMER_HI:
    case PTX_SPECIAL_PM:
        return true;
    default:
        return false;
    }
}

static bool operand_varies(const struct ptx_function *function, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_SPECIAL)
        return special_varies(function, operand->special);
    for (uint32_t i = 0; operand->kind == PTX_OPERAND_VECTOR && i < operand->n_elements; i++)
        if (operand_varies(function, &operand->element[i]))
            return true;
    return false;
}

/* Kernel parameters and constants are the same for all threads; parameters of a function come from each calling
 * thread. */
static bool load_varies(const struct ptx_function *function, const struct ptx_instruction *load) {
    if (load->space == PTX_SPACE_CONST)
        return false;
    if (load->space != PTX_SPACE_PARAM || !function->is_entry)
        return true;
    const struct ptx_variable *variable = load->n_operands > 1 ? load->operand[1].variable : NULL;
    bool is_kernel_parameter = variable && function->n_parameters && variable >= function->parameter &&
                               variable < function->parameter + function->n_parameters;
    return variable && !is_kernel_parameter; /* otherwise the result of a call */
}

/* bar.red without a thread count returns one result to all threads of the block, whatever their inputs. */
static bool is_block_reduction(const struct ptx_instruction *instruction) {
    return (instruction->opcode == PTX_OP_BAR || instruction->opcode == PTX_OP_BARRIER) &&
           ptx_has(instruction, PTX_MOD_RED) && instruction->guard == PTX_NO_INDEX && instruction->n_operands == 3 &&
           instruction->operand[1].kind == PTX_OPERAND_INTEGER;
}

/* Returns whether the result differs by thread even if all sources are the same. */
static bool result_varies(const struct ptx_function *function, const struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_LD:
        return load_varies(function, instruction);
    case PTX_OP_CVTA:
    case PTX_OP_ISSPACEP:
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        return false;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return !is_block_reduction(instruction);
    case PTX_OP_ADDC: /* the carry is not followed */
    case PTX_OP_SUBC:
    case PTX_OP_MADC:
        return true;
    default:
        break;
    }
    if (!ptx_is_computation(instruction->opcode))
        return true;
    for (uint32_t i = 0; i < instruction->n_operands; i++)
        if (operand_varies(function, &instruction->operand[i]))
            return true;
    return false;
}

static void find_readers(struct spread *spread) {
    const struct ptx_passes *passes = spread->passes;
    uint32_t n = spread->function->n_instructions, n_registers = spread->function->n_registers;
    spread->reader_start = BASE_ARENA_ARRAY(passes->scratch, uint32_t, (size_t)n_registers + 1);
    spread->reader = BASE_ARENA_ARRAY(passes->scratch, uint32_t, passes->access_start[n]);
    uint32_t *filled = BASE_ARENA_ARRAY(passes->scratch, uint32_t, n_registers);
    for (uint32_t a = 0; a < passes->access_start[n]; a++)
        spread->reader_start[passes->access[a].register_id + 1] += !passes->access[a].is_write;
    for (uint32_t r = 0; r < n_registers; r++)
        spread->reader_start[r + 1] += spread->reader_start[r];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++) {
            uint32_t r = passes->access[a].register_id;
            if (!passes->access[a].is_write)
                spread->reader[spread->reader_start[r] + filled[r]++] = i;
        }
}

/* Walks one path of a branch up to the reconvergence point and marks the blocks that it has in common with other
 * paths. */
static void follow_path(struct spread *spread, uint16_t number, uint32_t first, uint32_t reconvergence) {
    const struct ptx_analysis *analysis = spread->passes->analysis;
    uint32_t depth = 0;
    spread->stack[depth++] = first;
    while (depth > 0) {
        uint32_t b = spread->stack[--depth];
        uint16_t known = spread->path[b];
        if (b == reconvergence || known == number || known == PATH_SEVERAL)
            continue;
        if (known == PATH_NONE)
            spread->region[spread->n_region++] = b;
        spread->path[b] = known == PATH_NONE ? number : (uint16_t)PATH_SEVERAL;
        spread->n_steps += analysis->block[b].count + 1;
        for (uint32_t s = 0; s < analysis->block[b].n_successors; s++)
            spread->stack[depth++] = analysis->block[b].successor[s];
    }
}

static void note_written(struct spread *spread, uint32_t block) {
    const struct ptx_passes *passes = spread->passes;
    const struct ptx_block *range = &passes->analysis->block[block];
    uint32_t end = passes->access_start[range->first + range->count];
    for (uint32_t a = passes->access_start[range->first]; a < end; a++) {
        uint32_t r = passes->access[a].register_id, bit = passes->analysis->crossing_index[r];
        if (passes->access[a].is_write && bit != PTX_NO_INDEX && !spread->varies[r])
            spread->written[bit / 64] |= 1ull << (bit % 64);
    }
}

static void vary_where_paths_join(struct spread *spread, uint32_t block) {
    const struct ptx_analysis *analysis = spread->passes->analysis;
    const uint64_t *live_in = &analysis->live_in[block * analysis->live_words];
    spread->n_steps += analysis->live_words;
    for (size_t w = 0; w < analysis->live_words; w++) {
        uint64_t found = spread->written[w] & live_in[w];
        spread->written[w] &= ~found;
        for (; found != 0; found &= found - 1)
            set_varying(spread, analysis->crossing[64 * w + (unsigned)__builtin_ctzll(found)]);
    }
}

static void give_up(struct spread *spread) {
    if (spread->has_given_up)
        return;
    spread->has_given_up = true;
    for (uint32_t k = 0; k < spread->passes->analysis->n_crossing; k++)
        set_varying(spread, spread->passes->analysis->crossing[k]);
}

static void follow_branch(struct spread *spread, uint32_t branch) {
    const struct ptx_analysis *analysis = spread->passes->analysis;
    if (spread->is_divergent[branch])
        return;
    spread->is_divergent[branch] = true;
    const struct ptx_block *block = &analysis->block[analysis->block_of[branch]];
    if (spread->n_steps > STEP_BUDGET || block->n_successors >= PATH_SEVERAL) {
        give_up(spread);
        return;
    }
    uint32_t reconvergence = spread->passes->reconvergence_block[analysis->block_of[branch]];
    spread->n_region = 0;
    for (uint32_t s = 0; s < block->n_successors; s++)
        follow_path(spread, (uint16_t)(s + 1), block->successor[s], reconvergence);
    memset(spread->written, 0, analysis->live_words * sizeof *spread->written);
    for (uint32_t k = 0; k < spread->n_region; k++)
        note_written(spread, spread->region[k]);
    vary_where_paths_join(spread, reconvergence);
    for (uint32_t k = 0; k < spread->n_region; k++) {
        if (spread->path[spread->region[k]] == PATH_SEVERAL)
            vary_where_paths_join(spread, spread->region[k]);
        spread->path[spread->region[k]] = PATH_NONE;
    }
}

static void spread_to_reader(struct spread *spread, uint32_t i) {
    const struct ptx_instruction *instruction = &spread->function->instruction[i];
    if (instruction->opcode == PTX_OP_BRA || instruction->opcode == PTX_OP_BRX)
        follow_branch(spread, i);
    else if (!is_block_reduction(instruction))
        set_results_varying(spread, i);
}

static void find_sources(struct spread *spread) {
    const struct ptx_analysis *analysis = spread->passes->analysis;
    const struct ptx_function *function = spread->function;
    for (uint32_t k = 0; k < analysis->n_crossing; k++)
        if (ptx_is_live_in(analysis, 0, analysis->crossing[k]))
            set_varying(spread, analysis->crossing[k]);
    for (uint32_t p = 0; !function->is_entry && p < function->n_parameters; p++)
        if (function->parameter[p].register_id < function->n_registers)
            set_varying(spread, function->parameter[p].register_id);
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (result_varies(function, &function->instruction[i]))
            set_results_varying(spread, i);
}

/* Returns whether all threads take the same direction; false for other instructions. */
static bool is_uniform_branch(const struct spread *spread, uint32_t i) {
    const struct ptx_instruction *instruction = &spread->function->instruction[i];
    bool guard_varies = instruction->guard != PTX_NO_INDEX && spread->varies[instruction->guard];
    const struct ptx_operand *target = instruction->call ? &instruction->call->target : NULL;
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        return !guard_varies;
    case PTX_OP_BRX:
        return !spread->is_divergent[i];
    case PTX_OP_CALL:
        return !guard_varies && !(target->kind == PTX_OPERAND_REGISTER && spread->varies[target->register_id]);
    default:
        return false;
    }
}

static void write_verdicts(struct spread *spread) {
    const struct ptx_function *function = spread->function;
    struct ptx_analysis *analysis = spread->passes->analysis;
    analysis->is_uniform = BASE_ARENA_ARRAY(analysis->arena, bool, function->n_registers);
    for (uint32_t r = 0; r < function->n_registers; r++)
        analysis->is_uniform[r] = !(analysis->slot && analysis->slot[r] == PTX_NO_INDEX) && !spread->varies[r];
    analysis->is_uniform_branch = BASE_ARENA_ARRAY(analysis->arena, bool, function->n_instructions);
    for (uint32_t i = 0; i < function->n_instructions; i++)
        analysis->is_uniform_branch[i] = is_uniform_branch(spread, i);
}

void ptx_find_uniform(struct ptx_passes *passes) {
    const struct ptx_function *function = passes->function;
    struct base_arena *scratch = passes->scratch;
    uint32_t n_blocks = passes->analysis->n_blocks, n_edges = 0;
    for (uint32_t b = 0; b < n_blocks; b++)
        n_edges += passes->analysis->block[b].n_successors;
    struct spread spread = {.passes = passes,
                            .function = function,
                            .varies = BASE_ARENA_ARRAY(scratch, bool, function->n_registers),
                            .pending = BASE_ARENA_ARRAY(scratch, uint32_t, function->n_registers),
                            .is_divergent = BASE_ARENA_ARRAY(scratch, bool, function->n_instructions),
                            .path = BASE_ARENA_ARRAY(scratch, uint16_t, n_blocks),
                            .region = BASE_ARENA_ARRAY(scratch, uint32_t, n_blocks),
                            .stack = BASE_ARENA_ARRAY(scratch, uint32_t, 2 * (size_t)n_edges + 1),
                            .written = BASE_ARENA_ARRAY(scratch, uint64_t, passes->analysis->live_words)};
    find_readers(&spread);
    find_sources(&spread);
    while (spread.n_pending > 0) {
        uint32_t r = spread.pending[--spread.n_pending];
        for (uint32_t k = spread.reader_start[r]; k < spread.reader_start[r + 1]; k++)
            spread_to_reader(&spread, spread.reader[k]);
    }
    write_verdicts(&spread);
}
