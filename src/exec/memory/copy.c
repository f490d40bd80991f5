/* cp.async, cp.async.bulk and st.async: copies that run in parallel with the thread on hardware. Here the data arrives
 * when the instruction executes. sm/copies.c decides when a wait for it ends.
 *
 * From the PTX ISA manual ("Data Movement and Conversion Instructions: Asynchronous copy"). Sources of cp.async: the
 * destination, the source, and the bytes to read (the rest becomes zero) or a predicate that makes all of the
 * destination zero; imm is the size. Sources of cp.async.bulk: the destination, the source, the size, and the mbarrier
 * that counts the bytes. Every address is two sources, a base and its offset. cp.reduce.async.bulk combines its
 * elements with those in memory. With .multicast::cluster the last source is the set of blocks that receive the data
 * and whose mbarriers are signalled. tensor.c has the copies with tensor maps. */
#include "exec/memory/combine.h"
#include "exec/memory/mbarrier.h"
#include "exec/memory/tensor.h"

enum { BULK_ALIGNMENT = 16 };

/* The two ends of one lane's copy, in host memory. */
struct ends {
    unsigned char *to;
    const unsigned char *from;
    uint32_t bytes, zeros;
};

static void move(const struct ends *ends, uint32_t mask) {
    EXEC_FOR_ACTIVE(l, mask) {
        if (ends[l].bytes)
            memcpy(ends[l].to, ends[l].from, ends[l].bytes);
        memset(ends[l].to + ends[l].bytes, 0, ends[l].zeros);
    }
}

/* Returns the bytes that a lane reads. */
static uint32_t wanted_bytes(const struct exec_context *cx, const struct exec_operands *o, unsigned lane) {
    if (cx->insn->n_src < 5)
        return o->imm;
    if (cx->insn->operand[4].width == PTX_WIDTH_PRED)
        return *(const uint32_t *)o->src[4] >> lane & 1 ? 0 : o->imm;
    uint32_t bytes = ((const uint32_t *)o->src[4])[lane];
    return bytes < o->imm ? bytes : o->imm;
}

static void copy_elements(struct exec_context *cx, const struct exec_operands *o) {
    struct ends ends[EXEC_LANES];
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t to = exec_based_address(cx, o, 0, l), from = exec_based_address(cx, o, 2, l);
        uint32_t bytes = wanted_bytes(cx, o, l);
        cx->address[l] = from;
        cx->async.bytes[l] = bytes;
        ends[l] = (struct ends){.bytes = bytes, .zeros = o->imm - bytes};
        ends[l].to = exec_range_at(cx, l, PTX_SPACE_SHARED, to, o->imm, o->imm, true);
        if (bytes)
            ends[l].from = exec_range_at(cx, l, PTX_SPACE_GLOBAL, from, bytes, o->imm, false);
        if (!ends[l].to || (bytes && !ends[l].from))
            return;
    }
    move(ends, o->mask);
}

/* --- bulk copies --- */

static void reduce(const struct ends *ends, uint32_t combination) {
    exec_combine_fn *combine = exec_combine(combination);
    const unsigned bytes = exec_combined_bytes(combination);
    for (uint32_t at = 0; at < ends->bytes; at += bytes) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, ends->to + at, bytes);
        memcpy(&operand, ends->from + at, bytes);
        uint64_t next = combine(old, operand);
        memcpy(ends->to + at, &next, bytes);
    }
}

bool exec_multicast_start(struct exec_context *cx, unsigned lane, uint32_t mask) {
    const struct exec_block *own = exec_row_at(cx, lane)->block;
    uint32_t n = own->cluster ? own->cluster->n_blocks : 1;
    cx->async.multicast[lane] = mask;
    if (!(mask >> n))
        return true;
    exec_fault_set(cx, EXEC_FAULT_SHARED_BOUNDS, lane, mask, 0, "a copy to blocks 0x%x; the cluster has %u", mask, n);
    return false;
}

/* Copies a lane's data to several blocks, and signals their mbarriers. */
static bool multicast(struct exec_context *cx, const struct exec_operands *o, unsigned lane, const struct ends *ends) {
    uint32_t mask = ((const uint16_t *)o->src[7])[lane];
    uint64_t to = exec_based_address(cx, o, 0, lane), mbarrier = exec_based_address(cx, o, 5, lane);
    if (!exec_multicast_start(cx, lane, mask))
        return false;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(left);
        unsigned char *place =
            exec_range_at(cx, lane, PTX_SPACE_SHARED, exec_of_rank(to, rank), ends->bytes, BULK_ALIGNMENT, true);
        if (!place)
            return false;
        if (ends->bytes)
            memcpy(place, ends->from, ends->bytes);
        if (!exec_mbarrier_complete(cx, lane, exec_of_rank(mbarrier, rank), ends->bytes))
            return false;
    }
    return true;
}

EXEC_INLINE void copy_bulk(struct exec_context *cx, const struct exec_operands *o, enum ptx_space to,
                           enum ptx_space from) {
    struct ends ends[EXEC_LANES];
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t to_address = exec_based_address(cx, o, 0, l), from_address = exec_based_address(cx, o, 2, l);
        uint32_t bytes = ((const uint32_t *)o->src[4])[l];
        if (bytes % BULK_ALIGNMENT) {
            exec_fault_set(cx, EXEC_FAULT_MISALIGNED, l, to_address, bytes,
                           "a bulk copy's size must be a multiple of %d", BULK_ALIGNMENT);
            return;
        }
        bool is_global = to == PTX_SPACE_GLOBAL || from == PTX_SPACE_GLOBAL;
        cx->address[l] = to == PTX_SPACE_GLOBAL ? to_address : from_address;
        cx->async.bytes[l] = is_global ? bytes : 0;
        cx->async.mbarrier[l] = EXEC_NO_MBARRIER;
        cx->async.multicast[l] = cx->async.n_rows[l] = 0;
        ends[l] = (struct ends){.bytes = bytes};
        if (!bytes)
            continue;
        ends[l].to = exec_range_at(cx, l, to, to_address, bytes, BULK_ALIGNMENT, true);
        ends[l].from = exec_range_at(cx, l, from, from_address, bytes, BULK_ALIGNMENT, false);
        if (!ends[l].to || !ends[l].from)
            return;
    }
    EXEC_FOR_ACTIVE(l, o->mask) {
        if (cx->insn->n_src > 7) {
            if (!multicast(cx, o, l, &ends[l]))
                return;
            continue;
        }
        if (cx->insn->combination != EXEC_NO_COMBINATION)
            reduce(&ends[l], cx->insn->combination);
        else if (ends[l].bytes)
            memmove(ends[l].to, ends[l].from, ends[l].bytes);
        bool has_mbarrier = cx->insn->n_src > 5;
        if (has_mbarrier && !exec_mbarrier_complete(cx, l, exec_based_address(cx, o, 5, l), ends[l].bytes))
            return;
    }
}

static void copy_bulk_in(struct exec_context *cx, const struct exec_operands *o) {
    copy_bulk(cx, o, PTX_SPACE_SHARED, PTX_SPACE_GLOBAL);
}
static void copy_bulk_out(struct exec_context *cx, const struct exec_operands *o) {
    copy_bulk(cx, o, PTX_SPACE_GLOBAL, PTX_SPACE_SHARED);
}
static void copy_bulk_inside(struct exec_context *cx, const struct exec_operands *o) {
    copy_bulk(cx, o, PTX_SPACE_SHARED, PTX_SPACE_SHARED);
}

/* --- groups --- */

EXEC_INLINE void commit(struct exec_context *cx, const struct exec_operands *o, unsigned kind) {
    EXEC_FOR_ACTIVE(l, o->mask) exec_row_at(cx, l)->n_copy_groups[kind][exec_lane_at(cx, l)]++;
}

static void commit_elements(struct exec_context *cx, const struct exec_operands *o) { commit(cx, o, 0); }
static void commit_bulk(struct exec_context *cx, const struct exec_operands *o) { commit(cx, o, 1); }

static void wait(struct exec_context *cx, const struct exec_operands *o) { (void)cx, (void)o; }

exec_act_fn *exec_select_copy(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    bool is_bulk = ptx_has(insn, PTX_MOD_BULK);
    if (ptx_has(insn, PTX_MOD_COMMIT_GROUP))
        return is_bulk ? commit_bulk : commit_elements;
    if (ptx_has(insn, PTX_MOD_WAIT_GROUP) || ptx_has(insn, PTX_MOD_WAIT_ALL))
        return wait;
    if (ptx_has(insn, PTX_MOD_MBARRIER))
        return exec_select_copy_arrive(form);
    if (!is_bulk)
        return copy_elements;
    if (ptx_has(insn, PTX_MOD_TENSOR))
        return exec_select_tensor_copy(form);
    if (ptx_has(insn, PTX_MOD_REDUCE) && exec_combination_of(insn) == EXEC_NO_COMBINATION)
        return NULL;
    return insn->space == PTX_SPACE_GLOBAL          ? copy_bulk_out
           : insn->source_space == PTX_SPACE_GLOBAL ? copy_bulk_in
                                                    : copy_bulk_inside;
}

/* --- st.async --- */

/* Sources: the address, the values, the mbarrier's base and offset. */
static void store_async(struct exec_context *cx, const struct exec_operands *o) {
    struct exec_view view;
    const unsigned bytes = cx->insn->access.bytes, n = cx->insn->access.n;
    if (!exec_view_lanes(cx, o, bytes * n, true, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        for (unsigned e = 0; e < n; e++) {
            unsigned slot = exec_slot_bytes(cx->insn->operand[1 + e]);
            memcpy(exec_place(view.places, l) + (size_t)e * bytes, (const unsigned char *)o->src[1 + e] + l * slot,
                   bytes);
        }
        if (!exec_mbarrier_complete(cx, l, exec_based_address(cx, o, 1 + n, l), bytes * n))
            return;
    }
}

exec_act_fn *exec_select_store_async(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned bits = ptx_type_bits(insn->type[0]), n = insn->vector ? insn->vector : 1;
    if ((bits != 32 && bits != 64) || form->n_src != n + 3u ||
        (insn->space != PTX_SPACE_SHARED && insn->space != PTX_SPACE_GENERIC))
        return NULL;
    for (unsigned e = 1; e <= n; e++)
        if (form->src_bits[e] < bits)
            return NULL;
    return store_async;
}
