/* Runs one instruction on a row, in place. scattered.c and carried.c run the same functions on threads of any rows. */
#include "base/bits.h"
#include "exec/run/run.h"

enum { SPIN_LOOP = 16 }; /* instructions in a loop that waits for the clock, at most */

/* A row runs many instructions before the next row has its turn, so readings that are close together are of one row. */
static void advance_clock(struct exec_context *cx, const struct exec_insn *insn) {
    struct exec_spin *spin = &cx->spin;
    bool is_again = spin->reader == insn && cx->time - spin->read_at <= SPIN_LOOP;
    spin->step = is_again ? 2 * spin->step + 1 : 0;
    if (spin->step > spin->max_step)
        spin->step = spin->max_step;
    cx->time += spin->step;
    spin->reader = insn;
    spin->read_at = cx->time;
}

/* Places the first destination and the first three sources. Most instructions have no others. The pointers of operands
 * that do not exist are never used. */
static inline void place(const struct exec_row *row, const struct exec_insn *insn, struct exec_operands *o) {
    const struct exec_operand *source = insn->operand + insn->n_dst;
    o->dst[0] = exec_lanes_of(row, insn->operand[0]);
    o->src[0] = exec_lanes_of(row, source[0]);
    o->src[1] = exec_lanes_of(row, source[1]);
    o->src[2] = exec_lanes_of(row, source[2]);
}

static inline void read_clock(struct exec_context *cx, struct exec_row *row, const struct exec_insn *insn) {
    if (cx->spin.max_step)
        advance_clock(cx, insn);
    exec_refresh_clock(cx, row);
}

static __attribute__((noinline)) void run_any(struct exec_context *cx, struct exec_row *row,
                                              const struct exec_insn *insn, uint32_t mask) {
    if (insn->flags & EXEC_FLAG_READS_CLOCK)
        read_clock(cx, row, insn);
    struct exec_operands o;
    o.mask = mask;
    o.imm = insn->imm;
    place(row, insn, &o);
    for (unsigned i = 1; i < insn->n_dst; i++)
        o.dst[i] = exec_lanes_of(row, insn->operand[i]);
    for (unsigned i = 3; i < insn->n_src; i++)
        o.src[i] = exec_lanes_of(row, insn->operand[insn->n_dst + i]);
    if (insn->kind != EXEC_KIND_LANES) {
        cx->insn = insn;
        cx->row = row;
        insn->act(cx, &o);
    } else if (mask == ~0u) {
        exec_run_lanes(insn, &o);
    } else {
        exec_run_blended(cx, insn, &o);
    }
}

static inline void run_simple(struct exec_context *cx, struct exec_row *row, const struct exec_insn *insn,
                              uint32_t mask) {
    struct exec_operands o;
    o.imm = insn->imm;
    place(row, insn, &o);
    if (mask == ~0u) {
        insn->lanes(&o);
        return;
    }
    void *destination = o.dst[0];
    o.dst[0] = cx->scratch[0];
    insn->lanes(&o);
    cx->lanes->blend[insn->operand[0].width](destination, cx->scratch[0], mask);
}

uint32_t exec_row_straight(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t end, uint32_t active,
                           uint64_t *n_threads) {
    const struct exec_insn *code = cx->grid->program->code;
    uint64_t n = 0, n_executed = 0;
    uint32_t counted = ~0u, n_lanes = EXEC_LANES;
    for (; pc != end && code[pc].is_simple; pc++) {
        uint32_t mask = active;
        if (code[pc].guard.offset) {
            uint32_t predicate = *(const uint32_t *)(row->base[EXEC_BASE_REGISTERS] + code[pc].guard.offset);
            mask &= code[pc].flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate;
        }
        if (mask != counted) {
            counted = mask;
            n_lanes = base_count_bits(mask);
        }
        n += n_lanes;
        if (!mask)
            continue;
        n_executed++;
        run_simple(cx, row, &code[pc], mask);
    }
    cx->time += n_executed;
    *n_threads += n;
    return pc;
}

/* Apart from accesses, which need fewer registers of the host. */
static __attribute__((noinline)) void run_one(struct exec_context *cx, struct exec_row *row,
                                              const struct exec_insn *insn, uint32_t mask) {
    run_simple(cx, row, insn, mask);
}

void exec_row_insn(struct exec_context *cx, struct exec_row *row, const struct exec_insn *insn, uint32_t mask) {
    if (insn->is_simple) {
        run_one(cx, row, insn, mask);
        return;
    }
    if (!insn->is_short) {
        run_any(cx, row, insn, mask);
        return;
    }
    struct exec_operands o;
    o.mask = mask;
    o.imm = insn->imm;
    place(row, insn, &o);
    cx->insn = insn;
    cx->row = row;
    insn->act(cx, &o);
}
