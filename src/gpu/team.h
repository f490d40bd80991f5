/* A team of host threads that share out small pieces of work again and again. */
#pragma once

#include <stdint.h>

struct gpu_team;

/* n_threads with the caller, at least two. */
struct gpu_team *gpu_team_new(uint32_t n_threads);
void gpu_team_free(struct gpu_team *team);
/* Calls work(user, i) once for each i below count, on whichever thread is free; returns when all calls have. */
void gpu_team_run(struct gpu_team *team, void (*work)(void *user, uint32_t i), void *user, uint32_t count);
