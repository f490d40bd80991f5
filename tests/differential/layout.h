/* The layout of a program's memory: per thread a slice of initial register values, one of final values and one of
 * private memory; then words that all threads update. */
#pragma once

enum {
    LAYOUT_BLOCKS = 2,
    LAYOUT_BLOCK_THREADS = 64,
    LAYOUT_THREADS = LAYOUT_BLOCKS * LAYOUT_BLOCK_THREADS,
    LAYOUT_REGISTERS = 192, /* bytes of registers per thread, before and after */
    LAYOUT_SCRATCH = 128,   /* bytes of private memory per thread */
    LAYOUT_OPEN = 96,       /* bytes of it for random accesses; the rest receives shared and local memory at the end */
    LAYOUT_COMMON = 256,    /* bytes */

    LAYOUT_AT_IN = 0,
    LAYOUT_AT_OUT = LAYOUT_AT_IN + LAYOUT_THREADS * LAYOUT_REGISTERS,
    LAYOUT_AT_SCRATCH = LAYOUT_AT_OUT + LAYOUT_THREADS * LAYOUT_REGISTERS,
    LAYOUT_AT_COMMON = LAYOUT_AT_SCRATCH + LAYOUT_THREADS * LAYOUT_SCRATCH,
    LAYOUT_BYTES = LAYOUT_AT_COMMON + LAYOUT_COMMON,

    /* Shared memory: words for exchanges, private slices, words that all threads update. */
    LAYOUT_SHARED_SLICE = 16,
    LAYOUT_SHARED_AT_SLICES = 8 * LAYOUT_BLOCK_THREADS,
    LAYOUT_SHARED_AT_COMMON = LAYOUT_SHARED_AT_SLICES + LAYOUT_SHARED_SLICE * LAYOUT_BLOCK_THREADS,
    LAYOUT_SHARED_COMMON = 128,
    LAYOUT_SHARED_BYTES = LAYOUT_SHARED_AT_COMMON + LAYOUT_SHARED_COMMON,

    LAYOUT_LOCAL = 32,
    LAYOUT_CONST = 256,

    LAYOUT_TRACE_ENTRY = 16,    /* instruction number and value, 8 bytes each */
    LAYOUT_TRACE_ENTRIES = 2048 /* per thread; the number TRACE_END ends the trace */
};
#define LAYOUT_TRACE_END 0xffffffffffffffffu
