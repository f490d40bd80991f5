/* A pool of host threads. See workers.h. A piece takes microseconds, so a thread polls for a while before it sleeps. */
#include "gpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

enum { POLLS = 4000 }; /* before it sleeps: about ten microseconds */

struct gpu_workers {
    void (*work)(void *user, uint32_t i);
    void *user;
    uint32_t count, n_workers;
    atomic_uint next;   /* first piece not yet taken */
    atomic_uint n_busy; /* workers that may still take pieces of this round */
    atomic_uint round;
    bool is_over;
    pthread_mutex_t lock; /* for threads that sleep until the next round */
    pthread_cond_t begins;
    pthread_t worker[];
};

static void take_pieces(struct gpu_workers *workers) {
    uint32_t i;
    while ((i = atomic_fetch_add(&workers->next, 1)) < workers->count)
        workers->work(workers->user, i);
}

static void wait_for_round(struct gpu_workers *workers, uint32_t last) {
    for (int i = 0; i < POLLS; i++)
        if (atomic_load(&workers->round) != last)
            return;
    pthread_mutex_lock(&workers->lock);
    while (atomic_load(&workers->round) == last)
        pthread_cond_wait(&workers->begins, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

static void *work_until_over(void *user) {
    struct gpu_workers *workers = user;
    for (uint32_t round = 0;; round++) {
        wait_for_round(workers, round);
        if (workers->is_over)
            return NULL;
        take_pieces(workers);
        atomic_fetch_sub(&workers->n_busy, 1);
    }
}

struct gpu_workers *gpu_workers_new(uint32_t n_threads) {
    struct gpu_workers *workers = base_allocate(1, sizeof *workers + n_threads * sizeof *workers->worker);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->begins, NULL);
    while (workers->n_workers + 1 < n_threads &&
           pthread_create(&workers->worker[workers->n_workers], NULL, work_until_over, workers) == 0)
        workers->n_workers++; /* fewer if the host allows no more */
    return workers;
}

static void begin_round(struct gpu_workers *workers) {
    pthread_mutex_lock(&workers->lock);
    atomic_fetch_add(&workers->round, 1);
    pthread_cond_broadcast(&workers->begins);
    pthread_mutex_unlock(&workers->lock);
}

void gpu_workers_free(struct gpu_workers *workers) {
    if (!workers)
        return;
    workers->is_over = true;
    begin_round(workers);
    for (uint32_t i = 0; i < workers->n_workers; i++)
        pthread_join(workers->worker[i], NULL);
    pthread_cond_destroy(&workers->begins);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

void gpu_workers_run(struct gpu_workers *workers, void (*work)(void *user, uint32_t i), void *user, uint32_t count) {
    workers->work = work;
    workers->user = user;
    workers->count = count;
    atomic_store(&workers->n_busy, workers->n_workers);
    atomic_store(&workers->next, 0);
    begin_round(workers);
    take_pieces(workers);
    for (int i = 0; atomic_load(&workers->n_busy); i++)
        if (i > POLLS)
            sched_yield();
}
