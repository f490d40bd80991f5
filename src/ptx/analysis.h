/* Static analysis of a function's control flow and data flow: basic blocks, dominators, reconvergence points, loops,
 * liveness, register slots, uniformity. Each function is analysed alone; a call is a straight-line instruction. */
#pragma once

#include "ptx/ptx.h"

enum { PTX_NO_BLOCK = 0x7fffffff };

struct ptx_block {
    uint32_t first, count; /* instruction range */
    uint32_t *successor;   /* block ids, each once; the exit block's id is n_blocks - 1 */
    uint32_t n_successors;
    uint32_t *predecessor;
    uint32_t n_predecessors;
    uint32_t dominator;      /* immediate dominator, PTX_NO_BLOCK for the entry and unreachable blocks */
    uint32_t post_dominator; /* immediate post-dominator, PTX_NO_BLOCK only for the exit; see reconvergence.c for paths
                                that end early and blocks that never reach the exit */
    uint32_t loop_header;    /* innermost loop's header block (a header's own id for itself), or PTX_NO_BLOCK */
    uint32_t loop_depth;     /* number of loops around the block, 0 outside all */
    bool is_reachable;
};

/* A natural loop. Outer loops come before the loops inside them. */
struct ptx_loop {
    uint32_t header;   /* block id */
    uint32_t parent;   /* index of the loop around it, or PTX_NO_INDEX */
    uint32_t depth;    /* 1 for an outermost loop */
    uint32_t n_blocks; /* including those of inner loops */
    uint32_t meeting;  /* instruction where threads that leave the loop meet; see meetings.c */
    bool awaits;       /* the loop may end because of a value that another thread writes */
};

/* Register slots of one width. Slots of a width are numbered from 0. */
enum ptx_width { PTX_WIDTH_PRED, PTX_WIDTH_16, PTX_WIDTH_32, PTX_WIDTH_64 };
enum { PTX_N_WIDTHS = 4 };

struct ptx_analysis {
    const struct ptx_function *function;
    struct ptx_block *block; /* the last one is the virtual exit: count 0, first = n_instructions */
    uint32_t n_blocks;
    uint32_t *block_of; /* per instruction */
    /* Per instruction: the reconvergence point of a possibly divergent branch (bra with a guard, brx, guarded or
     * indirect call) = first instruction of the block's immediate post-dominator (for a call the next instruction);
     * n_instructions when it is the function's end. PTX_NO_INDEX for all other instructions. */
    uint32_t *reconvergence;
    /* Per instruction, in the same way: where a GPU with convergence barriers brings the paths of a branch together
     * that stay in its loop (meetings.c). */
    uint32_t *meeting;
    struct ptx_loop *loop;
    uint32_t n_loops;
    uint32_t *loop_of; /* per block: its innermost loop whose meeting points are known, or PTX_NO_INDEX */
    /* Liveness at the start of blocks, as bits over the registers that are live across some block boundary. */
    uint32_t *crossing; /* per such register, ascending */
    uint32_t n_crossing;
    uint32_t *crossing_index; /* per virtual register: its index in `crossing`, or PTX_NO_INDEX */
    uint64_t *live_in;        /* block b: live_words words from live_in[b * live_words] */
    size_t live_words;
    /* Per virtual register: its slot, numbered within its width; PTX_NO_INDEX for registers that no instruction
     * uses. */
    uint32_t *slot;
    uint32_t n_slots[PTX_N_WIDTHS];
    /* The most 32-bit registers live at once (64-bit ones count two, 16-bit ones one, predicates none): about what
     * ptxas -v prints for the function without the functions it calls; see slots.c for why they differ. */
    uint32_t register_count;
    /* Per virtual register: whenever it is read, all threads of a block that reach that read after the same number of
     * iterations of each loop hold the same value. Conservative. So the active lanes of a row agree under any model
     * that reconverges at the reconvergence points; threads grouped by pc alone may be in different iterations and need
     * not agree. */
    bool *is_uniform;
    /* Per instruction: a branch (bra, brx, call, ret, exit) whose direction is the same for all threads in that sense.
     */
    bool *is_uniform_branch;
    struct base_arena *arena;
};

/* Never returns NULL; a function without a body has only the exit block. */
struct ptx_analysis *ptx_analyze(const struct ptx_function *function);
/* The same without slots and register_count, an eighth cheaper: for passes that rewrite the function. */
struct ptx_analysis *ptx_analyze_flow(const struct ptx_function *function);
void ptx_analysis_free(struct ptx_analysis *analysis);

/* Returns the width of the slot that holds a register of this type: 8- and 16-bit types use 16-bit slots. 128-bit
 * registers have no slot of their width: they get a 64-bit one, and exec/ refuses them. */
enum ptx_width ptx_type_width(enum ptx_type type);

/* Calls visit(user, register id, is_write) for every register that the instruction reads or writes, including guard and
 * address registers, once per use, reads before writes. A guarded write keeps the value of the threads whose guard is
 * false; it is not reported as a read. */
void ptx_for_each_register(const struct ptx_instruction *instruction,
                           void (*visit)(void *user, uint32_t register_id, bool is_write), void *user);

/* Returns whether the value that a register has at the start of a block may still be read. */
static inline bool ptx_is_live_in(const struct ptx_analysis *analysis, uint32_t block, uint32_t register_id) {
    uint32_t bit = analysis->crossing_index[register_id];
    return bit != PTX_NO_INDEX && analysis->live_in[block * analysis->live_words + bit / 64] >> (bit % 64) & 1;
}
