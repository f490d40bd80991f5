/* Finds the instructions from which on threads are no longer bound to a place: they will not access the shared memory
 * of an SM again, nor wait for others of their warp or block. There, threads may leave (odgs). */
#pragma once

#include "exec/exec.h"

/* Sets is_free[pc] for every pc of the program from which no access to shared memory can follow, wherever the function
 * was called. */
void divergence_find_shared_free(const struct exec_program *program, uint8_t *is_free);
/* The same for barriers and warp-wide instructions. */
void divergence_find_sync_free(const struct exec_program *program, uint8_t *is_free);
