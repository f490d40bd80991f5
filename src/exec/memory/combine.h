/* Combines a value in memory with an operand: one function for each operation and type, for instructions that reduce
 * many elements at once. atomic.c has its own loops for single elements. */
#pragma once

#include "ptx/ptx.h"

/* Both values and the result are in the low bits. */
typedef uint64_t exec_combine_fn(uint64_t old, uint64_t operand);

/* Combinations are numbered, so that an instruction's imm can hold one. */
enum { EXEC_NO_COMBINATION = 0 };
/* Returns the number of an instruction's operation on its type, or EXEC_NO_COMBINATION. A pair such as .f16x2 counts as
 * its halves. */
uint32_t exec_combination_of(const struct ptx_instruction *insn);
/* The same for an operation on a tensor's type (enum exec_tensor_type); NULL: there is none. */
exec_combine_fn *exec_combine_tensor(enum ptx_modifier operation, unsigned type);
exec_combine_fn *exec_combine(uint32_t combination);
unsigned exec_combined_bytes(uint32_t combination); /* of an element */
