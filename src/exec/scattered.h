/* Threads of any rows that execute together, at most one in each lane: what divergence models form that are not bound
 * to rows. exec.h runs their instructions.
 *
 * Their registers are in their rows, and each instruction gathers and scatters what it needs (scattered.c). For threads
 * that stay together that is too much: those that are carried (carried.c) have their registers here, laid out like a
 * row's, and only what a thread needs at its next instruction moves, when the thread does. Which of them have come is
 * in `here`; the others are at home. A thread whose row is to execute an instruction for it must be sent home before.
 */
#pragma once

#include "exec/exec.h"

enum { EXEC_PACK_STEP = 8 };

/* Those in some lanes, one behind the other: thread t comes from lane from[t], lives in lane home[t] of its row, and
 * its 32-bit registers begin at registers[t]. Entries from n on repeat the first, up to a multiple of EXEC_PACK_STEP:
 * loops over whole steps end where the host expects it, and what they compute twice is the same. */
struct exec_pack {
    uint32_t mask; /* the lanes */
    uint32_t n;
    unsigned char *registers[EXEC_LANES];
    uint8_t from[EXEC_LANES], home[EXEC_LANES];
};

struct exec_threads {
    unsigned char *registers; /* of those that are carried; NULL: none ever is */
    uint32_t register_bytes;
    uint32_t here;   /* lanes whose thread's registers are here */
    uint32_t packed; /* lanes for which `pack` was made last; 0: none */
    struct exec_row *row[EXEC_LANES];
    uint8_t lane[EXEC_LANES]; /* of each thread in its row */
    struct exec_pack pack;
};

/* There are none yet, and they will not be carried. */
static inline void exec_threads_start(struct exec_threads *threads) {
    threads->registers = NULL;
    threads->register_bytes = threads->here = threads->packed = 0;
}

/* The thread, which is at home, comes to lane `at`. */
static inline void exec_threads_put(struct exec_threads *threads, uint32_t at, struct exec_row *row, uint32_t lane) {
    threads->row[at] = row;
    threads->lane[at] = (uint8_t)lane;
    threads->here &= ~(1u << at);
    threads->packed = 0;
}

/* Lanes of `mask` for which the instruction's guard holds. */
uint32_t exec_threads_guard(const struct exec_threads *threads, const struct exec_insn *insn, uint32_t mask);
/* Has a pack of these lanes at hand, for instructions that they will execute together. */
void exec_threads_pack(struct exec_threads *threads, uint32_t mask);

/* --- carried.c --- */

/* From now on threads are carried; there are none yet. free(threads->registers) when it is over. */
void exec_threads_carry(struct exec_threads *threads, const struct exec_program *program);
/* Registers of these lanes' threads come here; pc is their next instruction. */
void exec_threads_fetch(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc, uint32_t mask);
/* Or go home, those that are here. */
void exec_threads_send_home(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc, uint32_t mask);
/* The threads of `from` in these lanes, whose next instruction is at pc, come here: that of lane i to lane at[i], or,
 * when `at` is NULL, to the same one. */
void exec_threads_move(const struct exec_context *cx, struct exec_threads *threads, const uint8_t *at,
                       struct exec_threads *from, uint32_t mask, uint32_t pc);
/* exec_scattered_insn() of threads that are all here. */
void exec_carried_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask);

/* --- who executes --- */

/* The threads in these lanes will execute together, from pc on. */
static inline void exec_threads_ready(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc,
                                      uint32_t mask) {
    if (!threads->registers)
        exec_threads_pack(threads, mask);
    else if (mask & ~threads->here)
        exec_threads_fetch(cx, threads, pc, mask);
}

/* These do so next. */
static inline void exec_use_threads(struct exec_context *cx, const struct exec_threads *threads) {
    cx->threads = threads;
    cx->row = NULL;
}
/* Who executes in a lane: the row, and the lane there. */
static inline struct exec_row *exec_row_at(const struct exec_context *cx, unsigned lane) {
    return cx->row ? cx->row : cx->threads->row[lane];
}
static inline unsigned exec_lane_at(const struct exec_context *cx, unsigned lane) {
    return cx->row ? lane : cx->threads->lane[lane];
}
