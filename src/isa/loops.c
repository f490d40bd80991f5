/* Loops. A compiler unrolls a loop if its counter changes by a constant until it reaches a fixed bound. It unrolls the
 * loop a few times if the number of iterations is known only at run time, and more often, or completely, if that number
 * is a constant. unroll.c writes the bodies. For a loop that unroll.c leaves as it is, this pass charges the counters,
 * the comparison and the branch only once in several iterations. */
#include "isa/internal.h"

bool isa_is_in_loop(const struct isa_code *code, uint32_t i, uint32_t header) {
    const struct ptx_analysis *analysis = code->analysis;
    return analysis->block[analysis->block_of[i]].loop_header == header;
}

static bool is_innermost(const struct ptx_analysis *analysis, uint32_t l) {
    for (uint32_t k = 0; k < analysis->n_loops; k++)
        if (analysis->loop[k].parent == l)
            return false;
    return true;
}

uint32_t isa_find_step(const struct isa_code *code, uint32_t r, uint32_t header, int64_t *step) {
    uint32_t found = ISA_NONE;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_result(insn) != r || !isa_is_in_loop(code, i, header))
            continue;
        bool is_step = (insn->opcode == PTX_OP_ADD || insn->opcode == PTX_OP_SUB) && !isa_is_float(insn) &&
                       insn->operand[1].kind == PTX_OPERAND_REGISTER && insn->operand[1].register_id == r &&
                       insn->operand[2].kind == PTX_OPERAND_INTEGER && insn->guard == PTX_NO_INDEX;
        if (!is_step || found != ISA_NONE)
            return ISA_NONE;
        found = i;
        *step = (int64_t)insn->operand[2].value;
        if (insn->opcode == PTX_OP_SUB)
            *step = -*step;
        if (ptx_type_bits(isa_type(insn)) == 32)
            *step = (int32_t)*step;
    }
    return found;
}

static bool is_defined_in_loop(const struct isa_code *code, const struct ptx_operand *operand, uint32_t header) {
    if (operand->kind != PTX_OPERAND_REGISTER)
        return false;
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_is_in_loop(code, i, header) && isa_result(isa_source(code, i)) == operand->register_id)
            return true;
    return false;
}

/* The constant that the counter has before the loop. */
static bool find_start(const struct isa_code *code, uint32_t r, uint32_t header, int64_t *start) {
    unsigned n = 0;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_result(insn) != r || isa_is_in_loop(code, i, header))
            continue;
        const struct ptx_operand *value = isa_moved_integer(code, insn);
        if (!value)
            return false;
        *start = (int64_t)value->value;
        n++;
    }
    return n == 1;
}

/* Returns whether the comparison's first operand is a counter of the loop, and the second does not change in it. */
static bool is_counter(const struct isa_code *code, uint32_t comparison, struct isa_loop *loop) {
    if (comparison == ISA_NONE || isa_source(code, comparison)->opcode != PTX_OP_SETP ||
        isa_source(code, comparison)->operand[1].kind != PTX_OPERAND_REGISTER)
        return false;
    const struct ptx_operand *counter = &isa_source(code, comparison)->operand[1];
    const struct ptx_operand *bound = &isa_source(code, comparison)->operand[2];
    int64_t step = 0, start = 0;
    uint32_t at = isa_find_step(code, counter->register_id, loop->header, &step);
    if (at == ISA_NONE || !step || is_defined_in_loop(code, bound, loop->header))
        return false;
    loop->comparison = comparison;
    loop->step = at;
    loop->by = step;
    if (bound->kind == PTX_OPERAND_INTEGER && find_start(code, counter->register_id, loop->header, &start)) {
        int64_t distance = (int64_t)bound->value - start;
        if (distance / step > 0)
            loop->iterations = (uint64_t)((distance + step - (step > 0 ? 1 : -1)) / step);
    }
    return true;
}

/* Returns whether the loop goes on only if another condition holds too, beside that of a counter with a known number of
 * iterations. */
static bool is_counter_and_more(const struct isa_code *code, uint32_t conjunction, struct isa_loop *loop) {
    if (conjunction == ISA_NONE || isa_source(code, conjunction)->opcode != PTX_OP_AND)
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        const struct ptx_operand *counted = &isa_source(code, conjunction)->operand[k];
        const struct ptx_operand *other = &isa_source(code, conjunction)->operand[3 - k];
        if (other->kind == PTX_OPERAND_REGISTER && counted->kind == PTX_OPERAND_REGISTER &&
            isa_n_uses(code, counted->register_id) == 1 && is_counter(code, isa_definition(code, counted), loop) &&
            loop->iterations) {
            loop->conjunction = conjunction;
            loop->other = other->register_id;
            return true;
        }
    }
    return false;
}

/* Whether the loop ends by comparing its counter with a bound. */
static bool find_counter(const struct isa_code *code, uint32_t header, struct isa_loop *loop) {
    const struct ptx_analysis *analysis = code->analysis;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (!isa_is_in_loop(code, i, header) || insn->opcode != PTX_OP_BRA || insn->guard == PTX_NO_INDEX ||
            insn->operand[0].target != analysis->block[header].first)
            continue;
        struct ptx_operand guard = {.kind = PTX_OPERAND_REGISTER, .register_id = insn->guard};
        *loop = (struct isa_loop){.header = header, .branch = i, .conjunction = ISA_NONE, .other = ISA_NONE};
        uint32_t definition = isa_definition(code, &guard);
        return is_counter(code, definition, loop) || is_counter_and_more(code, definition, loop);
    }
    return false;
}

/* Returns whether the loop contains code that keeps ptxas from unrolling it. */
static bool has_calls(const struct isa_code *code, uint32_t header) {
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_is_in_loop(code, i, header) &&
            (isa_source(code, i)->opcode == PTX_OP_CALL || isa_source(code, i)->opcode == PTX_OP_BRX ||
             isa_has_rare_path(isa_source(code, i))))
            return true;
    return false;
}

/* Divisions of words. A divisor that the loop does not change makes no difference, nor does another division by it. */
static uint32_t weight_of_division(const struct ptx_instruction *insn) {
    static const uint8_t weight[2][2][2] = {{{22, 20}, {28, 25}}, {{19, 17}, {24, 21}}};
    bool is_by_constant = isa_is_constant(&insn->operand[2]), is_rest = insn->opcode == PTX_OP_REM;
    return weight[is_by_constant][ptx_type_kind(isa_type(insn)) == PTX_KIND_S][is_rest] * ISA_PARTS;
}

/* Returns whether lanes with the same address may combine their values, for which ptxas plans a sequence. */
static bool is_combination(const struct ptx_instruction *insn) {
    return ptx_type_kind(isa_type(insn)) != PTX_KIND_F && ptx_type_bits(isa_type(insn)) == 32 &&
           (ptx_has(insn, PTX_MOD_ADD) || ptx_has(insn, PTX_MOD_MIN) || ptx_has(insn, PTX_MOD_MAX) ||
            ptx_has(insn, PTX_MOD_AND) || ptx_has(insn, PTX_MOD_OR) || ptx_has(insn, PTX_MOD_XOR));
}

/* Returns the parts of an instruction as ptxas counts it before it unrolls a loop. It has not yet joined instructions,
 * nor divided operations on 64 bits, and its sequences for divisions and special functions are still longer. */
static uint32_t weight_of(const struct isa_code *code, uint32_t i) {
    enum { DIVISION_BY_CONSTANT = 16, COMBINATION = 10, MOST_WIDE = 4 };
    const struct ptx_instruction *insn = isa_source(code, i);
    uint32_t cost = code->target->cost(code, i);
    bool is_division = insn->opcode == PTX_OP_DIV || insn->opcode == PTX_OP_REM;
    switch (insn->opcode) {
    case PTX_OP_MOV:
        return insn->operand[1].kind == PTX_OPERAND_SPECIAL ? ISA_PARTS : 0;
    case PTX_OP_CVT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
        return ISA_PARTS;
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
        if (is_division && !isa_is_float(insn) && ptx_type_bits(isa_type(insn)) == 32)
            return weight_of_division(insn);
        if (is_division && !isa_is_float(insn) && isa_is_constant(&insn->operand[2]))
            return DIVISION_BY_CONSTANT * ISA_PARTS;
        return cost > 1 ? cost * ISA_PARTS * 3 / 2 : ISA_PARTS;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return (is_combination(insn) ? COMBINATION : 1) * ISA_PARTS;
    default:
        return isa_is_wide(code, insn) && cost <= MOST_WIDE ? ISA_PARTS : cost * ISA_PARTS;
    }
}

static bool is_plain_access(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST;
}

/* The length of a body with a known number of iterations: an access counts almost twice. */
static uint32_t known_weight(const struct isa_code *code, uint32_t header) {
    enum { ACCESS = 30 }; /* parts */
    uint32_t sum = 0;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_is_in_loop(code, i, header))
            sum += is_plain_access(insn) ? ACCESS : weight_of(code, i);
    }
    return sum / ISA_PARTS;
}

/* The length of a body whose number of iterations is known only at run time: accesses count twice, except loads of
 * constants. */
static uint32_t unknown_weight(const struct isa_code *code, uint32_t header) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_is_in_loop(code, i, header))
            sum += !is_plain_access(insn)           ? weight_of(code, i)
                   : insn->space == PTX_SPACE_CONST ? ISA_PARTS
                                                    : 2 * ISA_PARTS;
    }
    return sum / ISA_PARTS;
}

/* The longest body of a loop with unknown iterations that is unrolled. Each load of shared memory allows a longer one.
 */
static uint32_t most_body(const struct isa_code *code, uint32_t header) {
    const struct isa_compiler *compiler = code->target->compiler;
    uint32_t most = compiler->unroll.most_body, n_shared = 0;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode != PTX_OP_LD || !isa_is_in_loop(code, i, header))
            continue;
        n_shared += insn->space == PTX_SPACE_SHARED;
        if (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC || insn->space == PTX_SPACE_LOCAL)
            most = compiler->unroll.most_global;
    }
    uint32_t with_shared = compiler->unroll.most_shared + n_shared * compiler->unroll.more_shared;
    most = n_shared && with_shared > most ? with_shared : most;
    return most < compiler->unroll.most ? most : compiler->unroll.most;
}

static bool has_branches(const struct isa_code *code, uint32_t header) {
    uint32_t n_blocks = 0;
    for (uint32_t b = 0; b + 1 < code->analysis->n_blocks; b++)
        n_blocks += code->analysis->block[b].loop_header == header;
    return n_blocks > 1;
}

/* How many iterations become one if their number is known; 0: all. The iterations that remain are written out too, so
 * fewer bodies are repeated if that leaves fewer. */
static uint32_t unrolled_times(const struct isa_compiler *compiler, uint32_t body, uint64_t iterations,
                               bool is_straight) {
    if (iterations * body * body <= compiler->unroll.complete || iterations * body <= compiler->unroll.few)
        return 0;
    if (!is_straight || body > compiler->unroll.partial_body)
        return 1;
    uint32_t times = compiler->unroll.partial / body;
    while (times > 1 && (times + iterations % times) * body > compiler->unroll.partial)
        times--;
    return times;
}

/* Returns whether the loop has no branch but that at its end. */
static bool is_straight(const struct isa_code *code, const struct isa_loop *loop) {
    return loop->conjunction == ISA_NONE && !has_branches(code, loop->header);
}

/* The pragma stands before one of the header's instructions. */
static bool is_kept(const struct isa_code *code, uint32_t header) {
    const struct ptx_block *block = &code->analysis->block[header];
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (isa_source(code, i)->has_nounroll)
            return true;
    return false;
}

static bool is_always_reached(const struct isa_code *code, const struct isa_loop *loop, uint32_t block) {
    uint32_t b = code->analysis->block_of[loop->branch];
    while (b != block && b != loop->header && b != PTX_NO_BLOCK)
        b = code->analysis->block[b].dominator;
    return b == block;
}

/* Returns whether each iteration executes the instruction. */
static bool is_unconditional(const struct isa_code *code, const struct isa_loop *loop, uint32_t i) {
    return isa_source(code, i)->guard == PTX_NO_INDEX && is_always_reached(code, loop, code->analysis->block_of[i]);
}

/* Returns whether a branch other than that at the loop's end leaves it. */
static bool has_other_exit(const struct isa_code *code, const struct isa_loop *loop) {
    const struct ptx_analysis *analysis = code->analysis;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        if (block->loop_header != loop->header || b == analysis->block_of[loop->branch])
            continue;
        for (uint32_t s = 0; s < block->n_successors; s++)
            if (analysis->block[block->successor[s]].loop_header != loop->header)
                return true;
    }
    return false;
}

/* Returns whether a conditional branch of the loop depends on another one, apart from those that end an iteration. */
static bool has_nested_branch(const struct isa_code *code, const struct isa_loop *loop) {
    for (uint32_t b = 0; b + 1 < code->analysis->n_blocks; b++) {
        const struct ptx_block *block = &code->analysis->block[b];
        uint32_t last = block->first + block->count - 1;
        bool is_branch = block->loop_header == loop->header && block->count && isa_has_target(isa_source(code, last)) &&
                         isa_source(code, last)->guard != PTX_NO_INDEX;
        if (is_branch && !is_always_reached(code, loop, b))
            return true;
    }
    return false;
}

/* Returns whether lanes of a warp wait for each other, or ask which of them are there. */
static bool is_for_warp(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_BAR || insn->opcode == PTX_OP_BARRIER ||
           ptx_opcode_family(insn->opcode) == PTX_FAMILY_WARP;
}

/* Returns whether the loop stays as it is, whatever its length: if some of its iterations wait for a barrier, or if the
 * number of iterations is known only at run time and the loop can end early, branches depend on each other, or it
 * contains a fence, or a barrier beside a branch. If then the threads of a warp may need different numbers, also if it
 * contains an instruction for the whole warp, an atomic, or a store that only some iterations execute. */
static bool must_stay(const struct isa_code *code, const struct isa_loop *loop) {
    bool is_known = loop->iterations, is_divergent = !is_known && !code->analysis->is_uniform_branch[loop->branch];
    bool has_branch = has_branches(code, loop->header);
    if (!is_known && (has_other_exit(code, loop) || has_nested_branch(code, loop)))
        return true;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (!isa_is_in_loop(code, i, loop->header))
            continue;
        bool is_barrier = insn->opcode == PTX_OP_BAR || insn->opcode == PTX_OP_BARRIER;
        bool is_fence = insn->opcode == PTX_OP_MEMBAR || insn->opcode == PTX_OP_FENCE;
        bool is_atomic = insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED;
        if (!is_known && (is_fence || (is_barrier && has_branch)))
            return true;
        if (is_divergent && (is_atomic || is_for_warp(insn)))
            return true;
        if ((is_barrier || (is_divergent && insn->opcode == PTX_OP_ST)) && !is_unconditional(code, loop, i))
            return true;
    }
    return false;
}

bool isa_find_loop(const struct isa_code *code, uint32_t l, struct isa_loop *loop) {
    uint32_t header = code->analysis->loop[l].header;
    if (!is_innermost(code->analysis, l) || is_kept(code, header) || !find_counter(code, header, loop))
        return false;
    if (has_calls(code, header) || must_stay(code, loop))
        return false;
    const struct isa_compiler *compiler = code->target->compiler;
    if (loop->iterations)
        loop->times = unrolled_times(compiler, known_weight(code, header), loop->iterations, is_straight(code, loop));
    else
        loop->times = unknown_weight(code, header) <= most_body(code, header) ? compiler->unroll.times : 1;
    return loop->times != 1;
}

static void divide(struct isa_code *code, uint32_t i, uint32_t times) {
    code->insn[i].parts = (uint16_t)(times ? code->insn[i].parts / times : 0);
}

static void amortize_loop(struct isa_code *code, const struct isa_loop *loop) {
    uint32_t times = loop->times;
    divide(code, loop->branch, times);
    divide(code, loop->comparison, times);
    /* All counters: pointers move on by the offsets of the accesses. */
    for (uint32_t i = 0; i < code->n; i++) {
        uint32_t r = isa_result(isa_source(code, i));
        int64_t step;
        if (r != ISA_NONE && isa_is_in_loop(code, i, loop->header) && code->n_definitions[r] > 1 &&
            isa_find_step(code, r, loop->header, &step) == i)
            divide(code, i, times);
    }
    uint32_t first = code->analysis->block[loop->header].first;
    if (!loop->iterations && first && !isa_is_in_loop(code, first - 1, loop->header))
        code->insn[first - 1].parts =
            (uint16_t)(code->insn[first - 1].parts + code->target->compiler->unroll.entry_cost * ISA_PARTS);
}

void isa_amortize_loops(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        struct isa_loop loop;
        if (isa_find_loop(code, l, &loop) && loop.conjunction == ISA_NONE)
            amortize_loop(code, &loop);
    }
}
