/* Instructions in sub-warps. See subwarps.h.
 *
 * Where the papers are silent:
 * - Every access that goes through the L1 counts as one to global memory: generic and local addresses, atomics,
 *   textures and surfaces too.
 * - Branches, direct calls, returns and exits without a guard are unconditional jumps: all threads have one new pc.
 * - A scalar instruction is a pure one or a load. Loads from local memory are not scalar, since equal addresses are
 *   different places there. */
#include "divergence/large_warp/subwarps.h"

#include <assert.h>
#include <string.h>

#include "divergence/parts/control.h"
#include "divergence/parts/packing.h"
#include "divergence/parts/threads.h"
#include "exec/profile.h"

static bool moves_pc(unsigned kind) {
    return kind >= EXEC_KIND_BRANCH && kind != EXEC_KIND_CALL_BUILTIN && kind != EXEC_KIND_BARRIER &&
           kind != EXEC_KIND_NOTHING && kind != EXEC_KIND_TRAP;
}

static bool is_jump(const struct exec_insn *insn) {
    return !insn->guard.offset && (insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_CALL ||
                                   insn->kind == EXEC_KIND_RETURN || insn->kind == EXEC_KIND_EXIT);
}

static bool goes_to_global_memory(const struct exec_insn *insn) {
    if (insn->kind != EXEC_KIND_CONTEXT || insn->opcode == PTX_OP_CVTA || insn->opcode == PTX_OP_ISSPACEP)
        return false;
    return ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE ||
           (insn->access.space != PTX_SPACE_PARAM && insn->access.space != PTX_SPACE_CONST &&
            insn->access.space != PTX_SPACE_SHARED);
}

/* --- scalar instructions --- */

static bool may_be_scalar(const struct exec_insn *insn) {
    if (insn->flags & EXEC_FLAG_READS_CLOCK)
        return false;
    bool is_load = insn->kind == EXEC_KIND_CONTEXT && insn->opcode == PTX_OP_LD &&
                   insn->access.space != PTX_SPACE_LOCAL && insn->access.space != PTX_SPACE_GENERIC;
    return insn->kind == EXEC_KIND_LANES || is_load;
}

static bool is_same_predicate(const struct divergence_subwarps *subwarps, struct exec_operand operand) {
    uint32_t is_true = 0, is_false = 0;
    for (uint32_t i = 0; i < subwarps->n_rows; i++) {
        uint32_t bits = *(const uint32_t *)(subwarps->row[i].base[operand.base] + operand.offset);
        is_true |= bits & subwarps->left[i];
        is_false |= ~bits & subwarps->left[i];
    }
    return !is_true || !is_false;
}

static bool is_same(const struct divergence_subwarps *subwarps, struct exec_operand operand) {
    static const size_t width_bytes[PTX_N_WIDTHS] = {0, 2, 4, 8};
    const size_t bytes = width_bytes[operand.width];
    if (!bytes)
        return is_same_predicate(subwarps, operand);
    const unsigned char *first = NULL;
    for (uint32_t i = 0; i < subwarps->n_rows; i++)
        for (uint32_t left = subwarps->left[i]; left; left &= left - 1) {
            const unsigned char *value = subwarps->row[i].base[operand.base] + operand.offset;
            value += (size_t)__builtin_ctz(left) * bytes;
            first = first ? first : value;
            if (memcmp(first, value, bytes) != 0)
                return false;
        }
    return true;
}

static bool is_scalar(const struct divergence_subwarps *subwarps) {
    const struct exec_insn *insn = subwarps->insn;
    if (!may_be_scalar(insn))
        return false;
    for (unsigned i = 0; i < insn->n_src; i++)
        if (!is_same(subwarps, insn->operand[insn->n_dst + i]))
            return false;
    return true;
}

/* Writes the result for the threads that are in no sub-warp too. If a load faults here, the sub-warp's load will fault
 * for the same address, and that fault is reported. */
static void execute_rest(struct divergence_subwarps *subwarps, struct exec_context *cx) {
    for (uint32_t i = 0; i < subwarps->n_rows; i++)
        if (subwarps->left[i])
            exec_row_insn(cx, &subwarps->row[i], subwarps->insn, subwarps->left[i]);
    cx->fault.kind = EXEC_FAULT_NONE;
}

/* Counts the threads that are in no sub-warp: they have executed the instruction too. */
static void count_rest(const struct divergence_subwarps *subwarps, const struct exec_context *cx) {
    for (uint32_t i = 0; cx->grid->profile && i < subwarps->n_rows; i++)
        exec_profile_path(cx->grid->profile, &subwarps->row[i], subwarps->left[i] & subwarps->takes[i]);
}

/* --- sub-warps --- */

void divergence_subwarps_begin(struct divergence_subwarps *subwarps, const struct divergence_subwarp_rules *rules,
                               const struct exec_insn *insn, struct exec_row *rows, uint32_t n_rows,
                               const uint32_t *active) {
    subwarps->insn = insn;
    subwarps->row = rows;
    subwarps->n_rows = n_rows;
    subwarps->n_lanes = rules->n_lanes;
    subwarps->is_free = rules->perfect_rf;
    for (uint32_t i = 0; i < n_rows; i++) {
        subwarps->takes[i] = divergence_guard(&rows[i], insn, active[i]);
        subwarps->left[i] = moves_pc(insn->kind) ? active[i] : subwarps->takes[i];
    }
    subwarps->shape = DIVERGENCE_SUBWARP_PACKED;
    if (exec_acts_on_row(insn->kind))
        subwarps->shape = DIVERGENCE_SUBWARP_WHOLE;
    else if (rules->jumpopt && is_jump(insn))
        subwarps->shape = DIVERGENCE_SUBWARP_JUMP;
    else if (rules->scalar && is_scalar(subwarps))
        subwarps->shape = DIVERGENCE_SUBWARP_SCALAR;
    else if (rules->memopt && goes_to_global_memory(insn))
        subwarps->shape = DIVERGENCE_SUBWARP_ROWS;
}

/* Packs the lowest row with threads that can issue. */
static void pack_row(struct divergence_subwarps *subwarps, const uint32_t *in_flight,
                     struct divergence_packing *packing) {
    bool is_whole = subwarps->shape == DIVERGENCE_SUBWARP_WHOLE;
    packing->mask = 0;
    packing->is_row = true;
    for (uint32_t i = 0; i < subwarps->n_rows && !packing->mask; i++) {
        uint32_t left = subwarps->left[i], held = in_flight ? left & in_flight[i] : 0;
        packing->mask = is_whole && held ? 0 : left & ~held;
        if (packing->mask)
            packing->row[__builtin_ctz(packing->mask)] = (uint8_t)i;
        subwarps->left[i] &= ~packing->mask;
    }
}

static void take(struct divergence_subwarps *subwarps, const uint32_t *in_flight, struct divergence_packing *packing) {
    bool goes_by_row = subwarps->shape == DIVERGENCE_SUBWARP_ROWS || subwarps->shape == DIVERGENCE_SUBWARP_WHOLE;
    if (goes_by_row)
        pack_row(subwarps, in_flight, packing);
    else if (subwarps->is_free)
        divergence_pack_any(subwarps->left, in_flight, subwarps->n_rows, subwarps->n_lanes, packing);
    else
        divergence_pack_columns(subwarps->left, in_flight, subwarps->n_rows, packing);
}

/* Fills in the threads of a sub-warp, lane by lane. In control instructions, threads whose guard is false do not
 * execute; in others, only threads whose guard is true were packed. */
static void scatter(struct divergence_subwarps *subwarps, const struct divergence_packing *packing,
                    struct exec_context *cx, struct divergence_bundle *bundle) {
    struct exec_threads *threads = &subwarps->threads;
    for (uint32_t left = packing->mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        exec_threads_put(threads, at, &subwarps->row[packing->row[at]], packing->lane[at]);
    }
    exec_use_threads(cx, threads);
    bundle->mask = packing->mask;
    bool is_packed_by_guard = !subwarps->insn->guard.offset || !moves_pc(subwarps->insn->kind);
    for (uint32_t left = is_packed_by_guard ? 0 : packing->mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (!(subwarps->takes[packing->row[at]] >> packing->lane[at] & 1))
            bundle->mask &= ~(1u << at);
    }
}

void divergence_subwarps_next(struct divergence_subwarps *subwarps, struct exec_context *cx, const uint32_t *in_flight,
                              struct divergence_bundle *bundle, uint32_t *packed) {
    struct divergence_packing packing;
    memcpy(packed, subwarps->left, subwarps->n_rows * sizeof *packed);
    bundle->mask = 0;
    bundle->row = subwarps->insn->kind >= EXEC_KIND_BRANCH ? NULL : subwarps->row;
    if (divergence_masks_are_empty(subwarps->left, subwarps->n_rows)) { /* no guard is true */
        bundle->is_last = true;
        return;
    }
    take(subwarps, in_flight, &packing);
    assert(packing.mask);
    divergence_masks_remove(packed, subwarps->left, subwarps->n_rows);
    if (packing.is_row && bundle->row) {
        bundle->mask = packing.mask; /* no control instruction: only true guards were packed */
        bundle->row = &subwarps->row[packing.row[__builtin_ctz(packing.mask)]];
    } else {
        bundle->row = NULL;
        scatter(subwarps, &packing, cx, bundle);
    }
    if (subwarps->shape == DIVERGENCE_SUBWARP_SCALAR)
        execute_rest(subwarps, cx);
    if (subwarps->shape == DIVERGENCE_SUBWARP_SCALAR || subwarps->shape == DIVERGENCE_SUBWARP_JUMP) {
        count_rest(subwarps, cx);
        memset(subwarps->left, 0, subwarps->n_rows * sizeof *subwarps->left);
    }
    bundle->is_last = divergence_masks_are_empty(subwarps->left, subwarps->n_rows);
}

bool divergence_subwarps_access(const struct divergence_subwarps *subwarps, const struct exec_context *cx,
                                const struct divergence_bundle *bundle) {
    const struct exec_insn *insn = subwarps->insn;
    if (!bundle->mask || !goes_to_global_memory(insn))
        return false;
    if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE || insn->access.space != PTX_SPACE_GENERIC ||
        insn->operand[insn->n_dst].width != PTX_WIDTH_64)
        return true;
    /* A generic access goes where its first lane points. */
    uint32_t at = (uint32_t)__builtin_ctz(bundle->mask);
    const struct exec_row *row = bundle->row ? bundle->row : cx->threads->row[at];
    const unsigned char *lanes = row->base[insn->operand[insn->n_dst].base] + insn->operand[insn->n_dst].offset;
    uint64_t address;
    memcpy(&address, lanes + (bundle->row ? at : cx->threads->lane[at]) * sizeof address, sizeof address);
    address += (uint64_t)(int64_t)(int32_t)insn->imm;
    return address - EXEC_SHARED_WINDOW >= EXEC_WINDOW_BYTES && address - EXEC_PARAM_WINDOW >= EXEC_WINDOW_BYTES;
}
