/* The cost of an instruction on a machine: its unit, latency, occupancy, and the registers it waits for. It is
 * determined once per kernel and machine, one record per program counter. */
#pragma once

#include "config/machine.h"
#include "exec/exec.h"
#include "heddle/scheduler.h"
#include "isa/isa.h"
#include "stats/counters.h"

enum sm_unit { SM_UNIT_ALU, SM_UNIT_MULTIPLY, SM_UNIT_FP64, SM_UNIT_SFU, SM_UNIT_MATRIX, SM_UNIT_LDST, SM_N_UNITS };

/* The kind of work a lane does, for statistics and energy: the index of its counter. */
enum sm_work {
    SM_WORK_INTEGER = STATS_SM_AT_integer_thread_instructions,
    SM_WORK_FLOAT = STATS_SM_AT_float_thread_instructions,
    SM_WORK_SPECIAL = STATS_SM_AT_special_thread_instructions,
    SM_WORK_MEMORY = STATS_SM_AT_memory_thread_instructions,
    SM_WORK_CONTROL = STATS_SM_AT_control_thread_instructions,
};
_Static_assert(STATS_N_SM <= 256, "sm_timing keeps its kind of work in a byte");

enum sm_access {
    SM_ACCESS_NONE,
    SM_ACCESS_CONSTANT, /* parameters and constants, in their own cache, which hits unless the machine has
                           constant_cache */
    SM_ACCESS_SHARED,
    SM_ACCESS_LOCAL,
    SM_ACCESS_GLOBAL, /* global, generic and texture addresses */
};

/* The role of an instruction for asynchronous copies (copies.c) and products. */
enum sm_copies_role {
    SM_COPIES_NONE,
    SM_COPIES_ELEMENTS, /* cp.async */
    SM_COPIES_BULK,     /* cp.async.bulk */
    SM_COPIES_SIGNAL,   /* mbarrier, st.async, red.async: changes an mbarrier */
    SM_COPIES_ARRIVE,   /* cp.async.mbarrier.arrive */
    SM_COPIES_WAIT_GROUP,
    SM_COPIES_WAIT_ALL,
    SM_COPIES_WAIT_BULK,
    SM_COPIES_WAIT_MBARRIER,
    SM_PRODUCTS_FENCE, /* wgmma (products.c) */
    SM_PRODUCTS_MULTIPLY,
    SM_PRODUCTS_COMMIT,
    SM_PRODUCTS_WAIT
};

enum { SM_OWN_REGISTERS = 10, SM_TRAITS_UNIT = 7, SM_CODE_LINE = 8 };
_Static_assert((int)SM_N_UNITS <= (int)SM_TRAITS_UNIT, "a unit fits into its bits of sm_timing.traits");

struct sm_timing {
    uint32_t reg[SM_OWN_REGISTERS]; /* use sm_registers() */
    uint8_t n_registers, n_destinations;
    uint8_t unit;              /* enum sm_unit */
    uint8_t traits;            /* unit (SM_TRAITS_UNIT), is_long, is_load and is_visible_to_others in one number */
    uint8_t access;            /* enum sm_access */
    uint8_t work;              /* enum sm_work */
    uint16_t latency_cycles;   /* until a dependent instruction can issue; a memory access adds its own */
    uint16_t occupancy_cycles; /* for which the unit takes no other instruction */
    bool is_control, is_load;
    bool is_store : 1, is_atomic : 1;
    bool is_visible_to_others : 1; /* other SMs may observe it: global memory, the block dispatcher, the host */
    uint8_t : 0;
    bool is_direct; /* a pure function with one result, or a plain load or store: issue_directly() */
    bool is_barrier : 1, is_fence : 1;
    bool jumps : 1;        /* a branch, call or return of the machine code */
    bool meets : 1;        /* the machine code has BSYNC here: each path that arrives executes it */
    bool returns : 1;      /* an atomic with a result */
    uint8_t n_special : 2; /* the machine instructions of the special-function unit */
    uint8_t : 0;
    bool holds_row : 1;        /* a load whose DRAM row should stay open: MEM_READ_HOLD */
    bool passes_l1 : 1;        /* a load that bypasses the L1: MEM_READ_PAST */
    bool has_slow_path : 1;    /* takes longer for some values: a square root, a division, match.any (issue.c) */
    bool is_predicated : 1;    /* a branch that becomes predicates: no thread jumps */
    bool is_texture : 1;       /* a read by the texture unit beside the L1: unified.texture_* */
    bool is_plane : 1;         /* of these: of a texture with two axes or more */
    bool is_release : 1;       /* a store or atomic that waits until earlier accesses are visible to the device */
    bool is_pause : 1;         /* nanosleep, setmaxnreg */
    bool is_long;              /* a long operation: accesses global, local or texture space */
    bool is_reconvergence : 1; /* the post-dominator of some branch */
    bool is_jump : 1;          /* a branch or direct call that all threads take: one new pc, known at once */
    uint8_t atomic_kind : 3;   /* enum isa_atomic */
    bool is_branch : 1;        /* a branch, conditional or not */
    bool is_device_fence : 1;  /* a fence for the device or the system */
    bool is_sampled : 1;       /* a read through the texture cache, on a machine that has one */
    bool needs_turn : 1;       /* changes what other SMs see by other means than a plain store */
    bool is_call : 1;          /* a call of a function, or the return from it */
    uint8_t exit_cycles : 3;   /* a load: from the arrival of its data until arithmetic can use them */
    bool is_long_product : 1;  /* an integer product of two words, or its upper word */
    bool reads_memory : 1;     /* not by a plain load: it does not see stores that the SM keeps (stores.h) */
    bool awaits_others : 1;    /* accesses of its group, or fences: it waits for more than its registers */
    uint8_t copies;            /* enum sm_copies_role */
    uint16_t parts;            /* machine instructions in parts of ISA_PARTS */
    uint16_t code_line;        /* of its first machine instruction: SM_CODE_LINE of them are a line */
};
_Static_assert(sizeof(struct sm_timing) == 64, "a record is a cache line");

struct sm_program {
    const struct exec_program *exec;
    struct sm_timing *timing; /* per pc */
    uint32_t n_registers;     /* scoreboard entries per group */
    uint32_t *more;           /* registers of instructions with more than SM_OWN_REGISTERS; reg[0] is their index */
    uint32_t n_more;
    uint32_t n_code_lines;
    bool is_new;            /* no SM has executed it before this launch */
    struct sm_facts *facts; /* NULL: not asked for */
};

/* What a scheduler may know of a kernel before it runs: facts.c. */
struct sm_facts {
    struct sched_insn *insn; /* per pc */
    struct sched_loop *loop; /* of all functions */
    uint32_t n_loops;
};

/* Returns the scoreboard entries that an instruction reads or writes, destinations first. */
static inline const uint32_t *sm_registers(const struct sm_program *program, const struct sm_timing *timing) {
    return timing->n_registers <= SM_OWN_REGISTERS ? timing->reg : program->more + timing->reg[0];
}

/* Returns the multiply-additions of a warp, counted as those of 16-bit elements that take as long. */
uint32_t sm_matrix_products(const struct ptx_instruction *insn);
struct sm_program *sm_program_new(const struct exec_program *exec, const struct config_machine *machine);
void sm_program_free(struct sm_program *program);
/* readers.c: lengthens the latencies of the function's results by what their readers add. */
void sm_wait_for_readers(const struct exec_function *function, const struct config_sm *sm, struct sm_timing *timing);
/* facts.c: finds the facts, once. */
void sm_program_find_facts(struct sm_program *program);
void sm_facts_free(struct sm_facts *facts);
