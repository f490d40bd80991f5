/* A pool of host threads. See workers.h.
 *
 * A round takes microseconds, so a thread polls for a while before it sleeps, and threads write to different cache
 * lines. Each thread owns some of the pieces. When its own are done, it takes pieces from threads that have several
 * left. The caller, which would otherwise only wait, takes any piece after a moment. A round therefore never depends on
 * a thread that the host is not running.
 *
 * A thread claims a piece by compare-and-exchange on one word that contains the round, the number of the owner's pieces
 * and the next one. A thread that was delayed between reading the word and claiming therefore claims nothing if the
 * round has ended meanwhile. The caller returns only when every piece is done, including claimed ones. So no piece of a
 * round can still be running when the next round begins, and `work`, `user` and `n_done` belong to the round of the
 * thread that claimed the piece. (Rounds are numbered with 32 bits. To claim wrongly, a thread would have to be delayed
 * for four billion rounds.)
 *
 * Every atomic operation is sequentially consistent. tests/interleavings relies on this: the test runs this file under
 * every interleaving of a few threads. */
#include "gpu/workers.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

#ifndef POLLS /* tests/interleavings defines smaller ones */
enum {
    POLLS = 2000,        /* before a thread lets others run: about a hundred microseconds */
    YIELDS = 50,         /* before it sleeps */
    IDLE_POLLS = 20,     /* before a thread helps others: taking the last pieces from them costs more than it gains */
    PATIENT_POLLS = 100, /* before the caller takes the last pieces of others */
    SEVERAL = 2          /* pieces that a thread must have left so that others take one */
};
#endif

/* The pieces of a thread: self, self + n_threads, ... */
struct share {
    _Alignas(64) atomic_ullong claims; /* round << 32 | number of pieces << 16 | next piece to take */
    atomic_uint n_done;
};

static uint32_t count_of(uint64_t claims) { return claims >> 16 & UINT16_MAX; }
static uint32_t next_of(uint64_t claims) { return claims & UINT16_MAX; }

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
    unsigned long long claims = atomic_load(&share->claims);
    do {
        if (next_of(claims) + least > count_of(claims))
            return false;
    } while (!atomic_compare_exchange_weak(&share->claims, &claims, claims + 1));
    workers->work(workers->user, owner + next_of(claims) * workers->n_threads, self);
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
    workers->n_threads = n_threads; /* if the host allows fewer threads, the others take the missing ones' pieces */
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
    uint32_t n = count_of(atomic_load(&share->claims));
    for (uint32_t i = 0; atomic_load(&share->n_done) < n; i += i < POLLS) {
        if (i >= PATIENT_POLLS && take_piece(workers, 0, owner, 1))
            continue;
        if (i < POLLS)
            relax();
        else
            sched_yield();
    }
}

void gpu_workers_run(struct gpu_workers *workers, gpu_work_fn *work, void *user, uint32_t count) {
    uint64_t round = atomic_load(&workers->round) + 1;
    workers->work = work;
    workers->user = user;
    for (uint32_t i = 0; i < workers->n_threads; i++) {
        struct share *share = &workers->share[i];
        uint64_t n = (count + workers->n_threads - 1 - i) / workers->n_threads;
        assert(n < UINT16_MAX);
        atomic_store(&share->n_done, 0);
        atomic_store(&share->claims, round << 32 | n << 16);
    }
    begin_round(workers);
    take_pieces(workers, 0);
    take_others_pieces(workers, 0);
    for (uint32_t i = 0; i < workers->n_threads; i++)
        finish(workers, i);
}
