/* Finds reads of memory that nothing has written, and races in shared memory, as compute-sanitizer's initcheck and
 * racecheck do. `heddle run --memcheck` asks for it.
 *
 * A checked program calls another function for each instruction that accesses memory (exec_check_program()): it
 * executes the instruction and then notes its accesses. So a program that is not checked pays nothing. Checks change no
 * value. Barriers report to exec_check_arrive() and exec_check_release().
 *
 * A read counts as uninitialised if none of its bytes has been written: a struct's padding is copied with its members.
 * Loads that only move values inside shared memory do not count (moves.c).
 * Left out: local memory, textures and surfaces, memory that is mapped into ranges, and locks made of atomics, which
 * order nothing here. All data belongs to one host thread. */
#pragma once

#include "exec/check/shadow.h"
#include "exec/check/written.h"
#include "exec/cta.h"

enum exec_finding_kind {
    EXEC_FINDING_GLOBAL, /* a read of global memory that nothing has written */
    EXEC_FINDING_SHARED, /* the same for shared memory */
    EXEC_FINDING_RACE,   /* in shared memory */
    EXEC_N_FINDINGS
};

struct exec_finding_side {
    uint32_t thread; /* in its block: row * 32 + lane */
    uint32_t pc;
    enum exec_touch touch;
    bool is_copy; /* an asynchronous copy */
};

struct exec_finding {
    uint32_t block;
    struct exec_finding_side side[2]; /* a read that is uninitialised has only the first */
    uint64_t address;                 /* an offset in shared memory */
    uint32_t bytes;
};

/* The findings of one kind in a launch: their number, and the one with the lowest block and threads, whatever the order
 * of execution. */
struct exec_findings {
    uint64_t count;
    struct exec_finding first;
};

/* The checks of a launch. */
struct exec_check {
    struct exec_written *written; /* the device's */
    struct exec_findings findings[EXEC_N_FINDINGS];
};

/* Makes the program's instructions note their accesses. */
void exec_check_program(struct exec_program *program);

/* The shadow of a resident block. */
struct exec_check_block;
struct exec_check_block *exec_check_block_new(const struct exec_grid *grid, uint32_t n_rows);
void exec_check_block_free(struct exec_check_block *block);
void exec_check_block_start(struct exec_check_block *block);

/* Lanes of a row have arrived at a barrier of their block, and wait for it or not. */
void exec_check_arrive(struct exec_block *block, uint32_t number, uint32_t row, uint32_t mask, bool waits);
/* The barrier is complete. */
void exec_check_release(struct exec_cta *cta, uint32_t number);
/* Lanes of a row execute bar.warp.sync. */
void exec_check_sync_row(struct exec_row *row, const struct exec_insn *insn, uint32_t mask);
