/* The clock for machines whose SMs depend on each other in every cycle: it goes from cycle to cycle. The order is fixed
 * (memory first, then SMs by number), so every run is the same. When all SMs sleep, time jumps to the next event.
 *
 * An SM that does not depend on the others for a while (sm_is_alone) runs ahead of them: its registers and slots then
 * stay in the host's caches. No simulated component can observe the difference. */
#include "gpu/engine.h"

void gpu_run_ahead(struct gpu_run *run, uint32_t i) {
    struct gpu_timed *timed = run->timed;
    struct gpu_unit *unit = &timed->unit[i];
    while (unit->wake <= run->last_ahead && sm_is_alone(timed->sm[i], unit->wake)) {
        uint64_t cycle = unit->wake, next = 0;
        unit->wake = SM_NEVER;
        enum sm_outcome outcome = sm_tick(timed->sm[i], SM_AHEAD, cycle, &next);
        if (outcome == SM_WAITS) {
            unit->wake = cycle;
            return;
        }
        unit->n_ticks++;
        gpu_wake_after(unit, cycle, next);
        if (outcome == SM_FAULTED || !gpu_watch(run, i, cycle)) {
            unit->stop = GPU_STOP_FAULT;
            unit->stop_cycle = unit->wake = cycle;
            return;
        }
    }
}

uint64_t gpu_last_ahead(const struct gpu_run *run, uint64_t cycle) {
    bool keeps_step = run->gpu->config.keeps_step || run->timed->trace; /* a timeline that is full ends for all SMs */
    uint64_t last = keeps_step ? cycle : cycle + GPU_MOST_AHEAD;
    if (run->sampler && run->sampler->next < last)
        last = run->sampler->next;
    return last - run->first_cycle > run->most_cycles ? run->first_cycle + run->most_cycles : last;
}

void gpu_advance_series(struct gpu_run *run, uint64_t cycle) {
    if (run->sampler)
        gpu_sampler_advance(run->sampler, cycle);
    if (run->timed->trace)
        gpu_trace_advance(run->timed->trace, cycle);
}

/* Tests, profiles and observers share data among SMs, so they use one thread. */
bool gpu_has_workers(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    const struct gpu_config *config = &run->gpu->config;
    if (config->n_threads < 2 || config->check_every || run->grid->profile || run->is_observed)
        return false;
    if (!timed->workers)
        timed->workers = gpu_workers_new(config->n_threads);
    return true;
}

static uint64_t next_wake(const struct gpu_timed *timed) {
    uint64_t next = SM_NEVER;
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        next = timed->unit[i].wake < next ? timed->unit[i].wake : next;
    return next;
}

/* Ticks an SM in the common cycle, and starts a new block for each that has ended. */
static bool tick(struct gpu_run *run, uint32_t i) {
    struct gpu_timed *timed = run->timed;
    struct gpu_unit *unit = &timed->unit[i];
    uint64_t next = SM_NEVER, n_finished = run->n_finished;
    unit->wake = SM_NEVER;
    run->n_ticks++;
    enum sm_outcome outcome = sm_tick(timed->sm[i], SM_TOGETHER, timed->cycle, &next);
    gpu_wake_after(unit, timed->cycle, next);
    if (outcome == SM_FAULTED || !gpu_watch(run, i, timed->cycle))
        return gpu_has_no_fault(run, i);
    if (run->n_finished != n_finished && !timed->divergence->chip)
        gpu_start_blocks(run, i, timed->cycle);
    return true;
}

/* Ticks the SMs that are due in this cycle. Those that may run ahead then do so; if the window for that has just moved,
 * the others may too. */
static bool tick_all(struct gpu_run *run, bool is_new_window) {
    struct gpu_timed *timed = run->timed;
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        struct gpu_unit *unit = &timed->unit[i];
        unit->is_due = unit->wake <= timed->cycle;
        if (unit->is_due && !tick(run, i))
            return false;
    }
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        struct gpu_unit *unit = &timed->unit[i];
        if (!unit->is_due && !is_new_window)
            continue;
        gpu_run_ahead(run, i);
        run->n_ticks += unit->n_ticks;
        unit->n_ticks = 0;
        if (unit->stop == GPU_STOP_FAULT)
            return gpu_has_no_fault(run, i);
    }
    return true;
}

bool gpu_run_stepwise(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    while (run->n_finished < run->n_blocks) {
        uint64_t answer = mem_next_event(timed->mem), wake = next_wake(timed), next = answer < wake ? answer : wake;
        if (!gpu_has_next(run, next) || !gpu_is_in_limit(run, next))
            return false;
        if (run->has_series)
            gpu_advance_series(run, next - 1);
        timed->cycle = next;
        if (answer <= next)
            mem_advance(timed->mem, next);
        bool is_new_window = next > run->last_ahead;
        if (is_new_window)
            run->last_ahead = gpu_last_ahead(run, next);
        if (!tick_all(run, is_new_window) || !gpu_may_go_on(run))
            return false;
    }
    return true;
}
