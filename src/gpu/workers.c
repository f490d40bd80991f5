/* A pool of host threads. See workers.h.
 *
 * A round takes microseconds, so a thread polls for a while before it sleeps, and what different threads write is in
 * different cache lines. Each thread has its own pieces. When it has taken them and the round goes on, it takes
 * some of another that has several left; the caller, which would only wait, takes any after a moment. So a round needs
 * no thread that the host does not run just now. */
#include "gpu/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    POLLS = 2000,           /* before a thread lets others run: about a hundred microseconds */
    YIELDS = 50,            /* before it sleeps */
    IDLE_POLLS = 20,        /* before a thread helps others: taking little from them costs more than it brings */
    PATIENT_POLLS = 100,    /* before the caller takes the last pieces of others */
    SEVERAL = 2,            /* pieces that a thread must have left so that others take one */
    CLOSED = UINT32_MAX / 2 /* share.next: nothing to take */
};

/* The pieces of a thread: self, self + n_threads, ... */
struct share {
    _Alignas(64) atomic_uint next; /* first piece not yet taken; above n: none is left */
    atomic_uint n, n_done;
};

struct worker {
    struct gpu_workers *workers;
    uint32_t index;
    pthread_t thread;
};

struct gpu_workers {
    gpu_work_fn *work;
    void *user;
    uint32_t n_threads;
    struct share *share; /* per thread; the caller's is the first */
    struct worker *worker;
    _Alignas(64) atomic_uint round;
    atomic_uint n_asleep;
    atomic_bool is_over;
    pthread_mutex_t lock; /* for threads that sleep until the next round */
    pthread_cond_t begins;
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Takes and runs one piece of the `owner` if it has at least `least` left. */
static bool take_piece(struct gpu_workers *workers, uint32_t self, uint32_t owner, uint32_t least) {
    struct share *share = &workers->share[owner];
    uint32_t next = atomic_load(&share->next);
    if (next >= CLOSED || next + least > share->n)
        return false;
    uint32_t i = atomic_fetch_add(&share->next, 1);
    if (i >= CLOSED || i >= share->n)
        return false;
    workers->work(workers->user, owner + i * workers->n_threads, self);
    atomic_fetch_add(&share->n_done, 1);
    return true;
}

static void take_pieces(struct gpu_workers *workers, uint32_t self) {
    while (take_piece(workers, self, self, 1))
        ;
}

/* Helps threads that have several pieces left. */
static void take_others_pieces(struct gpu_workers *workers, uint32_t self) {
    for (uint32_t k = 1; k < workers->n_threads; k++)
        while (take_piece(workers, self, (self + k) % workers->n_threads, SEVERAL))
            ;
}

static void wait_for_round(struct gpu_workers *workers, uint32_t self, uint32_t last) {
    for (int i = 0; i < POLLS; i++, relax()) {
        if (atomic_load(&workers->round) != last)
            return;
        if (i == IDLE_POLLS)
            take_others_pieces(workers, self);
    }
    for (int i = 0; i < YIELDS; i++, sched_yield())
        if (atomic_load(&workers->round) != last)
            return;
    pthread_mutex_lock(&workers->lock);
    atomic_fetch_add(&workers->n_asleep, 1);
    while (atomic_load(&workers->round) == last)
        pthread_cond_wait(&workers->begins, &workers->lock);
    atomic_fetch_sub(&workers->n_asleep, 1);
    pthread_mutex_unlock(&workers->lock);
}

static void *work_until_over(void *user) {
    const struct worker *worker = user;
    struct gpu_workers *workers = worker->workers;
    for (uint32_t round = 0;;) {
        wait_for_round(workers, worker->index, round);
        round = atomic_load(&workers->round);
        if (atomic_load(&workers->is_over))
            return NULL;
        take_pieces(workers, worker->index);
    }
}

struct gpu_workers *gpu_workers_new(uint32_t n_threads) {
    struct gpu_workers *workers = base_allocate_aligned(sizeof *workers);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->begins, NULL);
    workers->worker = base_allocate(n_threads, sizeof *workers->worker);
    workers->share = base_allocate_aligned(n_threads * sizeof *workers->share);
    for (uint32_t i = 0; i < n_threads; i++)
        atomic_init(&workers->share[i].next, CLOSED);
    workers->n_threads = n_threads; /* threads that the host does not allow leave their pieces to others */
    for (uint32_t i = 1; i < n_threads; i++) {
        workers->worker[i] = (struct worker){workers, i, 0};
        if (pthread_create(&workers->worker[i].thread, NULL, work_until_over, &workers->worker[i]) != 0)
            workers->worker[i].workers = NULL;
    }
    return workers;
}

static void begin_round(struct gpu_workers *workers) {
    atomic_fetch_add(&workers->round, 1);
    if (!atomic_load(&workers->n_asleep))
        return;
    pthread_mutex_lock(&workers->lock);
    pthread_cond_broadcast(&workers->begins);
    pthread_mutex_unlock(&workers->lock);
}

void gpu_workers_free(struct gpu_workers *workers) {
    if (!workers)
        return;
    atomic_store(&workers->is_over, true);
    begin_round(workers);
    for (uint32_t i = 1; i < workers->n_threads; i++)
        if (workers->worker[i].workers)
            pthread_join(workers->worker[i].thread, NULL);
    pthread_cond_destroy(&workers->begins);
    pthread_mutex_destroy(&workers->lock);
    free(workers->share);
    free(workers->worker);
    free(workers);
}

/* Waits until all pieces of the owner are done. */
static void finish(struct gpu_workers *workers, uint32_t owner) {
    struct share *share = &workers->share[owner];
    for (uint32_t i = 0; atomic_load(&share->n_done) < share->n; i++) {
        if (i >= PATIENT_POLLS && take_piece(workers, 0, owner, 1))
            continue;
        if (i < POLLS)
            relax();
        else
            sched_yield();
    }
    atomic_store(&share->next, CLOSED);
}

void gpu_workers_run(struct gpu_workers *workers, gpu_work_fn *work, void *user, uint32_t count) {
    workers->work = work;
    workers->user = user;
    for (uint32_t i = 0; i < workers->n_threads; i++) {
        struct share *share = &workers->share[i];
        atomic_store_explicit(&share->n, (count + workers->n_threads - 1 - i) / workers->n_threads,
                              memory_order_relaxed);
        atomic_store_explicit(&share->n_done, 0, memory_order_relaxed);
        atomic_store_explicit(&share->next, 0, memory_order_release);
    }
    begin_round(workers);
    take_pieces(workers, 0);
    take_others_pieces(workers, 0);
    for (uint32_t i = 0; i < workers->n_threads; i++)
        finish(workers, i);
}
