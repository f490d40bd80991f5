/* The pieces are microseconds long, so who waits looks for a while before it sleeps. */
#include "gpu/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

enum { LOOKS = 4000 }; /* before sleeping: some ten microseconds */

struct gpu_team {
    void (*work)(void *user, uint32_t i);
    void *user;
    uint32_t count, n_workers;
    atomic_uint next;   /* piece that nobody has taken */
    atomic_uint n_busy; /* workers that may still take pieces of this round */
    atomic_uint round;
    bool is_over;
    pthread_mutex_t lock; /* for those who sleep until the next round */
    pthread_cond_t begins;
    pthread_t worker[];
};

static void take_pieces(struct gpu_team *team) {
    uint32_t i;
    while ((i = atomic_fetch_add(&team->next, 1)) < team->count)
        team->work(team->user, i);
}

static void wait_for_round(struct gpu_team *team, uint32_t last) {
    for (int i = 0; i < LOOKS; i++)
        if (atomic_load(&team->round) != last)
            return;
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->round) == last)
        pthread_cond_wait(&team->begins, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

static void *work_until_over(void *user) {
    struct gpu_team *team = user;
    for (uint32_t round = 0;; round++) {
        wait_for_round(team, round);
        if (team->is_over)
            return NULL;
        take_pieces(team);
        atomic_fetch_sub(&team->n_busy, 1);
    }
}

struct gpu_team *gpu_team_new(uint32_t n_threads) {
    struct gpu_team *team = base_allocate(1, sizeof *team + n_threads * sizeof *team->worker);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begins, NULL);
    while (team->n_workers + 1 < n_threads &&
           pthread_create(&team->worker[team->n_workers], NULL, work_until_over, team) == 0)
        team->n_workers++; /* a host that allows fewer gets fewer */
    return team;
}

static void begin_round(struct gpu_team *team) {
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->round, 1);
    pthread_cond_broadcast(&team->begins);
    pthread_mutex_unlock(&team->lock);
}

void gpu_team_free(struct gpu_team *team) {
    if (!team)
        return;
    team->is_over = true;
    begin_round(team);
    for (uint32_t i = 0; i < team->n_workers; i++)
        pthread_join(team->worker[i], NULL);
    pthread_cond_destroy(&team->begins);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

void gpu_team_run(struct gpu_team *team, void (*work)(void *user, uint32_t i), void *user, uint32_t count) {
    team->work = work;
    team->user = user;
    team->count = count;
    atomic_store(&team->n_busy, team->n_workers);
    atomic_store(&team->next, 0);
    begin_round(team);
    take_pieces(team);
    for (int i = 0; atomic_load(&team->n_busy); i++)
        if (i > LOOKS)
            sched_yield();
}
