/* The dispatcher: chooses the SM of each block or cluster, and the cycle in which it starts. A scheduler may choose the
 * block instead, and a divergence model may pull blocks. */
#include "gpu/dispatcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/occupancy.h"
#include "gpu/engine.h"

/* Returns the block that starts next on the SM, or SCHED_NO_BLOCK. */
static uint64_t next_block(struct gpu_run *run, uint32_t i, uint64_t cycle) {
    if (!run->started)
        return run->next_block++;
    struct sched_blocks_left *left = &run->left;
    left->sm = i;
    uint64_t block = sm_choose_block(run->timed->sm[i], left, cycle);
    if (block == SCHED_NO_BLOCK)
        return block;
    run->n_on_sm[i]++;
    run->started[block / 64] |= UINT64_C(1) << block % 64;
    while (left->first < left->n_blocks && left->started[left->first / 64] >> left->first % 64 & 1)
        left->first++;
    run->next_block++;
    return block;
}

uint64_t gpu_start_of_block(const struct config_launch *launch, double *next_start, uint64_t first, uint64_t cycle) {
    if (*next_start < (double)cycle)
        *next_start = (double)cycle;
    uint64_t start = (uint64_t)*next_start;
    *next_start += launch->block_cycles;
    return cycle > first && start < cycle + launch->turn_cycles ? cycle + launch->turn_cycles : start;
}

/* Returns false if the scheduler wants no block on this SM. */
static bool start_block(struct gpu_run *run, uint32_t i, uint64_t cycle) {
    struct gpu_timed *timed = run->timed;
    uint64_t block = next_block(run, i, cycle);
    if (block == SCHED_NO_BLOCK)
        return false;
    uint64_t start = gpu_start_of_block(&timed->machine.launch, &run->next_start, run->first_cycle, cycle);
    sm_start_block_at(timed->sm[i], (uint32_t)block, start, cycle);
    timed->unit[i].clock.wake = cycle + 1;
    return true;
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

/* Chooses different SMs for the blocks of a cluster, in the GPC of this SM: those with the most room, of these the
 * first. Returns false if the cluster does not fit. The H200 never puts two blocks of a cluster on one SM
 * (bench/hardware/places.cu). */
static bool choose_sms(const struct gpu_run *run, uint32_t sm, uint32_t sms[EXEC_MAX_CLUSTER]) {
    const struct gpu_timed *timed = run->timed;
    uint32_t first, last = config_gpc(&timed->machine, sm, &first), n = exec_shape_cluster(&run->grid->shape);
    last += first;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = UINT32_MAX, most = 0;
        for (uint32_t i = first; i < last; i++) {
            bool is_taken = false;
            for (uint32_t j = 0; j < k; j++)
                is_taken |= sms[j] == i;
            uint32_t room =
                sm_has_room(timed->sm[i]) ? sm_most_blocks(timed->sm[i]) - sm_count_blocks(timed->sm[i]) : 0;
            if (!is_taken && room > most) {
                most = room;
                best = i;
            }
        }
        if (best == UINT32_MAX)
            return false;
        sms[k] = best;
    }
    return true;
}

/* Starts the next cluster on the GPC of the SM, if it fits there. */
static bool start_cluster(struct gpu_run *run, uint32_t sm, uint64_t cycle) {
    struct gpu_timed *timed = run->timed;
    uint32_t n = exec_shape_cluster(&run->grid->shape), sms[EXEC_MAX_CLUSTER];
    if (run->next_block == run->n_blocks || !choose_sms(run, sm, sms))
        return false;
    struct exec_cluster *cluster = base_allocate(1, sizeof *cluster);
    uint64_t start = 0, number = run->next_block / n;
    for (uint32_t i = 0; i < n; i++)
        start = gpu_start_of_block(&timed->machine.launch, &run->next_start, run->first_cycle, cycle);
    cluster->n_blocks = n;
    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t block = exec_cluster_block(&run->grid->shape, number, rank);
        uint64_t came = sm_start_block_in(timed->sm[sms[rank]], cluster, rank, block, start, cycle);
        gpu_wake_by(&timed->unit[sms[rank]], came + 1);
    }
    run->next_block += n;
    return true;
}

/* Starts clusters while they fit, one on each GPC in turn. */
static void fill_clusters(struct gpu_run *run) {
    const struct config_machine *machine = &run->timed->machine;
    bool has_started = true;
    while (has_started) {
        has_started = false;
        for (uint32_t sm = 0, first; sm < machine->sm.count; sm += config_gpc(machine, sm, &first))
            has_started |= start_cluster(run, sm, run->timed->cycle);
    }
}

/* ---- A launch ---------------------------------------------------------------------------------------------------- */

void gpu_start_blocks(struct gpu_run *run, uint32_t i, uint64_t cycle) {
    if (run->together) {
        gpu_take_parts_turn(run, i, cycle);
        return;
    }
    while (run->next_block < run->n_blocks && sm_has_room(run->timed->sm[i]))
        if (!start_block(run, i, cycle))
            return;
}

void gpu_check_blocks(const struct gpu_run *run) {
    if (run->started && run->n_finished == run->next_block && run->next_block < run->n_blocks)
        config_plugin_broken("scheduler", run->timed->scheduler->name,
                             "choose_block() leaves blocks that no SM takes, and all others have ended");
}

bool gpu_has_run_all(const struct gpu_run *run) {
    bool has_all = run->next_block == run->n_blocks && run->n_finished == run->n_blocks;
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++) {
        const struct gpu_unit *unit = &run->timed->unit[i];
        has_all &= !unit->n_ended && !unit->n_counted && !unit->n_replaced && !sm_count_blocks(unit->sm);
    }
    return has_all;
}

void gpu_check_end(const struct gpu_run *run) {
    if (gpu_has_run_all(run))
        return;
    fflush(stdout);
    fprintf(stderr,
            "heddle: the launch has lost blocks: of %" PRIu64 ", %" PRIu64 " have started and %" PRIu64
            " have ended. This is an error of Heddle: please report it\n",
            run->n_blocks, run->next_block, run->n_finished);
    abort();
}

/* The blocks that start first: block i on SM i % n_sms. */
struct filling {
    uint64_t n_blocks, first;
    uint64_t *start; /* per block: the earliest cycle of its start */
};

static void fill_sm(struct gpu_timed *timed, uint32_t i, const void *user) {
    const struct filling *filling = user;
    for (uint64_t block = filling->first + i; block < filling->first + filling->n_blocks;
         block += timed->machine.sm.count) {
        sm_start_block_at(timed->sm[i], (uint32_t)block, filling->start[block - filling->first], timed->cycle);
        timed->unit[i].clock.wake = timed->cycle + 1;
    }
}

/* Starts as many blocks as the SMs hold, those of each SM on its own host thread: their registers are written for the
 * first time, and then belong to the caches that need them. */
static void fill_at_homes(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    uint64_t n_left = run->n_blocks - run->next_block;
    uint64_t n_places = (uint64_t)timed->machine.sm.count * sm_most_blocks(timed->sm[0]);
    struct filling filling = {.n_blocks = n_left < n_places ? n_left : n_places, .first = run->next_block};
    filling.start = base_allocate(filling.n_blocks, sizeof *filling.start);
    for (uint64_t i = 0; i < filling.n_blocks; i++)
        filling.start[i] = gpu_start_of_block(&timed->machine.launch, &run->next_start, run->first_cycle, timed->cycle);
    gpu_for_each_sm(timed, fill_sm, &filling);
    run->next_block += filling.n_blocks;
    free(filling.start);
}

void gpu_fill(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    if (timed->divergence->chip) {
        for (uint32_t i = 0; i < timed->machine.sm.count; i++)
            sm_pull(timed->sm[i], timed->cycle);
        return;
    }
    if (exec_shape_cluster(&run->grid->shape) > 1) {
        fill_clusters(run);
        return;
    }
    if (!run->started && gpu_choose_threads(run) > 1 && sm_numbers_later(timed->sm[0])) {
        fill_at_homes(run);
        return;
    }
    bool has_started = true;
    while (has_started && run->next_block < run->n_blocks) {
        has_started = false;
        for (uint32_t i = 0; i < timed->machine.sm.count && run->next_block < run->n_blocks; i++)
            if (sm_has_room(timed->sm[i]) && start_block(run, i, timed->cycle))
                has_started = true;
    }
    gpu_check_blocks(run);
}

/* ---- Calls of SMs ------------------------------------------------------------------------------------------------ */

static bool pull_block(void *user, uint32_t sm, uint64_t cycle) {
    struct gpu_timed *timed = user;
    struct gpu_run *run = timed->run;
    if (run->next_block == run->n_blocks)
        return false;
    uint64_t start = gpu_start_of_block(&timed->machine.launch, &run->next_start, run->first_cycle, cycle);
    sm_start_block_at(timed->sm[sm], (uint32_t)run->next_block++, start, cycle);
    return true;
}

static void block_ended(void *user, uint32_t sm) {
    struct gpu_timed *timed = user;
    if (timed->divergence->chip) { /* another SM may have ended it, and the model starts blocks itself */
        timed->run->n_finished++;
        timed->run->last_cycle = timed->cycle;
    } else {
        timed->unit[sm].n_ended++;
        timed->unit[sm].clock.must_stop = true;
    }
}

static void cluster_ended(void *user, struct exec_cluster *cluster) {
    (void)user;
    free(cluster);
}

static void wake_sm(void *user, uint32_t sm, uint64_t cycle) {
    struct gpu_timed *timed = user;
    gpu_wake_by(&timed->unit[sm], cycle);
}

/* A scheduler allows more blocks. Others may take the last ones before its turn, even on another thread at this moment.
 */
static void has_room(void *user, uint32_t sm) {
    struct gpu_timed *timed = user;
    timed->unit[sm].has_room = timed->run->has_blocks_left;
    timed->unit[sm].clock.must_stop |= timed->unit[sm].has_room;
}

struct sm_dispatcher gpu_dispatcher(struct gpu_timed *timed) {
    return (struct sm_dispatcher){pull_block, block_ended, wake_sm, has_room, timed, cluster_ended};
}
