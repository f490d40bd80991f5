/* Instructions that read other lanes of the row: shfl, vote, match, redux, elect, activemask.
 *
 * From the PTX ISA manual. The active lanes take part or, if there is a member mask, the active lanes in the mask.
 * Lanes with different member masks in one execution form separate groups, as if each group executed alone. If the
 * manual does not define a value (shfl from a lane that does not take part, a lane outside its own member mask), the
 * result is 0 or that of the group. redux of f32 (sm_100) follows the manual; no such GPU was available. */
#include "exec/internal.h"

static void write_lanes(uint32_t *dst, const uint32_t *value, uint32_t mask) {
    if (mask == EXEC_FULL_MASK)
        memcpy(dst, value, EXEC_LANES * sizeof(*dst));
    else
        EXEC_FOR_ACTIVE(l, mask) dst[l] = value[l];
}

/* shfl */

enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

struct shuffle_source {
    int32_t from[EXEC_LANES]; /* the lane to read; out of range, the lane itself */
    int32_t is_in_range[EXEC_LANES];
};

/* c has the clamp in bits 0 to 4 and the segment mask in bits 8 to 12. The loop has no branches, so that it vectorises.
 */
EXEC_INLINE void find_sources(enum shuffle mode, const int32_t *b, const int32_t *c, struct shuffle_source *source) {
    for (int32_t i = 0; i < EXEC_LANES; i++) {
        int32_t shift = b[i] & 31, segment = c[i] >> 8 & 31;
        int32_t lowest = i & segment, highest = lowest | (c[i] & 31 & ~segment);
        int32_t from = mode == SHUFFLE_UP     ? i - shift
                       : mode == SHUFFLE_DOWN ? i + shift
                       : mode == SHUFFLE_BFLY ? i ^ shift
                                              : lowest | (shift & ~segment);
        int32_t is_in_range = mode == SHUFFLE_UP ? from >= highest : from <= highest;
        source->from[i] = is_in_range ? from : i;
        source->is_in_range[i] = is_in_range;
    }
}

/* Shuffles among the participants of a group; a full row needs no checks. */
EXEC_INLINE void shuffle_group(const uint32_t *a, const struct shuffle_source *source, uint32_t group,
                               uint32_t participants, uint32_t *value) {
    if (participants == EXEC_FULL_MASK) {
        for (int i = 0; i < EXEC_LANES; i++)
            value[i] = a[source->from[i]];
        return;
    }
    EXEC_FOR_ACTIVE(l, group) {
        uint32_t from = (uint32_t)source->from[l];
        value[l] = from == l || (participants >> from & 1) ? a[from] : 0;
    }
}

EXEC_INLINE void shuffle(const struct exec_context *cx, const struct exec_operands *o, enum shuffle mode) {
    const uint32_t *a = o->src[0], *members = cx->insn->n_src > 3 ? o->src[3] : NULL;
    struct shuffle_source source;
    find_sources(mode, o->src[1], o->src[2], &source);
    uint32_t value[EXEC_LANES], left = o->mask;
    while (left) {
        uint32_t participants, group = exec_next_group(&left, members, &participants);
        shuffle_group(a, &source, group, participants, value);
    }
    write_lanes(o->dst[0], value, o->mask);
    if (cx->insn->n_dst > 1) {
        uint32_t in_range = 0;
        for (int i = 0; i < EXEC_LANES; i++)
            in_range |= (uint32_t)source.is_in_range[i] << i;
        exec_write_predicate(o->dst[1], in_range, o->mask);
    }
}

#define SHUFFLE(name, mode)                                                                                            \
    static void name(struct exec_context *cx, const struct exec_operands *o) { shuffle(cx, o, mode); }
SHUFFLE(shuffle_up, SHUFFLE_UP)
SHUFFLE(shuffle_down, SHUFFLE_DOWN)
SHUFFLE(shuffle_bfly, SHUFFLE_BFLY)
SHUFFLE(shuffle_idx, SHUFFLE_IDX)

static exec_act_fn *select_shuffle(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_UP)     ? shuffle_up
           : ptx_has(insn, PTX_MOD_DOWN) ? shuffle_down
           : ptx_has(insn, PTX_MOD_BFLY) ? shuffle_bfly
           : ptx_has(insn, PTX_MOD_IDX)  ? shuffle_idx
                                         : NULL;
}

/* vote; imm bit 0: the predicate is negated (!p) */

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

EXEC_INLINE void vote(const struct exec_context *cx, const struct exec_operands *o, enum vote mode) {
    uint32_t predicate = *(const uint32_t *)o->src[0] ^ (o->imm & 1 ? EXEC_FULL_MASK : 0);
    const uint32_t *members = cx->insn->n_src > 1 ? o->src[1] : NULL;
    uint32_t left = o->mask, result = 0;
    while (left) {
        uint32_t participants, group = exec_next_group(&left, members, &participants);
        uint32_t ballot = predicate & participants;
        bool is_all = ballot == participants, is_none = ballot == 0;
        if (mode == VOTE_BALLOT) {
            uint32_t *d = o->dst[0];
            EXEC_FOR_ACTIVE(l, group) d[l] = ballot;
        } else if (mode == VOTE_ALL ? is_all : mode == VOTE_ANY ? !is_none : is_all || is_none) {
            result |= group;
        }
    }
    if (mode != VOTE_BALLOT)
        exec_write_predicate(o->dst[0], result, o->mask);
}

#define VOTE(name, mode)                                                                                               \
    static void name(struct exec_context *cx, const struct exec_operands *o) { vote(cx, o, mode); }
VOTE(vote_all, VOTE_ALL)
VOTE(vote_any, VOTE_ANY)
VOTE(vote_uni, VOTE_UNI)
VOTE(vote_ballot, VOTE_BALLOT)

static exec_act_fn *select_vote(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_ALL)      ? vote_all
           : ptx_has(insn, PTX_MOD_ANY)    ? vote_any
           : ptx_has(insn, PTX_MOD_UNI)    ? vote_uni
           : ptx_has(insn, PTX_MOD_BALLOT) ? vote_ballot
                                           : NULL;
}

/* match */

EXEC_INLINE uint64_t match_value(const void *a, unsigned lane, unsigned bits) {
    return bits == 64 ? ((const uint64_t *)a)[lane] : ((const uint32_t *)a)[lane];
}

EXEC_INLINE uint32_t lanes_equal(const void *a, uint32_t among, uint64_t value, unsigned bits) {
    uint32_t equal = 0;
    EXEC_FOR_ACTIVE(l, among) equal |= (uint32_t)(match_value(a, l, bits) == value) << l;
    return equal;
}

EXEC_INLINE void match_any(const struct exec_operands *o, unsigned bits) {
    uint32_t result[EXEC_LANES], left = o->mask;
    while (left) {
        uint32_t participants, group = exec_next_group(&left, o->src[1], &participants);
        while (group) {
            uint64_t value = match_value(o->src[0], (unsigned)__builtin_ctz(group), bits);
            uint32_t equal = lanes_equal(o->src[0], group, value, bits);
            EXEC_FOR_ACTIVE(l, equal) result[l] = equal & participants;
            group &= ~equal;
        }
    }
    write_lanes(o->dst[0], result, o->mask);
}

EXEC_INLINE void match_all(const struct exec_context *cx, const struct exec_operands *o, unsigned bits) {
    uint32_t result[EXEC_LANES], left = o->mask, all = 0;
    while (left) {
        uint32_t participants, group = exec_next_group(&left, o->src[1], &participants);
        uint64_t value = match_value(o->src[0], (unsigned)__builtin_ctz(participants ? participants : group), bits);
        bool is_equal = lanes_equal(o->src[0], participants, value, bits) == participants;
        EXEC_FOR_ACTIVE(l, group) result[l] = is_equal ? participants : 0;
        all |= is_equal ? group : 0;
    }
    write_lanes(o->dst[0], result, o->mask);
    if (cx->insn->n_dst > 1)
        exec_write_predicate(o->dst[1], all, o->mask);
}

static void match_any_32(struct exec_context *cx, const struct exec_operands *o) {
    (void)cx;
    match_any(o, 32);
}

static void match_any_64(struct exec_context *cx, const struct exec_operands *o) {
    (void)cx;
    match_any(o, 64);
}

static void match_all_32(struct exec_context *cx, const struct exec_operands *o) { match_all(cx, o, 32); }

static void match_all_64(struct exec_context *cx, const struct exec_operands *o) { match_all(cx, o, 64); }

static exec_act_fn *select_match(const struct exec_form *form) {
    bool is_wide = form->src_bits[0] == 64;
    if (ptx_has(form->insn, PTX_MOD_ANY))
        return is_wide ? match_any_64 : match_any_32;
    return ptx_has(form->insn, PTX_MOD_ALL) ? is_wide ? match_all_64 : match_all_32 : NULL;
}

/* redux */

enum reduction {
    REDUCE_ADD,
    REDUCE_MIN_U,
    REDUCE_MIN_S,
    REDUCE_MAX_U,
    REDUCE_MAX_S,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR
};

EXEC_INLINE uint32_t combine(enum reduction how, uint32_t x, uint32_t y) {
    switch (how) {
    case REDUCE_ADD:
        return x + y;
    case REDUCE_MIN_U:
        return x < y ? x : y;
    case REDUCE_MIN_S:
        return (int32_t)x < (int32_t)y ? x : y;
    case REDUCE_MAX_U:
        return x > y ? x : y;
    case REDUCE_MAX_S:
        return (int32_t)x > (int32_t)y ? x : y;
    case REDUCE_AND:
        return x & y;
    case REDUCE_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

EXEC_INLINE void reduce(const struct exec_operands *o, enum reduction how) {
    const uint32_t *a = o->src[0];
    uint32_t result[EXEC_LANES], left = o->mask;
    while (left) {
        uint32_t participants, group = exec_next_group(&left, o->src[1], &participants);
        uint32_t value = 0, first = participants & -participants;
        if (participants)
            value = a[__builtin_ctz(participants)];
        EXEC_FOR_ACTIVE(l, participants ^ first) value = combine(how, value, a[l]);
        EXEC_FOR_ACTIVE(l, group) result[l] = value;
    }
    write_lanes(o->dst[0], result, o->mask);
}

#define REDUCE(name, how)                                                                                              \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        (void)cx;                                                                                                      \
        reduce(o, how);                                                                                                \
    }
REDUCE(reduce_add, REDUCE_ADD)
REDUCE(reduce_min_u, REDUCE_MIN_U)
REDUCE(reduce_min_s, REDUCE_MIN_S)
REDUCE(reduce_max_u, REDUCE_MAX_U)
REDUCE(reduce_max_s, REDUCE_MAX_S)
REDUCE(reduce_and, REDUCE_AND)
REDUCE(reduce_or, REDUCE_OR)
REDUCE(reduce_xor, REDUCE_XOR)

/* Maps floating-point numbers to integers in the same order: -0 is below +0. */
static int32_t order_of(uint32_t bits) { return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & INT32_MAX)); }

/* NaNs do not count unless .NaN makes one of them the result. If all are NaN, the result is NaN. */
EXEC_INLINE void reduce_floats(const struct exec_operands *o, bool wants_most, bool is_absolute, bool has_nan) {
    enum { CANONICAL_NAN = 0x7fffffff, INFINITE = 0x7f800000 };
    const uint32_t *a = o->src[0];
    uint32_t result[EXEC_LANES], left = o->mask;
    while (left) {
        uint32_t participants, group = exec_next_group(&left, o->src[1], &participants), value = CANONICAL_NAN;
        bool is_first = true, is_nan = false;
        EXEC_FOR_ACTIVE(l, participants) {
            uint32_t bits = is_absolute ? a[l] & INT32_MAX : a[l];
            if ((bits & INT32_MAX) > INFINITE) {
                is_nan = true;
                continue;
            }
            bool is_better = wants_most ? order_of(bits) > order_of(value) : order_of(bits) < order_of(value);
            value = is_first || is_better ? bits : value;
            is_first = false;
        }
        EXEC_FOR_ACTIVE(l, group) result[l] = has_nan && is_nan ? CANONICAL_NAN : value;
    }
    write_lanes(o->dst[0], result, o->mask);
}

#define REDUCE_FLOATS(name, wants_most, is_absolute)                                                                   \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        (void)cx;                                                                                                      \
        reduce_floats(o, wants_most, is_absolute, false);                                                              \
    }                                                                                                                  \
    static void name##_nan(struct exec_context *cx, const struct exec_operands *o) {                                   \
        (void)cx;                                                                                                      \
        reduce_floats(o, wants_most, is_absolute, true);                                                               \
    }
REDUCE_FLOATS(reduce_min_f, false, false)
REDUCE_FLOATS(reduce_max_f, true, false)
REDUCE_FLOATS(reduce_min_abs_f, false, true)
REDUCE_FLOATS(reduce_max_abs_f, true, true)

static exec_act_fn *select_reduce_floats(const struct ptx_instruction *insn) {
    bool is_absolute = ptx_has(insn, PTX_MOD_ABS), has_nan = ptx_has(insn, PTX_MOD_NAN);
    if (ptx_has(insn, PTX_MOD_MIN))
        return is_absolute ? has_nan ? reduce_min_abs_f_nan : reduce_min_abs_f
               : has_nan   ? reduce_min_f_nan
                           : reduce_min_f;
    if (ptx_has(insn, PTX_MOD_MAX))
        return is_absolute ? has_nan ? reduce_max_abs_f_nan : reduce_max_abs_f
               : has_nan   ? reduce_max_f_nan
                           : reduce_max_f;
    return NULL;
}

static exec_act_fn *select_reduce(const struct ptx_instruction *insn) {
    enum ptx_kind kind = ptx_type_kind(insn->type[0]);
    if (insn->type[0] == PTX_F32)
        return select_reduce_floats(insn);
    if (ptx_type_bits(insn->type[0]) != 32 || ptx_has(insn, PTX_MOD_ABS) || ptx_has(insn, PTX_MOD_NAN))
        return NULL;
    bool is_signed = kind == PTX_KIND_S;
    return ptx_has(insn, PTX_MOD_ADD)   ? reduce_add
           : ptx_has(insn, PTX_MOD_MIN) ? is_signed ? reduce_min_s : reduce_min_u
           : ptx_has(insn, PTX_MOD_MAX) ? is_signed ? reduce_max_s : reduce_max_u
           : ptx_has(insn, PTX_MOD_AND) ? reduce_and
           : ptx_has(insn, PTX_MOD_OR)  ? reduce_or
           : ptx_has(insn, PTX_MOD_XOR) ? reduce_xor
                                        : NULL;
}

/* elect: the lowest participant, as recorded on an H200. d becomes its lane everywhere; p is true only in it. */
static void elect(struct exec_context *cx, const struct exec_operands *o) {
    uint32_t leaders = 0, left = o->mask, *d = o->dst[0];
    while (left) {
        uint32_t participants, group = exec_next_group(&left, o->src[0], &participants);
        uint32_t leader = (uint32_t)__builtin_ctz(participants ? participants : group);
        leaders |= 1u << leader;
        EXEC_FOR_ACTIVE(l, group) d[l] = leader;
    }
    if (cx->insn->n_dst > 1)
        exec_write_predicate(o->dst[1], leaders, o->mask);
}

static void active_mask(struct exec_context *cx, const struct exec_operands *o) {
    (void)cx;
    uint32_t *d = o->dst[0];
    EXEC_FOR_ACTIVE(l, o->mask) d[l] = o->mask;
}

exec_act_fn *exec_select_warp(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_SHFL:
        return select_shuffle(form->insn);
    case PTX_OP_VOTE:
        return select_vote(form->insn);
    case PTX_OP_MATCH:
        return select_match(form);
    case PTX_OP_REDUX:
        return select_reduce(form->insn);
    case PTX_OP_ELECT:
        return elect;
    case PTX_OP_ACTIVEMASK:
        return active_mask;
    default:
        return NULL;
    }
}
