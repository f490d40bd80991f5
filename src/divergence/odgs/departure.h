/* From where on a program no longer does what binds threads to a place: touch the shared memory of an SM, or wait for
 * others of their warp or block. There, threads may leave (odgs). */
#pragma once

#include "exec/exec.h"

/* is_free[pc], for every pc of the program: no access to shared memory can follow, whoever has called the function. */
void divergence_find_shared_free(const struct exec_program *program, uint8_t *is_free);
/* The same for barriers and warp-wide instructions. */
void divergence_find_sync_free(const struct exec_program *program, uint8_t *is_free);
