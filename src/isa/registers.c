/* Estimates the registers that ptxas gives to each thread, which decide how many blocks an SM holds.
 *
 * There are two bounds. The lower one is the largest number of registers that are live at once if these values need
 * none: predicates, constants and parameters, which are operands in constant memory; results that are folded into
 * another instruction, for which its own operands stay live instead; and values that are the same for all threads,
 * which ptxas keeps in uniform registers. One register is the stack pointer. The upper one counts all values of the
 * text.
 *
 * ptxas stays within the registers that a thread of a full SM can use if it can, and spends them on addresses and loads
 * ahead: its numbers lie between the bounds. Above that limit it is as sparing as it can be. A kernel's .maxnreg, or
 * .maxntid and .minnctapersm, lower the limit; values beyond it would be spilled, which is not modelled.
 *
 * tests/registers compares the numbers with those of ptxas. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

/* The registers of an instruction: at most MOST_SEEN, of which the first n_read are read. */
enum { MOST_SEEN = 96 };

struct seen {
    uint32_t read[MOST_SEEN], written[MOST_SEEN];
    uint32_t n_read, n_written;
};

struct counting {
    const struct isa_code *code;
    uint8_t *words;        /* per register: machine registers that it takes */
    bool *is_seen_through; /* per register: its value is a part of the instructions that read it */
    struct seen seen;
    uint64_t *live_in;
    size_t n_words; /* of a set */
};

static void see(void *user, uint32_t r, bool is_write);

/* Adds a register that is read, or, if it is seen through, those from which it comes. */
static void add_read(struct counting *counting, uint32_t r) {
    struct seen *seen = &counting->seen;
    if (counting->is_seen_through[r]) {
        struct seen before = *seen;
        ptx_for_each_register(isa_source(counting->code, counting->code->definition[r]), see, counting);
        seen->n_written = before.n_written;
        return;
    }
    if (counting->words[r] && seen->n_read < MOST_SEEN)
        seen->read[seen->n_read++] = r;
}

static void see(void *user, uint32_t r, bool is_write) {
    struct counting *counting = user;
    if (!is_write)
        add_read(counting, r);
    else if (counting->words[r] && !counting->is_seen_through[r] && counting->seen.n_written < MOST_SEEN)
        counting->seen.written[counting->seen.n_written++] = r;
}

static void look_at(struct counting *counting, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(counting->code, i);
    uint32_t r = isa_result(insn);
    counting->seen.n_read = counting->seen.n_written = 0;
    if (r != ISA_NONE && counting->is_seen_through[r])
        return;
    ptx_for_each_register(insn, see, counting);
}

/* ---- Values without a register ----------------------------------------------------------------------------------- */

static bool is_uniform_arithmetic(const struct isa_code *code, uint32_t r) {
    const struct ptx_instruction *insn = isa_source(code, code->definition[r]);
    if (!code->analysis->is_uniform[r] || insn->guard != PTX_NO_INDEX || isa_is_float(insn))
        return false;
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_BITS:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_CONVERT:
        return insn->opcode != PTX_OP_DIV && insn->opcode != PTX_OP_REM && !isa_converts(insn);
    default:
        return false;
    }
}

static bool is_seen_through(const struct isa_code *code, uint32_t r) {
    if (code->n_definitions[r] != 1)
        return false;
    uint32_t i = code->definition[r];
    const struct ptx_instruction *insn = isa_source(code, i);
    if (isa_result(insn) != r || insn->guard != PTX_NO_INDEX)
        return false;
    if (insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_PARAM)
        return code->function->is_entry;
    if (insn->opcode == PTX_OP_MOV && insn->n_operands > 1 && isa_is_constant(&insn->operand[1]))
        return true;
    if (isa_is_access(insn) || insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_CALL)
        return false;
    return code->insn[i].parts == 0 || is_uniform_arithmetic(code, r);
}

static void find_words(struct counting *counting) {
    const struct isa_code *code = counting->code;
    for (uint32_t r = 0; r < code->function->n_registers; r++) {
        switch (ptx_type_width(code->function->reg[r].type)) {
        case PTX_WIDTH_PRED:
            counting->words[r] = 0;
            break;
        case PTX_WIDTH_64:
            counting->words[r] = code->is_short[r] ? 1 : 2;
            break;
        default:
            counting->words[r] = 1;
        }
        counting->is_seen_through[r] = is_seen_through(code, r);
    }
}

/* ---- Liveness ---------------------------------------------------------------------------------------------------- */

static bool has(const uint64_t *set, uint32_t r) { return set[r / 64] >> (r % 64) & 1; }
static void put(uint64_t *set, uint32_t r) { set[r / 64] |= 1ull << (r % 64); }
static void drop(uint64_t *set, uint32_t r) { set[r / 64] &= ~(1ull << (r % 64)); }

/* Goes through the block from its end with the registers that are live there. Returns the most words live at once. */
static uint32_t pass_block(struct counting *counting, const struct ptx_block *block, uint64_t *live) {
    uint32_t words = 0, most = 0;
    for (uint32_t r = 0; r < counting->code->function->n_registers; r++)
        words += has(live, r) ? counting->words[r] : 0;
    most = words;
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        const struct seen *seen = &counting->seen;
        uint32_t unread = 0;
        look_at(counting, i);
        bool is_guarded = isa_source(counting->code, i)->guard != PTX_NO_INDEX;
        for (uint32_t k = 0; k < seen->n_written; k++) {
            uint32_t r = seen->written[k];
            if (!has(live, r))
                unread += counting->words[r];
            else if (!is_guarded) {
                drop(live, r);
                words -= counting->words[r];
                unread += counting->words[r];
            }
        }
        most = words + unread > most ? words + unread : most;
        for (uint32_t k = 0; k < seen->n_read; k++)
            if (!has(live, seen->read[k])) {
                put(live, seen->read[k]);
                words += counting->words[seen->read[k]];
            }
        most = words > most ? words : most;
    }
    return most;
}

static void find_live_out(const struct counting *counting, uint32_t b, uint64_t *live) {
    const struct ptx_block *block = &counting->code->analysis->block[b];
    memset(live, 0, counting->n_words * sizeof *live);
    for (uint32_t s = 0; s < block->n_successors; s++)
        for (size_t w = 0; w < counting->n_words; w++)
            live[w] |= counting->live_in[block->successor[s] * counting->n_words + w];
}

static uint32_t find_most(struct counting *counting) {
    const struct ptx_analysis *analysis = counting->code->analysis;
    uint64_t *live = base_allocate(counting->n_words, sizeof *live);
    uint32_t most = 0;
    counting->live_in = base_allocate(analysis->n_blocks * counting->n_words, sizeof *counting->live_in);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        most = 0;
        for (uint32_t b = analysis->n_blocks - 1; b-- > 0;) {
            uint64_t *before = &counting->live_in[b * counting->n_words];
            find_live_out(counting, b, live);
            uint32_t words = pass_block(counting, &analysis->block[b], live);
            most = words > most ? words : most;
            has_changed |= memcmp(before, live, counting->n_words * sizeof *live) != 0;
            memcpy(before, live, counting->n_words * sizeof *live);
        }
    }
    free(counting->live_in);
    free(live);
    return most;
}

/* The most that the kernel's own directives allow; 0: they say nothing. */
static uint32_t find_allowed(const struct ptx_function *function) {
    enum { REGISTERS = 65536, UNIT = 8, MOST = 255 }; /* of an SM, since sm_30 */
    uint32_t threads = 1, allowed = 0;
    for (unsigned d = 0; d < 3; d++) {
        uint32_t most = function->required_threads[d] ? function->required_threads[d] : function->max_threads[d];
        threads *= most ? most : 1;
    }
    bool has_threads = function->required_threads[0] || function->max_threads[0];
    if (function->min_blocks_per_sm && has_threads)
        allowed = REGISTERS / (function->min_blocks_per_sm * ((threads + 31) / 32 * 32)) / UNIT * UNIT;
    if (function->max_registers && (!allowed || function->max_registers < allowed))
        allowed = function->max_registers;
    return allowed < MOST ? allowed : MOST;
}

void isa_count_registers(const struct isa_target *target, struct ptx_function *function) {
    enum { STACK_POINTER = 1, LEAST = 8, AHEAD = 4, SPARE = 2 };
    uint32_t of_full_sm = (uint32_t)target->compiler->schedule.registers;
    struct ptx_analysis *analysis = ptx_analyze(function);
    struct isa_code code = isa_estimate(target, analysis);
    struct counting counting = {.code = &code, .n_words = function->n_registers / 64 + 1};
    counting.words = base_allocate(function->n_registers + 1, 1);
    counting.is_seen_through = base_allocate(function->n_registers + 1, sizeof(bool));
    find_words(&counting);
    uint32_t upper = analysis->register_count, lower = find_most(&counting) + STACK_POINTER;
    lower = lower < LEAST ? LEAST : lower;
    lower = lower > upper + STACK_POINTER && upper > LEAST ? upper + STACK_POINTER : lower;
    uint32_t n = (lower + upper) / 2 + AHEAD, allowed = find_allowed(function);
    if (lower > of_full_sm)
        n = lower + SPARE;
    else if (n > of_full_sm)
        n = of_full_sm;
    function->machine_registers = allowed && n > allowed ? allowed : n;
    free(counting.words);
    free(counting.is_seen_through);
    isa_code_free(&code);
    ptx_analysis_free(analysis);
}
