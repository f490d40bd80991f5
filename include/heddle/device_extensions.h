// Heddle's own instructions (docs/extensions.md) as CUDA C functions, for clang (through device.h) and nvcc.
//
// No GPU has them. With HEDDLE_STANDARD_PTX defined, the functions use instructions that every GPU has. A program then
// runs on a real GPU, with the same results but without the gain.
//
// All threads of the warp that have not ended execute cond_acc and tree_traverse together.
#pragma once

#include "device.h"

#ifdef __NVCC__
#define HEDDLE_DEVICE static __device__ __forceinline__
#endif

// The assembly text of each instruction. The predicate is %p; numbers refer to the operands of asm.
#ifdef HEDDLE_STANDARD_PTX
#define HEDDLE_COND_ACC(space, address_bits, sum, bits, bytes, value)                                                  \
    "{ .reg .b32 %%lanes, %%rank; .reg .b" address_bits " %%place; vote.sync.ballot.b32 %%lanes, %%p, -1; "            \
    "mov.u32 %%rank, %%lanemask_lt; and.b32 %%rank, %%rank, %%lanes; popc.b32 %%rank, %%rank; " sum                    \
    " %%place, %%rank, " bytes ", %1; @%%p st." space bits " [%%place], " value "; bar.warp.sync -1; "                 \
    "popc.b32 %0, %%lanes; }"
#define HEDDLE_TREE_TRAVERSE(type, sum, bytes)                                                                         \
    "{ .reg .b32 %%lanes; vote.sync.ballot.b32 %%lanes, %%p, -1; popc.b32 %%lanes, %%lanes; " sum                      \
    " %0, %%lanes, " bytes ", %1; }"
#define HEDDLE_LOAD_ROW "ld.global.u32"
#define HEDDLE_PROGRESS "// progress "
#else
#define HEDDLE_COND_ACC(space, address_bits, sum, bits, bytes, value)                                                  \
    "cond_acc.sync." space bits " %0, [%1], %%p, " value ", -1;"
#define HEDDLE_TREE_TRAVERSE(type, sum, bytes) "tree_traverse.sync." type " %0, %1, %%p, " bytes ", -1;"
#define HEDDLE_LOAD_ROW "ld.global.heddle::row.u32"
#define HEDDLE_PROGRESS "progress.u32 "
#endif
#define HEDDLE_COND_ACC_GLOBAL(bits, bytes, value) HEDDLE_COND_ACC("global", "64", "mad.wide.u32", bits, bytes, value)
#define HEDDLE_COND_ACC_SHARED(bits, bytes, value) HEDDLE_COND_ACC("shared", "32", "mad.lo.u32", bits, bytes, value)

// cond_acc: the threads of the warp whose predicate is true write their values to consecutive elements from base on, in
// lane order. All threads get the number of values written. base is the same in all threads: a pointer to global
// memory, or an address in shared memory, which saves conversions in loops.
//
// Inline assembly cannot take a predicate, so a bool is passed as a number and compared with 0. These are two more
// instructions, which an assembler for a real machine would remove. The functions that end in _eq, _lt, ... compare a
// with b themselves and avoid them.
#define HEDDLE_ACCUMULATE(name, text, base_type, address, in, value_type, constraint, as)                              \
    HEDDLE_DEVICE unsigned name(base_type base, bool predicate, value_type value) {                                    \
        unsigned count;                                                                                                \
        asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %2, 0; " text " }"                                            \
                     : "=r"(count)                                                                                     \
                     : in(address(base)), "r"((unsigned)predicate), constraint((as)value)                              \
                     : "memory");                                                                                      \
        return count;                                                                                                  \
    }
#define HEDDLE_ACCUMULATE_BOTH(bits, bytes, type, constraint, as)                                                      \
    HEDDLE_ACCUMULATE(__heddle_cond_acc_global, HEDDLE_COND_ACC_GLOBAL(bits, bytes, "%3"), type *,                     \
                      __cvta_generic_to_global, "l", type, constraint, as)                                             \
    HEDDLE_ACCUMULATE(__heddle_cond_acc_shared, HEDDLE_COND_ACC_SHARED(bits, bytes, "%3"), unsigned, , "r", type,      \
                      constraint, as)
HEDDLE_ACCUMULATE_BOTH(".b8", "1", unsigned char, "h", unsigned short)
HEDDLE_ACCUMULATE_BOTH(".b16", "2", unsigned short, "h", unsigned short)
HEDDLE_ACCUMULATE_BOTH(".b32", "4", unsigned, "r", unsigned)
HEDDLE_ACCUMULATE_BOTH(".b64", "8", unsigned long long, "l", unsigned long long)
#undef HEDDLE_ACCUMULATE_BOTH
#undef HEDDLE_ACCUMULATE

#define HEDDLE_ACCUMULATE(name, text, comparison, base_type, address, in)                                              \
    HEDDLE_DEVICE unsigned name##_##comparison(base_type base, unsigned a, unsigned b, unsigned value) {               \
        unsigned count;                                                                                                \
        asm volatile("{ .reg .pred %%p; setp." #comparison ".u32 %%p, %2, %3; " text " }"                              \
                     : "=r"(count)                                                                                     \
                     : in(address(base)), "r"(a), "r"(b), "r"(value)                                                   \
                     : "memory");                                                                                      \
        return count;                                                                                                  \
    }
#define HEDDLE_ACCUMULATE_BOTH(comparison)                                                                             \
    HEDDLE_ACCUMULATE(__heddle_cond_acc_global, HEDDLE_COND_ACC_GLOBAL(".b32", "4", "%4"), comparison, unsigned *,     \
                      __cvta_generic_to_global, "l")                                                                   \
    HEDDLE_ACCUMULATE(__heddle_cond_acc_shared, HEDDLE_COND_ACC_SHARED(".b32", "4", "%4"), comparison, unsigned, , "r")
HEDDLE_ACCUMULATE_BOTH(eq)
HEDDLE_ACCUMULATE_BOTH(ne)
HEDDLE_ACCUMULATE_BOTH(lt)
HEDDLE_ACCUMULATE_BOTH(le)
HEDDLE_ACCUMULATE_BOTH(gt)
HEDDLE_ACCUMULATE_BOTH(ge)
#undef HEDDLE_ACCUMULATE_BOTH
#undef HEDDLE_ACCUMULATE

// tree_traverse: returns base + (number of threads whose predicate is true) * node_bytes; node_bytes is a power of two.
// The second and third function use the predicate a > b.
HEDDLE_DEVICE size_t __heddle_tree_traverse(size_t base, bool predicate, unsigned node_bytes) {
    size_t next;
    asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %2, 0; " HEDDLE_TREE_TRAVERSE("u64", "mad.wide.u32", "%3") " }"
                 : "=l"(next)
                 : "l"(base), "r"((unsigned)predicate), "r"(node_bytes));
    return next;
}
HEDDLE_DEVICE unsigned __heddle_tree_traverse_gt(unsigned base, unsigned a, unsigned b, unsigned node_bytes) {
    unsigned next;
    asm volatile("{ .reg .pred %%p; setp.gt.u32 %%p, %2, %3; " HEDDLE_TREE_TRAVERSE("u32", "mad.lo.u32", "%4") " }"
                 : "=r"(next)
                 : "r"(base), "r"(a), "r"(b), "r"(node_bytes));
    return next;
}
HEDDLE_DEVICE size_t __heddle_tree_traverse_gt(size_t base, unsigned a, unsigned b, unsigned node_bytes) {
    size_t next;
    asm volatile("{ .reg .pred %%p; setp.gt.u32 %%p, %2, %3; " HEDDLE_TREE_TRAVERSE("u64", "mad.wide.u32", "%4") " }"
                 : "=l"(next)
                 : "l"(base), "r"(a), "r"(b), "r"(node_bytes));
    return next;
}

// Loads from global memory and hints that DRAM keep the row open: another access to it follows soon.
HEDDLE_DEVICE unsigned __heddle_load_row(const unsigned *address) {
    unsigned value;
    asm volatile(HEDDLE_LOAD_ROW " %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(address)));
    return value;
}

// Sets the progress of this warp, for schedulers that use it.
HEDDLE_DEVICE void __heddle_progress(unsigned value) { asm volatile(HEDDLE_PROGRESS "%0;" ::"r"(value)); }

#undef HEDDLE_COND_ACC_SHARED
#undef HEDDLE_COND_ACC_GLOBAL
#undef HEDDLE_PROGRESS
#undef HEDDLE_LOAD_ROW
#undef HEDDLE_TREE_TRAVERSE
#undef HEDDLE_COND_ACC
