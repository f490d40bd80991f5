/* A pool of host threads that share small pieces of work, round after round. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gpu_workers;

/* Does piece i; `thread` is the number of the thread that does. */
typedef void gpu_work_fn(void *user, uint32_t i, uint32_t thread);

/* n_threads includes the caller, at least two. The caller is thread 0. */
struct gpu_workers *gpu_workers_new(uint32_t n_threads);
void gpu_workers_free(struct gpu_workers *workers);
uint32_t gpu_workers_threads(const struct gpu_workers *workers);
/* Returns the thread on which a piece mostly runs, so that its caches hold the piece's data from the last round. The
 * pieces below the number of threads have different ones. */
uint32_t gpu_workers_owner(const struct gpu_workers *workers, uint32_t piece);
/* Calls work() once for each i below count and returns when all calls have returned. */
void gpu_workers_run(struct gpu_workers *workers, gpu_work_fn *work, void *user, uint32_t count);
/* From now on the caller reads a report of each thread after a round: thread i's is at reports + i * bytes. Its
 * processor fetches those of the threads that are done while it waits for the others. NULL: no longer. */
void gpu_workers_use_reports(struct gpu_workers *workers, const void *reports, size_t bytes);
