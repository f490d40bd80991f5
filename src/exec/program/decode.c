/* Decodes an instruction and places its operands: registers in the row's register block, immediates in the constant
 * pool, special registers in row and block, variables at their addresses. One PTX instruction becomes exactly one
 * struct exec_insn. */
#include <string.h>

#include "exec/program/link.h"

/* The memory system handles this many bytes per lane. An access of 32 bytes is aligned, so its second half is in the
 * line of the first. */
enum { MAX_ACCESS_BYTES = 32 };

static struct exec_operand place(enum exec_base base, size_t offset, enum ptx_width width) {
    return (struct exec_operand){.offset = (uint32_t)offset & 0xfffffff, .base = base, .width = width};
}

static struct exec_operand constant(struct exec_linker *linker, uint64_t value, enum ptx_width width) {
    return place(EXEC_BASE_CONSTANTS, exec_constants_broadcast(linker->constants, value, width), width);
}

struct exec_operand exec_register_operand(const struct exec_function *function, uint32_t register_id) {
    static const uint32_t row_bytes[PTX_N_WIDTHS] = {4, 64, 128, 256};
    enum ptx_width width = ptx_type_width(function->ptx->reg[register_id].type);
    uint32_t slot = function->analysis->slot[register_id];
    if (slot == PTX_NO_INDEX)
        return place(EXEC_BASE_REGISTERS, EXEC_TRASH_OFFSET, width);
    return place(EXEC_BASE_REGISTERS, function->register_offset[width] + slot * row_bytes[width], width);
}

static struct exec_operand lane_mask_row(struct exec_linker *linker, enum ptx_special special) {
    uint32_t row[EXEC_LANES];
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++) {
        uint32_t self = 1u << lane, below = self - 1;
        row[lane] = special == PTX_SPECIAL_LANEID        ? lane
                    : special == PTX_SPECIAL_LANEMASK_EQ ? self
                    : special == PTX_SPECIAL_LANEMASK_LE ? self | below
                    : special == PTX_SPECIAL_LANEMASK_LT ? below
                    : special == PTX_SPECIAL_LANEMASK_GE ? ~below
                                                         : ~(self | below);
    }
    return place(EXEC_BASE_CONSTANTS, exec_constants_row(linker->constants, row), PTX_WIDTH_32);
}

#define ROW(member, width) place(EXEC_BASE_ROW, offsetof(struct exec_row, member), width)
#define BLOCK(member, width) place(EXEC_BASE_BLOCK, offsetof(struct exec_block, member), width)

static struct exec_operand special_operand(struct exec_linker *linker, enum ptx_special special, uint64_t number) {
    switch (special) {
    case PTX_SPECIAL_TID_X:
        return ROW(tid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_TID_Y:
        return ROW(tid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_TID_Z:
        return ROW(tid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_NTID_X:
        return BLOCK(ntid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_NTID_Y:
        return BLOCK(ntid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_NTID_Z:
        return BLOCK(ntid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_CTAID_X:
        return BLOCK(ctaid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_CTAID_Y:
        return BLOCK(ctaid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_CTAID_Z:
        return BLOCK(ctaid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_NCTAID_X:
        return BLOCK(nctaid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_NCTAID_Y:
        return BLOCK(nctaid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_NCTAID_Z:
        return BLOCK(nctaid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_WARPID:
        return ROW(warpid, PTX_WIDTH_32);
    case PTX_SPECIAL_NWARPID:
        return BLOCK(nwarpid, PTX_WIDTH_32);
    case PTX_SPECIAL_SMID:
        return BLOCK(smid, PTX_WIDTH_32);
    case PTX_SPECIAL_NSMID:
        return BLOCK(nsmid, PTX_WIDTH_32);
    case PTX_SPECIAL_GRIDID:
        return BLOCK(gridid, PTX_WIDTH_64);
    case PTX_SPECIAL_CLOCK:
        return ROW(clock, PTX_WIDTH_32);
    case PTX_SPECIAL_CLOCK_HI:
        return ROW(clock_hi, PTX_WIDTH_32);
    case PTX_SPECIAL_CLOCK64:
        return ROW(clock64, PTX_WIDTH_64);
    case PTX_SPECIAL_GLOBALTIMER:
        return ROW(globaltimer, PTX_WIDTH_64);
    case PTX_SPECIAL_GLOBALTIMER_LO:
        return ROW(globaltimer_lo, PTX_WIDTH_32);
    case PTX_SPECIAL_GLOBALTIMER_HI:
        return ROW(globaltimer_hi, PTX_WIDTH_32);
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return BLOCK(dynamic_shared, PTX_WIDTH_32);
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case PTX_SPECIAL_AGGR_SMEM_SIZE:
        return BLOCK(total_shared, PTX_WIDTH_32);
    case PTX_SPECIAL_ENVREG: /* cooperative_groups reads 1 and 2; the driver sets no others */
        if (number == 1 || number == 2)
            return BLOCK(workspace[number - 1], PTX_WIDTH_32);
        return constant(linker, 0, PTX_WIDTH_32);
    case PTX_SPECIAL_PM: /* there are no performance counters */
        return constant(linker, 0, PTX_WIDTH_32);
    case PTX_SPECIAL_PM_64:
        return constant(linker, 0, PTX_WIDTH_64);
    case PTX_SPECIAL_CLUSTERID_X:
        return BLOCK(clusterid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTERID_Y:
        return BLOCK(clusterid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTERID_Z:
        return BLOCK(clusterid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_NCLUSTERID_X:
        return BLOCK(nclusterid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_NCLUSTERID_Y:
        return BLOCK(nclusterid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_NCLUSTERID_Z:
        return BLOCK(nclusterid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_NCTAID_X:
        return BLOCK(cluster_nctaid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_NCTAID_Y:
        return BLOCK(cluster_nctaid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_NCTAID_Z:
        return BLOCK(cluster_nctaid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        return BLOCK(cluster_nctarank, PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_CTAID_X:
        return BLOCK(cluster_ctaid[0], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_CTAID_Y:
        return BLOCK(cluster_ctaid[1], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_CTAID_Z:
        return BLOCK(cluster_ctaid[2], PTX_WIDTH_32);
    case PTX_SPECIAL_CLUSTER_CTARANK:
        return BLOCK(cluster_ctarank, PTX_WIDTH_32);
    case PTX_SPECIAL_CURRENT_GRAPH_EXEC: /* no graph was launched from a kernel */
        return constant(linker, 0, PTX_WIDTH_64);
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return BLOCK(is_explicit_cluster, PTX_WIDTH_PRED);
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_BEGIN: /* the system reserves no shared memory */
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_END:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_CAP:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_0:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_1:
        return constant(linker, 0, PTX_WIDTH_32);
    default:
        return lane_mask_row(linker, special);
    }
}

/* Returns an immediate as the bits of a register of `type`. */
static uint64_t immediate_bits(const struct ptx_operand *operand, enum ptx_type type) {
    if (operand->kind == PTX_OPERAND_INTEGER)
        return operand->value;
    double number;
    if (operand->kind == PTX_OPERAND_FLOAT32) {
        float single;
        uint32_t bits = (uint32_t)operand->value;
        memcpy(&single, &bits, sizeof single);
        if (type != PTX_F64)
            return bits;
        number = single;
    } else {
        memcpy(&number, &operand->value, sizeof number);
    }
    if (type == PTX_F32) {
        float single = (float)number;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        return bits;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static struct exec_operand variable_operand(struct exec_linker *linker, uint32_t function_number,
                                            const struct ptx_operand *operand, enum ptx_width width) {
    const struct ptx_variable *variable = operand->variable;
    uint64_t offset = (uint64_t)operand->offset;
    if (exec_is_kernel_parameter(variable))
        return constant(linker, variable->offset + offset, width);
    if (variable->space == PTX_SPACE_SHARED)
        return constant(linker, exec_shared_offset(linker, variable) + offset, width);
    if (exec_frame_offset(linker, function_number, variable) !=
        PTX_NO_INDEX) /* the instruction adds the frame offset */
        return ROW(frame, PTX_WIDTH_32);
    return constant(linker, linker->symbol_address(linker->user, variable) + offset, width);
}

struct exec_operand exec_value_operand(struct exec_linker *linker, uint32_t function_number,
                                       const struct exec_flat_operand *flat) {
    const struct exec_function *function = &linker->program->function[function_number];
    const struct ptx_operand *operand = flat->operand;
    if (flat->role == EXEC_FLAT_CARRY)
        return place(EXEC_BASE_REGISTERS, EXEC_CARRY_OFFSET, PTX_WIDTH_PRED);
    if (flat->role == EXEC_FLAT_OFFSET) /* a variable's address already includes it */
        return constant(linker, operand->register_id != PTX_NO_INDEX ? (uint64_t)operand->offset : 0, PTX_WIDTH_64);
    enum ptx_width width = exec_operand_width(function->ptx, flat);
    if (flat->role == EXEC_FLAT_PAIR)
        return operand->pair_id >= PTX_NO_INDEX - 1 ? place(EXEC_BASE_REGISTERS, EXEC_TRASH_OFFSET, width)
                                                    : exec_register_operand(function, operand->pair_id);
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return exec_register_operand(function, operand->register_id);
    case PTX_OPERAND_SINK:
        return place(EXEC_BASE_REGISTERS, EXEC_TRASH_OFFSET, width);
    case PTX_OPERAND_SPECIAL:
        return special_operand(linker, operand->special, operand->value);
    case PTX_OPERAND_VARIABLE:
        return variable_operand(linker, function_number, operand, width);
    case PTX_OPERAND_FUNCTION:
        return constant(linker, exec_function_address(operand->function), width);
    case PTX_OPERAND_ADDRESS: /* the instruction adds the offset, except to a variable's own address */
        if (operand->register_id != PTX_NO_INDEX)
            return exec_register_operand(function, operand->register_id);
        if (operand->variable)
            return variable_operand(linker, function_number, operand, PTX_WIDTH_64);
        return constant(linker, (uint64_t)operand->offset, PTX_WIDTH_64);
    default:
        return constant(linker, immediate_bits(operand, flat->type), width);
    }
}

/* Returns whether a source is one of the special registers from `first` to `last` in special.def. */
static bool reads_special(const struct exec_flat *flat, enum ptx_special first, enum ptx_special last) {
    for (unsigned i = 0; i < flat->n_src; i++) {
        const struct ptx_operand *operand = flat->src[i].operand;
        if (operand && operand->kind == PTX_OPERAND_SPECIAL && operand->special >= first && operand->special <= last)
            return true;
    }
    return false;
}

static enum ptx_space access_space(struct exec_linker *linker, uint32_t function_number,
                                   const struct ptx_instruction *insn, const struct ptx_operand *address) {
    const struct ptx_variable *variable = address->variable;
    if (variable && address->register_id == PTX_NO_INDEX) {
        if (exec_is_kernel_parameter(variable))
            return PTX_SPACE_PARAM;
        if (exec_frame_offset(linker, function_number, variable) != PTX_NO_INDEX)
            return PTX_SPACE_LOCAL;
        return variable->space;
    }
    bool is_entry = linker->program->function[function_number].ptx->is_entry;
    return insn->space == PTX_SPACE_PARAM && !is_entry ? PTX_SPACE_LOCAL : insn->space;
}

static void decode_access(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                          const struct exec_flat *flat, struct exec_insn *out) {
    for (unsigned i = 0; i < flat->n_src; i++) {
        if (flat->src[i].role != EXEC_FLAT_ADDRESS)
            continue;
        const struct ptx_operand *address = flat->src[i].operand;
        enum ptx_type type = insn->n_types ? insn->type[insn->n_types - 1] : PTX_B32;
        out->access.space = (uint8_t)access_space(linker, function_number, insn, address);
        out->access.bytes = (uint8_t)(ptx_type_bits(type) / 8);
        out->access.n = insn->vector ? insn->vector : 1;
        if (out->access.bytes * out->access.n > MAX_ACCESS_BYTES)
            out->access.n = (uint8_t)(MAX_ACCESS_BYTES / out->access.bytes);
        out->access.is_signed = ptx_type_kind(type) == PTX_KIND_S;
        if (address->register_id != PTX_NO_INDEX)
            out->imm = (uint32_t)address->offset;
        else if (out->access.space == PTX_SPACE_LOCAL && address->variable)
            out->imm = exec_frame_offset(linker, function_number, address->variable) + (uint32_t)address->offset;
        if (address->offset != (int32_t)address->offset)
            ptx_error_at(linker->messages, linker->program->function[function_number].ptx->home, address->at,
                         "address offset %lld does not fit in 32 bits", (long long)address->offset);
    }
}

/* The address of a frame variable as a value: mov.u64 %rd, depot. */
static void frame_address_64(const struct exec_operands *o) {
    uint64_t *d = o->dst[0];
    const uint32_t *frame = o->src[0];
    for (int i = 0; i < EXEC_LANES; i++)
        d[i] = frame[i] + o->imm;
}

static void frame_address_32(const struct exec_operands *o) {
    uint32_t *d = o->dst[0];
    const uint32_t *frame = o->src[0];
    for (int i = 0; i < EXEC_LANES; i++)
        d[i] = frame[i] + o->imm;
}

static void frame_address_generic(const struct exec_operands *o) {
    uint64_t *d = o->dst[0];
    const uint32_t *frame = o->src[0];
    for (int i = 0; i < EXEC_LANES; i++)
        d[i] = EXEC_LOCAL_WINDOW + frame[i] + o->imm;
}

/* Only mov and cvta can use a frame variable's address as a value. */
static void decode_frame_address(struct exec_linker *linker, uint32_t function_number,
                                 const struct ptx_instruction *insn, const struct exec_flat *flat,
                                 struct exec_insn *out) {
    for (unsigned i = 0; i < flat->n_src; i++) {
        const struct ptx_operand *operand = flat->src[i].operand;
        if (!operand || operand->kind != PTX_OPERAND_VARIABLE)
            continue;
        uint32_t offset = exec_frame_offset(linker, function_number, operand->variable);
        if (offset == PTX_NO_INDEX)
            continue;
        bool is_mov = insn->opcode == PTX_OP_MOV,
             is_generic = insn->opcode == PTX_OP_CVTA && !ptx_has(insn, PTX_MOD_TO);
        if (!is_mov && !is_generic)
            ptx_error_at(linker->messages, linker->program->function[function_number].ptx->home, operand->at,
                         "the address of '%s' can only be taken by mov or cvta", operand->variable->name);
        out->kind = EXEC_KIND_LANES;
        out->lanes = is_generic                              ? frame_address_generic
                     : out->operand[0].width == PTX_WIDTH_64 ? frame_address_64
                                                             : frame_address_32;
        out->imm = offset + (uint32_t)operand->offset;
    }
}

static uint32_t branch_table(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn) {
    struct exec_program *program = linker->program;
    uint32_t number = program->n_branch_tables++;
    uint32_t *table = program->branch_table[number];
    table[0] = insn->n_targets;
    for (uint32_t i = 0; i < insn->n_targets; i++)
        table[1 + i] = program->function[function_number].first_pc + insn->target[i];
    return number;
}

/* cp: decodes its access to global memory. Groups and waits access no memory, and a copy inside shared memory only
 * that. */
static void decode_copy(const struct ptx_instruction *insn, struct exec_insn *out) {
    bool is_global = insn->space == PTX_SPACE_GLOBAL || insn->source_space == PTX_SPACE_GLOBAL;
    bool has_addresses = insn->n_operands && !ptx_has(insn, PTX_MOD_WAIT_GROUP);
    if (ptx_has(insn, PTX_MOD_MBARRIER))
        return;
    is_global |= ptx_has(insn, PTX_MOD_TENSOR);
    out->access.space = !has_addresses ? PTX_SPACE_REG : is_global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    out->access.bytes = (uint8_t)(ptx_has(insn, PTX_MOD_BULK) ? 16 : out->imm);
    out->access.n = 1;
}

static enum exec_barrier_mode barrier_mode(const struct ptx_instruction *insn) {
    if (ptx_has(insn, PTX_MOD_ARRIVE))
        return EXEC_BARRIER_ARRIVE;
    if (ptx_has(insn, PTX_MOD_WAIT))
        return EXEC_BARRIER_WAIT;
    if (!ptx_has(insn, PTX_MOD_RED))
        return EXEC_BARRIER_SYNC;
    return ptx_has(insn, PTX_MOD_POPC)  ? EXEC_BARRIER_POPC
           : ptx_has(insn, PTX_MOD_AND) ? EXEC_BARRIER_AND
                                        : EXEC_BARRIER_OR;
}

static void decode_control(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                           struct exec_insn *out) {
    const struct exec_function *function = &linker->program->function[function_number];
    uint32_t index = (uint32_t)(insn - function->ptx->instruction);
    uint32_t reconvergence = function->analysis->reconvergence[index];
    bool is_at_end = reconvergence == PTX_NO_INDEX || reconvergence >= function->ptx->n_instructions;
    out->reconvergence = is_at_end ? EXEC_NO_PC : function->first_pc + reconvergence;
    if (function->analysis->is_uniform_branch[index])
        out->flags |= EXEC_FLAG_UNIFORM;
    switch (out->kind) {
    case EXEC_KIND_BRANCH:
        out->target = function->first_pc + insn->operand[0].target;
        break;
    case EXEC_KIND_BRANCH_INDEXED:
        out->branch_table = branch_table(linker, function_number, insn);
        break;
    case EXEC_KIND_CALL: {
        out->call_site = exec_link_call_site(linker, function_number, insn);
        uint32_t callee = linker->program->function_number[insn->call->target.function->index];
        out->target = linker->program->function[callee].first_pc;
        break;
    }
    case EXEC_KIND_CALL_INDIRECT:
        out->call_site = exec_link_call_site(linker, function_number, insn);
        break;
    case EXEC_KIND_CALL_BUILTIN:
        out->call_site = exec_link_call_site(linker, function_number, insn);
        break;
    case EXEC_KIND_BARRIER:
        out->barrier_mode = barrier_mode(insn);
        break;
    default:
        break;
    }
}

/* Decodes Heddle's extensions of PTX. A negated predicate becomes a flag, because cond_acc's imm is its address offset.
 */
/* alloca, stacksave, stackrestore: they access no memory. */
static void decode_stack(struct exec_linker *linker, uint32_t function_number, struct exec_insn *out) {
    bool is_stack =
        out->opcode == PTX_OP_ALLOCA || out->opcode == PTX_OP_STACKSAVE || out->opcode == PTX_OP_STACKRESTORE;
    if (!is_stack)
        return;
    out->imm = linker->program->function[function_number].frame_bytes;
    out->access.space = PTX_SPACE_REG;
    linker->program->uses_alloca |= out->opcode == PTX_OP_ALLOCA;
}

static void decode_extension(const struct ptx_instruction *insn, struct exec_insn *out) {
    if (ptx_has(insn, PTX_MOD_HEDDLE_ROW))
        out->flags |= EXEC_FLAG_HOLDS_ROW;
    if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_EXTENSION) {
        out->flags |= out->imm & 1 ? EXEC_FLAG_NEGATES : 0;
        out->imm = 0;
    }
    if (insn->opcode == PTX_OP_PROGRESS) /* like a parameter access, it does not leave the SM */
        out->access.space = PTX_SPACE_PARAM;
}

void exec_decode(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                 struct exec_insn *out) {
    const struct exec_function *function = &linker->program->function[function_number];
    struct exec_selection selection;
    bool is_known = exec_select(function->ptx, insn, &selection);
    *out =
        (struct exec_insn){.kind = (uint8_t)selection.kind, .opcode = (uint8_t)insn->opcode, .imm = selection.flat.imm};
    if (!is_known) { /* loading a module reports these; programs linked by other callers must not reach them */
        char name[160];
        ptx_error_at(linker->messages, linker->program->function[function_number].ptx->home, insn->at,
                     "'%s' is not supported", ptx_instruction_name(insn, name, sizeof name));
        out->kind = EXEC_KIND_TRAP;
        return;
    }
    if (selection.lanes)
        out->lanes = selection.lanes;
    else
        out->act = selection.act;
    if (insn->guard != PTX_NO_INDEX) {
        out->guard = exec_register_operand(function, insn->guard);
        out->flags |= insn->guard_negated ? EXEC_FLAG_GUARD_NEGATED : 0;
    }
    if (selection.rounding != EXEC_ROUND_NEAREST) {
        out->flags |= EXEC_FLAG_ROUNDS;
        out->rounding = (uint8_t)selection.rounding;
    }
    const struct exec_flat *flat = &selection.flat;
    out->combination = flat->combination;
    out->n_dst = (uint8_t)flat->n_dst;
    out->n_src = (uint8_t)flat->n_src;
    for (unsigned i = 0; i < flat->n_dst; i++)
        out->operand[i] = exec_value_operand(linker, function_number, &flat->dst[i]);
    for (unsigned i = 0; i < flat->n_src; i++)
        out->operand[flat->n_dst + i] = exec_value_operand(linker, function_number, &flat->src[i]);
    if (flat->n_extra) {
        struct exec_extra *extra = &linker->program->extra[linker->program->n_extras++];
        for (extra->n = 0; extra->n < flat->n_extra; extra->n++)
            extra->operand[extra->n] = exec_value_operand(linker, function_number, &flat->extra[extra->n]);
        out->extra = linker->program->n_extras;
    }
    if (reads_special(flat, PTX_SPECIAL_CLOCK, PTX_SPECIAL_GLOBALTIMER_HI))
        out->flags |= EXEC_FLAG_READS_CLOCK;
    decode_extension(insn, out);
    linker->program->uses_warps |= exec_acts_on_row(out->kind) ||
                                   reads_special(flat, PTX_SPECIAL_LANEID, PTX_SPECIAL_NWARPID) ||
                                   reads_special(flat, PTX_SPECIAL_LANEMASK_EQ, PTX_SPECIAL_LANEMASK_GT);
    if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_CONTROL)
        decode_control(linker, function_number, insn, out);
    else if (ptx_opcode_family(insn->opcode) != PTX_FAMILY_TEXTURE)
        decode_access(linker, function_number, insn, flat, out);
    if (insn->opcode == PTX_OP_CP)
        decode_copy(insn, out);
    decode_stack(linker, function_number, out);
    if (insn->matrix)
        exec_link_matrix(linker, function_number, insn, out);
    decode_frame_address(linker, function_number, insn, flat, out);
    bool has_few_operands = out->n_dst <= 1 && out->n_src <= 3 && !(out->flags & EXEC_FLAG_READS_CLOCK);
    out->is_simple =
        out->kind == EXEC_KIND_LANES && has_few_operands && out->n_dst == 1 && !(out->flags & EXEC_FLAG_ROUNDS);
    out->is_short = out->kind == EXEC_KIND_CONTEXT && has_few_operands;
    out->is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    out->goes_to_memory = exec_has_addresses(out->kind) && insn->opcode != PTX_OP_CVTA &&
                          insn->opcode != PTX_OP_ISSPACEP && insn->opcode != PTX_OP_PROGRESS &&
                          out->access.space != PTX_SPACE_REG;
}
