/* Where the parameters of a kernel and the base of shared memory come into registers. PTX names each of them once.
 * ptxas loads a parameter (LDC, ULDC), and computes the base (S2UR, UMOV, ULEA), in each basic block that needs it,
 * and with two more instructions the address of each variable of shared memory but the first,
 * unless a block that comes before it on every path has done so, for a parameter one of the same loop. What every
 * iteration of an innermost loop needs is brought before the loop, unless the loop calls a function, or is unrolled and
 * needs a pair. Each predicated path brings its own. A wide product with a sum needs a parameter in a pair of
 * registers, other instructions in a uniform pair, so both may be loaded. The reciprocal of a divisor that does not
 * change in a loop is computed before it. (ptxas 13.0 on small kernels.)
 *
 * Left out: words side by side that are loaded together, and values that are computed from parameters alone. */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

enum { LOAD = 1, SHARED_BASE = 3, SHARED_VARIABLE = 2 }; /* machine instructions */

/* A place where a value comes into registers. */
struct home {
    uint32_t block, guard, n_calls; /* n_calls: before it in the text */
    bool is_negated, is_pair;       /* is_pair: into two registers, for a wide product with a sum */
};

struct homes {
    struct home *home;
    uint32_t n, cost;
    bool is_shared; /* addresses of shared memory */
};

static bool dominates(const struct ptx_analysis *analysis, uint32_t above, uint32_t b) {
    while (b != above && b != PTX_NO_BLOCK)
        b = analysis->block[b].dominator;
    return b == above;
}

static bool is_innermost(const struct ptx_analysis *analysis, uint32_t header) {
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        if (analysis->loop[l].parent != PTX_NO_INDEX && analysis->loop[analysis->loop[l].parent].header == header)
            return false;
    return true;
}

static bool has_call(const struct isa_code *code, uint32_t header) {
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_source(code, i)->opcode == PTX_OP_CALL && isa_is_in_loop(code, i, header))
            return true;
    return false;
}

/* Returns whether each iteration of the block's loop executes it. */
static bool is_in_every_iteration(const struct ptx_analysis *analysis, uint32_t b) {
    uint32_t header = analysis->block[b].loop_header;
    for (uint32_t p = 0; p < analysis->block[header].n_predecessors; p++) {
        uint32_t from = analysis->block[header].predecessor[p];
        if (dominates(analysis, header, from) && !dominates(analysis, b, from))
            return false;
    }
    return true;
}

/* Returns whether the loop contains several bodies, which unroll.c has written. */
static bool is_unrolled(const struct isa_code *code, uint32_t header) {
    const struct ptx_block *block = &code->analysis->block[header];
    const struct ptx_location *first = &isa_source(code, block->first)->at;
    for (uint32_t i = block->first + 1; i < code->n; i++) {
        const struct ptx_location *at = &isa_source(code, i)->at;
        if (isa_is_in_loop(code, i, header) && at->line && at->line == first->line && at->column == first->column)
            return true;
    }
    return false;
}

/* Returns the block that brings what block b needs. */
static uint32_t block_for(const struct isa_code *code, uint32_t b, bool leaves_every_loop) {
    const struct ptx_analysis *analysis = code->analysis;
    for (bool is_first = true; is_first || leaves_every_loop; is_first = false) {
        uint32_t header = analysis->block[b].loop_header;
        if (header == PTX_NO_BLOCK || analysis->block[header].dominator == PTX_NO_BLOCK ||
            !(leaves_every_loop || is_innermost(analysis, header)) || !is_in_every_iteration(analysis, b) ||
            has_call(code, header))
            break;
        b = analysis->block[header].dominator;
    }
    return b;
}

static struct home home_of(const struct isa_code *code, uint32_t use, const struct homes *homes) {
    const struct ptx_instruction *insn = isa_source(code, use);
    struct home home = {.guard = insn->guard, .is_negated = insn->guard_negated};
    home.is_pair = code->insn[use].takes == ISA_TAKES_WIDE_PRODUCT;
    for (uint32_t i = 0; i < use; i++)
        home.n_calls += isa_source(code, i)->opcode == PTX_OP_CALL;
    home.block = code->analysis->block_of[use];
    uint32_t header = code->analysis->block[home.block].loop_header;
    bool stays = home.is_pair && header != PTX_NO_BLOCK && is_unrolled(code, header);
    if (insn->guard == PTX_NO_INDEX && !stays)
        home.block = block_for(code, home.block, homes->is_shared);
    return home;
}

/* Returns whether the value is in its register already. */
static bool is_there(const struct isa_code *code, const struct homes *homes, const struct home *wanted) {
    const struct ptx_block *block = code->analysis->block;
    for (uint32_t k = 0; k < homes->n; k++) {
        const struct home *other = &homes->home[k];
        if (other->is_pair != wanted->is_pair || other->n_calls != wanted->n_calls)
            continue;
        bool is_kept = homes->is_shared || block[other->block].loop_header == block[wanted->block].loop_header;
        if (other->guard == PTX_NO_INDEX ? is_kept && dominates(code->analysis, other->block, wanted->block)
                                         : other->block == wanted->block && other->guard == wanted->guard &&
                                               other->is_negated == wanted->is_negated)
            return true;
    }
    return false;
}

/* Returns the instruction that pays. Predicated paths have no costs of their own: their branch has them. */
static uint32_t payer_of(const struct isa_code *code, const struct home *home, uint32_t use) {
    const struct ptx_block *block = &code->analysis->block[home->block];
    if (code->analysis->block_of[use] != home->block)
        return block->first + block->count - 1;
    if (block->n_predecessors == 1) {
        const struct ptx_block *before = &code->analysis->block[block->predecessor[0]];
        uint32_t last = before->first + before->count - 1;
        if (before->count && code->insn[last].is_predicated)
            return last;
    }
    return use;
}

static void bring(struct isa_code *code, uint32_t use, struct homes *homes) {
    struct home home = home_of(code, use, homes);
    if (is_there(code, homes, &home))
        return;
    homes->home[homes->n++] = home;
    struct isa_insn *payer = &code->insn[payer_of(code, &home, use)];
    payer->parts = (uint16_t)(payer->parts + homes->cost * ISA_PARTS);
}

static void bring_to_uses(struct isa_code *code, uint32_t r, struct homes *homes) {
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++) {
        uint32_t use = code->use[u], result = isa_result(isa_source(code, use));
        const struct ptx_instruction *insn = isa_source(code, use);
        bool is_name = (insn->opcode == PTX_OP_CVTA || insn->opcode == PTX_OP_MOV) && !code->insn[use].parts;
        if (is_name && result != ISA_NONE && code->n_definitions[result] == 1)
            bring_to_uses(code, result, homes);
        else
            bring(code, use, homes);
    }
}

static bool is_parameter(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    uint32_t r = isa_result(insn);
    return code->function->is_entry && insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_PARAM &&
           insn->guard == PTX_NO_INDEX && r != ISA_NONE && code->n_definitions[r] == 1 &&
           insn->operand[1].register_id == PTX_NO_INDEX;
}

/* Returns whether the instruction brings an address of shared memory into a register. */
static bool is_shared_place(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    uint32_t r = isa_result(insn);
    return insn->opcode == PTX_OP_MOV && insn->operand[1].kind == PTX_OPERAND_VARIABLE &&
           insn->operand[1].variable->space == PTX_SPACE_SHARED && r != ISA_NONE && code->n_definitions[r] == 1;
}

/* Returns whether the instruction accesses a variable of shared memory by its name. */
static bool names_shared_place(const struct ptx_instruction *insn) {
    for (unsigned k = 0; isa_is_access(insn) && k < insn->n_operands; k++) {
        const struct ptx_operand *operand = &insn->operand[k];
        if (operand->kind == PTX_OPERAND_ADDRESS && operand->variable && operand->register_id == PTX_NO_INDEX)
            return operand->variable->space == PTX_SPACE_SHARED;
    }
    return false;
}

/* Brings the address of a variable other than the first one: the base and its offset (UIADD3, ULEA). */
static void place_variable(struct isa_code *code, const struct ptx_variable *variable, struct homes *homes) {
    homes->n = 0;
    homes->cost = SHARED_VARIABLE;
    for (uint32_t i = 0; i < code->n; i++)
        if (is_shared_place(code, i) && isa_source(code, i)->operand[1].variable == variable)
            bring_to_uses(code, isa_result(isa_source(code, i)), homes);
}

static void place_other_variables(struct isa_code *code, struct homes *homes) {
    enum { MOST = 8 };
    const struct ptx_variable *seen[MOST];
    unsigned n = 0;
    for (uint32_t i = 0; i < code->n && n < MOST; i++) {
        if (!is_shared_place(code, i))
            continue;
        const struct ptx_variable *variable = isa_source(code, i)->operand[1].variable;
        unsigned k = 0;
        while (k < n && seen[k] != variable)
            k++;
        if (k < n)
            continue;
        seen[n++] = variable;
        if (n > 1)
            place_variable(code, variable, homes);
    }
}

static void place_shared_base(struct isa_code *code, struct homes *homes) {
    homes->n = 0;
    homes->cost = SHARED_BASE;
    homes->is_shared = true;
    for (uint32_t i = 0; i < code->n; i++)
        if (is_shared_place(code, i)) {
            code->insn[i].parts = 0;
            bring_to_uses(code, isa_result(isa_source(code, i)), homes);
        } else if (names_shared_place(isa_source(code, i))) {
            bring(code, i, homes);
        }
    place_other_variables(code, homes);
    homes->is_shared = false;
}

/* ---- Pointers of all threads ------------------------------------------------------------------------------------- */

/* Returns whether the operand is a parameter or the address of a variable, perhaps with a constant. */
static bool is_from_parameter(const struct isa_code *code, const struct ptx_operand *operand) {
    enum { DEEPEST = 8 };
    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        uint32_t d = isa_definition(code, operand);
        if (d == ISA_NONE)
            return false;
        const struct ptx_instruction *insn = isa_source(code, d);
        bool is_name = insn->opcode == PTX_OP_MOV || insn->opcode == PTX_OP_CVTA ||
                       (insn->opcode == PTX_OP_ADD && isa_is_constant(&insn->operand[2]));
        if (!is_name)
            return is_parameter(code, d);
        operand = &insn->operand[1];
        if (operand->kind == PTX_OPERAND_VARIABLE)
            return operand->variable->space == PTX_SPACE_GLOBAL;
    }
    return false;
}

static bool is_start_of_pointer(const struct isa_code *code, const struct ptx_instruction *insn) {
    bool is_name = insn->opcode == PTX_OP_MOV || insn->opcode == PTX_OP_CVTA ||
                   (insn->opcode == PTX_OP_ADD && isa_is_constant(&insn->operand[2]));
    bool is_variable = insn->n_operands > 1 && insn->operand[1].kind == PTX_OPERAND_VARIABLE &&
                       insn->operand[1].variable->space == PTX_SPACE_GLOBAL;
    return is_name && (is_variable || is_from_parameter(code, &insn->operand[1]));
}

static bool is_step_of_pointer(const struct ptx_instruction *insn, uint32_t r) {
    return insn->opcode == PTX_OP_ADD && insn->operand[1].kind == PTX_OPERAND_REGISTER &&
           insn->operand[1].register_id == r && isa_is_constant(&insn->operand[2]);
}

/* Returns whether the register begins as a parameter or a variable's address, and moves on by a constant in the loop,
 * and in copies of the loop if there are any. */
static bool is_moved_pointer(const struct isa_code *code, uint32_t r, uint32_t header) {
    int64_t step;
    uint32_t n_starts = 0;
    if (code->is_short[r] || code->n_definitions[r] < 2 || isa_find_step(code, r, header, &step) == ISA_NONE)
        return false;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_result(insn) != r || is_step_of_pointer(insn, r))
            continue;
        if (!is_start_of_pointer(code, insn))
            return false;
        n_starts++;
    }
    return n_starts == 1;
}

/* Returns whether all threads leave the loop in the same iteration. */
static bool ends_for_all(const struct isa_code *code, uint32_t header) {
    const struct ptx_analysis *analysis = code->analysis;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        bool may_leave = block->loop_header == header && block->n_successors == 2 &&
                         (analysis->block[block->successor[0]].loop_header != header ||
                          analysis->block[block->successor[1]].loop_header != header);
        if (may_leave && !analysis->is_uniform_branch[block->first + block->count - 1])
            return false;
    }
    return true;
}

/* Returns whether the instruction needs the register in a pair that is not uniform: as the address of an access to
 * global memory, or to add a wide product to it. */
static bool needs_copy(const struct isa_code *code, uint32_t i, const struct ptx_operand *operand) {
    const struct ptx_instruction *insn = isa_source(code, i);
    if (isa_is_access(insn))
        return insn->space == PTX_SPACE_GLOBAL && operand->kind == PTX_OPERAND_ADDRESS;
    return code->insn[i].parts && code->insn[i].takes == ISA_TAKES_WIDE_PRODUCT &&
           operand->kind == PTX_OPERAND_REGISTER && operand != &insn->operand[0];
}

/* A pointer that is the same for all threads moves on in uniform registers. Some instructions read another pair, so it
 * is copied in each iteration; not in a loop that is unrolled. */
static void copy_pointers(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    bool *is_copied = base_allocate(code->function->n_registers + 1, sizeof(bool));
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t header = analysis->block[analysis->block_of[i]].loop_header;
        if (header == PTX_NO_BLOCK)
            continue;
        for (unsigned k = 0; k < insn->n_operands; k++) {
            const struct ptx_operand *operand = &insn->operand[k];
            uint32_t r = operand->register_id;
            if (!needs_copy(code, i, operand) || r == PTX_NO_INDEX || is_copied[r] ||
                !is_moved_pointer(code, r, header) || !ends_for_all(code, header) || is_unrolled(code, header))
                continue;
            is_copied[r] = true;
            code->insn[i].parts = (uint16_t)(code->insn[i].parts + 2 * ISA_PARTS);
        }
    }
    free(is_copied);
}

/* The reciprocal of a divisor that a loop does not change is computed before the loop: I2F, MUFU.RCP, F2I and its
 * correction. */
static void place_reciprocals(struct isa_code *code) {
    enum { RECIPROCAL = 10 };
    const struct ptx_analysis *analysis = code->analysis;
    uint32_t *above = base_allocate(code->function->n_registers + 1, sizeof *above); /* the block with it, from 1 */
    for (uint32_t i = 0; i < code->n; i++) {
        uint32_t header = analysis->block[analysis->block_of[i]].loop_header;
        if (!isa_leaves_reciprocal(code, i) || analysis->block[header].dominator == PTX_NO_BLOCK)
            continue;
        uint32_t r = isa_source(code, i)->operand[2].register_id, home = analysis->block[header].dominator;
        const struct ptx_block *block = &analysis->block[home];
        if (!block->count || (above[r] && dominates(analysis, above[r] - 1, home)))
            continue;
        above[r] = home + 1;
        struct isa_insn *payer = &code->insn[block->first + block->count - 1];
        payer->parts = (uint16_t)(payer->parts + RECIPROCAL * ISA_PARTS);
    }
    free(above);
}

void isa_place_bases(struct isa_code *code) {
    uint32_t most = code->first_use[code->function->n_registers] + code->n;
    struct homes homes = {.home = base_allocate(most + 1, sizeof *homes.home), .cost = LOAD};
    for (uint32_t i = 0; i < code->n; i++) {
        if (!is_parameter(code, i))
            continue;
        code->insn[i].parts = (uint16_t)(code->insn[i].parts - ISA_PARTS);
        homes.n = 0;
        bring_to_uses(code, isa_result(isa_source(code, i)), &homes);
    }
    place_shared_base(code, &homes);
    place_reciprocals(code);
    copy_pointers(code);
    free(homes.home);
}
