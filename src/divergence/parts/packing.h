/* Packs threads of several rows into one bundle for the SIMD lanes: the sub-warps of large warps (Narasiman 2011, 3.1)
 * and compacted warps (Fung and Aamodt 2011). Masks have one word of lanes for each row. */
#pragma once

#include "exec/exec.h"

struct divergence_packing {
    uint32_t mask; /* lanes that have a thread */
    uint8_t row[EXEC_LANES], lane[EXEC_LANES];
    bool is_row; /* all threads belong to row[first lane], each in its own lane */
};

/* Takes at most one thread out of every column of `left`, from the lowest row that has one there. Threads in
 * `in_flight` (may be NULL) stay. */
void divergence_pack_columns(uint32_t *left, const uint32_t *in_flight, uint32_t n_rows,
                             struct divergence_packing *packing);
/* Takes the first n_lanes threads, row by row, whatever their columns. */
void divergence_pack_any(uint32_t *left, const uint32_t *in_flight, uint32_t n_rows, uint32_t n_lanes,
                         struct divergence_packing *packing);
