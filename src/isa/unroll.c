/* Unrolls loops. A compiler does so to let the loads of several iterations wait together, and to execute the counters,
 * the comparison and the branch only once for them. A loop whose number of iterations is known only at run time
 *
 *         LOOP: body; i += s; if (i < n) goto LOOP
 * becomes
 *               if (i + (T - 1) * s >= n) goto TWO
 *         MAIN: body; body with i + s; ... T times; i += T * s; if (i + (T - 1) * s < n) goto MAIN
 *         TWO:  if (i + s >= n) goto LAST
 *               body; body with i + s; i += 2 * s
 *         LAST: if (i >= n and a body was executed) goto END
 *         LOOP: as before
 *         END:
 * as ptxas does: lanes that skip MAIN or the two bodies wait for the others before they go on. TWO is left out if the
 * number of iterations is known.
 * A loop with a constant number of iterations that is not too long becomes that number of bodies. A register that every
 * iteration sets before reading it gets a new name in every body; in the last body only if nothing reads it after the
 * loop. An address that moves on with a counter is computed once, and the other bodies add to its offset. Every thread
 * executes the same bodies with the same values as before.
 *
 * A loop is not unrolled if its text is not contiguous, if it contains calls, or if its counter is not compared at its
 * end. With a constant number of iterations, the comparison may be one of two conditions; the other one then ends each
 * body. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "isa/unroll.h"

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* The role of a register of the loop in the bodies. */
enum role {
    SAME,      /* carried from one iteration to the next, or not changed */
    ANEW,      /* written before it is read in every iteration */
    INDUCTION, /* moves on by a constant */
    DERIVED,   /* an address: the sum of one of these two and of something that does not change */
};

struct unrolling {
    const struct isa_code *code;
    const struct unrolled_loop *loop;
    struct base_arena *arena;
    enum role *role;          /* per register */
    uint32_t *step;           /* per register: the addition of an induction, or the sum that derives a register */
    int64_t *by;              /* per register */
    uint32_t *from;           /* per derived register: that from which it comes */
    bool *is_value;           /* per register: an induction that is read other than as an address of 64 bits */
    uint32_t *name;           /* per register: its name at this place of this body */
    int64_t *ahead;           /* per register: the number to add to it for its value at this place */
    struct ptx_register *reg; /* with the new ones */
    uint32_t n_registers, register_room;
    struct ptx_instruction *out;
    uint32_t n, room;
    uint32_t *place; /* per instruction of the loop: its place in this body */
};

static bool is_address_width(enum ptx_width width) { return width == PTX_WIDTH_64 || width == PTX_WIDTH_32; }

static bool is_live_at_exit(const struct isa_code *code, const struct unrolled_loop *loop, uint32_t r) {
    for (uint32_t e = 0; e < loop->n_exits; e++)
        if (ptx_is_live_in(code->analysis, loop->exit[e], r))
            return true;
    return false;
}

/* Returns whether the last body needs the register under its own name: if code after the loop reads it, or if no other
 * loop remains that writes it. */
static bool keeps_name(const struct unrolling *unrolling, uint32_t r) {
    const struct unrolled_loop *loop = unrolling->loop;
    const struct ptx_analysis *analysis = unrolling->code->analysis;
    const struct ptx_block *block = &analysis->block[isa_block_of(unrolling->code, loop->last)];
    bool is_read = false;
    for (uint32_t s = 0; s < block->n_successors; s++)
        is_read |= block->successor[s] != loop->found.header && ptx_is_live_in(analysis, block->successor[s], r);
    return loop->is_whole || is_read;
}

static void note_write(void *user, uint32_t r, bool is_write) {
    struct unrolling *unrolling = user;
    const struct isa_code *code = unrolling->code;
    if (is_write && unrolling->role[r] == SAME && !ptx_is_live_in(code->analysis, unrolling->loop->found.header, r) &&
        !is_live_at_exit(code, unrolling->loop, r))
        unrolling->role[r] = ANEW;
}

/* Additions, which take part in addresses as offsets: sums with a register of 32 bits wrap as it does. */
static bool is_offset_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    return is_address_width(ptx_type_width(code->function->reg[r].type)) && isa_reads_as_address(insn, r);
}

static bool is_changed_in_loop(const struct isa_code *code, const struct unrolled_loop *loop, uint32_t r) {
    for (uint32_t i = loop->first; i <= loop->last; i++)
        if (isa_result(isa_source(code, i)) == r)
            return true;
    return false;
}

/* Returns the operand of a sum that moves on with the iterations, if the other one does not change; 0: there is none.
 */
static unsigned moving_operand(const struct unrolling *unrolling, const struct ptx_instruction *insn) {
    const struct isa_code *code = unrolling->code;
    if (insn->opcode != PTX_OP_ADD || isa_is_float(insn) || ptx_has(insn, PTX_MOD_CC))
        return 0;
    for (unsigned k = 1; k <= 2; k++) {
        const struct ptx_operand *moving = &insn->operand[k], *other = &insn->operand[3 - k];
        if (moving->kind != PTX_OPERAND_REGISTER ||
            (unrolling->role[moving->register_id] != INDUCTION && unrolling->role[moving->register_id] != DERIVED))
            continue;
        if (other->kind == PTX_OPERAND_INTEGER ||
            (other->kind == PTX_OPERAND_REGISTER && unrolling->role[other->register_id] == SAME &&
             !is_changed_in_loop(code, unrolling->loop, other->register_id)))
            return k;
    }
    return 0;
}

/* Returns whether everything that reads a derived register takes an offset, or derives another one. */
static bool is_only_address(const struct unrolling *unrolling, uint32_t r) {
    const struct isa_code *code = unrolling->code;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++) {
        const struct ptx_instruction *insn = isa_source(code, code->use[u]);
        uint32_t result = isa_result(insn);
        bool derives = result != ISA_NONE && unrolling->role[result] == DERIVED && unrolling->from[result] == r;
        if (!isa_is_inside(unrolling->loop, code->use[u]) || code->use[u] <= unrolling->step[r] ||
            !(derives || is_offset_use(code, insn, r)))
            return false;
    }
    return isa_n_uses(code, r) > 0;
}

/* Addresses that move on as an induction does: all bodies share the sum of the first. */
static void find_derived(struct unrolling *unrolling) {
    const struct isa_code *code = unrolling->code;
    const struct unrolled_loop *loop = unrolling->loop;
    bool has_one = false;
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t r = isa_result(insn);
        if (r == ISA_NONE || unrolling->role[r] != ANEW || code->n_definitions[r] != 1 || insn->guard != PTX_NO_INDEX ||
            isa_block_of(code, i) != isa_block_of(code, loop->first) ||
            !is_address_width(ptx_type_width(code->function->reg[r].type)))
            continue;
        unsigned k = moving_operand(unrolling, insn);
        if (!k || ptx_type_width(code->function->reg[insn->operand[k].register_id].type) !=
                      ptx_type_width(code->function->reg[r].type))
            continue;
        unrolling->role[r] = DERIVED;
        unrolling->from[r] = insn->operand[k].register_id;
        unrolling->step[r] = i;
        has_one = true;
    }
    while (has_one) {
        has_one = false;
        for (uint32_t i = loop->first; i < loop->last; i++) {
            uint32_t r = isa_result(isa_source(code, i));
            if (r == ISA_NONE || unrolling->role[r] != DERIVED)
                continue;
            enum role role = unrolling->role[unrolling->from[r]];
            if ((role != INDUCTION && role != DERIVED) || !is_only_address(unrolling, r)) {
                unrolling->role[r] = ANEW;
                has_one = true;
            }
        }
    }
}

static void find_roles(struct unrolling *unrolling) {
    const struct isa_code *code = unrolling->code;
    const struct unrolled_loop *loop = unrolling->loop;
    for (uint32_t i = loop->first; i <= loop->last; i++)
        ptx_for_each_register(isa_source(code, i), note_write, unrolling);
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        uint32_t r = isa_result(isa_source(code, i));
        int64_t by;
        if (r == ISA_NONE || unrolling->role[r] != SAME || isa_find_step(code, r, loop->found.header, &by) != i ||
            !isa_is_in_every_iteration(code, loop, i) || is_live_at_exit(code, loop, r))
            continue;
        unrolling->role[r] = INDUCTION;
        unrolling->step[r] = i;
        unrolling->by[r] = by;
    }
    find_derived(unrolling);
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        uint32_t r = isa_result(isa_source(code, i));
        if (r == ISA_NONE || unrolling->role[r] != INDUCTION || unrolling->step[r] != i)
            continue;
        for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++) {
            uint32_t at = code->use[u];
            uint32_t result = isa_result(isa_source(code, at));
            bool derives = result != ISA_NONE && unrolling->role[result] == DERIVED && unrolling->from[result] == r;
            if (isa_is_inside(loop, at) && at != i && at != loop->found.comparison && !derives &&
                !is_offset_use(code, isa_source(code, at), r))
                unrolling->is_value[r] = true;
        }
    }
}

static uint32_t add_register(struct unrolling *unrolling, enum ptx_type type, const char *name) {
    if (unrolling->n_registers == unrolling->register_room) {
        unrolling->register_room = 2 * unrolling->register_room + 64;
        unrolling->reg = base_grow(unrolling->reg, unrolling->register_room, sizeof *unrolling->reg);
    }
    unrolling->reg[unrolling->n_registers] = (struct ptx_register){name, type};
    return unrolling->n_registers++;
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static struct ptx_instruction *add(struct unrolling *unrolling, const struct ptx_instruction *insn) {
    if (unrolling->n == unrolling->room) {
        unrolling->room = 2 * unrolling->room + 256;
        unrolling->out = base_grow(unrolling->out, unrolling->room, sizeof *unrolling->out);
    }
    struct ptx_instruction *copy = &unrolling->out[unrolling->n++];
    *copy = *insn;
    return copy;
}

/* A copy with operands of its own. */
static struct ptx_instruction *add_own(struct unrolling *unrolling, const struct ptx_instruction *insn) {
    struct ptx_instruction *copy = add(unrolling, insn);
    copy->operand = BASE_ARENA_ARRAY(unrolling->arena, struct ptx_operand, insn->n_operands + 1u);
    for (unsigned k = 0; k < insn->n_operands; k++) {
        copy->operand[k] = insn->operand[k];
        if (insn->operand[k].kind != PTX_OPERAND_VECTOR)
            continue;
        copy->operand[k].element = BASE_ARENA_ARRAY(unrolling->arena, struct ptx_operand, insn->operand[k].n_elements);
        for (uint32_t e = 0; e < insn->operand[k].n_elements; e++)
            copy->operand[k].element[e] = insn->operand[k].element[e];
    }
    copy->has_nounroll = false;
    return copy;
}

static void set_modifier(struct ptx_instruction *insn, enum ptx_modifier modifier, bool is_set) {
    uint64_t bit = 1ull << (modifier % 64);
    insn->modifiers[modifier / 64] = (insn->modifiers[modifier / 64] & ~bit) | (is_set ? bit : 0);
}

static struct ptx_operand register_operand(uint32_t r) {
    return (struct ptx_operand){.kind = PTX_OPERAND_REGISTER, .register_id = r, .pair_id = PTX_NO_INDEX};
}

static struct ptx_operand integer_operand(const struct unrolled_loop *loop, uint64_t value) {
    value = isa_cut(loop, value);
    if (loop->is_signed && loop->bits == 32)
        value = (uint64_t)(int64_t)(int32_t)value;
    return (struct ptx_operand){
        .kind = PTX_OPERAND_INTEGER, .register_id = PTX_NO_INDEX, .pair_id = PTX_NO_INDEX, .value = value};
}

static enum ptx_type counter_type(const struct unrolled_loop *loop) {
    return loop->bits == 64 ? (loop->is_signed ? PTX_S64 : PTX_U64) : (loop->is_signed ? PTX_S32 : PTX_U32);
}

/* opcode.type result, a, b at the place of the comparison */
static void add_arithmetic(struct unrolling *unrolling, enum ptx_opcode opcode, uint32_t result, struct ptx_operand a,
                           struct ptx_operand b) {
    const struct ptx_instruction *comparison = isa_source(unrolling->code, unrolling->loop->found.comparison);
    struct ptx_instruction *insn = add(unrolling, comparison);
    insn->opcode = opcode;
    insn->n_types = 1;
    insn->type[0] = counter_type(unrolling->loop);
    for (unsigned w = 0; w < PTX_MODIFIER_WORDS; w++)
        insn->modifiers[w] = 0;
    insn->operand = BASE_ARENA_ARRAY(unrolling->arena, struct ptx_operand, 3);
    insn->n_operands = 3;
    insn->operand[0] = register_operand(result);
    insn->operand[1] = a;
    insn->operand[2] = b;
    insn->has_nounroll = false;
}

static void add_comparison(struct unrolling *unrolling, uint32_t predicate, struct ptx_operand limit) {
    const struct unrolled_loop *loop = unrolling->loop;
    struct ptx_instruction *insn = add_own(unrolling, isa_source(unrolling->code, loop->found.comparison));
    bool is_up = loop->found.by > 0;
    /* strict whatever the loop's own: a limit that was held back by the type's range is never passed */
    set_modifier(insn, PTX_MOD_NE, false);
    set_modifier(insn, is_up ? PTX_MOD_LE : PTX_MOD_GE, false);
    set_modifier(insn, is_up ? PTX_MOD_LT : PTX_MOD_GT, true);
    insn->type[0] = counter_type(loop);
    insn->operand[0] = register_operand(predicate);
    insn->operand[2] = limit;
}

/* On predicates: `not` has no b. */
static void add_logic(struct unrolling *unrolling, enum ptx_opcode opcode, uint32_t result, uint32_t a, uint32_t b) {
    add_arithmetic(unrolling, opcode, result, register_operand(a), register_operand(b));
    struct ptx_instruction *insn = &unrolling->out[unrolling->n - 1];
    insn->type[0] = PTX_PRED;
    insn->n_operands = opcode == PTX_OP_NOT ? 2 : 3;
}

static void add_branch(struct unrolling *unrolling, uint32_t predicate, bool is_negated, uint32_t target) {
    struct ptx_instruction *insn = add_own(unrolling, isa_source(unrolling->code, unrolling->loop->found.branch));
    insn->guard = predicate;
    insn->guard_negated = is_negated;
    insn->operand[0].target = target;
}

/* Targets of new branches, until their places are known: the end, or OUTSIDE + a place in the old text. */
enum { TO_END = 0x20000000, OUTSIDE = 0x40000000 };

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static void rename_operand(struct unrolling *unrolling, struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_VECTOR)
        for (uint32_t e = 0; e < operand->n_elements; e++)
            rename_operand(unrolling, &operand->element[e]);
    if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_ADDRESS)
        return;
    uint32_t r = operand->register_id;
    if (r < unrolling->code->function->n_registers) {
        bool is_induction = operand->kind == PTX_OPERAND_ADDRESS && unrolling->role[r] == INDUCTION &&
                            is_address_width(ptx_type_width(unrolling->code->function->reg[r].type));
        if (is_induction || unrolling->role[r] == DERIVED)
            operand->offset += unrolling->ahead[r];
        if (!is_induction)
            operand->register_id = unrolling->name[r];
    }
    if (operand->pair_id < unrolling->code->function->n_registers)
        operand->pair_id = unrolling->name[operand->pair_id];
}

/* The step of body k of an induction: the last moves the register itself, the others make a new one if it is read as a
 * value. */
static void add_step(struct unrolling *unrolling, uint32_t i, uint32_t r, uint32_t k) {
    const struct isa_code *code = unrolling->code;
    bool is_last = k + 1 == unrolling->loop->times;
    int64_t sum = unrolling->by[r] * (int64_t)(k + 1);
    unrolling->ahead[r] = is_last ? 0 : sum;
    if (!is_last && !unrolling->is_value[r])
        return;
    struct ptx_instruction *insn = add_own(unrolling, isa_source(code, i));
    unrolling->name[r] =
        is_last ? r : add_register(unrolling, code->function->reg[r].type, code->function->reg[r].name);
    insn->operand[0].register_id = unrolling->name[r];
    insn->operand[1].register_id = r;
    insn->operand[2].value = insn->opcode == PTX_OP_SUB ? (uint64_t)-sum : (uint64_t)sum;
}

/* The sum of a derived register, in the first body; later ones are ahead of it. Until the end of MAIN an induction has
 * its value of the first body. */
static void add_derived(struct unrolling *unrolling, uint32_t i, uint32_t r, uint32_t k) {
    const struct isa_code *code = unrolling->code;
    uint32_t from = unrolling->from[r];
    if (unrolling->role[from] == INDUCTION)
        unrolling->ahead[r] = unrolling->by[from] * (int64_t)(k + (i > unrolling->step[from]));
    else
        unrolling->ahead[r] = unrolling->ahead[from];
    if (k)
        return;
    struct ptx_instruction *insn = add_own(unrolling, isa_source(code, i));
    unrolling->name[r] = add_register(unrolling, code->function->reg[r].type, code->function->reg[r].name);
    insn->operand[0].register_id = unrolling->name[r];
    for (unsigned o = 1; o <= 2; o++)
        if (insn->operand[o].kind == PTX_OPERAND_REGISTER && insn->operand[o].register_id == from &&
            unrolling->role[from] == DERIVED)
            insn->operand[o].register_id = unrolling->name[from];
}

static void add_body(struct unrolling *unrolling, uint32_t k) {
    const struct isa_code *code = unrolling->code;
    const struct unrolled_loop *loop = unrolling->loop;
    uint32_t base = unrolling->n;
    for (uint32_t r = 0; r < code->function->n_registers; r++)
        if (unrolling->role[r] == ANEW)
            unrolling->name[r] =
                k + 1 == loop->times && keeps_name(unrolling, r)
                    ? r
                    : add_register(unrolling, code->function->reg[r].type, code->function->reg[r].name);
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t result = isa_result(insn);
        unrolling->place[i - loop->first] = unrolling->n;
        if (i == loop->found.comparison || i == loop->found.conjunction)
            continue;
        if (result != ISA_NONE && unrolling->role[result] == INDUCTION && unrolling->step[result] == i) {
            add_step(unrolling, i, result, k);
            continue;
        }
        if (result != ISA_NONE && unrolling->role[result] == DERIVED) {
            add_derived(unrolling, i, result, k);
            continue;
        }
        struct ptx_instruction *copy = add_own(unrolling, insn);
        for (unsigned o = 0; o < copy->n_operands; o++)
            rename_operand(unrolling, &copy->operand[o]);
        if (copy->guard != PTX_NO_INDEX)
            copy->guard = unrolling->name[copy->guard];
    }
    unrolling->place[loop->last - loop->first] = unrolling->n;
    if (loop->found.conjunction != ISA_NONE && k + 1 < loop->times)
        add_branch(unrolling, unrolling->name[loop->found.other], true, loop->last + 1);
    for (uint32_t i = base; i < unrolling->n; i++)
        if (isa_has_target(&unrolling->out[i]) && isa_is_inside(loop, unrolling->out[i].operand[0].target))
            unrolling->out[i].operand[0].target = unrolling->place[unrolling->out[i].operand[0].target - loop->first];
        else if (isa_has_target(&unrolling->out[i])) /* out of the loop: put right with the others at the end */
            unrolling->out[i].operand[0].target += OUTSIDE;
}

/* Returns the constant or register that MAIN compares the counter with: its bound less the sum that the bodies ahead
 * add. */
static struct ptx_operand add_limit(struct unrolling *unrolling) {
    const struct unrolled_loop *loop = unrolling->loop;
    const struct ptx_operand *bound = &isa_source(unrolling->code, loop->found.comparison)->operand[2];
    uint64_t ahead = (uint64_t)loop->found.by * (loop->times - 1);
    uint64_t top = loop->bits == 64 ? UINT64_MAX : 0xffffffffu;
    bool is_up = loop->found.by > 0;
    if (bound->kind == PTX_OPERAND_INTEGER)
        return integer_operand(loop, bound->value - ahead);
    uint64_t least = loop->is_signed ? (top >> 1) + 1 : 0, most = loop->is_signed ? top >> 1 : top;
    uint32_t kept = add_register(unrolling, counter_type(loop), "%limit");
    uint32_t limit = add_register(unrolling, counter_type(loop), "%limit");
    add_arithmetic(unrolling, is_up ? PTX_OP_MAX : PTX_OP_MIN, kept, *bound,
                   integer_operand(loop, (is_up ? least : most) + ahead));
    add_arithmetic(unrolling, PTX_OP_SUB, limit, register_operand(kept), integer_operand(loop, ahead));
    return register_operand(limit);
}

/* Returns whether a constant bound can be moved by the sum that the bodies ahead add. */
static bool has_room(const struct isa_code *code, const struct unrolled_loop *loop) {
    const struct ptx_operand *bound = &isa_source(code, loop->found.comparison)->operand[2];
    uint64_t ahead = (uint64_t)loop->found.by * (loop->times - 1);
    if (bound->kind != PTX_OPERAND_INTEGER)
        return true;
    /* The limit must be on the other side of the bound than the bodies ahead. */
    uint64_t flip = loop->is_signed ? 1ull << (loop->bits - 1) : 0;
    uint64_t from = isa_cut(loop, bound->value) ^ flip, to = isa_cut(loop, bound->value - ahead) ^ flip;
    return loop->found.by > 0 ? to < from : to > from;
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

/* `times` bodies, which are skipped if fewer iterations are left, and repeated as long as there are enough. Returns the
 * predicate that says whether they were reached. */
static uint32_t add_stage(struct unrolling *unrolling, uint32_t times, bool is_repeated) {
    struct unrolled_loop stage = *unrolling->loop;
    const struct unrolled_loop *loop = unrolling->loop;
    uint32_t is_reached = add_register(unrolling, PTX_PRED, "%reached");
    stage.times = times;
    unrolling->loop = &stage;
    struct ptx_operand limit = add_limit(unrolling);
    add_comparison(unrolling, is_reached, limit);
    uint32_t skip = unrolling->n;
    add_branch(unrolling, is_reached, true, 0);
    uint32_t first = unrolling->n;
    for (uint32_t k = 0; k < times; k++)
        add_body(unrolling, k);
    if (is_repeated) {
        uint32_t predicate = isa_source(unrolling->code, loop->found.branch)->guard;
        add_comparison(unrolling, predicate, limit);
        add_branch(unrolling, predicate, false, first);
    }
    unrolling->out[first].has_nounroll = true; /* nor does a predicate take the branch's place */
    unrolling->out[skip].operand[0].target = unrolling->n;
    unrolling->loop = loop;
    return is_reached;
}

/* LAST: leaves the loop if no iteration is left; one that has not begun executes its body before it asks. */
static void add_last(struct unrolling *unrolling, const uint32_t *is_reached, unsigned n_stages) {
    const struct unrolled_loop *loop = unrolling->loop;
    uint32_t goes_on = add_register(unrolling, PTX_PRED, "%more"), has_begun = is_reached[0];
    struct ptx_instruction *insn = add_own(unrolling, isa_source(unrolling->code, loop->found.comparison));
    insn->operand[0] = register_operand(goes_on);
    if (n_stages > 1) {
        has_begun = add_register(unrolling, PTX_PRED, "%begun");
        add_logic(unrolling, PTX_OP_OR, has_begun, is_reached[0], is_reached[1]);
    }
    uint32_t is_new = add_register(unrolling, PTX_PRED, "%new");
    uint32_t predicate = add_register(unrolling, PTX_PRED, "%go");
    add_logic(unrolling, PTX_OP_NOT, is_new, has_begun, PTX_NO_INDEX);
    add_logic(unrolling, PTX_OP_OR, predicate, goes_on, is_new);
    add_branch(unrolling, predicate, true, TO_END);
}

/* The stages before the loop, or all iterations in its place. */
static void add_loop(struct unrolling *unrolling, uint32_t *remainder) {
    const struct unrolled_loop *loop = unrolling->loop;
    uint32_t base = unrolling->n, is_reached[2], n_stages = 0;
    for (uint32_t k = 0; loop->is_whole && k < loop->times; k++)
        add_body(unrolling, k);
    if (!loop->is_whole) {
        is_reached[n_stages++] = add_stage(unrolling, loop->times, true);
        if (!loop->found.iterations && loop->times > 2)
            is_reached[n_stages++] = add_stage(unrolling, 2, false);
        add_last(unrolling, is_reached, n_stages);
    }
    *remainder = unrolling->n;
    uint32_t end = unrolling->n + loop->last - loop->first + 1;
    for (uint32_t i = base; i < unrolling->n; i++)
        if (isa_has_target(&unrolling->out[i]) && unrolling->out[i].operand[0].target == TO_END)
            unrolling->out[i].operand[0].target = end;
}

/* Where an instruction of the old text is in the new one. */
static uint32_t moved(const struct unrolled_loop *loop, uint32_t remainder, uint32_t old) {
    uint32_t n_kept = loop->is_whole ? 0 : loop->last - loop->first + 1;
    if (old <= loop->first) /* the loop is entered through MAIN */
        return old;
    return old <= loop->last ? remainder + old - loop->first : remainder + n_kept + old - loop->last - 1;
}

static void write_function(struct unrolling *unrolling, struct ptx_function *function) {
    const struct unrolled_loop *loop = unrolling->loop;
    uint32_t remainder = 0, n_old = function->n_instructions;
    for (uint32_t i = 0; i < loop->first; i++)
        add(unrolling, &function->instruction[i]);
    add_loop(unrolling, &remainder);
    uint32_t end_of_bodies = unrolling->n;
    for (uint32_t i = loop->is_whole ? loop->last + 1 : loop->first; i < n_old; i++)
        add(unrolling, &function->instruction[i]);
    for (uint32_t i = 0; i < unrolling->n; i++) {
        struct ptx_instruction *insn = &unrolling->out[i];
        bool is_old = i < loop->first || i >= end_of_bodies;
        if (isa_has_target(insn) && is_old) {
            uint32_t target = insn->operand[0].target;
            bool is_back = !loop->is_whole && i == remainder + loop->last - loop->first;
            insn->operand[0].target = is_back ? remainder : moved(loop, remainder, target);
        } else if (isa_has_target(insn) && insn->operand[0].target >= OUTSIDE) {
            insn->operand[0].target = moved(loop, remainder, insn->operand[0].target - OUTSIDE);
        }
        for (uint32_t t = 0; is_old && t < insn->n_targets; t++)
            insn->target[t] = moved(loop, remainder, insn->target[t]);
    }
    if (!loop->is_whole)
        unrolling->out[remainder].has_nounroll = true;
    function->instruction = BASE_ARENA_ARRAY(unrolling->arena, struct ptx_instruction, unrolling->n + 1u);
    memcpy(function->instruction, unrolling->out, unrolling->n * sizeof *unrolling->out);
    function->n_instructions = unrolling->n;
    function->reg = BASE_ARENA_ARRAY(unrolling->arena, struct ptx_register, unrolling->n_registers + 1u);
    memcpy(function->reg, unrolling->reg, unrolling->n_registers * sizeof *unrolling->reg);
    function->n_registers = unrolling->n_registers;
}

static void unroll_loop(const struct isa_code *code, const struct unrolled_loop *loop, struct ptx_function *function,
                        struct base_arena *arena) {
    uint32_t n = function->n_registers;
    struct unrolling unrolling = {.code = code, .loop = loop, .arena = arena, .n_registers = n, .register_room = n};
    unrolling.role = base_allocate(n + 1, sizeof *unrolling.role);
    unrolling.step = base_allocate(n + 1, sizeof *unrolling.step);
    unrolling.by = base_allocate(n + 1, sizeof *unrolling.by);
    unrolling.from = base_allocate(n + 1, sizeof *unrolling.from);
    unrolling.is_value = base_allocate(n + 1, sizeof *unrolling.is_value);
    unrolling.name = base_allocate(n + 1, sizeof *unrolling.name);
    unrolling.ahead = base_allocate(n + 1, sizeof *unrolling.ahead);
    unrolling.place = base_allocate(loop->last - loop->first + 1, sizeof *unrolling.place);
    unrolling.reg = base_allocate(n + 1, sizeof *unrolling.reg);
    memcpy(unrolling.reg, function->reg, n * sizeof *unrolling.reg);
    for (uint32_t r = 0; r < n; r++)
        unrolling.name[r] = r;
    find_roles(&unrolling);
    write_function(&unrolling, function);
    free(unrolling.role);
    free(unrolling.step);
    free(unrolling.by);
    free(unrolling.from);
    free(unrolling.is_value);
    free(unrolling.name);
    free(unrolling.ahead);
    free(unrolling.place);
    free(unrolling.reg);
    free(unrolling.out);
}

/* Unrolls the last loop of the text that begins before `limit` and can be unrolled. Returns where it begins; 0: there
 * is none. */
static uint32_t unroll_last(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena,
                            uint32_t limit) {
    enum { MOST_INSTRUCTIONS = 1 << 16 };
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct isa_code code = isa_estimate(target, analysis);
    struct unrolled_loop last = {.exit = base_allocate(code.n + 1, sizeof(uint32_t))};
    uint32_t begin = 0;
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        uint32_t first = analysis->block[analysis->loop[l].header].first;
        if (first < limit && first > begin && isa_find_loop(&code, l, &last.found))
            begin = first;
    }
    for (uint32_t l = 0; begin && l < analysis->n_loops; l++)
        if (analysis->block[analysis->loop[l].header].first == begin && isa_find_loop(&code, l, &last.found) &&
            isa_can_unroll(&code, &last)) {
            isa_choose_times(&code, &last);
            if ((last.is_whole || has_room(&code, &last)) &&
                (uint64_t)last.times * (last.last - last.first) < MOST_INSTRUCTIONS)
                unroll_loop(&code, &last, function, arena);
        }
    free(last.exit);
    isa_code_free(&code);
    ptx_analysis_free(analysis);
    return begin;
}

void isa_unroll(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena) {
    uint32_t limit = UINT32_MAX;
    while (function->n_instructions > 2 && (limit = unroll_last(target, function, arena, limit)))
        continue;
}
