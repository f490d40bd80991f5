/* The clock of a timed machine.
 *
 * A packet needs `crossbar.latency` cycles to travel between an SM and the memory. During one quantum of that length no
 * SM and no memory partition can observe another, so each runs the whole quantum independently, on any host thread and
 * in any order. The result does not depend on the number of threads. The machine advances in rounds of one quantum, and
 * skips rounds in which nothing happens.
 *
 * Stores need care: an SM sees its own at once, and other SMs see them from the next quantum on. Until then they stay
 * in exec/memory/stores.h. An SM stops before an instruction that others can see in another way, such as an atomic, and
 * when a block has ended. turns.c lets the stopped SMs continue in the order (cycle, SM), writes the stores to memory,
 * and finds the end of the launch. Partitions always finish the quantum.
 *
 * On some machines all ticks must run in order: packets take no time (perfect memory, `crossbar.latency` 0 or 1), or
 * the divergence model shares state among SMs. Then a quantum is one cycle, and one host thread runs the SMs by number,
 * so that each tick is the SM's turn. More threads would only wait for each other. Stores go to memory at once, and the
 * memory settles before the SMs run, because a packet without latency arrives in the cycle in which it is sent.
 *
 * An SM with no access in flight may run past the end of the quantum (sm_is_alone): its registers and slots then stay
 * in the host's caches. No simulated component can observe the difference, so how far it comes may depend on the host.
 * On one thread it goes as far as it may. On several threads the others would wait for it, so it runs ahead only until
 * it has had as many ticks in the round as a quantum has cycles, or more if most SMs run ahead. Diagnoses must not
 * depend on it either. No SM runs beyond last_ahead, the end of a quantum. When the next round begins beyond it, every
 * SM has reached it and none has passed it. Only then are the limits checked. At a fault each SM runs ahead as far as
 * it may (settle). */
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "gpu/round.h"

void gpu_run_sm(struct gpu_run *run, uint32_t i, uint64_t end) {
    struct gpu_unit *unit = &run->timed->unit[i];
    for (;;) {
        uint64_t cycle = gpu_earlier(*unit->answer, unit->clock.wake);
        if (cycle >= end)
            return;
        if (*unit->answer == cycle)
            mem_sm_advance(run->timed->mem, i, cycle);
        if (unit->clock.wake <= cycle && !gpu_tick(run, unit, i, SM_APART, gpu_earlier(*unit->answer, end)))
            return;
    }
}

/* Runs the memory's part of an SM that has stopped ahead of the others: stores may still be on their way. */
static void run_memory(struct gpu_run *run, uint32_t i, uint64_t end) {
    const struct gpu_unit *unit = &run->timed->unit[i];
    while (*unit->answer < end && *unit->answer <= unit->stop_cycle)
        mem_sm_advance(run->timed->mem, i, *unit->answer);
}

/* Ticks an SM in the cycles in which it is alone, ahead of the others, until it has had `most` ticks in this round.
 * Returns whether it could continue. */
static bool run_ahead(struct gpu_run *run, uint32_t i, uint32_t most) {
    struct gpu_unit *unit = &run->timed->unit[i];
    unit->clock.most_ticks = most;
    while (!unit->n_replaced && unit->clock.wake <= run->last_ahead && sm_is_alone(unit->sm, unit->clock.wake)) {
        if (unit->clock.n_ticks >= most)
            return true;
        if (!gpu_tick(run, unit, i, SM_AHEAD, run->last_ahead + 1)) { /* the others must come there first */
            if (unit->stop == GPU_STOP_TURN)
                unit->stop = GPU_STOP_NONE;
            return false;
        }
    }
    return false;
}

/* Returns the last cycle to which an SM may run ahead: the end of a quantum, so that no round goes beyond it either. */
static uint64_t last_ahead(const struct gpu_run *run, uint64_t cycle) {
    /* A timeline that is full ends for all SMs, launches begin and counters are marked between rounds, blocks of a
     * cluster see each other, and livelocks are looked for after a round. */
    bool keeps_step = run->gpu->config.keeps_step || run->is_quiet || run->timed->trace || run->together ||
                      run->window || exec_shape_cluster(&run->grid->shape) > 1;
    uint64_t last = keeps_step ? cycle : cycle + GPU_MOST_AHEAD, quantum = run->timed->quantum;
    if (run->sampler && run->sampler->next < last)
        last = run->sampler->next;
    last += quantum - 1 - last % quantum;
    return last - run->first_cycle > run->most_cycles ? run->first_cycle + run->most_cycles : last;
}

/* At a fault: lets each SM run as far ahead as it may, so that the counters do not depend on how far it came before. */
static void settle(struct gpu_run *run) {
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        if (run->timed->unit[i].stop == GPU_STOP_NONE && sm_count_blocks(run->timed->sm[i]))
            run_ahead(run, i, UINT32_MAX);
}

/* --- in parallel --- */

static void run_partition(const struct gpu_round *round, uint32_t i, struct gpu_note *note, uint32_t thread) {
    struct mem *mem = round->run->timed->mem;
    if (mem_partition_next(mem, i) < round->now->end || gpu_set_has(round->partitions, i)) {
        mem_partition_send_from(mem, i, thread);
        mem_partition_collect(mem, i);
        if (round->prefetches)
            mem_prefetch_partition(mem, i, round->now->end - 1);
        mem_partition_advance(mem, i, round->now->end - 1);
        note->next = gpu_earlier(note->next, mem_partition_mail(mem, i, gpu_set_of(round, note, GPU_TO_SM)));
    }
    note->next = gpu_earlier(note->next, mem_partition_next(mem, i));
}

void gpu_begin_note(const struct gpu_round *round, struct gpu_note *note) {
    note->round = round->now->number;
    note->next = MEM_NEVER;
    note->n_ticks = note->n_stores = 0;
    note->has_fault = false;
    note->n_willing = 0;
    if (note->has_work || gpu_has_mail(round))
        memset(note->word, 0, GPU_NOTE_SETS * round->n_words * sizeof *note->word);
    note->has_work = false;
}

/* Prefetches the state of the SMs that run next into the host's cache. With several threads others may be running
 * them. */
static void prefetch_next(const struct gpu_round *round, uint32_t i) {
    const struct gpu_unit *unit = round->run->timed->unit;
    if (i + 3 < round->n_sms && gpu_next_of(&unit[i + 3]) < round->now->end)
        sm_prefetch(unit[i + 3].sm);
    if (i + 2 < round->n_sms && gpu_next_of(&unit[i + 2]) < round->now->end)
        sm_prefetch_slots(unit[i + 2].sm);
    if (i + 1 < round->n_sms && gpu_next_of(&unit[i + 1]) < round->now->end) {
        mem_prefetch_sm(round->run->timed->mem, i + 1, round->now->end - 1);
        sm_prefetch_groups(unit[i + 1].sm);
    }
}

/* Runs an SM that has work in this round. */
static void run_sm(const struct gpu_round *round, uint32_t i, struct gpu_note *note) {
    struct gpu_unit *unit = &round->run->timed->unit[i];
    if (!sm_count_blocks(unit->sm)) {
        gpu_note_put(round, note, GPU_IS_IDLE, i);
        return;
    }
    if (unit->stores->n)
        exec_stores_forget(unit->stores);
    if (unit->stop == GPU_STOP_NONE) {
        gpu_run_sm(round->run, i, round->now->end);
        bool is_willing = unit->stop == GPU_STOP_NONE && run_ahead(round->run, i, round->now->most_ticks);
        note->n_willing = (int16_t)(note->n_willing + (is_willing ? 1 : -GPU_UNWILLING));
    } else {
        run_memory(round->run, i, round->now->end);
    }
    gpu_note_sm(round, unit, i, note);
}

/* Runs a part on one of several host threads. */
static void run_part(const struct gpu_round *round, uint32_t part, struct gpu_note *note, uint32_t thread) {
    if (part < round->n_partitions) {
        run_partition(round, part, note, thread);
        return;
    }
    uint32_t i = part - round->n_partitions;
    struct gpu_timed *timed = round->run->timed;
    const struct gpu_unit *unit = &timed->unit[i];
    if (gpu_next_of(unit) >= round->now->end && !gpu_set_has(round->sms, i)) {
        note->next = gpu_earlier(note->next, gpu_next_of(unit));
        return;
    }
    mem_sm_send_from(timed->mem, i, thread);
    mem_sm_collect(timed->mem, i);
    run_sm(round, i, note);
}

/* Runs all parts that have work on the caller's thread. find_next() then finds the next cycle. */
static void run_parts(const struct gpu_round *round, struct gpu_note *note) {
    struct gpu_timed *timed = round->run->timed;
    uint64_t end = round->now->end;
    for (uint32_t i = 0; i < round->n_partitions; i++) {
        if (mem_partition_next(timed->mem, i) >= end)
            continue;
        if (round->prefetches)
            mem_prefetch_partition(timed->mem, i, end - 1);
        mem_partition_advance(timed->mem, i, end - 1);
    }
    for (uint32_t i = 0; i < round->n_sms; i++) {
        if (round->prefetches)
            prefetch_next(round, i);
        if (gpu_next_of(&timed->unit[i]) < end)
            run_sm(round, i, note);
    }
}

/* Prefetches the mail of all parts whose home this thread is: it comes from other processors. */
static void prefetch_mail(const struct gpu_round *round, uint32_t thread) {
    const struct mem *mem = round->run->timed->mem;
    uint32_t n = round->n_threads, n_parts = round->n_partitions + round->n_sms;
    for (uint32_t piece = n - 1 - thread; piece < n_parts; piece += n) {
        uint32_t part = round->part_of[piece], sm = part - round->n_partitions;
        if (part >= round->n_partitions && gpu_set_has(round->sms, sm))
            mem_sm_prefetch_mail(mem, sm);
        else if (part < round->n_partitions && gpu_set_has(round->partitions, part))
            mem_partition_prefetch_mail(mem, part);
    }
}

static void run_piece(void *user, uint32_t piece, uint32_t thread) {
    const struct gpu_round *round = user;
    struct gpu_note *note = gpu_note_of(round, thread);
    if (note->round != round->now->number) {
        prefetch_mail(round, thread);
        gpu_begin_note(round, note);
    }
    run_part(round, round->part_of[piece], note, thread);
}

/* Runs a round of one cycle in which every tick needs its turn: first the memory, then the SMs by number, up to the
 * first fault. */
static void run_in_turn(struct gpu_round *round) {
    struct gpu_run *run = round->run;
    struct gpu_note *note = gpu_note_of(round, 0);
    if (run->n_finished == run->n_blocks) /* only atomics are left */
        run->last_cycle = round->next;
    if (round->answer < round->now->end)
        mem_advance(run->timed->mem, round->now->end - 1);
    for (uint32_t i = 0; i < round->n_sms && !note->has_fault; i++) {
        struct gpu_unit *unit = &run->timed->unit[i];
        if (gpu_due_of(unit) >= round->now->end)
            continue;
        if (unit->stop == GPU_STOP_NONE && gpu_tick(run, unit, i, SM_TOGETHER, round->now->end))
            run_ahead(run, i, UINT32_MAX);
        gpu_note_sm(round, unit, i, note);
    }
}

void gpu_merge_notes(struct gpu_round *round) {
    struct gpu_note *all = gpu_note_of(round, 0);
    for (uint32_t k = 1; k < round->n_threads; k++) {
        const struct gpu_note *note = gpu_note_of(round, k);
        if (note->round != round->now->number)
            continue;
        all->next = gpu_earlier(all->next, note->next);
        all->n_ticks += note->n_ticks;
        all->n_stores += note->n_stores;
        all->n_willing = (int16_t)(all->n_willing + note->n_willing);
        all->has_work |= note->has_work;
        for (uint32_t i = 0; i < GPU_NOTE_SETS * round->n_words; i++)
            all->word[i] |= note->word[i];
    }
}

/* Returns how many ticks an SM may have in a round before it no longer runs ahead. On several threads the others wait
 * for it, except if most SMs would run ahead: then all of them do, and there are fewer rounds. */
static uint32_t most_ticks(const struct gpu_round *round, bool is_common) {
    enum { MOST_TOGETHER = 64 };
    uint32_t quantum = round->run->timed->quantum;
    if (round->n_threads == 1)
        return UINT32_MAX;
    return is_common && quantum < MOST_TOGETHER ? MOST_TOGETHER : quantum;
}

/* Runs all pieces. The first note then holds the observations of all threads. */
static void run_pieces(struct gpu_round *round) {
    struct gpu_note *all = gpu_note_of(round, 0);
    round->now->number++;
    if (round->run->timed->claims)
        round->run->timed->claims->round++;
    gpu_begin_note(round, all);
    if (round->is_in_turn)
        run_in_turn(round);
    else if (round->n_threads > 1) {
        prefetch_mail(round, 0);
        gpu_workers_run(round->run->timed->workers, run_piece, round, round->n_partitions + round->n_sms);
    } else {
        run_parts(round, all);
    }
    if (round->n_threads == 1)
        return;
    gpu_merge_notes(round);
    round->now->most_ticks = most_ticks(round, all->n_willing > 0);
}

/* --- rounds --- */

/* Updates samples and timeline: everything up to `cycle` has happened. */
static void advance_series(struct gpu_run *run, uint64_t cycle) {
    if (run->sampler)
        gpu_sampler_advance(run->sampler, cycle);
    if (run->together)
        gpu_sample_parts(run, cycle);
    if (run->timed->trace)
        gpu_trace_advance(run->timed->trace, cycle);
}

/* Lets launches end and begin. */
static void change_parts(struct gpu_round *round) {
    struct gpu_run *run = round->run;
    if (gpu_change_parts(run, round->now->end))
        for (uint32_t i = 0; i < round->n_sms; i++)
            gpu_note_sm(round, &run->timed->unit[i], i, gpu_note_of(round, 0));
}

/* Finds the next cycle in which something happens. Without mail, packets are already in the receivers' queues. */
static void find_next(struct gpu_round *round) {
    const struct gpu_timed *timed = round->run->timed;
    uint64_t wake = SM_NEVER, answer = MEM_NEVER;
    for (uint32_t i = 0; i < round->n_partitions; i++)
        answer = gpu_earlier(answer, mem_partition_next(timed->mem, i));
    for (uint32_t i = 0; i < round->n_sms; i++) {
        wake = gpu_earlier(wake, gpu_due_of(&timed->unit[i]));
        answer = gpu_earlier(answer, *timed->unit[i].answer);
    }
    round->answer = answer;
    round->next = gpu_earlier(wake, answer);
}

static bool run_round(struct gpu_round *round) {
    struct gpu_run *run = round->run;
    struct gpu_timed *timed = run->timed;
    if (!gpu_may_reach(run, round->next))
        return false;
    if (round->next > run->last_ahead) { /* all SMs have reached last_ahead, and no further */
        timed->cycle = round->next;
        if (!gpu_may_go_on(run))
            return false;
        run->last_ahead = last_ahead(run, round->next);
    }
    uint64_t begin = round->next / timed->quantum * timed->quantum;
    round->now->end = begin + timed->quantum;
    if (round->now->end - 1 - run->first_cycle > run->most_cycles)
        round->now->end = run->first_cycle + run->most_cycles + 1;
    round->store_cycle = begin;
    run->has_blocks_left = run->next_block < run->n_blocks;
    if (!round->is_in_turn) /* otherwise it stays GPU_REPLACES_IN_TURN */
        gpu_choose_replacing(run);
    if (run->has_series)
        advance_series(run, begin ? begin - 1 : 0);
    timed->cycle = round->next;
    if (timed->scheduler->wants & SCHED_WANTS_DRAM)
        gpu_sample_dram(timed, begin);
    run_pieces(round);
    struct gpu_note *note = gpu_note_of(round, 0);
    bool is_good = !note->has_work || gpu_take_turns(round);
    if (!is_good && !round->is_in_turn)
        settle(run);
    if (is_good && run->together)
        change_parts(round);
    if (gpu_has_mail(round) &&
        exec_shape_cluster(&run->grid->shape) > 1) /* in their turns SMs wake others, which fetch */
        for (uint32_t i = 0; i < round->n_sms; i++)
            gpu_note_sm(round, &timed->unit[i], i, note);
    run->n_ticks += note->n_ticks;
    if (gpu_has_mail(round)) {
        size_t bytes = round->n_words * sizeof *round->sms;
        memcpy(round->sms, gpu_set_of(round, note, GPU_TO_SM), bytes);
        memcpy(round->partitions, gpu_set_of(round, note, GPU_TO_PARTITION), bytes);
        mem_exchange(timed->mem);
        round->next = note->next;
    } else {
        find_next(round);
    }
    return is_good;
}

static void start_rounds(struct gpu_round *round, struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    uint32_t n_sms = timed->machine.sm.count, n_partitions = mem_partitions(timed->mem);
    uint32_t n_threads = gpu_choose_threads(run);
    *round = (struct gpu_round){
        .run = run,
        .n_sms = n_sms,
        .n_partitions = n_partitions,
        .n_words = ((n_sms > n_partitions ? n_sms : n_partitions) + 63) / 64,
        .n_threads = n_threads,
        .part_of = timed->homes.part_of,
        .home = timed->homes.home,
        .is_in_turn = timed->quantum == 1,
        .prefetches = sm_needs_prefetch(timed->sm[0]),
    };
    size_t bytes = sizeof(struct gpu_note) + GPU_NOTE_SETS * round->n_words * sizeof(uint64_t);
    round->note_bytes = (uint32_t)((bytes + BASE_PAIR_BYTES - 1) / BASE_PAIR_BYTES * BASE_PAIR_BYTES);
    round->notes = base_allocate_aligned((size_t)round->n_threads * round->note_bytes);
    round->now = base_allocate_aligned(sizeof *round->now + 2 * round->n_words * sizeof *round->now->receivers);
    round->going = base_allocate_aligned(round->n_words * sizeof *round->going);
    round->now->most_ticks = most_ticks(round, false);
    round->sms = round->now->receivers;
    round->partitions = round->sms + round->n_words;
    bool has_claims = gpu_has_mail(round) && n_sms < EXEC_CLAIM_SMS;
    if (has_claims && !timed->claims)
        timed->claims = base_allocate(1, sizeof *timed->claims);
    for (uint32_t i = 0; i < n_sms; i++) {
        timed->unit[i].stores->claims = has_claims ? timed->claims : NULL;
        timed->unit[i].stores->sm = i;
        sm_keep_stores(timed->sm[i], round->is_in_turn ? NULL : timed->unit[i].stores);
    }
    find_next(round);
    if (gpu_has_mail(round)) {
        gpu_workers_use_reports(timed->workers, round->notes, round->note_bytes);
        mem_use_mail(timed->mem, n_threads, &round->now->mail_round);
    }
}

static void end_rounds(struct gpu_round *round) {
    struct gpu_timed *timed = round->run->timed;
    if (timed->workers)
        gpu_workers_use_reports(timed->workers, NULL, 0);
    mem_end_mail(timed->mem);
    for (uint32_t i = 0; i < round->n_sms; i++)
        exec_stores_forget(timed->unit[i].stores);
    free(round->notes);
    free(round->now);
    free(round->going);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What has happened since the pace was last told. */
struct lap {
    uint32_t n_rounds;
    uint64_t first_tick;
    double first_second;
};

static struct lap begin_lap(const struct gpu_run *run) {
    return (struct lap){0, run->n_ticks, run->timed->pace.n_levels ? seconds_now() : 0};
}

/* Tells the pace. Returns whether the number of threads must change. */
static bool end_lap(const struct gpu_run *run, struct lap *lap) {
    struct gpu_pace *pace = &run->timed->pace;
    if (!pace->n_levels || !lap->n_rounds)
        return false;
    double seconds = seconds_now() - lap->first_second;
    bool is_changed = gpu_pace_add(pace, lap->n_rounds, (double)(run->n_ticks - lap->first_tick), seconds);
    *lap = begin_lap(run);
    return is_changed;
}

bool gpu_run_rounds(struct gpu_run *run) {
    enum { LAP_ROUNDS = 4 };
    struct gpu_round round;
    bool is_good = true;
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        run->timed->unit[i].stop = GPU_STOP_NONE;
    if (run->together)
        gpu_change_parts(run, run->timed->cycle);
    start_rounds(&round, run);
    struct lap lap = begin_lap(run);
    while (is_good && !gpu_is_over(run) && !(run->window && gpu_window_has_ended(run, round.now->end))) {
        is_good = run_round(&round);
        if (++lap.n_rounds == LAP_ROUNDS && end_lap(run, &lap)) {
            end_rounds(&round);
            start_rounds(&round, run);
        }
    }
    end_lap(run, &lap);
    if (is_good && gpu_is_over(run))
        run->timed->cycle = run->last_cycle;
    end_rounds(&round);
    return is_good;
}
