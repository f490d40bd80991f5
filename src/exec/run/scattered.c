/* Runs one instruction on threads of any rows, through scratch lanes: gathers the operands from the threads' rows and
 * scatters the results back. Pure lane functions take the threads densely, in the order of the list. Functions with a
 * context, such as memory accesses, take each thread in its own lane. Scratch lanes without a thread keep old values,
 * and results computed there are not used. */
#include "exec/scattered.h"

#include "exec/run/run.h"

static uint32_t whole_steps(uint32_t n) { return (n + EXEC_LIST_STEP - 1) & ~(EXEC_LIST_STEP - 1u); }

static void fill_list(const struct exec_threads *threads, uint32_t mask, struct exec_thread_list *list) {
    uint32_t n = 0;
    for (uint32_t left = mask; left; left &= left - 1, n++) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        list->registers[n] = threads->row[lane]->base[EXEC_BASE_REGISTERS] + 4u * threads->lane[lane];
        list->from[n] = (uint8_t)lane;
        list->home[n] = threads->lane[lane];
    }
    list->mask = mask;
    list->n = n;
    for (uint32_t end = whole_steps(n); n < end; n++) {
        list->registers[n] = list->registers[0];
        list->from[n] = list->from[0];
        list->home[n] = list->home[0];
    }
}

/* Returns the threads' list if it is that of `mask`, otherwise makes it in *own. */
static const struct exec_thread_list *list_of(const struct exec_threads *threads, uint32_t mask,
                                              struct exec_thread_list *own) {
    if (threads->listed == mask)
        return &threads->list;
    fill_list(threads, mask, own);
    return own;
}

void exec_threads_list(struct exec_threads *threads, uint32_t mask) {
    if (threads->listed == mask)
        return;
    fill_list(threads, mask, &threads->list);
    threads->listed = mask;
}

/* --- registers ---
 *
 * is_dense is a constant in every call, so each function becomes two loops. */

#define INLINE static inline __attribute__((always_inline))

/* The scratch lane of thread i. */
INLINE uint32_t lane_of(const struct exec_thread_list *list, uint32_t i, bool is_dense) {
    return is_dense ? i : list->from[i];
}

/* Returns thread i's part of the register at `offset`, of lane_bytes per lane; registers[i] is for 4 bytes per lane. */
INLINE unsigned char *place_of(const struct exec_thread_list *list, uint32_t i, uint32_t offset, int lane_bytes) {
    return list->registers[i] + (ptrdiff_t)list->home[i] * (lane_bytes - 4) + offset;
}

#define FOR_STEPS(i)                                                                                                   \
    for (uint32_t step = 0; step < list->n; step += EXEC_LIST_STEP)                                                    \
        for (uint32_t i = step; i < step + EXEC_LIST_STEP; i++)

#define COPIES(bits)                                                                                                   \
    INLINE void gather_##bits(const struct exec_thread_list *list, bool is_dense, uint32_t offset,                     \
                              uint##bits##_t *lane) {                                                                  \
        FOR_STEPS(i)                                                                                                   \
        lane[lane_of(list, i, is_dense)] = *(const uint##bits##_t *)place_of(list, i, offset, bits / 8);               \
    }                                                                                                                  \
    INLINE void scatter_##bits(const struct exec_thread_list *list, bool is_dense, uint32_t offset,                    \
                               const uint##bits##_t *lane) {                                                           \
        FOR_STEPS(i)                                                                                                   \
        *(uint##bits##_t *)place_of(list, i, offset, bits / 8) = lane[lane_of(list, i, is_dense)];                     \
    }
COPIES(16)
COPIES(32)
COPIES(64)

/* A predicate is one word for all lanes of a row. */
INLINE uint32_t gather_predicate(const struct exec_thread_list *list, bool is_dense, uint32_t offset) {
    uint32_t bits = 0;
    FOR_STEPS(i)
    bits |= (*(const uint32_t *)place_of(list, i, offset, 0) >> list->home[i] & 1) << lane_of(list, i, is_dense);
    return bits;
}

INLINE void scatter_predicate(const struct exec_thread_list *list, bool is_dense, uint32_t offset, uint32_t bits) {
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t *place = (uint32_t *)place_of(list, i, offset, 0), bit = bits >> lane_of(list, i, is_dense) & 1;
        *place = (*place & ~(1u << list->home[i])) | bit << list->home[i];
    }
}

INLINE void gather(const struct exec_thread_list *list, bool is_dense, struct exec_operand operand, void *scratch) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        *(uint32_t *)scratch = gather_predicate(list, is_dense, operand.offset);
        break;
    case PTX_WIDTH_16:
        gather_16(list, is_dense, operand.offset, scratch);
        break;
    case PTX_WIDTH_32:
        gather_32(list, is_dense, operand.offset, scratch);
        break;
    default:
        gather_64(list, is_dense, operand.offset, scratch);
        break;
    }
}

INLINE void scatter(const struct exec_thread_list *list, bool is_dense, struct exec_operand operand,
                    const void *scratch) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        scatter_predicate(list, is_dense, operand.offset, *(const uint32_t *)scratch);
        break;
    case PTX_WIDTH_16:
        scatter_16(list, is_dense, operand.offset, scratch);
        break;
    case PTX_WIDTH_32:
        scatter_32(list, is_dense, operand.offset, scratch);
        break;
    default:
        scatter_64(list, is_dense, operand.offset, scratch);
        break;
    }
}

uint32_t exec_threads_guard(const struct exec_threads *threads, const struct exec_insn *insn, uint32_t mask) {
    if (!insn->guard.offset)
        return mask;
    struct exec_thread_list own;
    uint32_t predicate = threads->registers ? *(const uint32_t *)(threads->registers + insn->guard.offset)
                                            : gather_predicate(list_of(threads, mask, &own), false, insn->guard.offset);
    return mask & (insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate);
}

/* --- instructions --- */

/* Gathers an operand that is in the row, the block or the constants, not in a register: the same with other base
 * pointers. */
static void gather_other(const struct exec_context *cx, const struct exec_thread_list *list, bool is_dense,
                         struct exec_operand operand, void *scratch) {
    struct exec_thread_list other = *list;
    for (uint32_t i = 0; i < whole_steps(list->n); i++)
        other.registers[i] = cx->threads->row[list->from[i]]->base[operand.base] + 4u * list->home[i];
    gather(&other, is_dense, operand, scratch);
}

/* Returns the operand's lanes: gathered into scratch, unless they are the same for all threads. */
INLINE const void *source_lanes(const struct exec_context *cx, const struct exec_thread_list *list, bool is_dense,
                                struct exec_operand operand, void *scratch) {
    const unsigned char *constant = cx->grid->program->constants + operand.offset;
    if (operand.base == EXEC_BASE_REGISTERS)
        gather(list, is_dense, operand, scratch);
    else if (exec_is_broadcast(operand, (const uint32_t *)constant))
        return constant;
    else
        gather_other(cx, list, is_dense, operand, scratch);
    return scratch;
}

INLINE void run(struct exec_context *cx, const struct exec_insn *insn, const struct exec_thread_list *list,
                bool is_dense) {
    struct exec_operands o;
    o.mask = list->mask;
    o.imm = insn->imm;
    for (unsigned i = 0; i < insn->n_src; i++)
        o.src[i] = source_lanes(cx, list, is_dense, insn->operand[insn->n_dst + i], cx->scratch[EXEC_MAX_DST + i]);
    for (unsigned i = 0; i < insn->n_dst; i++)
        o.dst[i] = cx->scratch[i];
    if (is_dense)
        exec_run_lanes(insn, &o);
    else
        insn->act(cx, &o);
    for (unsigned i = 0; i < insn->n_dst && cx->fault.kind == EXEC_FAULT_NONE; i++)
        scatter(list, is_dense, insn->operand[i], cx->scratch[i]);
}

void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    if (cx->threads->registers) {
        exec_carried_insn(cx, insn, mask);
        return;
    }
    struct exec_thread_list own;
    const struct exec_thread_list *list = list_of(cx->threads, mask, &own);
    cx->row = NULL;
    cx->insn = insn;
    for (uint32_t i = 0; insn->flags & EXEC_FLAG_READS_CLOCK && i < list->n; i++)
        exec_refresh_clock(cx, cx->threads->row[list->from[i]]);
    if (insn->kind == EXEC_KIND_LANES)
        run(cx, insn, list, true);
    else
        run(cx, insn, list, false);
}
