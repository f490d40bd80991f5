/* The homes of SMs and memory partitions: the host threads that usually run them.
 *
 * In a launch, most memory of an SM is first written when its first blocks start, and freed at the end. On h200, where
 * a thousand blocks start at once, that takes up to a tenth of a short launch. So it is done at home, too. */
#include <stdlib.h>

#include "base/memory.h"
#include "gpu/engine.h"

/* Returns the number of host threads for this launch. Tests, profiles, checks and observers share data among SMs. */
static uint32_t threads_for(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    const struct gpu_config *config = &run->gpu->config;
    if (timed->quantum == 1 || config->n_threads < 2 || config->check_every || run->grid->profile || run->grid->check ||
        run->is_observed)
        return 1;
    uint32_t n_pieces = timed->machine.sm.count + mem_partitions(timed->mem);
    uint32_t n_threads = config->n_threads < n_pieces ? config->n_threads : n_pieces;
    if (config->picks_threads && !timed->pace.n_levels)
        gpu_pace_init(&timed->pace, n_threads);
    return config->picks_threads ? gpu_pace_threads(&timed->pace) : n_threads;
}

/* Returns the pool with this number of threads; for one there is none. Threads of a pool that is not used sleep. */
static struct gpu_workers *workers_for(struct gpu_timed *timed, uint32_t n_threads) {
    uint32_t i = 0;
    if (n_threads == 1)
        return NULL;
    while (timed->pool[i] && gpu_workers_threads(timed->pool[i]) != n_threads)
        i++;
    if (!timed->pool[i])
        timed->pool[i] = gpu_workers_new(n_threads);
    return timed->pool[i];
}

/* Divides the parts among the host threads. A thread has as many pieces as the workers give it. The heaviest parts come
 * first, each to the thread with the least work that has a piece left, of these to the one with the fewest left. */
static void assign_parts(struct gpu_timed *timed, uint32_t n) {
    enum { SM_WEIGHT = 5, PARTITION_WEIGHT = 3 }; /* the mean of eight programs on gtx480 */
    struct gpu_homes *homes = &timed->homes;
    uint32_t n_sms = timed->machine.sm.count, n_partitions = mem_partitions(timed->mem), n_parts = n_partitions + n_sms;
    uint32_t *n_left = base_allocate(n, sizeof *n_left), *weight = base_allocate(n, sizeof *weight);
    for (uint32_t piece = 0; piece < n_parts; piece++)
        n_left[gpu_workers_owner(timed->workers, piece)]++;
    for (uint32_t k = 0; k < n_parts; k++) {
        bool is_sm = k < n_sms;
        uint32_t part = is_sm ? n_partitions + k : k - n_sms, best = UINT32_MAX;
        for (uint32_t t = n; t-- > 0;)
            if (n_left[t] && (best == UINT32_MAX || weight[t] < weight[best] ||
                              (weight[t] == weight[best] && n_left[t] < n_left[best])))
                best = t;
        weight[best] += is_sm ? SM_WEIGHT : PARTITION_WEIGHT;
        n_left[best]--;
        homes->home[part] = best;
    }
    for (uint32_t piece = 0, part; piece < n_parts; piece++) { /* a thread's pieces, in the order of its parts */
        uint32_t owner = gpu_workers_owner(timed->workers, piece);
        for (part = piece < n ? 0 : homes->part_of[piece - n] + 1; homes->home[part] != owner; part++)
            ;
        homes->part_of[piece] = part;
    }
    free(n_left);
    free(weight);
}

uint32_t gpu_choose_threads(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    uint32_t n_threads = threads_for(run);
    timed->workers = workers_for(timed, n_threads);
    if (n_threads > 1 && timed->homes.n_threads != n_threads) {
        assign_parts(timed, n_threads);
        timed->homes.n_threads = n_threads;
    }
    return n_threads;
}

struct each_sm {
    struct gpu_timed *timed;
    gpu_sm_work_fn *work;
    const void *user;
    uint32_t n_partitions;
};

static void run_piece(void *user, uint32_t piece, uint32_t thread) {
    (void)thread;
    const struct each_sm *all = user;
    uint32_t part = all->timed->homes.part_of[piece];
    if (part >= all->n_partitions)
        all->work(all->timed, part - all->n_partitions, all->user);
}

void gpu_for_each_sm(struct gpu_timed *timed, gpu_sm_work_fn *work, const void *user) {
    uint32_t n_sms = timed->machine.sm.count;
    struct each_sm all = {timed, work, user, mem_partitions(timed->mem)};
    if (timed->workers)
        gpu_workers_run(timed->workers, run_piece, &all, all.n_partitions + n_sms);
    for (uint32_t i = 0; !timed->workers && i < n_sms; i++)
        work(timed, i, user);
}
