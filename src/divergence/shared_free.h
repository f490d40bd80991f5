/* From where on a program no longer touches shared memory: there, threads may leave the SM that holds it (odgs). */
#pragma once

#include "exec/exec.h"

/* is_free[pc], for every pc of the program: no access to shared memory can follow. */
void divergence_find_shared_free(const struct exec_program *program, uint8_t *is_free);
