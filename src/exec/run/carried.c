/* Threads that carry their registers with them. See scattered.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/memory.h"
#include "exec/program/live.h"
#include "exec/run/run.h"
#include "exec/scattered.h"

void exec_threads_carry(struct exec_threads *threads, const struct exec_program *program) {
    threads->carried = 0;
    if (threads->registers && threads->register_bytes >= program->register_bytes)
        return;
    free(threads->registers);
    threads->register_bytes = program->register_bytes;
    threads->registers =
        base_allocate_aligned(program->register_bytes); /* zeroed: lanes without a thread compute too */
}

/* --- moving --- */

enum { FEW = 3 }; /* this many lanes or fewer move one by one */

/* The lanes to move. */
struct route {
    bool is_straight; /* each lane of `mask` to the same lane, all at once; otherwise from[k] to to[k] */
    uint32_t mask;
    uint32_t n;
    uint8_t from[EXEC_LANES], to[EXEC_LANES];
};

static void move_predicate(const struct route *route, const uint32_t *from, uint32_t *to) {
    uint32_t bits = *to;
    for (uint32_t k = 0; k < route->n; k++)
        bits = (bits & ~(1u << route->to[k])) | (*from >> route->from[k] & 1) << route->to[k];
    *to = bits;
}

#define MOVE(bits)                                                                                                     \
    static void move_##bits(const struct route *route, const uint##bits##_t *from, uint##bits##_t *to) {               \
        for (uint32_t k = 0; k < route->n; k++)                                                                        \
            to[route->to[k]] = from[route->from[k]];                                                                   \
    }
MOVE(16)
MOVE(32)
MOVE(64)

/* Moves the registers that threads need at pc between two blocks laid out like a row's. */
static void move_registers(const struct exec_context *cx, uint32_t pc, const struct route *route,
                           const unsigned char *from, unsigned char *to) {
    const struct exec_live *live = cx->grid->program->live;
    const struct exec_live_at *at = &live->at[pc];
    const uint32_t *offset = live->offset + at->first, *end = offset;
    if (route->is_straight) {
        for (unsigned width = 0; width < PTX_N_WIDTHS; width++)
            for (end = live->offset + at->first + at->end[width]; offset < end; offset++)
                cx->lanes->blend[width](to + *offset, from + *offset, route->mask);
        return;
    }
    for (end = live->offset + at->first + at->end[PTX_WIDTH_PRED]; offset < end; offset++)
        move_predicate(route, (const uint32_t *)(from + *offset), (uint32_t *)(to + *offset));
    for (end = live->offset + at->first + at->end[PTX_WIDTH_16]; offset < end; offset++)
        move_16(route, (const uint16_t *)(from + *offset), (uint16_t *)(to + *offset));
    for (end = live->offset + at->first + at->end[PTX_WIDTH_32]; offset < end; offset++)
        move_32(route, (const uint32_t *)(from + *offset), (uint32_t *)(to + *offset));
    for (end = live->offset + at->first + at->end[PTX_WIDTH_64]; offset < end; offset++)
        move_64(route, (const uint64_t *)(from + *offset), (uint64_t *)(to + *offset));
}

/* Removes the threads of one row from *left, makes the route from the row here (is_fetch) or back, and returns the row.
 */
static struct exec_row *next_row(const struct exec_threads *threads, uint32_t *left, bool is_fetch,
                                 struct route *route) {
    struct exec_row *row = threads->row[__builtin_ctz(*left)];
    uint32_t taken = 0, n = 0;
    route->is_straight = true;
    for (uint32_t rest = *left; rest; rest &= rest - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(rest);
        if (threads->row[at] != row)
            continue;
        route->from[n] = (uint8_t)(is_fetch ? threads->lane[at] : at);
        route->to[n++] = (uint8_t)(is_fetch ? at : threads->lane[at]);
        route->is_straight &= threads->lane[at] == at;
        taken |= 1u << at;
    }
    route->n = n;
    route->mask = taken;
    route->is_straight &= n > FEW;
    *left &= ~taken;
    return row;
}

void exec_threads_fetch(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc, uint32_t mask) {
    struct route route;
    for (uint32_t left = mask & ~threads->carried; left;) {
        const struct exec_row *row = next_row(threads, &left, true, &route);
        move_registers(cx, pc, &route, row->base[EXEC_BASE_REGISTERS], threads->registers);
    }
    threads->carried |= mask;
}

void exec_threads_send_home(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc, uint32_t mask) {
    struct route route;
    bool needs_any = cx->grid->program->live->at[pc].end[PTX_N_WIDTHS - 1]; /* false at the end of the program */
    for (uint32_t left = needs_any ? mask & threads->carried : 0; left;) {
        const struct exec_row *row = next_row(threads, &left, false, &route);
        move_registers(cx, pc, &route, threads->registers, row->base[EXEC_BASE_REGISTERS]);
    }
    threads->carried &= ~mask;
}

void exec_threads_move(const struct exec_context *cx, struct exec_threads *threads, const uint8_t *at,
                       struct exec_threads *from, uint32_t mask, uint32_t pc) {
    if (!threads->registers)
        exec_threads_send_home(cx, from, pc, mask);
    struct route route = {.n = 0, .mask = mask & from->carried};
    route.is_straight = !at && base_count_bits(route.mask) > FEW;
    uint32_t arrived = at ? 0 : mask, carried = at ? 0 : route.mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), to = at ? at[i] : i;
        threads->row[to] = from->row[i];
        threads->lane[to] = from->lane[i];
        if (route.is_straight)
            continue;
        uint32_t carries = from->carried >> i & 1;
        route.from[route.n] = (uint8_t)i;
        route.to[route.n] = (uint8_t)to;
        route.n += carries;
        arrived |= 1u << to;
        carried |= carries << to;
    }
    threads->carried = (threads->carried & ~arrived) | carried;
    threads->listed = 0;
    if (carried)
        move_registers(cx, pc, &route, from->registers, threads->registers);
    from->carried &= ~mask;
}

/* --- instructions --- */

/* Copies one lane of an operand that is not a predicate. */
static inline void copy_lane(enum ptx_width width, void *to, uint32_t to_lane, const void *from, uint32_t from_lane) {
    if (width == PTX_WIDTH_16)
        ((uint16_t *)to)[to_lane] = ((const uint16_t *)from)[from_lane];
    else if (width == PTX_WIDTH_32)
        ((uint32_t *)to)[to_lane] = ((const uint32_t *)from)[from_lane];
    else
        ((uint64_t *)to)[to_lane] = ((const uint64_t *)from)[from_lane];
}

/* Returns the operand of lane `at` in its row, its block, or its registers at home. */
static inline unsigned char *home_place(const struct exec_threads *threads, uint32_t at, struct exec_operand operand) {
    return threads->row[at]->base[operand.base] + operand.offset;
}

/* Gathers an operand that is not a register, or a register that stays at home. */
static const void *gather_from_home(const struct exec_threads *threads, struct exec_operand operand, uint32_t mask,
                                    void *scratch) {
    assert(operand.width != PTX_WIDTH_PRED);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        copy_lane(operand.width, scratch, at, home_place(threads, at, operand), threads->lane[at]);
    }
    return scratch;
}

static void scatter_to_home(const struct exec_threads *threads, struct exec_operand operand, uint32_t mask,
                            const void *scratch) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        copy_lane(operand.width, home_place(threads, at, operand), threads->lane[at], scratch, at);
    }
}

static inline const void *source_lanes(const struct exec_context *cx, struct exec_operand operand, uint32_t mask,
                                       void *scratch) {
    if (operand.base == EXEC_BASE_REGISTERS)
        return cx->threads->registers + operand.offset;
    const unsigned char *constant = cx->grid->program->constants + operand.offset;
    if (exec_is_broadcast(operand, (const uint32_t *)constant))
        return constant;
    return gather_from_home(cx->threads, operand, mask, scratch);
}

static bool is_at_home(const struct exec_context *cx, struct exec_operand operand) {
    return operand.base == EXEC_BASE_REGISTERS && cx->grid->program->live->is_at_home[operand.offset / 4];
}

/* Runs an instruction with operands at home. Results go through scratch lanes. */
static void run_from_home(struct exec_context *cx, const struct exec_insn *insn, struct exec_operands *o) {
    void *place[EXEC_MAX_DST];
    for (unsigned i = 0; i < insn->n_src; i++)
        if (is_at_home(cx, insn->operand[insn->n_dst + i]))
            o->src[i] =
                gather_from_home(cx->threads, insn->operand[insn->n_dst + i], o->mask, cx->scratch[EXEC_MAX_DST + i]);
    for (unsigned i = 0; i < insn->n_dst; i++) {
        place[i] = o->dst[i];
        o->dst[i] = cx->scratch[i];
    }
    if (insn->kind == EXEC_KIND_LANES)
        exec_run_lanes(insn, o);
    else
        insn->act(cx, o);
    for (unsigned i = 0; i < insn->n_dst && cx->fault.kind == EXEC_FAULT_NONE; i++)
        if (is_at_home(cx, insn->operand[i]))
            scatter_to_home(cx->threads, insn->operand[i], o->mask, cx->scratch[i]);
        else
            cx->lanes->blend[insn->operand[i].width](place[i], cx->scratch[i], o->mask);
}

void exec_carried_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    struct exec_operands o;
    o.mask = mask;
    o.imm = insn->imm;
    for (uint32_t left = insn->flags & EXEC_FLAG_READS_CLOCK ? mask : 0; left; left &= left - 1)
        exec_refresh_clock(cx, cx->threads->row[__builtin_ctz(left)]);
    for (unsigned i = 0; i < insn->n_dst; i++)
        o.dst[i] = cx->threads->registers + insn->operand[i].offset;
    for (unsigned i = 0; i < insn->n_src; i++)
        o.src[i] = source_lanes(cx, insn->operand[insn->n_dst + i], mask, cx->scratch[EXEC_MAX_DST + i]);
    cx->row = NULL;
    cx->insn = insn;
    if (insn->flags & EXEC_FLAG_AT_HOME)
        run_from_home(cx, insn, &o);
    else if (insn->kind != EXEC_KIND_LANES)
        insn->act(cx, &o);
    else if (mask == ~0u)
        exec_run_lanes(insn, &o);
    else
        exec_run_blended(cx, insn, &o);
}
