/* A pool of host threads that share small pieces of work, round after round. */
#pragma once

#include <stdint.h>

struct gpu_workers;

/* n_threads includes the caller, at least two. */
struct gpu_workers *gpu_workers_new(uint32_t n_threads);
void gpu_workers_free(struct gpu_workers *workers);
/* Calls work(user, i) once for each i below count, on whichever thread is free. Returns when all calls have. */
void gpu_workers_run(struct gpu_workers *workers, void (*work)(void *user, uint32_t i), void *user, uint32_t count);
