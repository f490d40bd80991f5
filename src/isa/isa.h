/* Lowering: from PTX to the machine instructions that a target issues.
 *
 * PTX is a language for compilers. On a GPU one PTX instruction becomes no machine instruction, one, or several.
 * lower.c lists the passes, which work in two stages:
 *
 * - isa_rewrite() writes a function the way the target's compiler does: loops unrolled, short branches predicated,
 *   loads before their uses. The result is PTX and computes the same. A module is rewritten once, when it is loaded.
 * - isa_lower() describes what the target issues for each PTX instruction: how many machine instructions, in which
 *   unit, at which rate. It changes neither the PTX nor what it computes. Timing reads this description.
 *
 * A target is a file of this folder that ends in its struct isa_target, and a line in config/targets.def. On the target
 * ptx, a PTX instruction is a machine instruction. docs/hardware.md compares the counts with a real compiler's. */
#pragma once

#include "config/machine.h"
#include "ptx/analysis.h"

enum { ISA_PARTS = 16 }; /* a machine instruction has this many parts */

/* What executes an instruction. A machine may lack the units for MULTIPLY and ARRIVE; others then do their work. */
enum isa_unit {
    ISA_UNIT_ALU,
    ISA_UNIT_MULTIPLY, /* lanes beside the ALU's: for products on some targets, for logic on others */
    ISA_UNIT_FP64,
    ISA_UNIT_SFU,
    ISA_UNIT_LDST,
    ISA_UNIT_ARRIVE, /* counts the warps that arrive at a barrier */
};

/* The latency of a result, one of the machine's. */
enum isa_latency {
    ISA_LATENCY_ALU,
    ISA_LATENCY_FP16,
    ISA_LATENCY_FP32,
    ISA_LATENCY_FP64,
    ISA_LATENCY_SFU,
    ISA_LATENCY_SHARED,
    ISA_LATENCY_SPECIAL /* a special register */
};

/* What a lane does, for statistics. */
enum isa_work { ISA_WORK_INTEGER, ISA_WORK_FLOAT, ISA_WORK_SPECIAL };

/* How an atomic differs from others. */
enum isa_atomic {
    ISA_ATOMIC_PLAIN,
    ISA_ATOMIC_SWAP,     /* a compare-and-swap */
    ISA_ATOMIC_SUM,      /* on floating-point numbers: serial_atomics.sum_cycles */
    ISA_ATOMIC_RETRIED,  /* shared memory has it as a loop of compare-and-swap, and ISA_AROUND_RETRIES instructions */
    ISA_ATOMIC_COUNTING, /* adds 1 in shared memory, and no one reads the result, or waits for an mbarrier: lanes of an
                            address go together */
    ISA_ATOMIC_JOINED,   /* on one address for the whole warp: one lane accesses memory for all (joined_*) */
};

enum { ISA_AROUND_RETRIES = 2 };

/* The instruction that a sum contains, which decides where it executes. */
enum isa_takes { ISA_TAKES_NOTHING, ISA_TAKES_SUM, ISA_TAKES_PRODUCT, ISA_TAKES_WIDE_PRODUCT };

/* What a target issues for a PTX instruction. Costs are in parts of an instruction, because a loop that the compiler
 * unrolls pays for its counter and its branch only once in several iterations. */
struct isa_insn {
    uint16_t parts;           /* machine instructions, in parts; 0: it is a part of another one */
    uint8_t unit;             /* enum isa_unit */
    uint8_t lanes;            /* enum isa_unit: the unit whose number of lanes sets the rate */
    uint8_t latency;          /* enum isa_latency */
    uint8_t work;             /* enum isa_work */
    uint8_t passes;           /* how often the instruction goes through its lanes */
    bool is_sequence : 1;     /* each pass needs the result of the one before */
    bool is_either : 1;       /* ALU or MULTIPLY, whichever has less to do in the basic block */
    uint8_t takes : 2;        /* enum isa_takes */
    bool is_exception : 1;    /* unit, lanes and latency hold although it is no arithmetic */
    bool is_predicated : 1;   /* a branch that becomes predicates: no thread jumps */
    bool has_slow_path : 1;   /* a rounded root, reciprocal or division: longer for some numbers */
    bool is_device_fence : 1; /* orders accesses for the device or the system, not only for the block */
    uint8_t atomic : 3;       /* enum isa_atomic */
    bool is_paid : 1;         /* under a predicate: the branch that it replaces has its parts */
    bool jumps : 1;           /* a branch, call or return of the machine code: no predicate, and no end of a kernel */
    bool meets : 1;           /* paths wait for each other here: each of them executes BSYNC, the last one as a part */
    bool is_argument : 1;     /* an access to an argument or a result of a function, which is in a register */
    uint8_t n_special : 2;    /* the machine instructions of the special-function unit */
    bool is_scaled : 1;       /* a special function that scales its operand under a predicate, and its result */
    uint8_t n_constants;      /* machine instructions that bring constants into registers: the result does not wait */
};

struct isa_target;

const struct isa_target *isa_target_of(const struct config_machine *machine);
const struct isa_target *const *isa_targets(size_t *count);
const struct isa_target *isa_find_target(const char *name); /* NULL: there is none */
const char *isa_target_name(const struct isa_target *target);
/* Whether a compiler makes machine instructions of PTX for the target; otherwise PTX instructions are issued. */
bool isa_is_compiled(const struct isa_target *target);

/* Writes the function as the target's compiler does. New instructions and registers come from the arena, the module's.
 */
void isa_rewrite(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena);

/* The name of the local variable that holds spilled registers. */
#define ISA_SPILL_NAME "spilled registers"
/* And of the one that holds the registers of its caller, which a function uses. */
#define ISA_SAVED_NAME "saved registers"

/* Returns what the target issues for each PTX instruction of the function: n_instructions entries, to be freed by the
 * caller. */
struct isa_insn *isa_lower(const struct isa_target *target, const struct ptx_analysis *analysis);
