/* Finds the function that implements a PTX instruction: flattens its operands into lane arrays and calls the family's
 * selector. decode.c places the operands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exec/lanes/imm.h"
#include "exec/memory/combine.h"
#include "exec/memory/tensor.h"
#include "exec/program/link.h"
#include "ptx/matrix.h"

static bool has_no_destination(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_ST:
    case PTX_OP_RED:
    case PTX_OP_SUST:
    case PTX_OP_SURED:
    case PTX_OP_STACKRESTORE:
    case PTX_OP_BRX:
    case PTX_OP_PROGRESS:
    case PTX_OP_NANOSLEEP:
        return true;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return !ptx_has(insn, PTX_MOD_RED);
    default:
        return false;
    }
}

static void add_source(struct exec_flat *flat, const struct ptx_operand *operand, enum ptx_type type,
                       enum exec_flat_role role) {
    if (flat->n_src == EXEC_MAX_SRC) {
        flat->overflows = true;
        return;
    }
    flat->src[flat->n_src++] = (struct exec_flat_operand){operand, type, role};
    if (operand && operand->is_negated)
        flat->imm |= 1;
}

static void add_destination(struct exec_flat *flat, const struct ptx_operand *operand, enum ptx_type type,
                            enum exec_flat_role role) {
    if (flat->n_dst == EXEC_MAX_DST) {
        flat->overflows = true;
        return;
    }
    flat->dst[flat->n_dst++] = (struct exec_flat_operand){operand, type, role};
}

static void add_extra(struct exec_flat *flat, const struct ptx_operand *operand, enum ptx_type type) {
    if (flat->n_extra < EXEC_MAX_EXTRA)
        flat->extra[flat->n_extra++] = (struct exec_flat_operand){operand, type, EXEC_FLAT_PLAIN};
    else
        flat->overflows = true;
}

/* Adds a source of a texture instruction: among the ordinary operands while there is room. */
static void add_texture_value(struct exec_flat *flat, const struct ptx_operand *operand, enum ptx_type type) {
    if (flat->n_dst + flat->n_src < EXEC_MAX_OPERANDS)
        add_source(flat, operand, type, EXEC_FLAT_PLAIN);
    else
        add_extra(flat, operand, type);
}

/* Adds the first n elements of a vector, or a scalar. */
static void add_texture_values(struct exec_flat *flat, const struct ptx_operand *operand, unsigned n,
                               enum ptx_type type) {
    if (operand->kind != PTX_OPERAND_VECTOR) {
        add_texture_value(flat, operand, type);
        return;
    }
    for (uint32_t i = 0; i < operand->n_elements && i < n; i++)
        add_texture_value(flat, &operand->element[i], type);
}

/* [handle, {x, y}] or [handle, sampler, {x, y}]: the texture object already includes the sampler's settings. Vectors of
 * four may have an element that is not read. */
static void add_texture_source(struct exec_flat *flat, const struct ptx_instruction *insn,
                               const struct ptx_operand *operand, enum ptx_type type) {
    add_source(flat, &operand->element[0], PTX_U64, EXEC_FLAT_PLAIN);
    flat->imm = exec_texture_imm(insn);
    if (operand->n_elements >= 2)
        add_texture_values(flat, &operand->element[operand->n_elements - 1], exec_texture_coordinates(insn), type);
}

/* Adds an address of an instruction that has several. */
static void add_based_address(struct exec_flat *flat, const struct ptx_operand *operand) {
    add_source(flat, operand, PTX_U64, EXEC_FLAT_BASE);
    add_source(flat, operand, PTX_U64, EXEC_FLAT_OFFSET);
}

/* cp.async.bulk.tensor: the address in shared memory, the map, the mbarrier, and as extra operands coordinates, offsets
 * and the mask (exec/memory/tensor.h). */
static void flatten_tensor_copy(struct exec_flat *flat, const struct ptx_instruction *insn) {
    static const enum ptx_modifier reductions[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX, PTX_MOD_INC,
                                                   PTX_MOD_DEC, PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR};
    bool is_load = ptx_has(insn, PTX_MOD_MBARRIER_COMPLETE_TX), has_policy = ptx_has(insn, PTX_MOD_L2_CACHE_HINT);
    const struct ptx_operand *tensor = &insn->operand[is_load ? 1 : 0];
    const struct ptx_operand *coordinates = &tensor->element[1];
    bool is_column = ptx_has(insn, PTX_MOD_IM2COL) || ptx_has(insn, PTX_MOD_IM2COL_NO_OFFS);
    flat->imm = coordinates->n_elements | (is_load ? EXEC_TENSOR_LOAD : 0) | (is_column ? EXEC_TENSOR_COLUMN : 0) |
                (is_load && is_column ? EXEC_TENSOR_OFFSETS : 0) |
                (ptx_has(insn, PTX_MOD_MULTICAST) ? EXEC_TENSOR_MULTICAST : 0);
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (ptx_has(insn, PTX_MOD_REDUCE) && ptx_has(insn, reductions[k]))
            flat->imm |= (uint32_t)reductions[k] << EXEC_TENSOR_REDUCTION_BIT;
    add_based_address(flat, &insn->operand[is_load ? 0 : 1]);
    add_source(flat, &tensor->element[0], PTX_U64, EXEC_FLAT_PLAIN);
    if (is_load)
        add_based_address(flat, &insn->operand[2]);
    for (uint32_t i = 0; i < coordinates->n_elements; i++)
        add_extra(flat, &coordinates->element[i], PTX_S32);
    for (unsigned k = is_load ? 3 : 2; k + has_policy < insn->n_operands; k++) {
        const struct ptx_operand *operand = &insn->operand[k];
        if (operand->kind != PTX_OPERAND_VECTOR)
            add_extra(flat, operand, PTX_U16);
        for (uint32_t i = 0; operand->kind == PTX_OPERAND_VECTOR && i < operand->n_elements; i++)
            add_extra(flat, &operand->element[i], PTX_U16);
    }
}

/* tensormap: the map's address, the number of a dimension and the value; cp_fenceproxy has two addresses. */
static void flatten_tensor_map(struct exec_flat *flat, const struct ptx_instruction *insn) {
    static const enum ptx_modifier fields[] = {[EXEC_FIELD_ADDRESS] = PTX_MOD_GLOBAL_ADDRESS,
                                               [EXEC_FIELD_RANK] = PTX_MOD_RANK,
                                               [EXEC_FIELD_BOX] = PTX_MOD_BOX_DIM,
                                               [EXEC_FIELD_DIM] = PTX_MOD_GLOBAL_DIM,
                                               [EXEC_FIELD_STRIDE] = PTX_MOD_GLOBAL_STRIDE,
                                               [EXEC_FIELD_STEP] = PTX_MOD_ELEMENT_STRIDE,
                                               [EXEC_FIELD_TYPE] = PTX_MOD_ELEMTYPE,
                                               [EXEC_FIELD_INTERLEAVE] = PTX_MOD_INTERLEAVE_LAYOUT,
                                               [EXEC_FIELD_SWIZZLE] = PTX_MOD_SWIZZLE_MODE,
                                               [EXEC_FIELD_FILL] = PTX_MOD_FILL_MODE};
    if (!ptx_has(insn, PTX_MOD_REPLACE)) {
        add_based_address(flat, &insn->operand[0]);
        add_based_address(flat, &insn->operand[1]);
        return;
    }
    for (uint8_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (ptx_has(insn, fields[k]))
            flat->combination = k;
    add_source(flat, &insn->operand[0], PTX_U64, EXEC_FLAT_ADDRESS);
    if (insn->n_operands == 3)
        add_source(flat, &insn->operand[1], PTX_U32, EXEC_FLAT_PLAIN);
    add_source(flat, &insn->operand[insn->n_operands - 1], insn->type[0] == PTX_B64 ? PTX_U64 : PTX_U32,
               EXEC_FLAT_PLAIN);
}

/* cp: adds the addresses and the other operands that exec/memory/copy.c describes. A cache policy is left out. */
static void flatten_copy(struct exec_flat *flat, const struct ptx_function *function,
                         const struct ptx_instruction *insn) {
    bool has_policy = ptx_has(insn, PTX_MOD_L2_CACHE_HINT), is_bulk = ptx_has(insn, PTX_MOD_BULK);
    for (unsigned k = 0; k + has_policy < insn->n_operands; k++) {
        const struct ptx_operand *operand = &insn->operand[k];
        if (operand->kind == PTX_OPERAND_ADDRESS && ptx_has(insn, PTX_MOD_MBARRIER)) {
            add_source(flat, operand, PTX_U64, EXEC_FLAT_ADDRESS);
        } else if (operand->kind == PTX_OPERAND_ADDRESS) {
            add_based_address(flat, operand);
        } else if (operand->kind == PTX_OPERAND_INTEGER && !is_bulk && k < 3) {
            flat->imm = (uint32_t)operand->value;
        } else {
            bool is_predicate =
                operand->kind == PTX_OPERAND_REGISTER && ptx_type_bits(function->reg[operand->register_id].type) == 1;
            bool is_mask = ptx_has(insn, PTX_MOD_MULTICAST) && k == 4;
            add_source(flat, operand, is_predicate ? PTX_PRED : is_mask ? PTX_U16 : PTX_U32, EXEC_FLAT_PLAIN);
        }
    }
    if (ptx_has(insn, PTX_MOD_WAIT_GROUP)) {
        flat->n_src = 0;
        flat->imm = (uint32_t)insn->operand[0].value;
    }
}

static void add_operand(struct exec_flat *flat, const struct ptx_instruction *insn, unsigned k, bool is_destination) {
    const struct ptx_operand *operand = &insn->operand[k];
    enum ptx_type type = ptx_operand_type(insn, k);
    bool is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    if (operand->kind == PTX_OPERAND_LABEL) /* brx: its targets are in a branch table */
        return;
    if (operand->kind == PTX_OPERAND_ADDRESS && is_texture) { /* txq, suq: [handle] */
        add_source(flat, operand, PTX_U64, EXEC_FLAT_PLAIN);
    } else if (operand->kind == PTX_OPERAND_ADDRESS && k == 2) { /* st.async, red.async: the mbarrier */
        add_based_address(flat, operand);
    } else if (operand->kind == PTX_OPERAND_ADDRESS) {
        add_source(flat, operand, PTX_U64, EXEC_FLAT_ADDRESS);
    } else if (operand->kind == PTX_OPERAND_VECTOR && is_texture && k == (has_no_destination(insn) ? 0u : 1u)) {
        add_texture_source(flat, insn, operand, type);
    } else if (is_texture && k >= 2) { /* a level, or derivatives along each axis */
        unsigned n = exec_texture_coordinates(insn);
        bool has_layer = ptx_has(insn, PTX_MOD_A1D) || ptx_has(insn, PTX_MOD_A2D) || ptx_has(insn, PTX_MOD_ACUBE);
        add_texture_values(flat, operand, has_layer ? n - 1 : n, type);
    } else if (operand->kind == PTX_OPERAND_VECTOR) {
        if (insn->opcode == PTX_OP_MOV && insn->vector == 1) /* the elements divide the scalar's bits */
            type = ptx_type_bits(type) == 64 ? (operand->n_elements == 2 ? PTX_B32 : PTX_B16)
                                             : (operand->n_elements == 2 ? PTX_B16 : PTX_B8);
        for (uint32_t i = 0; i < operand->n_elements; i++)
            if (exec_is_wide(insn))
                add_extra(flat, &operand->element[i], type);
            else if (is_destination)
                add_destination(flat, &operand->element[i], type, EXEC_FLAT_PLAIN);
            else
                add_source(flat, &operand->element[i], type, EXEC_FLAT_PLAIN);
        if (is_destination && operand->pair_id != PTX_NO_INDEX)
            add_destination(flat, operand, PTX_PRED, EXEC_FLAT_PAIR);
    } else if (is_destination) {
        add_destination(flat, operand, type, EXEC_FLAT_PLAIN);
        if (operand->pair_id != PTX_NO_INDEX)
            add_destination(flat, operand, PTX_PRED, EXEC_FLAT_PAIR);
    } else {
        add_source(flat, operand, type, EXEC_FLAT_PLAIN);
    }
}

static bool is_predicate_logic(const struct ptx_instruction *insn) {
    bool is_logic = insn->opcode == PTX_OP_AND || insn->opcode == PTX_OP_OR || insn->opcode == PTX_OP_XOR;
    return is_logic && insn->n_operands == 3 && insn->n_types == 1 && insn->type[0] == PTX_PRED;
}

/* Only an access has operands here, its address and pitch. matrix/select.c handles the fragments. */
static void flatten_matrix(const struct ptx_instruction *insn, struct exec_flat *flat) {
    static const struct ptx_operand group_barrier = {.kind = PTX_OPERAND_INTEGER, .value = EXEC_GROUP_BARRIER};
    if (insn->matrix->action == PTX_MATRIX_WAIT) {
        add_source(flat, &group_barrier, PTX_U32, EXEC_FLAT_PLAIN);
        flat->imm = (uint32_t)insn->operand[0].value;
    }
    if (insn->opcode == PTX_OP_WGMMA)
        return;
    if (exec_matrix_kind(insn) != EXEC_KIND_WARP_MEMORY)
        return;
    for (unsigned k = 0; k < insn->n_operands; k++)
        if (insn->operand[k].kind == PTX_OPERAND_ADDRESS || k == 2)
            add_operand(flat, insn, k, false);
}

static void flatten(const struct ptx_function *function, const struct ptx_instruction *insn, struct exec_flat *flat) {
    static const struct ptx_operand cluster_barrier = {.kind = PTX_OPERAND_INTEGER, .value = EXEC_CLUSTER_BARRIER};
    static const struct ptx_operand own_rank = {.kind = PTX_OPERAND_SPECIAL, .special = PTX_SPECIAL_CLUSTER_CTARANK};
    static const struct ptx_operand n_blocks = {.kind = PTX_OPERAND_SPECIAL, .special = PTX_SPECIAL_CLUSTER_NCTARANK};
    *flat = (struct exec_flat){.imm = 0};
    if (insn->matrix) {
        flatten_matrix(insn, flat);
        return;
    }
    if (exec_is_wide(insn) || ptx_has(insn, PTX_MOD_REDUCE))
        flat->combination = (uint8_t)exec_combination_of(insn);
    if (insn->opcode == PTX_OP_TENSORMAP) {
        flatten_tensor_map(flat, insn);
        return;
    }
    if (insn->opcode == PTX_OP_CP) {
        if (ptx_has(insn, PTX_MOD_TENSOR) && !ptx_has(insn, PTX_MOD_PREFETCH))
            flatten_tensor_copy(flat, insn);
        else if (!ptx_has(insn, PTX_MOD_TENSOR))
            flatten_copy(flat, function, insn);
        return;
    }
    if (insn->opcode == PTX_OP_BARRIER && ptx_has(insn, PTX_MOD_CLUSTER))
        add_source(flat, &cluster_barrier, PTX_U32, EXEC_FLAT_PLAIN);
    if (insn->opcode == PTX_OP_MAPA || insn->opcode == PTX_OP_GETCTARANK)
        add_source(flat, insn->opcode == PTX_OP_MAPA ? &n_blocks : &own_rank, PTX_U32, EXEC_FLAT_PLAIN);
    for (unsigned k = 0; k < insn->n_operands; k++) {
        if (insn->opcode == PTX_OP_LOP3 && k == 4)
            flat->imm = (uint32_t)insn->operand[k].value;
        else
            add_operand(flat, insn, k, k == 0 && !has_no_destination(insn));
    }
    if (ptx_has(insn, PTX_MOD_CC))
        add_destination(flat, NULL, PTX_PRED, EXEC_FLAT_CARRY);
    if (insn->opcode == PTX_OP_ADDC || insn->opcode == PTX_OP_SUBC || insn->opcode == PTX_OP_MADC)
        add_source(flat, NULL, PTX_PRED, EXEC_FLAT_CARRY);
    if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_VIDEO)
        flat->imm = exec_video_imm(insn);
    if (insn->opcode == PTX_OP_SETP || insn->opcode == PTX_OP_SET)
        flat->imm = exec_compare_imm(insn);
    if (is_predicate_logic(insn))
        flat->imm = (uint32_t)insn->operand[1].is_negated | (uint32_t)insn->operand[2].is_negated << 1;
}

static enum ptx_width width_of_type(enum ptx_type type) {
    unsigned bits = ptx_type_bits(type);
    return bits == 1 ? PTX_WIDTH_PRED : bits <= 16 ? PTX_WIDTH_16 : bits == 32 ? PTX_WIDTH_32 : PTX_WIDTH_64;
}

enum ptx_width exec_operand_width(const struct ptx_function *function, const struct exec_flat_operand *flat) {
    const struct ptx_operand *operand = flat->operand;
    if (flat->role == EXEC_FLAT_CARRY || flat->role == EXEC_FLAT_PAIR)
        return PTX_WIDTH_PRED;
    if (flat->role == EXEC_FLAT_OFFSET)
        return PTX_WIDTH_64;
    if (operand->kind == PTX_OPERAND_REGISTER)
        return width_of_type(function->reg[operand->register_id].type);
    if (operand->kind == PTX_OPERAND_ADDRESS && operand->register_id != PTX_NO_INDEX)
        return width_of_type(function->reg[operand->register_id].type);
    return width_of_type(flat->type);
}

static unsigned special_bits(enum ptx_special special) {
    static const uint8_t bits_of[] = {
#define PTX_SPECIAL(id, name, component, bits) bits,
#include "ptx/special.def"
#undef PTX_SPECIAL
    };
    return bits_of[special];
}

static bool form_of(const struct ptx_function *function, const struct ptx_instruction *insn,
                    const struct exec_flat *flat, struct exec_form *form) {
    static const uint8_t bits_of[PTX_N_WIDTHS] = {1, 16, 32, 64};
    *form = (struct exec_form){.insn = insn, .n_dst = (uint8_t)flat->n_dst, .n_src = (uint8_t)flat->n_src};
    if (flat->overflows || flat->n_dst + flat->n_src > EXEC_MAX_OPERANDS)
        return false;
    for (unsigned i = 0; i < flat->n_dst; i++)
        form->dst_bits[i] = bits_of[exec_operand_width(function, &flat->dst[i])];
    for (unsigned i = 0; i < flat->n_src; i++) {
        form->src_bits[i] = bits_of[exec_operand_width(function, &flat->src[i])];
        const struct ptx_operand *operand = flat->src[i].operand;
        if (operand && operand->kind == PTX_OPERAND_SPECIAL && special_bits(operand->special) != form->src_bits[i])
            return false; /* a special register is read with another width than its own */
    }
    form->n_extra = (uint8_t)flat->n_extra;
    for (unsigned i = 0; i < flat->n_extra; i++) {
        uint8_t bits = bits_of[exec_operand_width(function, &flat->extra[i])];
        form->extra_bits = i == 0 || form->extra_bits == bits ? bits : 0;
    }
    return true;
}

/* Asks one selector after the other: several files implement opcodes such as add, for different types. */
static exec_lanes_fn *select_lanes(const struct exec_form *form) {
    const struct exec_lanes_table *table = exec_level_table();
    exec_lanes_fn *(*const order[])(const struct exec_form *) = {
        table->integer, table->bits,    table->compare, table->move,   table->video,
        table->single,  table->double_, table->half,    table->approx, table->convert,
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        exec_lanes_fn *lanes = order[i](form);
        if (lanes)
            return lanes;
    }
    return NULL;
}

static bool select_control(const struct ptx_function *function, const struct ptx_instruction *insn,
                           struct exec_selection *selection) {
    switch (insn->opcode) {
    case PTX_OP_BRA:
        selection->kind = EXEC_KIND_BRANCH;
        return true;
    case PTX_OP_BRX:
        selection->kind = EXEC_KIND_BRANCH_INDEXED;
        return true;
    case PTX_OP_CALL:
        if (insn->call->target.kind != PTX_OPERAND_FUNCTION)
            selection->kind = EXEC_KIND_CALL_INDIRECT;
        else if (insn->call->target.function->has_body)
            selection->kind = EXEC_KIND_CALL;
        else {
            selection->kind = EXEC_KIND_CALL_BUILTIN;
            selection->act = exec_select_builtin(insn->call->target.function->name);
            return selection->act != NULL;
        }
        return true;
    case PTX_OP_RET:
        selection->kind = function->is_entry ? EXEC_KIND_EXIT : EXEC_KIND_RETURN;
        return true;
    case PTX_OP_EXIT:
        selection->kind = EXEC_KIND_EXIT;
        return true;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        selection->kind = ptx_has(insn, PTX_MOD_WARP) ? EXEC_KIND_NOTHING : EXEC_KIND_BARRIER;
        return true;
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
        selection->kind = EXEC_KIND_TRAP;
        return true;
    default: /* nanosleep pmevent griddepcontrol setmaxnreg */
        selection->kind = EXEC_KIND_NOTHING;
        return true;
    }
}

static bool select_memory(const struct exec_form *form, struct exec_selection *selection) {
    switch (form->insn->opcode) {
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_DISCARD:
        selection->kind = EXEC_KIND_NOTHING;
        return true;
    default:
        selection->kind = EXEC_KIND_CONTEXT;
        selection->act = exec_select_memory(form);
        return selection->act != NULL;
    }
}

static bool select_async(const struct exec_form *form, struct exec_selection *selection) {
    if (form->insn->opcode == PTX_OP_CP && ptx_has(form->insn, PTX_MOD_PREFETCH)) {
        selection->kind = EXEC_KIND_NOTHING;
        return true;
    }
    selection->act = exec_select_async(form, &selection->lanes);
    selection->kind = selection->lanes ? EXEC_KIND_LANES : EXEC_KIND_CONTEXT;
    return selection->lanes || selection->act;
}

static bool select_with_context(enum exec_kind kind, exec_act_fn *act, struct exec_selection *selection) {
    selection->kind = kind;
    selection->act = act;
    return act != NULL;
}

/* The operands of calls are in struct ptx_call; branches and hints have no operands in lanes. */
static bool has_lane_operands(const struct ptx_instruction *insn) {
    enum ptx_family family = ptx_opcode_family(insn->opcode);
    return family != PTX_FAMILY_CONTROL || insn->opcode == PTX_OP_BAR || insn->opcode == PTX_OP_BARRIER ||
           insn->opcode == PTX_OP_BRX || insn->opcode == PTX_OP_NANOSLEEP;
}

bool exec_select(const struct ptx_function *function, const struct ptx_instruction *insn,
                 struct exec_selection *selection) {
    *selection = (struct exec_selection){.kind = EXEC_KIND_NOTHING};
    enum ptx_family family = ptx_opcode_family(insn->opcode);
    if (!ptx_instruction_is_supported(insn))
        return false;
    struct exec_form form = {.insn = insn};
    if (has_lane_operands(insn)) {
        flatten(function, insn, &selection->flat);
        if (!form_of(function, insn, &selection->flat, &form))
            return false;
    }
    switch (family) {
    case PTX_FAMILY_CONTROL:
        return select_control(function, insn, selection);
    case PTX_FAMILY_MEMORY:
        return select_memory(&form, selection);
    case PTX_FAMILY_ATOMIC:
        return select_with_context(EXEC_KIND_CONTEXT, exec_select_atomic(&form), selection);
    case PTX_FAMILY_ASYNC:
        return select_async(&form, selection);
    case PTX_FAMILY_TEXTURE:
        return select_with_context(EXEC_KIND_CONTEXT, exec_select_texture(&form), selection);
    case PTX_FAMILY_WARP:
        return select_with_context(EXEC_KIND_WARP, exec_select_warp(&form), selection);
    case PTX_FAMILY_MATRIX:
        return select_with_context(exec_matrix_kind(insn), exec_select_matrix(insn), selection);
    case PTX_FAMILY_EXTENSION:
        return select_with_context(exec_extension_kind(insn->opcode), exec_select_extension(&form), selection);
    default:
        selection->kind = EXEC_KIND_LANES;
        selection->lanes = select_lanes(&form);
        selection->rounding = exec_form_rounding(&form);
        return selection->lanes != NULL;
    }
}

/* An unsupported instruction or undefined function, reported once, at its first place. */
struct missing {
    const struct ptx_function *function;
    const struct ptx_instruction *first;
    char name[160];
    unsigned count;
};

static void add_missing(struct missing **missing, unsigned *n_missing, const struct ptx_function *function,
                        const struct ptx_instruction *insn) {
    char name[160];
    if (insn->opcode == PTX_OP_CALL)
        snprintf(name, sizeof name, "%s", insn->call->target.function->name);
    else
        ptx_instruction_name(insn, name, sizeof name);
    for (unsigned i = 0; i < *n_missing; i++)
        if ((*missing)[i].first->opcode == insn->opcode && strcmp((*missing)[i].name, name) == 0) {
            (*missing)[i].count++;
            return;
        }
    struct missing *larger = *missing = base_grow(*missing, *n_missing + 1, sizeof **missing);
    larger[*n_missing] = (struct missing){function, insn, "", 1};
    memcpy(larger[(*n_missing)++].name, name, sizeof name);
}

static void report_missing(const struct missing *missing, struct ptx_messages *messages) {
    char times[48] = "";
    if (missing->count > 1)
        snprintf(times, sizeof times, " (%u times in the module)", missing->count);
    messages->has_lack |= missing->first->opcode != PTX_OP_CALL;
    ptx_error_at(messages, missing->function->home, missing->first->at,
                 missing->first->opcode == PTX_OP_CALL ? "call of '%s', which has no definition%s"
                                                       : "'%s' is not supported%s",
                 missing->name, times);
}

unsigned exec_find_unsupported(const struct ptx_module *module, struct ptx_messages *messages) {
    struct missing *missing = NULL;
    unsigned n_missing = 0, n_found = 0;
    for (uint32_t f = 0; f < module->n_functions; f++) {
        const struct ptx_function *function = module->function[f];
        for (uint32_t i = 0; i < function->n_instructions; i++) {
            const struct ptx_instruction *insn = &function->instruction[i];
            struct exec_selection selection;
            if (!exec_select(function, insn, &selection))
                add_missing(&missing, &n_missing, function, insn);
        }
    }
    for (unsigned i = 0; i < n_missing; i++) {
        report_missing(&missing[i], messages);
        n_found += missing[i].count;
    }
    free(missing);
    return n_found;
}
