/* The turns of SMs: the part of a round in which the order of the SMs matters.
 *
 * In a round each SM runs for itself, up to the end of the quantum or to something that others can see. Then this file
 * makes the round the same for any number of host threads, in the order (cycle, SM):
 * - Atomics, surface writes and device functions. The SM has stopped before such an instruction. When every SM has
 *   finished the quantum or stopped, the stopped SMs continue one at a time, the earliest first. Earlier stores are
 *   written before each turn.
 * - Blocks that end. The SM has stopped, and receives new blocks when its turn comes. If the new blocks execute nothing
 *   before the end of the quantum (launch.turn_cycles), or there are none, only their order matters: the SM continues,
 * and they get their numbers here.
 * - Stores. They are written to memory at the end, in order where the stores of several SMs overlap.
 * - The end of the launch. It ends when all blocks have ended and their atomics have left the SMs. SMs without blocks
 *   handle the memory's answers only once it is certain that the launch continues.
 *
 * Turns are taken by the thread that usually runs the SM. Where an SM receives blocks depends on no other SM, except
 * for the order of the blocks. So SMs that have received theirs run on together, in waves: each wave ends with the
 * cycle in which the next SM stopped, because one of them may stop before it and come first. */
#include <string.h>

#include "gpu/dispatcher.h"
#include "gpu/round.h"

enum {
    WORTH_WORKERS = 12 /* least number of stores for which another round on all threads pays */
};

/* --- stores --- */

/* Returns whether this piece belongs to the host thread that usually runs the SM. */
static bool is_home(const struct gpu_round *round, uint32_t piece, uint32_t sm) {
    return gpu_workers_owner(round->run->timed->workers, piece) == round->home[round->n_partitions + sm];
}

static void apply_free(void *user, uint32_t piece, uint32_t thread) {
    (void)thread;
    const struct gpu_round *round = user;
    GPU_FOR_MEMBERS(i, round, gpu_all_of(round, GPU_HAS_LEFT))
    if (is_home(round, piece, i))
        exec_stores_apply_free(round->run->timed->unit[i].stores, round->run->grid->memory);
}

/* Writes the stores to memory whose order does not matter, if there are enough for several threads. */
static void apply_free_stores(struct gpu_round *round) {
    bool has_claims = round->run->timed->unit[0].stores->claims;
    if (has_claims && gpu_note_of(round, 0)->n_stores >= WORTH_WORKERS)
        gpu_workers_run(round->run->timed->workers, apply_free, round, round->n_threads);
}

/* Writes stores to memory in the order (cycle, SM), up to those of SM `last` in this cycle. */
static void apply_stores(struct gpu_round *round, uint64_t cycle, uint32_t last) {
    struct gpu_timed *timed = round->run->timed;
    const struct exec_memory *memory = round->run->grid->memory;
    uint64_t *set = gpu_all_of(round, GPU_HAS_LEFT), next = round->store_cycle;
    while (next <= cycle) {
        uint64_t now = next;
        next = UINT64_MAX;
        GPU_FOR_MEMBERS(i, round, set) {
            struct exec_stores *stores = timed->unit[i].stores;
            if (now < cycle || i <= last)
                exec_stores_apply(stores, memory, now);
            if (exec_stores_are_pending(stores))
                next = gpu_earlier(next, stores->store[stores->n_applied].cycle);
            else if (!timed->unit[i].n_counted)
                gpu_set_remove(set, i);
        }
        next = next > now ? next : now + 1;
    }
    round->store_cycle = cycle;
}

/* --- blocks without turns --- */

/* Every block that ends in the round can be replaced if as many are left as SMs can hold, because a new one does not
 * end in the same round. */
void gpu_choose_replacing(struct gpu_run *run) {
    const struct gpu_timed *timed = run->timed;
    const struct config_launch *launch = &timed->machine.launch;
    uint64_t n_left = run->n_blocks - run->next_block, n_sms = timed->machine.sm.count;
    bool is_simple = timed->quantum > 1 && !run->together && !run->window && !run->started && !run->is_watched &&
                     !run->grid->check && exec_shape_cluster(&run->grid->shape) == 1;
    run->replacing = GPU_REPLACES_IN_TURN;
    if (!is_simple || timed->divergence->chip)
        return;
    if (!n_left) {
        run->replacing = GPU_REPLACES_NONE;
        return;
    }
    if (launch->turn_cycles >= timed->quantum && n_left >= n_sms * sm_most_blocks(timed->sm[0]) &&
        sm_numbers_later(timed->sm[0]))
        run->replacing = GPU_REPLACES_LATER;
}

bool gpu_replaces(struct gpu_run *run, struct gpu_unit *unit, uint64_t cycle) {
    if (run->replacing == GPU_REPLACES_IN_TURN || unit->has_room || run->is_watched)
        return false;
    uint32_t n_free = sm_most_blocks(unit->sm) - sm_count_blocks(unit->sm);
    if (run->replacing == GPU_REPLACES_NONE) {
        if (!sm_count_blocks(unit->sm))
            return false;
    } else {
        if (unit->n_replaced + n_free > GPU_MOST_REPLACED)
            return false;
        for (uint32_t i = 0; i < n_free; i++) {
            uint64_t start = cycle + run->timed->machine.launch.turn_cycles;
            unit->replaced[unit->n_replaced++] =
                (struct gpu_replacement){cycle, sm_start_some_block(unit->sm, start, cycle)};
        }
        unit->clock.wake = cycle + 1;
    }
    unit->n_counted += unit->n_ended;
    unit->n_ended = 0;
    unit->last_end = cycle;
    return true;
}

/* Gives the SM's blocks of this cycle their numbers. */
static void number_blocks_of(struct gpu_run *run, struct gpu_unit *unit, uint64_t cycle) {
    for (; unit->n_numbered < unit->n_replaced; unit->n_numbered++) {
        const struct gpu_replacement *next = &unit->replaced[unit->n_numbered];
        if (next->cycle != cycle)
            return;
        uint64_t start = gpu_start_of_block(&run->timed->machine.launch, &run->next_start, run->first_cycle, cycle);
        sm_number_block(unit->sm, next->block, (uint32_t)run->next_block++, start);
    }
}

/* Gives blocks their numbers in the order (cycle, SM), those that come before SM `sm` in this cycle. */
static void number_blocks(struct gpu_round *round, uint64_t cycle, uint32_t sm) {
    struct gpu_unit *unit = round->run->timed->unit;
    for (uint64_t now = 0, next; now <= cycle; now = next) {
        next = UINT64_MAX;
        GPU_FOR_MEMBERS(i, round, gpu_all_of(round, GPU_HAS_LEFT)) {
            if (now && (now < cycle || i < sm))
                number_blocks_of(round->run, &unit[i], now);
            if (unit[i].n_numbered < unit[i].n_replaced && unit[i].replaced[unit[i].n_numbered].cycle > now)
                next = gpu_earlier(next, unit[i].replaced[unit[i].n_numbered].cycle);
        }
    }
}

/* Counts the blocks that have ended without turns. */
static void count_blocks(struct gpu_round *round) {
    struct gpu_run *run = round->run;
    number_blocks(round, UINT64_MAX - 1, UINT32_MAX);
    GPU_FOR_MEMBERS(i, round, gpu_all_of(round, GPU_HAS_LEFT)) {
        struct gpu_unit *unit = &run->timed->unit[i];
        run->n_finished += unit->n_counted;
        run->last_cycle = unit->last_end > run->last_cycle ? unit->last_end : run->last_cycle;
        unit->n_counted = unit->n_replaced = unit->n_numbered = 0;
    }
}

/* --- one turn --- */

/* Returns the SM that stopped first, not counting `except`, or UINT32_MAX. */
static uint32_t first_stopped(const struct gpu_round *round, uint32_t except) {
    const struct gpu_unit *unit = round->run->timed->unit;
    uint32_t first = UINT32_MAX;
    GPU_FOR_MEMBERS(i, round, gpu_all_of(round, GPU_HAS_STOPPED))
    if (i != except && unit[i].stop_cycle < round->now->end &&
        (first == UINT32_MAX || unit[i].stop_cycle < unit[first].stop_cycle))
        first = i;
    return first;
}

/* Gives this SM its turn: ends the cycle in which it stopped. Returns false at a fault. */
static bool take_turn(struct gpu_round *round, uint32_t i) {
    struct gpu_run *run = round->run;
    struct gpu_unit *unit = &run->timed->unit[i];
    uint64_t cycle = unit->stop_cycle;
    if (unit->stop != GPU_STOP_BLOCKS)
        apply_stores(round, cycle, i);
    if (unit->stop == GPU_STOP_TURN) {
        sm_keep_stores(unit->sm, NULL);
        unit->stop = GPU_STOP_NONE;
        gpu_tick(run, unit, i, SM_TOGETHER, cycle);
        sm_keep_stores(unit->sm, unit->stores);
    }
    run->timed->cycle = cycle;
    if (unit->stop == GPU_STOP_FAULT)
        return gpu_has_no_fault(run, i);
    unit->stop = GPU_STOP_NONE;
    if (unit->n_ended || unit->has_room)
        gpu_start_blocks(run, i, cycle);
    unit->has_room = false;
    if (unit->n_ended) {
        run->n_finished += unit->n_ended;
        unit->n_ended = 0;
        run->last_cycle = cycle > run->last_cycle ? cycle : run->last_cycle;
        gpu_check_blocks(run);
    }
    return true;
}

/* --- SMs without blocks --- */

bool gpu_is_over(const struct gpu_run *run) {
    if (run->n_finished < run->n_blocks)
        return false;
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        if (sm_has_queued_effect(run->timed->sm[i]))
            return false;
    return true;
}

/* When all blocks have ended, runs the SMs whose atomics still wait until these have left, or to the end of the
 * quantum. */
static void run_atomics(struct gpu_round *round) {
    struct gpu_run *run = round->run;
    if (run->n_finished < run->n_blocks)
        return;
    GPU_FOR_MEMBERS(i, round, gpu_all_of(round, GPU_IS_IDLE)) {
        const struct gpu_unit *unit = &run->timed->unit[i];
        bool has_waited = sm_has_queued_effect(unit->sm);
        while (sm_has_queued_effect(unit->sm) && gpu_next_of(unit) < round->now->end)
            gpu_run_sm(run, i, gpu_next_of(unit) + 1);
        if (has_waited && sm_last_cycle(unit->sm) > run->last_cycle)
            run->last_cycle = sm_last_cycle(unit->sm);
    }
}

/* SMs without blocks still have answers to handle: up to the end of the quantum or of the launch. */
static void run_idle(struct gpu_round *round) {
    struct gpu_run *run = round->run;
    run_atomics(round);
    uint64_t end = gpu_is_over(run) ? run->last_cycle + 1 : round->now->end;
    GPU_FOR_MEMBERS(i, round, gpu_all_of(round, GPU_IS_IDLE)) {
        gpu_run_sm(run, i, end);
        gpu_note_sm(round, &run->timed->unit[i], i, gpu_note_of(round, 0));
    }
}

/* --- waves --- */

/* A wave: an SM takes its turn. Then it continues, together with others that have had their turn in this round. Each
 * runs on its usual host thread, so that its state, and the registers of blocks that start, need not travel between
 * processors. */
struct wave {
    struct gpu_round *round;
    uint64_t *going; /* the SMs that continue, with the one whose turn it is */
    uint64_t end;    /* they run up to the cycle before */
    uint32_t sm;     /* whose turn it is; UINT32_MAX: none */
    bool has_no_fault;
};

static void run_wave_piece(void *user, uint32_t piece, uint32_t thread) {
    struct wave *wave = user;
    const struct gpu_round *round = wave->round;
    struct gpu_note *note = gpu_note_of(round, thread);
    if (thread && note->round != round->now->number)
        gpu_begin_note(round, note);
    GPU_FOR_MEMBERS(i, round, wave->going) {
        struct gpu_unit *unit = &round->run->timed->unit[i];
        if (round->n_threads > 1 && !is_home(round, piece, i))
            continue;
        if (gpu_has_mail(round))
            mem_sm_send_from(round->run->timed->mem, i, thread);
        if (i == wave->sm && !take_turn(wave->round, i)) {
            wave->has_no_fault = false;
            return;
        }
        bool has_blocks = sm_count_blocks(unit->sm);
        if (has_blocks)
            gpu_run_sm(round->run, i, wave->end);
        gpu_note_mail(round, i, note); /* another thread may run the SM in the next wave */
        if (unit->n_counted)
            gpu_note_put(round, note, GPU_HAS_LEFT, i);
        if (!has_blocks)
            gpu_note_put(round, note, GPU_IS_IDLE, i);
        else if (unit->stop != GPU_STOP_NONE || wave->end == round->now->end)
            gpu_note_sm(round, unit, i, note);
    }
}

/* Returns whether only the caller's thread has SMs in this set. */
static bool is_at_home(const struct gpu_round *round, const uint64_t *set) {
    GPU_FOR_MEMBERS(i, round, set)
    if (round->home[round->n_partitions + i] != 0)
        return false;
    return true;
}

/* Runs a wave. Afterwards `going` has the SMs that have not reached the end of the quantum and have not stopped. */
static bool run_wave(struct gpu_round *round, uint64_t *going, uint32_t sm, uint64_t end) {
    struct wave wave = {round, going, end, sm, true};
    if (sm != UINT32_MAX) {
        number_blocks(round, round->run->timed->unit[sm].stop_cycle, sm);
        gpu_set_put(going, sm);
        gpu_set_remove(gpu_all_of(round, GPU_HAS_STOPPED), sm);
    }
    round->now->number++;
    if (round->n_threads == 1)
        run_wave_piece(&wave, 0, 0);
    else if (is_at_home(round, going))
        run_wave_piece(&wave, round->n_threads - 1, 0);
    else
        gpu_workers_run(round->run->timed->workers, run_wave_piece, &wave, round->n_threads);
    gpu_merge_notes(round);
    for (uint32_t i = 0; i < round->n_words; i++)
        going[i] &=
            end == round->now->end ? 0 : ~(gpu_all_of(round, GPU_HAS_STOPPED)[i] | gpu_all_of(round, GPU_IS_IDLE)[i]);
    return wave.has_no_fault;
}

/* Returns how far the SMs that have had their turns may go before the turn of SM `next`, which stopped first, or is
 * UINT32_MAX. If it only receives blocks, the order of the blocks is all that matters: the others need not come further
 * than `next`, but so far they must come, because one of them may stop before it. Other turns have effects that the
 * others must not see in this quantum: they go to its end first. */
static uint64_t end_of_wave(const struct gpu_round *round, uint32_t next) {
    const struct gpu_run *run = round->run;
    bool has_waves =
        round->n_threads > 1 && !run->together && !run->started && exec_shape_cluster(&run->grid->shape) == 1;
    if (!has_waves || next == UINT32_MAX || run->timed->unit[next].stop != GPU_STOP_BLOCKS)
        return round->now->end;
    return run->timed->unit[next].stop_cycle + 1;
}

bool gpu_take_turns(struct gpu_round *round) {
    uint64_t *going = round->going, end = round->now->end;
    memset(going, 0, round->n_words * sizeof *going);
    for (;;) {
        uint32_t first = first_stopped(round, UINT32_MAX), second = first_stopped(round, first);
        bool has_going = gpu_set_member(round, going, 0) != UINT32_MAX;
        if (first == UINT32_MAX && !has_going)
            break;
        bool is_good = has_going && end_of_wave(round, first) == end
                           ? run_wave(round, going, UINT32_MAX, end)
                           : run_wave(round, going, first, end_of_wave(round, second));
        if (!is_good)
            return false;
    }
    count_blocks(round);
    apply_free_stores(round);
    apply_stores(round, end - 1, UINT32_MAX);
    run_idle(round);
    return true;
}
