/* Threads of any rows that execute together, at most one in each lane. Divergence models that regroup threads across
 * rows form them; exec_scattered_insn() runs their instructions.
 *
 * A thread's home is its lane in its row. By default the registers stay at home: each instruction gathers its operands
 * and scatters its results (scattered.c). That costs too much for threads that stay together, so such threads carry
 * their registers (carried.c). The registers are then in `registers`, laid out like a row's. When a thread changes
 * lanes, only the registers that it needs at its next instruction move. The mask `carried` marks the lanes whose
 * registers are here; the others are at home. A thread must be sent home before its row executes an instruction for
 * it. */
#pragma once

#include "exec/exec.h"

enum { EXEC_LIST_STEP = 8 };

/* A dense list of the threads in some lanes: thread t is in lane from[t], its home is lane home[t] of its row, and its
 * 32-bit registers begin at registers[t]. Entries from n on repeat the first, up to a multiple of EXEC_LIST_STEP: loops
 * run over whole steps, which the host predicts well, and compute some threads twice with the same result. */
struct exec_thread_list {
    uint32_t mask; /* the lanes */
    uint32_t n;
    unsigned char *registers[EXEC_LANES];
    uint8_t from[EXEC_LANES], home[EXEC_LANES];
};

struct exec_threads {
    unsigned char *registers; /* of threads that carry them; NULL: all registers stay at home */
    uint32_t register_bytes;
    uint32_t carried; /* lanes whose thread's registers are here */
    uint32_t listed;  /* the lanes of `list`; 0: it is out of date */
    struct exec_row *row[EXEC_LANES];
    uint8_t lane[EXEC_LANES]; /* of each thread in its row */
    struct exec_thread_list list;
};

/* Starts without threads, for threads that leave their registers at home. */
static inline void exec_threads_start(struct exec_threads *threads) {
    threads->registers = NULL;
    threads->register_bytes = threads->carried = threads->listed = 0;
}

/* Puts a thread whose registers are at home into lane `at`. */
static inline void exec_threads_put(struct exec_threads *threads, uint32_t at, struct exec_row *row, uint32_t lane) {
    threads->row[at] = row;
    threads->lane[at] = (uint8_t)lane;
    threads->carried &= ~(1u << at);
    threads->listed = 0;
}

/* Returns the lanes of `mask` for which the instruction's guard holds. */
uint32_t exec_threads_guard(const struct exec_threads *threads, const struct exec_insn *insn, uint32_t mask);
/* Makes the list of these lanes, for instructions that they execute together. */
void exec_threads_list(struct exec_threads *threads, uint32_t mask);

/* --- carried.c --- */

/* Starts without threads, for threads that carry their registers. The caller frees threads->registers in the end. */
void exec_threads_carry(struct exec_threads *threads, const struct exec_program *program);
/* Moves the registers of these lanes' threads here; pc is their next instruction. */
void exec_threads_fetch(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc, uint32_t mask);
/* Moves the registers of these lanes' threads that are here home. */
void exec_threads_send_home(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc, uint32_t mask);
/* Moves the threads in these lanes of `from` here, from lane i to lane at[i], or to the same lane when `at` is NULL; pc
 * is their next instruction. */
void exec_threads_move(const struct exec_context *cx, struct exec_threads *threads, const uint8_t *at,
                       struct exec_threads *from, uint32_t mask, uint32_t pc);
/* exec_scattered_insn() for threads whose registers are all here. */
void exec_carried_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask);

/* --- the executing threads --- */

/* Prepares the threads in these lanes for executing together, from pc on. */
static inline void exec_threads_ready(const struct exec_context *cx, struct exec_threads *threads, uint32_t pc,
                                      uint32_t mask) {
    if (!threads->registers)
        exec_threads_list(threads, mask);
    else if (mask & ~threads->carried)
        exec_threads_fetch(cx, threads, pc, mask);
}

/* Makes these the context's executing threads. */
static inline void exec_use_threads(struct exec_context *cx, const struct exec_threads *threads) {
    cx->threads = threads;
    cx->row = NULL;
}
/* Returns the row, and the lane in it, of the thread that executes in a lane. */
static inline struct exec_row *exec_row_at(const struct exec_context *cx, unsigned lane) {
    return cx->row ? cx->row : cx->threads->row[lane];
}
static inline unsigned exec_lane_at(const struct exec_context *cx, unsigned lane) {
    return cx->row ? lane : cx->threads->lane[lane];
}
