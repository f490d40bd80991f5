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

/* An instruction to insert before that at `at`. */
struct insertion {
    uint32_t at;
    struct ptx_instruction insn;
};

struct spilling {
    const struct isa_code *code;
    struct ptx_function *function;
    struct base_arena *arena;
    struct ptx_variable *frame;
    bool *is_fixed; /* per register: a call has it, or a load of this pass writes it */
    struct insertion *insertion;
    uint32_t n_insertions, room;
    struct ptx_register *reg;
    uint32_t n_registers, register_room;
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

static uint32_t add_register(struct spilling *spilling, uint32_t like) {
    if (spilling->n_registers == spilling->register_room) {
        spilling->register_room = 2 * spilling->register_room + 64;
        spilling->reg = base_grow(spilling->reg, spilling->register_room, sizeof *spilling->reg);
    }
    spilling->reg[spilling->n_registers] = spilling->reg[like];
    return spilling->n_registers++;
}

static void insert(struct spilling *spilling, uint32_t at, const struct ptx_instruction *near, enum ptx_opcode opcode,
                   uint32_t r, uint64_t offset, bool is_guarded) {
    if (spilling->n_insertions == spilling->room) {
        spilling->room = 2 * spilling->room + 64;
        spilling->insertion = base_grow(spilling->insertion, spilling->room, sizeof *spilling->insertion);
    }
    enum ptx_width width = ptx_type_width(spilling->reg[r].type);
    struct ptx_instruction insn = {.at = near->at, .source = near->source, .text = near->text, .opcode = opcode};
    insn.text_length = near->text_length;
    insn.space = PTX_SPACE_LOCAL;
    insn.vector = insn.n_types = 1;
    insn.n_operands = 2;
    insn.type[0] = width == PTX_WIDTH_64 ? PTX_B64 : width == PTX_WIDTH_32 ? PTX_B32 : PTX_B16;
    insn.guard = is_guarded ? near->guard : PTX_NO_INDEX;
    insn.guard_negated = is_guarded && near->guard_negated;
    insn.operand = BASE_ARENA_ARRAY(spilling->arena, struct ptx_operand, 2);
    struct ptx_operand address = {.kind = PTX_OPERAND_ADDRESS,
                                  .at = near->at,
                                  .register_id = PTX_NO_INDEX,
                                  .pair_id = PTX_NO_INDEX,
                                  .variable = spilling->frame,
                                  .offset = (int64_t)offset};
    struct ptx_operand value = {
        .kind = PTX_OPERAND_REGISTER, .at = near->at, .register_id = r, .pair_id = PTX_NO_INDEX};
    insn.operand[opcode == PTX_OP_ST] = value;
    insn.operand[opcode == PTX_OP_LD] = address;
    spilling->insertion[spilling->n_insertions++] = (struct insertion){at, insn};
}

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
    struct ptx_operand *element = BASE_ARENA_ARRAY(spilling->arena, struct ptx_operand, operand->n_elements + 1u);
    for (uint32_t e = 0; e < operand->n_elements; e++) {
        element[e] = operand->element[e];
        rename_operand(spilling, &element[e], from, to);
    }
    operand->element = element;
}

/* Writes the instruction with another name for a register that it reads. */
static void rename_reads(struct spilling *spilling, struct ptx_instruction *insn, uint32_t from, uint32_t to,
                         bool is_written) {
    struct ptx_operand *operand = BASE_ARENA_ARRAY(spilling->arena, struct ptx_operand, insn->n_operands + 1u);
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
            struct ptx_instruction *insn = &spilling->function->instruction[i];
            struct sight sight = {.wanted = r};
            ptx_for_each_register(insn, look, &sight);
            if (sight.is_read) {
                bool is_guarded = insn->guard != PTX_NO_INDEX;
                if (name == ISA_NONE || i - last > KEPT) {
                    uint32_t at = is_guarded || i < first + AHEAD ? (is_guarded ? i : first) : i - AHEAD;
                    name = add_register(spilling, r);
                    insert(spilling, at, insn, PTX_OP_LD, name, offset, is_guarded);
                }
                if (name != r)
                    rename_reads(spilling, insn, r, name, sight.is_written);
                last = i;
                name = is_guarded && name != r ? ISA_NONE : name;
            }
            if (sight.is_written) {
                insert(spilling, i + 1, insn, PTX_OP_ST, r, offset, insn->guard != PTX_NO_INDEX);
                name = insn->guard != PTX_NO_INDEX ? ISA_NONE : r;
                last = i;
                first = i + 1;
            }
        }
    }
}

static int compare(const void *a, const void *b) {
    const struct insertion *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->insn.opcode == PTX_OP_LD) - (y->insn.opcode == PTX_OP_LD); /* stores belong to the instruction before */
}

static void put_in(struct spilling *spilling) {
    struct ptx_function *function = spilling->function;
    uint32_t n = function->n_instructions, n_out = 0, next = 0;
    struct ptx_instruction *out =
        BASE_ARENA_ARRAY(spilling->arena, struct ptx_instruction, n + spilling->n_insertions + 1u);
    uint32_t *place = base_allocate(n + 1, sizeof *place);
    qsort(spilling->insertion, spilling->n_insertions, sizeof *spilling->insertion, compare);
    for (uint32_t i = 0; i <= n; i++) {
        while (next < spilling->n_insertions && spilling->insertion[next].at == i &&
               spilling->insertion[next].insn.opcode == PTX_OP_ST)
            out[n_out++] = spilling->insertion[next++].insn;
        place[i] = n_out;
        while (next < spilling->n_insertions && spilling->insertion[next].at == i)
            out[n_out++] = spilling->insertion[next++].insn;
        if (i < n)
            out[n_out++] = function->instruction[i];
    }
    for (uint32_t i = 0; i < n_out; i++) {
        if (isa_has_target(&out[i]))
            out[i].operand[0].target = place[out[i].operand[0].target];
        for (uint32_t t = 0; t < out[i].n_targets; t++)
            out[i].target[t] = place[out[i].target[t]];
    }
    function->instruction = out;
    function->n_instructions = n_out;
    free(place);
}

static struct ptx_variable *add_frame(struct ptx_function *function, struct base_arena *arena) {
    struct ptx_variable **variable = BASE_ARENA_ARRAY(arena, struct ptx_variable *, function->n_variables + 1u);
    struct ptx_variable *frame = BASE_ARENA_NEW(arena, struct ptx_variable);
    *frame = (struct ptx_variable){.name = ISA_SPILL_NAME,
                                   .at = function->at,
                                   .space = PTX_SPACE_LOCAL,
                                   .type = PTX_B8,
                                   .is_array = true,
                                   .vector = 1,
                                   .alignment = 8,
                                   .index = function->n_variables,
                                   .register_id = PTX_NO_INDEX,
                                   .owner = function};
    for (uint32_t i = 0; i < function->n_variables; i++)
        variable[i] = function->variable[i];
    variable[function->n_variables++] = frame;
    function->variable = variable;
    return frame;
}

/* Spills registers at the place where most are live. Returns whether it could. */
static bool spill_once(struct spilling *spilling) {
    struct ptx_function *function = spilling->function;
    struct isa_peak peak = isa_find_peak(spilling->code);
    uint32_t n = function->n_registers;
    bool *is_spilled = base_allocate(n + 1, sizeof(bool));
    bool has_one = peak.excess && choose(spilling, &peak, is_spilled);
    spilling->n_insertions = 0;
    spilling->n_registers = spilling->register_room = n;
    spilling->reg = base_allocate(n + 1, sizeof *spilling->reg);
    memcpy(spilling->reg, function->reg, n * sizeof *spilling->reg);
    for (uint32_t r = 0; r < n && has_one; r++)
        if (is_spilled[r]) {
            uint64_t bytes = ptx_type_width(function->reg[r].type) == PTX_WIDTH_64 ? 8 : 4;
            if (!spilling->frame)
                spilling->frame = add_frame(function, spilling->arena);
            spilling->frame->size = (spilling->frame->size + bytes - 1) / bytes * bytes;
            spill(spilling, r, spilling->frame->size);
            spilling->frame->size += bytes;
        }
    if (has_one) {
        put_in(spilling);
        function->reg = BASE_ARENA_ARRAY(spilling->arena, struct ptx_register, spilling->n_registers + 1u);
        memcpy(function->reg, spilling->reg, spilling->n_registers * sizeof *spilling->reg);
        spilling->is_fixed = base_grow(spilling->is_fixed, spilling->n_registers + 1, sizeof(bool));
        for (uint32_t r = 0; r < spilling->n_registers; r++)
            spilling->is_fixed[r] = r >= n || spilling->is_fixed[r] || is_spilled[r];
        function->n_registers = spilling->n_registers;
    }
    free(spilling->reg);
    free(is_spilled);
    free(peak.words);
    return has_one;
}

void isa_spill(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena) {
    enum { MOST_ROUNDS = 64 };
    struct spilling spilling = {.function = function, .arena = arena};
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
    free(spilling.insertion);
}
