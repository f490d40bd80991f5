/* The clock of a timed machine.
 *
 * A packet needs `crossbar.latency` cycles to travel between an SM and the memory. During one quantum of that length no
 * SM and no memory partition can observe another, so each runs the whole quantum independently, on any host thread and
 * in any order. The result does not depend on the number of threads. The machine advances in rounds of one quantum, and
 * skips rounds in which nothing happens.
 *
 * Four things need care:
 * - Stores. An SM sees its own stores immediately; other SMs see them from the next quantum on. Until then they stay in
 *   exec/memory/stores.h. At the end of the quantum they are written to memory in the order (cycle, SM).
 * - Atomics, surface writes and device functions. The SM stops before such an instruction. When every SM has finished
 *   the quantum or stopped, the stopped SMs continue one at a time, earliest (cycle, SM) first. Earlier stores are
 *   written before each turn.
 * - Blocks that end. The SM stops and receives new blocks when its turn comes.
 * - The end of the launch. It ends when all blocks have ended and their atomics have left the SMs. SMs without blocks
 *   handle the memory's answers only once it is certain that the launch continues. Partitions always finish the
 *   quantum.
 *
 * On some machines all ticks must run in order: packets take no time (perfect memory, `crossbar.latency` 0 or 1), or
 * the divergence model shares state among SMs. Then a quantum is one cycle, and one host thread runs the SMs by number,
 * so that each tick is the SM's turn. More threads would only wait for each other. Stores go to memory at once, and the
 * memory settles before the SMs run, because a packet without latency arrives in the cycle in which it is sent.
 *
 * An SM with no access in flight may run past the end of the quantum (sm_is_alone): its registers and slots then stay
 * in the host's caches. No simulated component can observe the difference, so how far it comes may depend on the host.
 * On one thread it comes as far as it may. On several threads the others would wait for it, so it runs ahead only until
 * it has had as many ticks in the round as a quantum has cycles. Diagnoses must not depend on it either. No SM runs
 * beyond last_ahead, the end of a quantum. When the next round begins beyond it, all SMs have come there, and none has
 * come further: only then are the limits checked. At a fault each SM runs ahead as far as it may (settle).
 *
 * Turns are taken by the thread that usually runs the SM. Where an SM receives blocks depends on no other SM, except
 * for the order of the blocks. So SMs that have received theirs run on together, in waves: each wave ends with the
 * cycle in which the next SM stopped, because one of them may stop before it and come first. */
#include <string.h>

#include "base/memory.h"
#include "gpu/engine.h"

/* Sets of a note, with a bit for each SM or partition. */
enum note_set {
    HAS_STORES, /* SMs */
    HAS_STOPPED,
    IS_IDLE, /* SMs with work, but without blocks */
    TO_SM,   /* SMs and partitions to which packets were sent */
    TO_PARTITION,
    N_SETS
};

/* A thread's observations in a round. With at most 64 SMs and partitions they are one cache line. */
struct note {
    uint64_t next; /* the next cycle in which one of its pieces has work, or its first packet arrives */
    uint64_t n_ticks;
    uint32_t round; /* in which the thread last worked; the note is that round's */
    bool has_work;  /* one of the first three sets has members: the turns have something to do */
    bool has_fault;
    uint64_t word[]; /* the sets, each round->n_words long */
};

enum {
    WORTH_WORKERS = 3 /* least number of SMs with stores for which another round on all threads pays */
};

/* What all threads read in a round. Only the caller's thread changes it, between rounds. With at most 64 SMs and
 * partitions it is one cache line. */
struct announcement {
    uint64_t end;         /* the first cycle of the next quantum */
    uint64_t mail_round;  /* mem_use_mail() */
    uint32_t number;      /* of the round */
    uint64_t receivers[]; /* a set of SMs and then one of partitions: those that have mail */
};

/* A round: one quantum. Its parts are the partitions, then the SMs. */
struct round {
    _Alignas(64) struct gpu_run *run;
    struct announcement *now;
    unsigned char *notes;
    uint64_t *sms, *partitions;            /* now->receivers */
    uint32_t n_partitions, n_sms, n_words; /* n_words: of a set */
    uint32_t note_bytes, n_threads;
    uint32_t *part_of;   /* per piece of the workers */
    uint32_t *home;      /* per part: the host thread that usually runs it, whose processor's caches hold its state */
    uint64_t most_ticks; /* of an SM in a round, if it runs ahead */
    bool is_in_turn;     /* every tick needs its turn */
    bool prefetches;     /* sm_needs_prefetch() of the SMs */
    /* Only the caller's thread uses these. */
    _Alignas(64) uint64_t next; /* the next cycle in which something happens */
    uint64_t store_cycle;       /* stores before this cycle are in memory */
    uint64_t answer;            /* the next cycle in which something happens in the memory, without mail */
    uint64_t *going;            /* run_wave() */
};

static struct note *note_of(const struct round *round, uint32_t thread) {
    return (struct note *)(void *)(round->notes + (size_t)thread * round->note_bytes);
}

static uint64_t *set_of(const struct round *round, struct note *note, enum note_set set) {
    return note->word + (size_t)set * round->n_words;
}

/* Returns a set of all threads, once the notes have been merged. */
static uint64_t *all_of(const struct round *round, enum note_set set) { return set_of(round, note_of(round, 0), set); }

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static void put(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << i % 64; }
static void take_out(uint64_t *set, uint32_t i) { set[i / 64] &= ~(UINT64_C(1) << i % 64); }
static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Returns the first member of the set from `from` on, or UINT32_MAX. */
static uint32_t member(const struct round *round, const uint64_t *set, uint32_t from) {
    for (uint32_t word = from / 64; word < round->n_words; word++) {
        uint64_t left = word == from / 64 ? set[word] & UINT64_MAX << from % 64 : set[word];
        if (left)
            return word * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return UINT32_MAX;
}

#define FOR_MEMBERS(i, round, set)                                                                                     \
    for (uint32_t i = member(round, set, 0); i != UINT32_MAX; i = member(round, set, i + 1))

/* Returns whether packets go through the mail: several threads run the parts. */
static bool has_mail(const struct round *round) { return round->n_threads > 1; }

static void stop(struct gpu_unit *unit, enum gpu_stop why, uint64_t cycle) {
    unit->stop = why;
    unit->stop_cycle = cycle;
}

/* Ticks an SM in the cycle for which it asked. Returns false if it stops. */
static inline bool tick(struct gpu_run *run, struct gpu_unit *unit, uint32_t i, enum sm_freedom freedom) {
    uint64_t cycle = unit->wake, next = SM_NEVER;
    unit->wake = SM_NEVER;
    enum sm_outcome outcome = sm_tick(unit->sm, freedom, cycle, &next);
    if (outcome == SM_WAITS) {
        unit->wake = cycle;
        stop(unit, GPU_STOP_TURN, cycle);
        return false;
    }
    unit->n_ticks++;
    gpu_wake_after(unit, cycle, next);
    if (outcome == SM_TICKED && !unit->n_ended && !unit->has_room && !run->is_watched)
        return true;
    if (outcome == SM_FAULTED || !gpu_watch(run, i, cycle))
        stop(unit, GPU_STOP_FAULT, cycle);
    else if (unit->n_ended || unit->has_room)
        stop(unit, GPU_STOP_BLOCKS, cycle);
    return unit->stop == GPU_STOP_NONE;
}

/* Runs an SM and its part of the memory up to the cycle before `end`, or until it stops. */
static void run_sm(struct gpu_run *run, uint32_t i, uint64_t end) {
    struct gpu_unit *unit = &run->timed->unit[i];
    for (;;) {
        uint64_t answer = *unit->answer, cycle = answer < unit->wake ? answer : unit->wake;
        if (cycle >= end)
            return;
        if (answer == cycle)
            mem_sm_advance(run->timed->mem, i, cycle);
        if (unit->wake <= cycle && !tick(run, unit, i, SM_APART))
            return;
    }
}

/* Runs the memory's part of an SM that has stopped ahead of the others: stores may still be on their way. */
static void run_memory(struct gpu_run *run, uint32_t i, uint64_t end) {
    const struct gpu_unit *unit = &run->timed->unit[i];
    while (*unit->answer < end && *unit->answer <= unit->stop_cycle)
        mem_sm_advance(run->timed->mem, i, *unit->answer);
}

/* Ticks an SM in the cycles in which it is alone, ahead of the others, until it has had `most` ticks in this round. */
static void run_ahead(struct gpu_run *run, uint32_t i, uint64_t most) {
    struct gpu_unit *unit = &run->timed->unit[i];
    while (unit->n_ticks < most && unit->wake <= run->last_ahead && sm_is_alone(unit->sm, unit->wake))
        if (!tick(run, unit, i, SM_AHEAD)) { /* the others must come there first */
            if (unit->stop == GPU_STOP_TURN)
                unit->stop = GPU_STOP_NONE;
            return;
        }
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
            run_ahead(run, i, UINT64_MAX);
}

/* --- in parallel --- */

static void run_partition(const struct round *round, uint32_t i, struct note *note) {
    struct mem *mem = round->run->timed->mem;
    if (mem_partition_next(mem, i) < round->now->end || has(round->partitions, i)) {
        if (has_mail(round))
            mem_partition_collect(mem, i);
        if (round->prefetches)
            mem_prefetch_partition(mem, i, round->now->end - 1);
        mem_partition_advance(mem, i, round->now->end - 1);
        if (has_mail(round))
            note->next = earlier(note->next, mem_partition_mail(mem, i, set_of(round, note, TO_SM)));
    }
    note->next = earlier(note->next, mem_partition_next(mem, i));
}

/* Returns the next cycle in which the SM needs attention: its tick, or the end of the one in which it stopped. */
static uint64_t due_of(const struct gpu_unit *unit) {
    return unit->stop == GPU_STOP_NONE ? unit->wake : unit->stop_cycle;
}

static uint64_t next_of(const struct gpu_unit *unit) { return earlier(due_of(unit), *unit->answer); }

static void put_in(const struct round *round, struct note *note, enum note_set set, uint32_t i) {
    put(set_of(round, note, set), i);
    note->has_work = true;
}

/* Notes what the others must know of an SM that has run. An SM that has stopped in this round is noted again after its
 * turn; until then its next cycle is not known. */
static inline void note_sm(const struct round *round, struct gpu_unit *unit, uint32_t i, struct note *note) {
    note->n_ticks += unit->n_ticks;
    unit->n_ticks = 0;
    if (exec_stores_are_pending(unit->stores))
        put_in(round, note, HAS_STORES, i);
    bool has_turn = unit->stop != GPU_STOP_NONE && unit->stop_cycle < round->now->end;
    if (unit->stop != GPU_STOP_NONE)
        put_in(round, note, HAS_STOPPED, i);
    if (!has_turn)
        note->next = earlier(note->next, next_of(unit));
    note->has_fault |= has_turn && unit->stop == GPU_STOP_FAULT;
    if (has_mail(round))
        note->next = earlier(note->next, mem_sm_mail(round->run->timed->mem, i, set_of(round, note, TO_PARTITION)));
}

static void begin_note(const struct round *round, struct note *note) {
    note->round = round->now->number;
    note->next = MEM_NEVER;
    note->n_ticks = 0;
    note->has_fault = false;
    if (note->has_work || has_mail(round))
        memset(note->word, 0, N_SETS * round->n_words * sizeof *note->word);
    note->has_work = false;
}

/* Prefetches the state of the SMs that run next into the host's cache. With several threads others may be running
 * them. */
static void prefetch_next(const struct round *round, uint32_t i) {
    const struct gpu_unit *unit = round->run->timed->unit;
    if (i + 3 < round->n_sms && next_of(&unit[i + 3]) < round->now->end)
        sm_prefetch(unit[i + 3].sm);
    if (i + 2 < round->n_sms && next_of(&unit[i + 2]) < round->now->end)
        sm_prefetch_slots(unit[i + 2].sm);
    if (i + 1 < round->n_sms && next_of(&unit[i + 1]) < round->now->end) {
        mem_prefetch_sm(round->run->timed->mem, i + 1, round->now->end - 1);
        sm_prefetch_groups(unit[i + 1].sm);
    }
}

static void run_part(const struct round *round, uint32_t part, struct note *note) {
    if (part < round->n_partitions) {
        run_partition(round, part, note);
        return;
    }
    uint32_t i = part - round->n_partitions;
    struct gpu_timed *timed = round->run->timed;
    struct gpu_unit *unit = &timed->unit[i];
    if (round->prefetches && round->n_threads == 1)
        prefetch_next(round, i);
    if (next_of(unit) >= round->now->end && !has(round->sms, i)) {
        note->next = earlier(note->next, next_of(unit));
        return;
    }
    if (has_mail(round))
        mem_sm_collect(timed->mem, i);
    if (!sm_count_blocks(unit->sm)) {
        put_in(round, note, IS_IDLE, i);
        return;
    }
    if (unit->stores->n)
        exec_stores_forget(unit->stores);
    if (unit->stop == GPU_STOP_NONE) {
        run_sm(round->run, i, round->now->end);
        if (unit->stop == GPU_STOP_NONE)
            run_ahead(round->run, i, round->most_ticks);
    } else {
        run_memory(round->run, i, round->now->end);
    }
    note_sm(round, unit, i, note);
}

static void run_piece(void *user, uint32_t piece, uint32_t thread) {
    const struct round *round = user;
    struct note *note = note_of(round, thread);
    if (note->round != round->now->number)
        begin_note(round, note);
    run_part(round, round->part_of[piece], note);
}

/* Runs a round of one cycle in which every tick needs its turn: first the memory, then the SMs by number, up to the
 * first fault. */
static void run_in_turn(struct round *round) {
    struct gpu_run *run = round->run;
    struct note *note = note_of(round, 0);
    if (run->n_finished == run->n_blocks) /* only atomics are left */
        run->last_cycle = round->next;
    if (round->answer < round->now->end)
        mem_advance(run->timed->mem, round->now->end - 1);
    for (uint32_t i = 0; i < round->n_sms && !note->has_fault; i++) {
        struct gpu_unit *unit = &run->timed->unit[i];
        if (due_of(unit) >= round->now->end)
            continue;
        if (unit->stop == GPU_STOP_NONE && tick(run, unit, i, SM_TOGETHER))
            run_ahead(run, i, UINT64_MAX);
        note_sm(round, unit, i, note);
    }
}

/* Adds the notes of the other threads to the first. */
static void merge_notes(struct round *round) {
    struct note *all = note_of(round, 0);
    for (uint32_t k = 1; k < round->n_threads; k++) {
        const struct note *note = note_of(round, k);
        if (note->round != round->now->number)
            continue;
        all->next = earlier(all->next, note->next);
        all->n_ticks += note->n_ticks;
        all->has_work |= note->has_work;
        for (uint32_t i = 0; i < N_SETS * round->n_words; i++)
            all->word[i] |= note->word[i];
    }
}

/* Runs all pieces. The first note then holds the observations of all threads. */
static void run_pieces(struct round *round) {
    uint32_t n_parts = round->n_partitions + round->n_sms;
    struct note *all = note_of(round, 0);
    round->now->number++;
    if (round->run->timed->claims)
        round->run->timed->claims->round++;
    begin_note(round, all);
    if (round->is_in_turn)
        run_in_turn(round);
    else if (round->n_threads > 1)
        gpu_workers_run(round->run->timed->workers, run_piece, round, n_parts);
    else
        for (uint32_t i = 0; i < n_parts; i++)
            run_part(round, i, all);
    merge_notes(round);
}

/* Returns whether this piece belongs to the host thread that usually runs the SM. */
static bool is_home(const struct round *round, uint32_t piece, uint32_t sm) {
    return gpu_workers_owner(round->run->timed->workers, piece) == round->home[round->n_partitions + sm];
}

static void apply_free(void *user, uint32_t piece, uint32_t thread) {
    (void)thread;
    const struct round *round = user;
    FOR_MEMBERS(i, round, all_of(round, HAS_STORES))
    if (is_home(round, piece, i))
        exec_stores_apply_free(round->run->timed->unit[i].stores, round->run->grid->memory);
}

/* Writes the stores to memory whose order does not matter, if there are enough for several threads. */
static void apply_free_stores(struct round *round) {
    uint32_t n = 0;
    if (!round->run->timed->unit[0].stores->claims)
        return;
    for (uint32_t i = 0; i < round->n_words; i++)
        n += (uint32_t)__builtin_popcountll(all_of(round, HAS_STORES)[i]);
    if (n >= WORTH_WORKERS)
        gpu_workers_run(round->run->timed->workers, apply_free, round, round->n_threads);
}

/* --- in turn --- */

/* Writes stores to memory in the order (cycle, SM), up to those of SM `last` in this cycle. */
static void apply_stores(struct round *round, uint64_t cycle, uint32_t last) {
    struct gpu_timed *timed = round->run->timed;
    const struct exec_memory *memory = round->run->grid->memory;
    uint64_t *set = all_of(round, HAS_STORES), next = round->store_cycle;
    while (next <= cycle) {
        uint64_t now = next;
        next = UINT64_MAX;
        FOR_MEMBERS(i, round, set) {
            struct exec_stores *stores = timed->unit[i].stores;
            if (now < cycle || i <= last)
                exec_stores_apply(stores, memory, now);
            if (exec_stores_are_pending(stores))
                next = earlier(next, stores->store[stores->n_applied].cycle);
            else
                take_out(set, i);
        }
        next = next > now ? next : now + 1;
    }
    round->store_cycle = cycle;
}

/* Returns the SM that stopped first, not counting `except`, or UINT32_MAX. */
static uint32_t first_stopped(const struct round *round, uint32_t except) {
    const struct gpu_unit *unit = round->run->timed->unit;
    uint32_t first = UINT32_MAX;
    FOR_MEMBERS(i, round, all_of(round, HAS_STOPPED))
    if (i != except && unit[i].stop_cycle < round->now->end &&
        (first == UINT32_MAX || unit[i].stop_cycle < unit[first].stop_cycle))
        first = i;
    return first;
}

/* Gives this SM its turn: ends the cycle in which it stopped. Returns false at a fault. */
static bool take_turn(struct round *round, uint32_t i) {
    struct gpu_run *run = round->run;
    struct gpu_unit *unit = &run->timed->unit[i];
    uint64_t cycle = unit->stop_cycle;
    if (unit->stop != GPU_STOP_BLOCKS)
        apply_stores(round, cycle, i);
    if (unit->stop == GPU_STOP_TURN) {
        sm_keep_stores(unit->sm, NULL);
        unit->stop = GPU_STOP_NONE;
        tick(run, unit, i, SM_TOGETHER);
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
        run->last_cycle = cycle;
        gpu_check_blocks(run);
    }
    return true;
}

/* Returns whether all blocks have ended and no atomic waits in an SM. */
static bool is_over(const struct gpu_run *run) {
    if (run->n_finished < run->n_blocks)
        return false;
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        if (sm_has_queued_effect(run->timed->sm[i]))
            return false;
    return true;
}

/* When all blocks have ended, runs the SMs whose atomics still wait until these have left, or to the end of the
 * quantum. */
static void run_atomics(struct round *round) {
    struct gpu_run *run = round->run;
    if (run->n_finished < run->n_blocks)
        return;
    FOR_MEMBERS(i, round, all_of(round, IS_IDLE)) {
        const struct gpu_unit *unit = &run->timed->unit[i];
        bool has_waited = sm_has_queued_effect(unit->sm);
        while (sm_has_queued_effect(unit->sm) && next_of(unit) < round->now->end)
            run_sm(run, i, next_of(unit) + 1);
        if (has_waited && sm_last_cycle(unit->sm) > run->last_cycle)
            run->last_cycle = sm_last_cycle(unit->sm);
    }
}

/* SMs without blocks still have answers to handle: up to the end of the quantum or of the launch. */
static void run_idle(struct round *round) {
    struct gpu_run *run = round->run;
    run_atomics(round);
    uint64_t end = is_over(run) ? run->last_cycle + 1 : round->now->end;
    FOR_MEMBERS(i, round, all_of(round, IS_IDLE)) {
        run_sm(run, i, end);
        note_sm(round, &run->timed->unit[i], i, note_of(round, 0));
    }
}

/* A wave: an SM takes its turn, and then it and others that have had theirs in this round go on. Each runs on its usual
 * host thread, so that its state, and the registers of blocks that start, need not travel between processors. */
struct wave {
    struct round *round;
    uint64_t *going; /* the SMs that go on, with the one whose turn it is */
    uint64_t end;    /* they run up to the cycle before */
    uint32_t sm;     /* whose turn it is; UINT32_MAX: none */
    bool has_no_fault;
};

static void run_wave_piece(void *user, uint32_t piece, uint32_t thread) {
    struct wave *wave = user;
    const struct round *round = wave->round;
    struct note *note = note_of(round, thread);
    if (thread && note->round != round->now->number)
        begin_note(round, note);
    FOR_MEMBERS(i, round, wave->going) {
        struct gpu_unit *unit = &round->run->timed->unit[i];
        if (round->n_threads > 1 && !is_home(round, piece, i))
            continue;
        if (i == wave->sm && !take_turn(wave->round, i)) {
            wave->has_no_fault = false;
            return;
        }
        if (!sm_count_blocks(unit->sm)) {
            put_in(round, note, IS_IDLE, i);
            continue;
        }
        run_sm(round->run, i, wave->end);
        if (unit->stop != GPU_STOP_NONE || wave->end == round->now->end)
            note_sm(round, unit, i, note);
    }
}

/* Returns whether only the caller's thread has SMs in this set. */
static bool is_at_home(const struct round *round, const uint64_t *set) {
    FOR_MEMBERS(i, round, set)
    if (round->home[round->n_partitions + i] != 0)
        return false;
    return true;
}

/* Runs a wave. Afterwards `going` has the SMs that have not come to the end of the quantum and have not stopped. */
static bool run_wave(struct round *round, uint64_t *going, uint32_t sm, uint64_t end) {
    struct wave wave = {round, going, end, sm, true};
    if (sm != UINT32_MAX) {
        put(going, sm);
        take_out(all_of(round, HAS_STOPPED), sm);
    }
    round->now->number++;
    if (round->n_threads == 1)
        run_wave_piece(&wave, 0, 0);
    else if (is_at_home(round, going))
        run_wave_piece(&wave, round->n_threads - 1, 0);
    else
        gpu_workers_run(round->run->timed->workers, run_wave_piece, &wave, round->n_threads);
    merge_notes(round);
    for (uint32_t i = 0; i < round->n_words; i++)
        going[i] &= end == round->now->end ? 0 : ~(all_of(round, HAS_STOPPED)[i] | all_of(round, IS_IDLE)[i]);
    return wave.has_no_fault;
}

/* Returns how far the SMs that have had their turns may go before the turn of SM `next`, which stopped first, or is
 * UINT32_MAX. If it only receives blocks, the order of the blocks is all that matters: the others need not come further
 * than `next`, but so far they must come, because one of them may stop before it. Other turns have effects that the
 * others must not see in this quantum: they go to its end first. */
static uint64_t end_of_wave(const struct round *round, uint32_t next) {
    const struct gpu_run *run = round->run;
    bool has_waves =
        round->n_threads > 1 && !run->together && !run->started && exec_shape_cluster(&run->grid->shape) == 1;
    if (!has_waves || next == UINT32_MAX || run->timed->unit[next].stop != GPU_STOP_BLOCKS)
        return round->now->end;
    return run->timed->unit[next].stop_cycle + 1;
}

/* Serves the stopped SMs, each in its turn. They then go on to the end of the quantum. */
static bool take_turns(struct round *round) {
    uint64_t *going = round->going, end = round->now->end;
    memset(going, 0, round->n_words * sizeof *going);
    for (;;) {
        uint32_t first = first_stopped(round, UINT32_MAX), second = first_stopped(round, first);
        bool has_going = member(round, going, 0) != UINT32_MAX;
        if (first == UINT32_MAX && !has_going)
            break;
        bool is_good = has_going && end_of_wave(round, first) == end
                           ? run_wave(round, going, UINT32_MAX, end)
                           : run_wave(round, going, first, end_of_wave(round, second));
        if (!is_good)
            return false;
    }
    apply_free_stores(round);
    apply_stores(round, end - 1, UINT32_MAX);
    run_idle(round);
    return true;
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
static void change_parts(struct round *round) {
    struct gpu_run *run = round->run;
    if (gpu_change_parts(run, round->now->end))
        for (uint32_t i = 0; i < round->n_sms; i++)
            note_sm(round, &run->timed->unit[i], i, note_of(round, 0));
}

/* Finds the next cycle in which something happens. Without mail, packets are already in the receivers' queues. */
static void find_next(struct round *round) {
    const struct gpu_timed *timed = round->run->timed;
    uint64_t wake = SM_NEVER, answer = MEM_NEVER;
    for (uint32_t i = 0; i < round->n_partitions; i++)
        answer = earlier(answer, mem_partition_next(timed->mem, i));
    for (uint32_t i = 0; i < round->n_sms; i++) {
        wake = earlier(wake, due_of(&timed->unit[i]));
        answer = earlier(answer, *timed->unit[i].answer);
    }
    round->answer = answer;
    round->next = earlier(wake, answer);
}

static bool run_round(struct round *round) {
    struct gpu_run *run = round->run;
    struct gpu_timed *timed = run->timed;
    if (!gpu_may_reach(run, round->next))
        return false;
    if (round->next > run->last_ahead) { /* all SMs have come to last_ahead, and no further */
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
    if (run->has_series)
        advance_series(run, begin ? begin - 1 : 0);
    timed->cycle = round->next;
    if (timed->scheduler->wants & SCHED_WANTS_DRAM)
        gpu_sample_dram(timed, begin);
    run_pieces(round);
    struct note *note = note_of(round, 0);
    bool is_good = !note->has_work || take_turns(round);
    if (!is_good && !round->is_in_turn)
        settle(run);
    if (is_good && run->together)
        change_parts(round);
    if (has_mail(round) && exec_shape_cluster(&run->grid->shape) > 1) /* in their turns SMs wake others, which fetch */
        for (uint32_t i = 0; i < round->n_sms; i++)
            note_sm(round, &timed->unit[i], i, note);
    run->n_ticks += note->n_ticks;
    if (has_mail(round)) {
        size_t bytes = round->n_words * sizeof *round->sms;
        memcpy(round->sms, set_of(round, note, TO_SM), bytes);
        memcpy(round->partitions, set_of(round, note, TO_PARTITION), bytes);
        mem_exchange(timed->mem);
        round->next = note->next;
    } else {
        find_next(round);
    }
    return is_good;
}

/* Returns the number of host threads for this launch. Tests, profiles, checks and observers share data among SMs. */
static uint32_t threads_for(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    const struct gpu_config *config = &run->gpu->config;
    if (timed->quantum == 1 || config->n_threads < 2 || config->check_every || run->grid->profile || run->grid->check ||
        run->is_observed)
        return 1;
    uint32_t n_pieces = timed->machine.sm.count + mem_partitions(timed->mem);
    uint32_t n_threads = config->n_threads < n_pieces ? config->n_threads : n_pieces;
    if (!timed->workers)
        timed->workers = gpu_workers_new(n_threads);
    return n_threads;
}

/* Divides the parts among the host threads. A thread has as many pieces as the workers give it. The heaviest parts come
 * first, each to the thread with the least work that has a piece left, of these to the one with the fewest left. */
static void assign_parts(struct round *round) {
    enum { SM_WEIGHT = 5, PARTITION_WEIGHT = 3 }; /* the mean of eight programs on gtx480 */
    const struct gpu_workers *workers = round->run->timed->workers;
    uint32_t n_parts = round->n_partitions + round->n_sms, n = round->n_threads;
    uint32_t *n_left = base_allocate(n, sizeof *n_left), *weight = base_allocate(n, sizeof *weight);
    for (uint32_t piece = 0; piece < n_parts; piece++)
        n_left[gpu_workers_owner(workers, piece)]++;
    for (uint32_t k = 0; k < n_parts; k++) {
        bool is_sm = k < round->n_sms;
        uint32_t part = is_sm ? round->n_partitions + k : k - round->n_sms, best = UINT32_MAX;
        for (uint32_t t = n; t-- > 0;)
            if (n_left[t] && (best == UINT32_MAX || weight[t] < weight[best] ||
                              (weight[t] == weight[best] && n_left[t] < n_left[best])))
                best = t;
        weight[best] += is_sm ? SM_WEIGHT : PARTITION_WEIGHT;
        n_left[best]--;
        round->home[part] = best;
    }
    for (uint32_t piece = 0, part; piece < n_parts; piece++) { /* a thread's pieces, in the order of its parts */
        uint32_t owner = gpu_workers_owner(workers, piece);
        for (part = piece < n ? 0 : round->part_of[piece - n] + 1; round->home[part] != owner; part++)
            ;
        round->part_of[piece] = part;
    }
    free(n_left);
    free(weight);
}

static void start_rounds(struct round *round, struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    uint32_t n_sms = timed->machine.sm.count, n_partitions = mem_partitions(timed->mem), n_threads = threads_for(run);
    *round = (struct round){
        .run = run,
        .n_sms = n_sms,
        .n_partitions = n_partitions,
        .n_words = ((n_sms > n_partitions ? n_sms : n_partitions) + 63) / 64,
        .n_threads = n_threads,
        .most_ticks = n_threads > 1 ? timed->quantum : UINT64_MAX,
        .is_in_turn = timed->quantum == 1,
        .prefetches = sm_needs_prefetch(timed->sm[0]),
    };
    size_t bytes = sizeof(struct note) + N_SETS * round->n_words * sizeof(uint64_t);
    round->note_bytes = (uint32_t)((bytes + 63) / 64 * 64);
    round->notes = base_allocate_aligned((size_t)round->n_threads * round->note_bytes);
    round->now = base_allocate_aligned(sizeof *round->now + 2 * round->n_words * sizeof *round->now->receivers);
    round->going = base_allocate_aligned(round->n_words * sizeof *round->going);
    round->sms = round->now->receivers;
    round->partitions = round->sms + round->n_words;
    bool has_claims = has_mail(round) && n_sms < EXEC_CLAIM_SMS;
    if (has_claims && !timed->claims)
        timed->claims = base_allocate(1, sizeof *timed->claims);
    for (uint32_t i = 0; i < n_sms; i++) {
        timed->unit[i].stores->claims = has_claims ? timed->claims : NULL;
        timed->unit[i].stores->sm = i;
        sm_keep_stores(timed->sm[i], round->is_in_turn ? NULL : timed->unit[i].stores);
        timed->unit[i].stop = GPU_STOP_NONE;
    }
    round->part_of = base_allocate(n_sms + n_partitions, sizeof *round->part_of);
    round->home = base_allocate(n_sms + n_partitions, sizeof *round->home);
    find_next(round);
    if (has_mail(round)) {
        assign_parts(round);
        gpu_workers_use_reports(timed->workers, round->notes, round->note_bytes);
        mem_use_mail(timed->mem, &round->now->mail_round);
    }
}

static void end_rounds(struct round *round) {
    struct gpu_timed *timed = round->run->timed;
    if (timed->workers)
        gpu_workers_use_reports(timed->workers, NULL, 0);
    mem_end_mail(timed->mem);
    for (uint32_t i = 0; i < round->n_sms; i++)
        exec_stores_forget(timed->unit[i].stores);
    free(round->notes);
    free(round->now);
    free(round->going);
    free(round->part_of);
    free(round->home);
}

bool gpu_run_rounds(struct gpu_run *run) {
    struct round round;
    bool is_good = true;
    if (run->together)
        gpu_change_parts(run, run->timed->cycle);
    start_rounds(&round, run);
    while (is_good && !is_over(run) && !(run->window && gpu_window_has_ended(run, round.now->end)))
        is_good = run_round(&round);
    if (is_good && is_over(run))
        run->timed->cycle = run->last_cycle;
    end_rounds(&round);
    return is_good;
}
