/* Spilled registers. If a kernel's directives, or the 255 registers that an instruction can name, allow fewer registers
 * than the values that are live at once, ptxas keeps some of them in local memory. This pass writes the stores and
 * loads into the text, so they issue, and pass through the caches, like those of any other variable. Every thread
 * computes the same as before.
 *
 * Where most values are live, those are chosen whose instructions execute least often, by the depth of their loops. A
 * value is stored where it is written, and loaded a few instructions before it is read; reads that follow closely use
 * the same load. ptxas also moves values between spills and recomputes some of them, which is left out. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "isa/internal.h"

enum {
    KEPT = 4,  /* instructions between two reads that use one load */
    AHEAD = 2, /* instructions between a load and the read */
};

struct spilling {
    const struct isa_code *code;
    struct isa_insertions insertions;
    struct ptx_variable *frame;
    bool *is_fixed; /* per register: a call has it, or a load of this pass writes it */
};

static void note_fixed(void *user, uint32_t r, bool is_write) {
    bool *is_fixed = user;
    (void)is_write;
    is_fixed[r] = true;
}

/* ---- Choice ------------------------------------------------------------------------------------------------------ */

static uint64_t weight_of(const struct isa_code *code, uint32_t i) {
    enum { PER_LOOP = 8, DEEPEST = 5 };
    uint32_t depth = code->analysis->block[code->analysis->block_of[i]].loop_depth;
    uint64_t weight = 1;
    for (uint32_t d = 0; d < depth && d < DEEPEST; d++)
        weight *= PER_LOOP;
    return weight;
}

struct costs {
    const struct isa_code *code;
    uint64_t *cost; /* per register */
    uint32_t at;
};

static void add_cost(void *user, uint32_t r, bool is_write) {
    struct costs *costs = user;
    (void)is_write;
    costs->cost[r] += weight_of(costs->code, costs->at);
}

/* Marks registers to spill, as many as there are too many. Returns whether there is one. */
static bool choose(const struct spilling *spilling, const struct isa_peak *peak, bool *is_spilled) {
    const struct isa_code *code = spilling->code;
    uint32_t n_registers = code->function->n_registers, words = peak->excess;
    struct costs costs = {.code = code, .cost = base_allocate(n_registers + 1, sizeof(uint64_t))};
    bool has_one = false;
    for (costs.at = 0; costs.at < code->n; costs.at++)
        ptx_for_each_register(isa_source(code, costs.at), add_cost, &costs);
    while (words) {
        uint32_t best = ISA_NONE;
        for (uint32_t r = 0; r < n_registers; r++)
            if (peak->words[r] && !is_spilled[r] && !spilling->is_fixed[r] &&
                (best == ISA_NONE || costs.cost[r] * peak->words[best] < costs.cost[best] * peak->words[r]))
                best = r;
        if (best == ISA_NONE)
            break;
        is_spilled[best] = has_one = true;
        words -= peak->words[best] < words ? peak->words[best] : words;
    }
    free(costs.cost);
    return has_one;
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

struct sight {
    uint32_t wanted;
    bool is_read, is_written;
};

static void look(void *user, uint32_t r, bool is_write) {
    struct sight *sight = user;
    if (r != sight->wanted)
        return;
    sight->is_read |= !is_write;
    sight->is_written |= is_write;
}

static void rename_operand(struct spilling *spilling, struct ptx_operand *operand, uint32_t from, uint32_t to) {
    bool has_register = operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_ADDRESS;
    if (has_register && operand->register_id == from)
        operand->register_id = to;
    if (operand->kind != PTX_OPERAND_VECTOR)
        return;
    struct ptx_operand *element =
        BASE_ARENA_ARRAY(spilling->insertions.arena, struct ptx_operand, operand->n_elements + 1u);
    for (uint32_t e = 0; e < operand->n_elements; e++) {
        element[e] = operand->element[e];
        rename_operand(spilling, &element[e], from, to);
    }
    operand->element = element;
}

/* Writes the instruction with another name for a register that it reads. */
static void rename_reads(struct spilling *spilling, struct ptx_instruction *insn, uint32_t from, uint32_t to,
                         bool is_written) {
    struct ptx_operand *operand =
        BASE_ARENA_ARRAY(spilling->insertions.arena, struct ptx_operand, insn->n_operands + 1u);
    for (unsigned k = 0; k < insn->n_operands; k++) {
        operand[k] = insn->operand[k];
        if (k || !is_written)
            rename_operand(spilling, &operand[k], from, to);
    }
    insn->operand = operand;
}

/* Stores the register after each write and loads it before reads. */
static void spill(struct spilling *spilling, uint32_t r, uint64_t offset) {
    const struct ptx_analysis *analysis = spilling->code->analysis;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        uint32_t name = ISA_NONE, last = 0, first = block->first; /* its name now; its last use; where a load may be */
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            struct ptx_instruction *insn = &spilling->insertions.function->instruction[i];
            struct sight sight = {.wanted = r};
            ptx_for_each_register(insn, look, &sight);
            if (sight.is_read) {
                bool is_guarded = insn->guard != PTX_NO_INDEX;
                if (name == ISA_NONE || i - last > KEPT) {
                    uint32_t at = is_guarded || i < first + AHEAD ? (is_guarded ? i : first) : i - AHEAD;
                    name = isa_insert_register(&spilling->insertions, spilling->insertions.function->reg[r]);
                    isa_insert_access(&spilling->insertions, at, insn, PTX_OP_LD, name, spilling->frame, offset,
                                      is_guarded);
                }
                if (name != r)
                    rename_reads(spilling, insn, r, name, sight.is_written);
                last = i;
                name = is_guarded && name != r ? ISA_NONE : name;
            }
            if (sight.is_written) {
                isa_insert_access(&spilling->insertions, i + 1, insn, PTX_OP_ST, r, spilling->frame, offset,
                                  insn->guard != PTX_NO_INDEX);
                name = insn->guard != PTX_NO_INDEX ? ISA_NONE : r;
                last = i;
                first = i + 1;
            }
        }
    }
}

/* Spills registers at the place where most are live. Returns whether it could. */
static bool spill_once(struct spilling *spilling) {
    struct ptx_function *function = spilling->insertions.function;
    struct isa_peak peak = isa_find_peak(spilling->code);
    uint32_t n = function->n_registers;
    bool *is_spilled = base_allocate(n + 1, sizeof(bool));
    bool has_one = peak.excess && choose(spilling, &peak, is_spilled);
    for (uint32_t r = 0; r < n && has_one; r++)
        if (is_spilled[r]) {
            uint64_t bytes = ptx_type_width(function->reg[r].type) == PTX_WIDTH_64 ? 8 : 4;
            if (!spilling->frame)
                spilling->frame = isa_insert_frame(&spilling->insertions, ISA_SPILL_NAME);
            spilling->frame->size = (spilling->frame->size + bytes - 1) / bytes * bytes;
            spill(spilling, r, spilling->frame->size);
            spilling->frame->size += bytes;
        }
    if (has_one) {
        isa_insert_all(&spilling->insertions);
        spilling->is_fixed = base_grow(spilling->is_fixed, function->n_registers + 1, sizeof(bool));
        for (uint32_t r = 0; r < function->n_registers; r++)
            spilling->is_fixed[r] = r >= n || spilling->is_fixed[r] || is_spilled[r];
    }
    free(is_spilled);
    free(peak.words);
    return has_one;
}

void isa_spill(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena) {
    enum { MOST_ROUNDS = 64 };
    struct spilling spilling = {.insertions = {.function = function, .arena = arena}};
    spilling.is_fixed = base_allocate(function->n_registers + 1, sizeof(bool));
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (function->instruction[i].opcode == PTX_OP_CALL)
            ptx_for_each_register(&function->instruction[i], note_fixed, spilling.is_fixed);
    bool goes_on = true;
    for (unsigned round = 0; goes_on && round < MOST_ROUNDS; round++) {
        struct ptx_analysis *analysis = ptx_analyze_flow(function);
        struct isa_code code = isa_code_new(target, analysis);
        isa_fold(&code);
        spilling.code = &code;
        goes_on = spill_once(&spilling);
        isa_code_free(&code);
        ptx_analysis_free(analysis);
    }
    free(spilling.is_fixed);
}
