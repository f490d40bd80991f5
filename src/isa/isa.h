/* Machine instructions. PTX is a language for compilers: on a GPU one PTX instruction becomes no machine instruction,
 * one, or several. This module estimates how many, from general rules of code generation; it changes neither what an
 * instruction computes nor the PTX itself. docs/hardware.md compares its counts with a real compiler's.
 *
 * Costs are in parts of an instruction, because a loop that the compiler unrolls pays for its counter and its branch
 * only once in several iterations. */
#pragma once

#include "ptx/analysis.h"

enum {
    ISA_PARTS = 16,       /* a machine instruction has this many parts */
    ISA_NO_JUMP = 0x8000, /* set in the entry of a branch that becomes predicates */
    ISA_COST = 0x7fff,    /* the cost in an entry */
};

/* Returns the cost of each PTX instruction of the function on sm_90 (Hopper), in parts: an array of n_instructions
 * entries, to be freed by the caller. sm_80 (Ampere) and sm_89 (Ada) share the rules: ptxas 13.0 makes 5 % shorter code
 * of 160 kernels for them than for sm_90, each 6.5 % away from it on average, which is less than the estimate errs. */
uint16_t *isa_sm_90(const struct ptx_analysis *analysis);

/* Writes the bodies of loops several times, as often as a compiler would: loads of several iterations can then wait
 * together. What a thread computes does not change. New instructions and registers come from the arena, the module's.
 */
void isa_copy_loops(struct ptx_function *function, struct base_arena *arena);

/* Turns short branches over loads into predicates. What a thread computes does not change. */
void isa_predicate(struct ptx_function *function);

/* Turns loads of words of shared memory that the basic block has loaded already into moves. What a thread computes does
 * not change. */
void isa_join_repeats(struct ptx_function *function);

/* Puts the instructions of each basic block in the order that a compiler would choose: loads before what uses them.
 * What a thread computes does not change. */
void isa_order(struct ptx_function *function);
