/* Helpers for integer instructions, used by several lane files. */
#pragma once

#include "exec/lanes/lanes.h"

static inline uint64_t high_u64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline int64_t high_s64(int64_t a, int64_t b) { return (int64_t)((__int128)a * b >> 64); }

/* carry.c: forms that set or use the carry flag. */
exec_lanes_fn *EXEC_NAME(exec_select_carry)(const struct exec_form *form);
