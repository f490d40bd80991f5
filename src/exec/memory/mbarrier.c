/* mbarrier, and the arrival of cp.async: barrier objects of 64 bits in shared memory, which count arrivals of threads
 * and bytes of asynchronous copies.
 *
 * From the PTX ISA manual ("mbarrier"). A phase is complete when no arrivals are pending and the expected bytes have
 * arrived. The next phase then expects the same number of arrivals. The manual leaves the object's bits open. Here bits
 * 0 to 19 are the pending arrivals, 20 to 39 those of the next phase, 40 to 60 the bytes that are still to arrive
 * (signed), and 63 the phase. An arrival returns a state, which is the value of the object before the arrival. An
 * object that was not initialised, a count out of range and more arrivals than a phase expects are faults here; the
 * manual does not define them.
 *
 * Values change when an instruction executes: a copy is complete at once, and its mbarrier has been signalled. The
 * instruction leaves the data for timing in cx->async. */
#include "exec/memory/mbarrier.h"

enum { COUNT_BITS = 20, MAX_COUNT = (1 << COUNT_BITS) - 1, BYTES_BITS = 21 };

struct mbarrier {
    uint32_t pending, expected; /* arrivals */
    int32_t bytes;
    uint32_t phase; /* 0 or 1 */
};

static struct mbarrier unpack(uint64_t object) {
    int64_t bytes = (int64_t)(object << (64 - 2 * COUNT_BITS - BYTES_BITS)) >> (64 - BYTES_BITS);
    return (struct mbarrier){.pending = object & MAX_COUNT,
                             .expected = object >> COUNT_BITS & MAX_COUNT,
                             .bytes = (int32_t)bytes,
                             .phase = (uint32_t)(object >> 63)};
}

static uint64_t pack(const struct mbarrier *barrier) {
    uint64_t bytes = (uint32_t)barrier->bytes & ((1u << BYTES_BITS) - 1);
    return barrier->pending | (uint64_t)barrier->expected << COUNT_BITS | bytes << 2 * COUNT_BITS |
           (uint64_t)barrier->phase << 63;
}

static void complete_phase(struct mbarrier *barrier) {
    if (barrier->pending || barrier->bytes)
        return;
    barrier->phase ^= 1;
    barrier->pending = barrier->expected;
}

static bool fault(struct exec_context *cx, unsigned lane, const char *what) {
    exec_fault_set(cx, EXEC_FAULT_BARRIER, lane, cx->address[lane], sizeof(uint64_t), "%s", what);
    return false;
}

static bool is_initialised(struct exec_context *cx, unsigned lane, uint64_t object) {
    return object ? true : fault(cx, lane, "the mbarrier is not initialised");
}

static bool arrive(struct exec_context *cx, unsigned lane, struct mbarrier *barrier, uint32_t count, bool drops) {
    if (count == 0 || count > barrier->pending)
        return fault(cx, lane, "more arrivals at an mbarrier than its phase expects, or none");
    barrier->pending -= count;
    barrier->expected -= drops ? count : 0;
    return true;
}

static bool expect(struct exec_context *cx, unsigned lane, struct mbarrier *barrier, int64_t bytes) {
    int64_t sum = barrier->bytes + bytes;
    if (sum > MAX_COUNT || sum < -MAX_COUNT)
        return fault(cx, lane, "an mbarrier counts at most 1048575 bytes");
    barrier->bytes = (int32_t)sum;
    return true;
}

/* Sets *offset to the offset of the lane's mbarrier in shared memory. */
static bool find_offset(struct exec_context *cx, unsigned lane, uint64_t *offset) {
    *offset = cx->address[lane];
    bool is_shared = cx->insn->access.space == PTX_SPACE_SHARED ||
                     (cx->insn->access.space == PTX_SPACE_GENERIC &&
                      exec_generic_space(cx->address[lane], offset) == PTX_SPACE_SHARED);
    return is_shared ? true : fault(cx, lane, "an mbarrier is in shared memory");
}

/* Leaves the lane's mbarrier, at this offset of shared memory, and its phase for the timing model. Returns false after
 * a fault. */
static bool note(struct exec_context *cx, unsigned lane, uint64_t offset, uint32_t phase) {
    const struct exec_block *block = exec_shared_block(cx, lane, &offset);
    cx->async.mbarrier[lane] = (uint32_t)offset | phase;
    cx->async.mbarrier_block[lane] = block;
    return block;
}

/* --- changes --- */

enum operation { INIT, INVALIDATE, EXPECT, COMPLETE, ARRIVE, ARRIVE_EXPECT, DROP, DROP_EXPECT };

EXEC_INLINE bool change(struct exec_context *cx, unsigned lane, enum operation operation, uint32_t count,
                        uint64_t *object) {
    struct mbarrier barrier = unpack(*object);
    bool is_right = true, drops = operation == DROP || operation == DROP_EXPECT;
    if (operation == INIT && (count == 0 || count > MAX_COUNT))
        return fault(cx, lane, "an mbarrier expects 1 to 1048575 arrivals");
    if (operation != INIT && !is_initialised(cx, lane, *object))
        return false;
    switch (operation) {
    case INIT:
        barrier = (struct mbarrier){.pending = count, .expected = count};
        break;
    case INVALIDATE:
        *object = 0;
        return true;
    case EXPECT:
        is_right = expect(cx, lane, &barrier, count);
        break;
    case COMPLETE:
        is_right = expect(cx, lane, &barrier, -(int64_t)count);
        break;
    case ARRIVE_EXPECT:
    case DROP_EXPECT:
        is_right = expect(cx, lane, &barrier, count) && arrive(cx, lane, &barrier, 1, drops);
        break;
    case ARRIVE:
    case DROP:
        is_right = arrive(cx, lane, &barrier, count, drops);
        break;
    }
    if (operation != INIT)
        complete_phase(&barrier);
    *object = pack(&barrier);
    return is_right;
}

/* Lanes act in ascending order. */
EXEC_INLINE void change_lanes(struct exec_context *cx, const struct exec_operands *o, enum operation operation) {
    struct exec_view view;
    if (!exec_view_lanes(cx, o, sizeof(uint64_t), true, &view))
        return;
    const uint32_t *count = cx->insn->n_src > 1 ? o->src[1] : NULL;
    uint64_t *state = cx->insn->n_dst ? o->dst[0] : NULL;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t object, offset;
        unsigned char *place = exec_place(view.places, l);
        memcpy(&object, place, sizeof(object));
        uint64_t before = object;
        if (!find_offset(cx, l, &offset) || !note(cx, l, offset, (uint32_t)(object >> 63)) ||
            !change(cx, l, operation, count ? count[l] : 1, &object))
            return;
        memcpy(place, &object, sizeof(object));
        cx->has_changed |= object != before;
        if (state)
            state[l] = before;
    }
}

#define CHANGE(name, operation)                                                                                        \
    static void name(struct exec_context *cx, const struct exec_operands *o) { change_lanes(cx, o, operation); }
CHANGE(change_init, INIT)
CHANGE(change_invalidate, INVALIDATE)
CHANGE(change_expect, EXPECT)
CHANGE(change_complete, COMPLETE)
CHANGE(change_arrive, ARRIVE)
CHANGE(change_arrive_expect, ARRIVE_EXPECT)
CHANGE(change_drop, DROP)
CHANGE(change_drop_expect, DROP_EXPECT)

bool exec_mbarrier_complete(struct exec_context *cx, unsigned lane, uint64_t offset, uint32_t bytes) {
    uint64_t object;
    unsigned char *place = exec_host_at(cx, lane, PTX_SPACE_SHARED, offset, sizeof(object), true);
    if (!place)
        return false;
    memcpy(&object, place, sizeof(object));
    if (!note(cx, lane, offset, (uint32_t)(object >> 63)) || !change(cx, lane, COMPLETE, bytes, &object))
        return false;
    memcpy(place, &object, sizeof(object));
    cx->has_changed = true;
    return true;
}

/* --- waits --- */

/* test_wait and try_wait: test whether the phase with this parity, or of this state, is complete. If it is, the lane
 * leaves the mbarrier and that phase in cx->async. */
EXEC_INLINE void test(struct exec_context *cx, const struct exec_operands *o, bool is_parity) {
    struct exec_view view;
    if (!exec_view_lanes(cx, o, sizeof(uint64_t), true, &view))
        return;
    uint32_t complete = 0;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t object, offset;
        memcpy(&object, exec_place(view.places, l), sizeof(object));
        if (!find_offset(cx, l, &offset) || !is_initialised(cx, l, object))
            return;
        uint32_t phase =
            is_parity ? ((const uint32_t *)o->src[1])[l] & 1 : (uint32_t)(((const uint64_t *)o->src[1])[l] >> 63);
        bool is_complete = phase != object >> 63;
        complete |= (uint32_t)is_complete << l;
        if (!note(cx, l, offset, phase))
            return;
        if (!is_complete)
            cx->async.mbarrier[l] = EXEC_NO_MBARRIER;
    }
    cx->waits |= !complete;
    exec_write_predicate(o->dst[0], complete, o->mask);
}

static void test_state(struct exec_context *cx, const struct exec_operands *o) { test(cx, o, false); }
static void test_parity(struct exec_context *cx, const struct exec_operands *o) { test(cx, o, true); }

/* --- cp.async.mbarrier.arrive --- */

/* The thread's copies are complete. With .noinc they count as the arrival of the thread. Otherwise the instruction
 * first raises the expected arrivals by one, which its own arrival takes back, so nothing changes. */
EXEC_INLINE void arrive_copies(struct exec_context *cx, const struct exec_operands *o, bool arrives) {
    struct exec_view view;
    if (!exec_view_lanes(cx, o, sizeof(uint64_t), true, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t object, offset;
        unsigned char *place = exec_place(view.places, l);
        memcpy(&object, place, sizeof(object));
        if (!find_offset(cx, l, &offset) || !is_initialised(cx, l, object))
            return;
        if (!note(cx, l, offset, (uint32_t)(object >> 63)))
            return;
        if (!arrives)
            continue;
        if (!change(cx, l, ARRIVE, 1, &object))
            return;
        memcpy(place, &object, sizeof(object));
        cx->has_changed = true;
    }
}

static void arrive_after_copies(struct exec_context *cx, const struct exec_operands *o) { arrive_copies(cx, o, false); }
static void arrive_for_thread(struct exec_context *cx, const struct exec_operands *o) { arrive_copies(cx, o, true); }

exec_act_fn *exec_select_copy_arrive(const struct exec_form *form) {
    return ptx_has(form->insn, PTX_MOD_NOINC) ? arrive_for_thread : arrive_after_copies;
}

/* --- selection --- */

static void pending_count(const struct exec_operands *o) {
    uint32_t *d = o->dst[0];
    const uint64_t *state = o->src[0];
    for (int i = 0; i < EXEC_LANES; i++)
        d[i] = state[i] & MAX_COUNT;
}

exec_lanes_fn *exec_select_pending_count(const struct exec_form *form) {
    return form->dst_bits[0] == 32 && form->src_bits[0] == 64 ? pending_count : NULL;
}

exec_act_fn *exec_select_mbarrier(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    bool expects = ptx_has(insn, PTX_MOD_EXPECT_TX);
    if (insn->space != PTX_SPACE_GENERIC && insn->space != PTX_SPACE_SHARED)
        return NULL;
    if (ptx_has(insn, PTX_MOD_TEST_WAIT) || ptx_has(insn, PTX_MOD_TRY_WAIT))
        return ptx_has(insn, PTX_MOD_PARITY) ? test_parity : test_state;
    if (ptx_has(insn, PTX_MOD_ARRIVE))
        return expects ? change_arrive_expect : change_arrive;
    if (ptx_has(insn, PTX_MOD_ARRIVE_DROP))
        return expects ? change_drop_expect : change_drop;
    return ptx_has(insn, PTX_MOD_INIT)          ? change_init
           : ptx_has(insn, PTX_MOD_INVAL)       ? change_invalidate
           : ptx_has(insn, PTX_MOD_COMPLETE_TX) ? change_complete
           : expects                            ? change_expect
                                                : NULL;
}
