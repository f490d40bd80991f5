/* A workers of host threads that share out small pieces of work again and again. */
#pragma once

#include <stdint.h>

struct gpu_workers;

/* n_threads with the caller, at least two. */
struct gpu_workers *gpu_workers_new(uint32_t n_threads);
void gpu_workers_free(struct gpu_workers *workers);
/* Calls work(user, i) once for each i below count, on whichever thread is free; returns when all calls have. */
void gpu_workers_run(struct gpu_workers *workers, void (*work)(void *user, uint32_t i), void *user, uint32_t count);
