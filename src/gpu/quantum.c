/* The clock for machines on which a packet takes time to cross from an SM to the memory: within a quantum of as many
 * cycles no SM and no partition of the memory can notice what another one does, so all of them run a quantum on their
 * own, in any order and on config.n_threads host threads. The result is the same for every number of threads.
 *
 * What cannot wait for a quantum:
 * - Values. An SM sees its own stores at once, the others see them from the next quantum on. Until then they stay in
 *   exec/stores.h; at the quantum's end they go into memory in the order (cycle, SM).
 * - An instruction that changes memory in another way (atomics, surfaces, device functions) waits for its turn: its SM
 *   stops. When all SMs have ended the quantum or stopped, the one that stopped first (cycle, SM) goes on, after the
 *   stores of earlier turns.
 * - Blocks that end: the SM stops, and gets new ones when it is its turn.
 * - The end of the launch: SMs without blocks handle the answers of memory only after it is known that the launch goes
 *   on. Partitions end the quantum.
 *
 * An SM that is alone (sm_is_alone) also runs ahead of the quantum's end, as in step.c. */
#include <string.h>

#include "base/memory.h"
#include "gpu/engine.h"

enum { WORTH_WORKERS = 3 }; /* units with something to do: handing out fewer takes longer than running them */

/* A round: what happens in one quantum. */
struct round {
    struct gpu_run *run;
    uint64_t begin, end;   /* cycles [begin, end) */
    uint64_t store_cycle;  /* stores of earlier cycles are in memory */
    uint64_t last_block;   /* the cycle in which the launch's last block ended */
    uint32_t n_partitions; /* that have something to do */
    uint32_t n_due;        /* pieces of work: partitions, then SMs */
    uint32_t *due;
    uint64_t *sms, *partitions; /* sets of those with mail */
    uint64_t next_mail;         /* the cycle of its first packet */
    bool has_workers;
};

static void stop(struct gpu_unit *unit, enum gpu_stop why, uint64_t cycle) {
    unit->stop = why;
    unit->stop_cycle = cycle;
}

/* A tick has finished. Returns false if the SM stops. */
static inline bool after_tick(struct gpu_run *run, struct gpu_unit *unit, uint32_t i, enum sm_outcome outcome,
                              uint64_t cycle, uint64_t next) {
    unit->n_ticks++;
    gpu_wake_after(unit, cycle, next);
    if (outcome == SM_TICKED && !unit->n_ended && !run->is_watched)
        return true;
    if (outcome == SM_FAULTED || !gpu_watch(run, i, cycle))
        stop(unit, GPU_STOP_FAULT, cycle);
    else if (unit->n_ended)
        stop(unit, GPU_STOP_BLOCKS, cycle);
    return unit->stop == GPU_STOP_NONE;
}

/* Runs an SM and its part of the memory to the end of the quantum, or until it stops. */
static void run_sm(struct gpu_run *run, uint32_t i, uint64_t end) {
    struct gpu_unit *unit = &run->timed->unit[i];
    for (;;) {
        uint64_t answer = *unit->answer, cycle = answer < unit->wake ? answer : unit->wake, next;
        if (cycle >= end)
            return;
        if (answer == cycle)
            mem_sm_advance(run->timed->mem, i, cycle);
        if (unit->wake > cycle)
            continue;
        unit->wake = SM_NEVER;
        enum sm_outcome outcome = sm_tick(unit->sm, SM_APART, cycle, &next);
        if (outcome == SM_WAITS) {
            unit->wake = cycle;
            stop(unit, GPU_STOP_TURN, cycle);
            return;
        }
        if (!after_tick(run, unit, i, outcome, cycle, next))
            return;
    }
}

/* --- in parallel --- */

static void run_piece(void *user, uint32_t k) {
    const struct round *round = user;
    struct gpu_run *run = round->run;
    struct gpu_timed *timed = run->timed;
    uint32_t i = round->due[k];
    if (k < round->n_partitions) {
        if (round->has_workers)
            mem_partition_collect(timed->mem, i);
        mem_partition_advance(timed->mem, i, round->end - 1);
        return;
    }
    if (round->has_workers && timed->unit[i].has_mail)
        mem_sm_collect(timed->mem, i);
    if (!sm_count_blocks(timed->sm[i]) || timed->unit[i].stop != GPU_STOP_NONE)
        return; /* without blocks: run_idle(); stopped: it had a fault when it ran ahead */
    run_sm(run, i, round->end);
    if (timed->unit[i].stop == GPU_STOP_NONE)
        gpu_run_ahead(run, i);
}

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }

/* Finds the partitions and SMs that have something to do before the quantum's end. */
static void find_due(struct round *round) {
    struct gpu_timed *timed = round->run->timed;
    round->n_due = 0;
    for (uint32_t i = 0; i < mem_partitions(timed->mem); i++)
        if (has(round->partitions, i) || mem_partition_next(timed->mem, i) < round->end)
            round->due[round->n_due++] = i;
    round->n_partitions = round->n_due;
    for (uint32_t i = 0; i < timed->machine.n_sms; i++) {
        struct gpu_unit *unit = &timed->unit[i];
        unit->has_mail = has(round->sms, i);
        if (unit->has_mail || unit->wake < round->end || *unit->answer < round->end)
            round->due[round->n_due++] = i;
    }
}

/* --- in turn --- */

/* Puts stores into memory in the order (cycle, SM), up to those of SM `last` in this cycle. */
static void apply_stores(struct round *round, uint64_t cycle, uint32_t last) {
    struct gpu_timed *timed = round->run->timed;
    const struct exec_memory *memory = round->run->grid->memory;
    uint64_t next = round->store_cycle;
    while (next <= cycle) {
        uint64_t now = next;
        next = UINT64_MAX;
        for (uint32_t k = round->n_partitions; k < round->n_due; k++) {
            struct exec_stores *stores = timed->unit[round->due[k]].stores;
            if (!exec_stores_are_pending(stores))
                continue;
            if (now < cycle || round->due[k] <= last)
                exec_stores_apply(stores, memory, now);
            if (exec_stores_are_pending(stores) && stores->store[stores->n_applied].cycle < next)
                next = stores->store[stores->n_applied].cycle;
        }
        next = next > now ? next : now + 1;
    }
    round->store_cycle = cycle;
}

/* Returns the SM that stopped first, or the number of SMs. */
static uint32_t first_stopped(const struct round *round) {
    const struct gpu_timed *timed = round->run->timed;
    uint32_t first = timed->machine.n_sms;
    for (uint32_t k = round->n_partitions; k < round->n_due; k++) {
        const struct gpu_unit *unit = &timed->unit[round->due[k]];
        if (unit->stop != GPU_STOP_NONE && unit->stop_cycle < round->end &&
            (first == timed->machine.n_sms || unit->stop_cycle < timed->unit[first].stop_cycle))
            first = round->due[k];
    }
    return first;
}

/* It is this SM's turn: ends the cycle in which it stopped. Returns false at a fault. */
static bool take_turn(struct round *round, uint32_t i) {
    struct gpu_run *run = round->run;
    struct gpu_timed *timed = run->timed;
    struct gpu_unit *unit = &timed->unit[i];
    uint64_t cycle = unit->stop_cycle, next = SM_NEVER;
    if (unit->stop != GPU_STOP_BLOCKS)
        apply_stores(round, cycle, i);
    if (unit->stop == GPU_STOP_TURN) {
        sm_keep_stores(timed->sm[i], NULL);
        unit->stop = GPU_STOP_NONE;
        unit->wake = SM_NEVER;
        enum sm_outcome outcome = sm_tick(unit->sm, SM_TOGETHER, cycle, &next);
        sm_keep_stores(unit->sm, unit->stores);
        after_tick(run, unit, i, outcome, cycle, next);
    }
    timed->cycle = cycle;
    if (unit->stop == GPU_STOP_FAULT)
        return gpu_has_no_fault(run, i);
    unit->stop = GPU_STOP_NONE;
    if (unit->n_ended) {
        gpu_start_blocks(run, i, cycle);
        run->n_finished += unit->n_ended;
        unit->n_ended = 0;
        round->last_block = cycle;
    }
    return true;
}

/* Serves those that stopped, each in its turn; they then go on to the end of the quantum. */
static bool take_turns(struct round *round) {
    struct gpu_run *run = round->run;
    for (uint32_t i; (i = first_stopped(round)) < run->timed->machine.n_sms;) {
        if (!take_turn(round, i))
            return false;
        if (sm_count_blocks(run->timed->sm[i]))
            run_sm(run, i, round->end);
    }
    apply_stores(round, round->end - 1, run->timed->machine.n_sms);
    return true;
}

/* SMs without blocks still have answers to handle: up to the quantum's end or, if the launch has ended, up to there. */
static void run_idle(struct round *round) {
    struct gpu_run *run = round->run;
    struct gpu_timed *timed = run->timed;
    bool is_over = run->n_finished == run->n_blocks;
    for (uint32_t k = round->n_partitions; k < round->n_due; k++) {
        uint32_t i = round->due[k];
        if (!sm_count_blocks(timed->sm[i]))
            run_sm(run, i, is_over ? round->last_block + 1 : round->end);
    }
}

static void count_ticks(struct round *round) {
    struct gpu_run *run = round->run;
    for (uint32_t k = round->n_partitions; k < round->n_due; k++) {
        struct gpu_unit *unit = &run->timed->unit[round->due[k]];
        run->n_ticks += unit->n_ticks;
        unit->n_ticks = 0;
        if (unit->stores->n)
            exec_stores_forget(unit->stores);
    }
}

/* --- rounds --- */

static void run_pieces(struct round *round) {
    if (round->has_workers && round->n_due >= WORTH_WORKERS)
        gpu_workers_run(round->run->timed->workers, run_piece, round, round->n_due);
    else
        for (uint32_t k = 0; k < round->n_due; k++)
            run_piece(round, k);
}

static void exchange_mail(struct round *round) {
    struct gpu_timed *timed = round->run->timed;
    memset(round->sms, 0, (timed->machine.n_sms + 63) / 64 * sizeof *round->sms);
    memset(round->partitions, 0, (mem_partitions(timed->mem) + 63) / 64 * sizeof *round->partitions);
    round->next_mail = mem_exchange(timed->mem, round->sms, round->partitions);
}

static uint64_t next_cycle(const struct round *round) {
    const struct gpu_timed *timed = round->run->timed;
    uint64_t next = round->next_mail;
    for (uint32_t i = 0; i < mem_partitions(timed->mem); i++) {
        uint64_t own = mem_partition_next(timed->mem, i);
        next = own < next ? own : next;
    }
    for (uint32_t i = 0; i < timed->machine.n_sms; i++) {
        uint64_t answer = *timed->unit[i].answer, wake = timed->unit[i].wake;
        next = answer < next ? answer : next;
        next = wake < next ? wake : next;
    }
    return next;
}

static bool run_round(struct round *round) {
    struct gpu_run *run = round->run;
    struct gpu_timed *timed = run->timed;
    uint64_t next = next_cycle(round);
    if (!gpu_has_next(run, next) || !gpu_is_in_limit(run, next))
        return false;
    round->begin = next / timed->quantum * timed->quantum;
    round->end = round->begin + timed->quantum;
    if (round->end - 1 - run->first_cycle > run->most_cycles)
        round->end = run->first_cycle + run->most_cycles + 1;
    round->store_cycle = round->begin;
    if (run->has_series)
        gpu_advance_series(run, round->begin ? round->begin - 1 : 0);
    timed->cycle = next;
    if (next > run->last_ahead)
        run->last_ahead = gpu_last_ahead(run, next);
    find_due(round);
    run_pieces(round);
    bool is_good = take_turns(round);
    if (is_good)
        run_idle(round);
    count_ticks(round);
    if (round->has_workers)
        exchange_mail(round);
    return is_good && gpu_may_go_on(run);
}

bool gpu_run_in_quanta(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    uint32_t n_sms = timed->machine.n_sms, n_partitions = mem_partitions(timed->mem);
    struct round round = {
        .run = run,
        .due = base_allocate(n_sms + n_partitions, sizeof *round.due),
        .sms = base_allocate((n_sms + 63) / 64, sizeof *round.sms),
        .partitions = base_allocate((n_partitions + 63) / 64, sizeof *round.partitions),
        .next_mail = MEM_NEVER,
        .has_workers = gpu_has_workers(run),
    };
    bool is_good = true;
    for (uint32_t i = 0; i < n_sms; i++) {
        sm_keep_stores(timed->sm[i], timed->unit[i].stores);
        timed->unit[i].stop = GPU_STOP_NONE;
    }
    if (round.has_workers)
        mem_use_mail(timed->mem);
    while (is_good && run->n_finished < run->n_blocks)
        is_good = run_round(&round);
    mem_end_mail(timed->mem);
    if (is_good)
        timed->cycle = round.last_block;
    free(round.due);
    free(round.sms);
    free(round.partitions);
    return is_good;
}
