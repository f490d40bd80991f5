/* Branches. If a branch skips only a few instructions, those instructions are predicated instead. A branch to the end
 * of a kernel becomes EXIT under a guard, however little it skips. If threads may diverge at a branch, an instruction
 * before it names the place where they meet again, and an instruction at that place waits for them. */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

static const struct ptx_block *block_of(const struct isa_code *code, uint32_t i) {
    return &code->analysis->block[code->analysis->block_of[i]];
}

bool isa_is_end(const struct isa_code *code, uint32_t at) {
    return at >= code->n || isa_source(code, at)->opcode == PTX_OP_RET || isa_source(code, at)->opcode == PTX_OP_EXIT;
}

static bool is_jump(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_BRA && insn->guard == PTX_NO_INDEX;
}

/* Returns the parts of a block's instructions that can be predicated; otherwise UINT32_MAX. A branch that has become
 * predicates itself may be its last one. */
static uint32_t block_cost(const struct isa_code *code, const struct ptx_block *block) {
    uint32_t sum = 0;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (is_jump(insn))
            continue;
        bool is_converted = insn->opcode == PTX_OP_BRA && code->insn[i].is_predicated;
        bool is_control = ptx_opcode_family(insn->opcode) == PTX_FAMILY_CONTROL || insn->guard != PTX_NO_INDEX;
        if ((is_control && !is_converted) || insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED ||
            (!is_converted && code->insn[i].parts >= 9 * ISA_PARTS))
            return UINT32_MAX;
        sum += code->insn[i].parts;
    }
    return sum;
}

static bool is_converted(const struct isa_code *code, const struct ptx_block *block) {
    return block->n_successors == 2 && code->insn[block->first + block->count - 1].is_predicated;
}

/* Returns the parts of the path from block b, which has `n_ways_in`, to the block where it ends; UINT32_MAX: it cannot
 * be predicated. A path is a block with one way out, or several if the branches between them have become predicates.
 * Bodies of unrolled loops stay behind a branch, however short they are. */
static uint32_t path_cost(const struct isa_code *code, uint32_t b, uint32_t end, uint32_t n_ways_in) {
    uint32_t sum = 0;
    for (; b != end; n_ways_in = 2) {
        if (b == PTX_NO_BLOCK)
            return UINT32_MAX;
        const struct ptx_block *block = &code->analysis->block[b];
        uint32_t cost = block->count ? block_cost(code, block) : UINT32_MAX;
        if (cost == UINT32_MAX || block->n_predecessors != n_ways_in || isa_source(code, block->first)->has_nounroll ||
            (block->n_successors != 1 && !is_converted(code, block)))
            return UINT32_MAX;
        sum += cost;
        b = block->n_successors == 1 ? block->successor[0] : block->post_dominator;
    }
    return sum;
}

/* Returns whether the path loads from global memory. Such loads wait together with others if there is no branch. */
static bool loads(const struct isa_code *code, uint32_t b) {
    const struct ptx_block *block = &code->analysis->block[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode == PTX_OP_LD && (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC))
            return true;
    }
    return false;
}

/* Returns the most parts of a path that the branch may skip by predicates. */
static uint32_t most_parts(const struct isa_code *code, uint32_t branch, uint32_t b) {
    const struct isa_compiler *compiler = code->target->compiler;
    bool is_uniform = code->analysis->is_uniform_branch[branch];
    return ISA_PARTS * (loads(code, b) ? compiler->predicate.loading
                        : is_uniform   ? compiler->predicate.uniform
                                       : compiler->predicate.divergent);
}

/* Predicated instructions issue whether or not a thread needs them: the branch pays for them. Accesses to memory keep
 * their cost, since they go through their unit only if they execute. */
static void move_cost(struct isa_code *code, uint32_t b, uint32_t end, uint32_t branch) {
    while (b != end) {
        const struct ptx_block *block = &code->analysis->block[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            if (isa_is_access(isa_source(code, i)))
                continue;
            if (!is_jump(isa_source(code, i)))
                code->insn[branch].parts = (uint16_t)(code->insn[branch].parts + code->insn[i].parts);
            code->insn[i].is_paid |= code->insn[i].parts > 0;
            code->insn[i].parts = 0;
        }
        b = block->n_successors == 1 ? block->successor[0] : block->post_dominator;
    }
}

enum { MOST_BRANCHES = 4, MOST_CONDITIONS = 3 * ISA_PARTS };

/* Branches that decide together between two places, as those of "a || (b && c)" do. */
struct chain {
    uint32_t block[MOST_BRANCHES], n; /* that end in these branches */
    uint32_t to[2];                   /* the blocks that follow */
    uint32_t parts;                   /* of all blocks but the first */
};

static bool is_condition(const struct ptx_instruction *insn) {
    bool is_logic = insn->opcode == PTX_OP_AND || insn->opcode == PTX_OP_OR || insn->opcode == PTX_OP_XOR ||
                    insn->opcode == PTX_OP_NOT;
    return insn->guard == PTX_NO_INDEX && (insn->opcode == PTX_OP_SETP || (is_logic && isa_type(insn) == PTX_PRED));
}

/* Returns the parts of a block that computes conditions and nothing else, and ends with a branch; otherwise
 * UINT32_MAX. */
static uint32_t conditions(const struct isa_code *code, uint32_t b) {
    const struct ptx_block *block = &code->analysis->block[b];
    uint32_t sum = 0, last = block->first + block->count - 1;
    if (block->n_predecessors != 1 || block->n_successors != 2 || isa_source(code, last)->opcode != PTX_OP_BRA ||
        code->insn[last].is_predicated || isa_source(code, block->first)->has_nounroll)
        return UINT32_MAX;
    for (uint32_t i = block->first; i < last; i++) {
        if (!is_condition(isa_source(code, i)))
            return UINT32_MAX;
        sum += code->insn[i].parts;
    }
    return sum;
}

/* Appends to the chain the one that begins in the block where it goes at `side`, if both have a place in common. */
static bool append(const struct isa_code *code, struct chain *chain, unsigned side, unsigned depth);

static struct chain chain_from(const struct isa_code *code, uint32_t b, unsigned depth) {
    const struct ptx_block *block = &code->analysis->block[b];
    struct chain chain = {.block = {b}, .n = 1, .to = {block->successor[0], block->successor[1]}};
    while (depth > 0 && (append(code, &chain, 0, depth - 1) || append(code, &chain, 1, depth - 1)))
        continue;
    return chain;
}

static bool append(const struct isa_code *code, struct chain *chain, unsigned side, unsigned depth) {
    uint32_t b = chain->to[side], other = chain->to[1 - side];
    if (b == PTX_NO_BLOCK || b == chain->block[0] || conditions(code, b) == UINT32_MAX)
        return false;
    struct chain next = chain_from(code, b, depth);
    uint32_t parts = chain->parts + conditions(code, b) + next.parts;
    if ((next.to[0] != other && next.to[1] != other) || parts > MOST_CONDITIONS || chain->n + next.n > MOST_BRANCHES)
        return false;
    for (uint32_t k = 0; k < next.n; k++)
        chain->block[chain->n++] = next.block[k];
    chain->to[side] = next.to[0] == other ? next.to[1] : next.to[0];
    chain->parts = parts;
    return true;
}

static uint32_t ways_to(const struct isa_code *code, const struct chain *chain, uint32_t b) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < chain->n; k++)
        for (uint32_t s = 0; s < 2; s++)
            n += code->analysis->block[chain->block[k]].successor[s] == b;
    return n;
}

/* Returns whether threads that come here end without doing anything else. */
static bool is_end(const struct isa_code *code, uint32_t at) {
    return at >= code->n || isa_source(code, at)->opcode == PTX_OP_RET || isa_source(code, at)->opcode == PTX_OP_EXIT;
}

/* Returns whether the branches have become predicates of the paths that follow. */
static bool convert_chain(struct isa_code *code, const struct chain *chain) {
    const struct ptx_analysis *analysis = code->analysis;
    const struct ptx_block *first = &analysis->block[chain->block[0]];
    uint32_t a = chain->to[0], b = chain->to[1], end = first->post_dominator, i = first->first + first->count - 1;
    bool is_exit = end != PTX_NO_BLOCK && (a == end || b == end) && is_end(code, analysis->block[end].first);
    if (end == PTX_NO_BLOCK || end == analysis->n_blocks - 1 || a == b || is_exit)
        return false;
    if (code->function->is_entry && (a == end || b == end) && isa_is_end(code, analysis->block[end].first))
        return false; /* EXIT, whatever the others do */
    uint32_t both = code->target->compiler->predicate.both * ISA_PARTS;
    uint32_t most_a = b == end ? most_parts(code, i, a) : both, most_b = a == end ? most_parts(code, i, b) : both;
    if (path_cost(code, a, end, ways_to(code, chain, a)) > most_a ||
        path_cost(code, b, end, ways_to(code, chain, b)) > most_b)
        return false;
    for (uint32_t k = 0; k < chain->n; k++) {
        const struct ptx_block *block = &analysis->block[chain->block[k]];
        uint32_t last = block->first + block->count - 1;
        code->insn[last].is_predicated = true;
        code->insn[last].parts = 0;
        for (uint32_t j = block->first; k > 0 && j < last; j++) {
            code->insn[i].parts = (uint16_t)(code->insn[i].parts + code->insn[j].parts);
            code->insn[j].parts = 0;
        }
    }
    move_cost(code, a, end, i);
    move_cost(code, b, end, i);
    return true;
}

static void convert_branch(struct isa_code *code, uint32_t i) {
    uint32_t b = code->analysis->block_of[i];
    struct chain alone = chain_from(code, b, 0);
    if (convert_chain(code, &alone))
        return;
    struct chain chain = chain_from(code, b, MOST_BRANCHES - 1);
    if (chain.n > 1)
        convert_chain(code, &chain);
}

/* The last branches first, because those before them may skip them. */
void isa_convert_branches(struct isa_code *code) {
    for (uint32_t i = code->n; i-- > 0;)
        if (isa_source(code, i)->opcode == PTX_OP_BRA && isa_source(code, i)->guard != PTX_NO_INDEX &&
            block_of(code, i)->n_successors == 2 && !code->insn[i].is_predicated)
            convert_branch(code, i);
}

/* ---- Leaving barriers -------------------------------------------------------------------------------------------- */

static bool is_inside(const struct ptx_analysis *analysis, uint32_t block, uint32_t loop) {
    uint32_t at = analysis->loop_of[block];
    while (at != PTX_NO_INDEX && at != loop)
        at = analysis->loop[at].parent;
    return at == loop;
}

static bool is_above(const struct ptx_analysis *analysis, uint32_t above, uint32_t block) {
    while (block != above && block != PTX_NO_BLOCK)
        block = analysis->block[block].dominator;
    return block == above;
}

/* Returns the outermost loop that a thread leaves on its way between the blocks, or PTX_NO_INDEX. */
static uint32_t loop_left(const struct ptx_analysis *analysis, uint32_t from, uint32_t to) {
    uint32_t left = PTX_NO_INDEX;
    for (uint32_t l = analysis->loop_of[from]; l != PTX_NO_INDEX && !is_inside(analysis, to, l);
         l = analysis->loop[l].parent)
        left = l;
    return left;
}

static bool may_diverge(const struct isa_code *code, uint32_t i) {
    return isa_source(code, i)->opcode == PTX_OP_BRA && isa_source(code, i)->guard != PTX_NO_INDEX &&
           !code->insn[i].is_predicated && !code->analysis->is_uniform_branch[i];
}

enum { MOST_BARRIERS = 4 };
struct barriers {
    uint32_t meeting[MOST_BARRIERS], n; /* blocks */
};

static void add_barrier(const struct isa_code *code, struct barriers *barriers, uint32_t meeting, uint32_t loop,
                        uint32_t to) {
    if (meeting == PTX_NO_INDEX || meeting >= code->n)
        return;
    uint32_t block = code->analysis->block_of[meeting];
    if (block == to || !is_inside(code->analysis, block, loop) || barriers->n == MOST_BARRIERS)
        return;
    for (uint32_t k = 0; k < barriers->n; k++)
        if (barriers->meeting[k] == block)
            return;
    barriers->meeting[barriers->n++] = block;
}

/* Returns the number of barriers in the loop around block `from` that threads leave without meeting there. */
static uint32_t count_left(const struct isa_code *code, uint32_t from, uint32_t to, uint32_t loop) {
    const struct ptx_analysis *analysis = code->analysis;
    struct barriers barriers = {.n = 0};
    for (uint32_t j = 0; j < code->n; j++) {
        uint32_t block = analysis->block_of[j], meeting = analysis->meeting[j];
        if (!may_diverge(code, j) || block == from || meeting == PTX_NO_INDEX || meeting >= code->n ||
            !is_inside(analysis, block, loop) || !is_above(analysis, block, from) ||
            is_above(analysis, analysis->block_of[meeting], from))
            continue;
        add_barrier(code, &barriers, meeting, loop, to);
    }
    for (uint32_t l = analysis->loop_of[from]; l != loop; l = analysis->loop[l].parent)
        add_barrier(code, &barriers, analysis->loop[l].meeting, loop, to);
    return barriers.n;
}

/* Threads that leave a loop leave its barriers: BREAK, under the branch's guard. */
static void add_breaks(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_block *block = block_of(code, i);
        for (uint32_t s = 0; may_diverge(code, i) && s < block->n_successors; s++) {
            uint32_t to = block->successor[s], left = loop_left(analysis, analysis->block_of[i], to);
            if (left != PTX_NO_INDEX)
                code->insn[i].parts =
                    (uint16_t)(code->insn[i].parts + ISA_PARTS * count_left(code, analysis->block_of[i], to, left));
        }
    }
}

/* Guards and loop exits that lead to the same place form one region; a branch with two paths has its own. */
void isa_mark_regions(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    bool *is_shared = base_allocate(analysis->n_blocks, sizeof(bool));
    for (uint32_t i = 0; i < code->n; i++) {
        uint32_t meeting = analysis->reconvergence[i];
        if (isa_source(code, i)->opcode != PTX_OP_BRA || meeting == PTX_NO_INDEX || isa_is_end(code, meeting) ||
            code->insn[i].is_predicated || analysis->is_uniform_branch[i])
            continue;
        const struct ptx_block *block = block_of(code, i);
        uint32_t target = analysis->block_of[meeting];
        bool leads_there = false;
        for (uint32_t s = 0; s < block->n_successors; s++)
            leads_there |= block->successor[s] == target;
        if (leads_there && is_shared[target])
            continue;
        is_shared[target] |= leads_there;
        code->insn[meeting].parts = (uint16_t)(code->insn[meeting].parts + 2 * ISA_PARTS);
        code->insn[meeting].meets = true;
    }
    free(is_shared);
    add_breaks(code);
}

/* A branch to the end of a kernel becomes an exit under a guard. */
void isa_mark_jumps(struct isa_code *code) {
    bool is_entry = code->function->is_entry;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool is_branch = insn->opcode == PTX_OP_BRA && !code->insn[i].is_predicated && code->insn[i].parts;
        code->insn[i].jumps = (is_branch && !(is_entry && isa_is_end(code, insn->operand[0].target))) ||
                              insn->opcode == PTX_OP_CALL || insn->opcode == PTX_OP_BRX ||
                              (insn->opcode == PTX_OP_RET && !is_entry);
    }
}
