/* A pool of host threads. See workers.h.
 *
 * A round takes microseconds, and a cache line takes a tenth of one to travel between two processors. So in a round the
 * caller writes one line, which announces the round, and each thread writes one line that others read, when its pieces
 * are done. A thread polls for a while before it sleeps. Each thread owns some of the pieces. When its own are done, it
 * waits for a moment, and then takes pieces from threads that have several left. The caller, which would otherwise only
 * wait, takes any piece after a moment. A round therefore never depends on a thread that the host is not running.
 *
 * `round` is one word: the number of the round and the number of its pieces. `claims` is one word for each owner: the
 * round in which a piece of this owner was last claimed, and how many were claimed in it. In a later round none is
 * claimed yet, so the word needs no reset. A thread claims the next piece by compare-and-exchange, for the round
 * that it read from `round`.
 *
 * - A piece is claimed once, because a claim changes the word, and the word never has an old value again: rounds and,
 *   within one, claims only increase.
 * - A thread that was delayed, and claims for a round that has ended, claims nothing. The caller ends a round only when
 *   all its pieces are done. If the owner had pieces in that round, `claims` shows that all of them, or pieces of a
 *   later round, are claimed. If it had none, there is nothing to claim.
 * - So no piece of a round still runs when the next round begins. `work` and `user`, which are read after a claim, are
 *   those of the claim's round, and `n_done`, which is never reset, counts the pieces of all rounds up to this one.
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
    YIELDS = 1000,       /* before it sleeps: to wake it takes tens of microseconds */
    IDLE_POLLS = 20,     /* before a thread helps others: taking the last pieces from them costs more than it gains */
    PATIENT_POLLS = 100, /* before the caller takes the last pieces of others */
    SEVERAL = 2          /* pieces that a thread must have left so that others take one */
};
#endif

enum { COUNT_BITS = 16 };

/* The pieces of a thread: those for which gpu_workers_owner() returns its number. */
struct share {
    _Alignas(BASE_PAIR_BYTES) atomic_ullong claims; /* round << COUNT_BITS | pieces claimed in it */
    _Alignas(BASE_PAIR_BYTES) atomic_uint n_done;   /* in all rounds */
    _Alignas(BASE_PAIR_BYTES) uint32_t n_due;       /* the caller's: n_done at the end of the round */
};

static uint64_t number_of(uint64_t round) { return round >> COUNT_BITS; }
static uint32_t count_of(uint64_t round) { return round & UINT16_MAX; }

struct worker {
    struct gpu_workers *workers;
    uint32_t index;
    pthread_t thread;
};

struct gpu_workers {
    uint32_t n_threads;
    struct share *share; /* per thread; the caller's is the first */
    struct worker *worker;
    const unsigned char *reports; /* NULL: none */
    size_t report_bytes;
    _Alignas(BASE_PAIR_BYTES) atomic_ullong round; /* number << COUNT_BITS | pieces */
    gpu_work_fn *work;
    void *user;
    _Alignas(BASE_PAIR_BYTES) atomic_uint n_asleep;
    atomic_bool is_over;
    pthread_mutex_t lock; /* for threads that sleep until the next round */
    pthread_cond_t begins;
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

uint32_t gpu_workers_threads(const struct gpu_workers *workers) { return workers->n_threads; }

/* The caller gets the last ones, if they do not go up evenly: it has other work. */
uint32_t gpu_workers_owner(const struct gpu_workers *workers, uint32_t piece) {
    return workers->n_threads - 1 - piece % workers->n_threads;
}

/* Returns the number of the owner's pieces in a round of this many. */
static uint32_t share_of(const struct gpu_workers *workers, uint32_t owner, uint32_t count) {
    return (count + owner) / workers->n_threads;
}

/* Takes and runs one piece of the `owner` in this round if at least `least` are left. */
static bool take_piece(struct gpu_workers *workers, uint64_t round, uint32_t self, uint32_t owner, uint32_t least) {
    struct share *share = &workers->share[owner];
    uint32_t n = share_of(workers, owner, count_of(round)), next;
    if (n < least)
        return false;
    unsigned long long claims = atomic_load(&share->claims);
    do {
        if (number_of(claims) > number_of(round))
            return false;
        next = number_of(claims) == number_of(round) ? count_of(claims) : 0;
        if (next + least > n)
            return false;
    } while (
        !atomic_compare_exchange_weak(&share->claims, &claims, (number_of(round) << COUNT_BITS | (uint64_t)next) + 1));
    workers->work(workers->user, workers->n_threads - 1 - owner + next * workers->n_threads, self);
    return true;
}

/* Takes the thread's own pieces. */
static void take_pieces(struct gpu_workers *workers, uint64_t round, uint32_t self) {
    uint32_t n = 0;
    while (take_piece(workers, round, self, self, 1))
        n++;
    if (n)
        atomic_fetch_add(&workers->share[self].n_done, n);
}

static bool take_others_piece(struct gpu_workers *workers, uint64_t round, uint32_t self, uint32_t owner,
                              uint32_t least) {
    if (!take_piece(workers, round, self, owner, least))
        return false;
    atomic_fetch_add(&workers->share[owner].n_done, 1);
    return true;
}

/* Helps threads that have several pieces left. */
static void take_others_pieces(struct gpu_workers *workers, uint64_t round, uint32_t self) {
    for (uint32_t k = 1; k < workers->n_threads; k++)
        while (take_others_piece(workers, round, self, (self + k) % workers->n_threads, SEVERAL))
            ;
}

/* Returns the round after `last`, or a later one. */
static uint64_t wait_for_round(struct gpu_workers *workers, uint32_t self, uint64_t last) {
    uint64_t round;
    for (int i = 0; i < POLLS; i++, relax()) {
        if ((round = atomic_load(&workers->round)) != last)
            return round;
        if (i == IDLE_POLLS)
            take_others_pieces(workers, last, self);
    }
    for (int i = 0; i < YIELDS; i++, sched_yield())
        if ((round = atomic_load(&workers->round)) != last)
            return round;
    pthread_mutex_lock(&workers->lock);
    atomic_fetch_add(&workers->n_asleep, 1);
    while ((round = atomic_load(&workers->round)) == last)
        pthread_cond_wait(&workers->begins, &workers->lock);
    atomic_fetch_sub(&workers->n_asleep, 1);
    pthread_mutex_unlock(&workers->lock);
    return round;
}

static void *work_until_over(void *user) {
    const struct worker *worker = user;
    struct gpu_workers *workers = worker->workers;
    for (uint64_t round = 0;;) {
        round = wait_for_round(workers, worker->index, round);
        if (atomic_load(&workers->is_over))
            return NULL;
        take_pieces(workers, round, worker->index);
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

static uint64_t begin_round(struct gpu_workers *workers, uint32_t count) {
    uint64_t round = (number_of(atomic_load(&workers->round)) + 1) << COUNT_BITS | count;
    atomic_store(&workers->round, round);
    if (!atomic_load(&workers->n_asleep))
        return round;
    pthread_mutex_lock(&workers->lock);
    pthread_cond_broadcast(&workers->begins);
    pthread_mutex_unlock(&workers->lock);
    return round;
}

void gpu_workers_free(struct gpu_workers *workers) {
    if (!workers)
        return;
    atomic_store(&workers->is_over, true);
    begin_round(workers, 0);
    for (uint32_t i = 1; i < workers->n_threads; i++)
        if (workers->worker[i].workers)
            pthread_join(workers->worker[i].thread, NULL);
    pthread_cond_destroy(&workers->begins);
    pthread_mutex_destroy(&workers->lock);
    free(workers->share);
    free(workers->worker);
    free(workers);
}

void gpu_workers_use_reports(struct gpu_workers *workers, const void *reports, size_t bytes) {
    workers->reports = reports;
    workers->report_bytes = bytes;
}

static void prefetch_report(const struct gpu_workers *workers, uint32_t thread) {
    enum { LINE_BYTES = 64 };
    for (size_t i = 0; workers->reports && i < workers->report_bytes; i += LINE_BYTES)
        __builtin_prefetch(workers->reports + thread * workers->report_bytes + i);
}

/* Waits until all pieces of the owner are done. */
static void finish(struct gpu_workers *workers, uint64_t round, uint32_t owner) {
    struct share *share = &workers->share[owner];
    for (uint32_t i = 0; atomic_load(&share->n_done) != share->n_due; i += i < POLLS) {
        if (i >= PATIENT_POLLS && take_others_piece(workers, round, 0, owner, 1))
            continue;
        if (i < POLLS)
            relax();
        else
            sched_yield();
    }
}

void gpu_workers_run(struct gpu_workers *workers, gpu_work_fn *work, void *user, uint32_t count) {
    assert(count <= UINT16_MAX);
    workers->work = work;
    workers->user = user;
    uint64_t round = begin_round(workers, count);
    for (uint32_t i = 0; i < workers->n_threads; i++)
        workers->share[i].n_due += share_of(workers, i, count);
    take_pieces(workers, round, 0);
    for (uint32_t i = 0; i < workers->n_threads; i++) {
        finish(workers, round, i);
        prefetch_report(workers, i);
    }
}
