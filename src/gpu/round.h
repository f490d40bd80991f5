/* Inside gpu: a round of the clock (clock.c), and the turns of the SMs within it (turns.c).
 *
 * A round is one quantum of the whole machine. Its parts are the memory partitions and the SMs, which several host
 * threads run at once. Each thread notes in its own cache lines what the others must know. When all are done, the
 * caller's thread merges the notes and decides how to continue. */
#pragma once

#include "gpu/engine.h"

/* Sets of a note, with a bit for each SM or partition. */
enum gpu_note_set {
    GPU_HAS_LEFT, /* SMs with stores to be written, or blocks that have ended without a turn */
    GPU_HAS_STOPPED,
    GPU_IS_IDLE, /* SMs with work, but without blocks */
    GPU_TO_SM,   /* SMs and partitions to which packets were sent */
    GPU_TO_PARTITION,
    GPU_NOTE_SETS
};

enum { GPU_UNWILLING = 3 };

/* A thread's observations in a round. With at most 64 SMs and partitions they are one cache line. */
struct gpu_note {
    uint64_t next; /* the next cycle in which one of its pieces has work, or its first packet arrives */
    uint32_t n_ticks, n_stores;
    uint32_t round; /* in which the thread last worked; the note is that round's */
    bool has_work;  /* one of the first three sets has members: the turns have something to do */
    bool has_fault;
    int16_t n_willing; /* SMs that could have run further ahead, minus GPU_UNWILLING for each of the others that ran */
    uint64_t word[];   /* the sets, each round->n_words long */
};

/* What all threads read in a round. Only the caller's thread changes it, between rounds. With at most 64 SMs and
 * partitions it is one cache line. */
struct gpu_announcement {
    uint64_t end;         /* the first cycle of the next quantum */
    uint64_t mail_round;  /* mem_use_mail() */
    uint32_t number;      /* of the round */
    uint32_t most_ticks;  /* of an SM in the round, if it runs ahead */
    uint64_t receivers[]; /* a set of SMs and then one of partitions: those that have mail */
};

/* A round: one quantum. Its parts are the partitions, then the SMs. */
struct gpu_round {
    _Alignas(BASE_PAIR_BYTES) struct gpu_run *run;
    struct gpu_announcement *now;
    unsigned char *notes;
    uint64_t *sms, *partitions;            /* now->receivers */
    uint32_t n_partitions, n_sms, n_words; /* n_words: of a set */
    uint32_t note_bytes, n_threads;
    const uint32_t *part_of, *home; /* struct gpu_homes */
    bool is_in_turn;                /* every tick needs its turn */
    bool prefetches;                /* sm_needs_prefetch() of the SMs */
    /* Only the caller's thread uses these. */
    _Alignas(BASE_PAIR_BYTES) uint64_t next; /* the next cycle in which something happens */
    uint64_t store_cycle;                    /* stores before this cycle are in memory */
    uint64_t answer;                         /* the next cycle in which something happens in the memory, without mail */
    uint64_t *going;                         /* run_wave() */
};

static inline struct gpu_note *gpu_note_of(const struct gpu_round *round, uint32_t thread) {
    return (struct gpu_note *)(void *)(round->notes + (size_t)thread * round->note_bytes);
}

static inline uint64_t *gpu_set_of(const struct gpu_round *round, struct gpu_note *note, enum gpu_note_set set) {
    return note->word + (size_t)set * round->n_words;
}

/* Returns a set of all threads, once the notes have been merged. */
static inline uint64_t *gpu_all_of(const struct gpu_round *round, enum gpu_note_set set) {
    return gpu_set_of(round, gpu_note_of(round, 0), set);
}

static inline bool gpu_set_has(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static inline void gpu_set_put(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << i % 64; }
static inline void gpu_set_remove(uint64_t *set, uint32_t i) { set[i / 64] &= ~(UINT64_C(1) << i % 64); }
static inline uint64_t gpu_earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Returns the first member of the set from `from` on, or UINT32_MAX. */
static inline uint32_t gpu_set_member(const struct gpu_round *round, const uint64_t *set, uint32_t from) {
    for (uint32_t word = from / 64; word < round->n_words; word++) {
        uint64_t left = word == from / 64 ? set[word] & UINT64_MAX << from % 64 : set[word];
        if (left)
            return word * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return UINT32_MAX;
}

#define GPU_FOR_MEMBERS(i, round, set)                                                                                 \
    for (uint32_t i = gpu_set_member(round, set, 0); i != UINT32_MAX; i = gpu_set_member(round, set, i + 1))

/* Returns whether packets go through the mail: several threads run the parts. */
static inline bool gpu_has_mail(const struct gpu_round *round) { return round->n_threads > 1; }

/* Returns the next cycle in which the SM needs attention: its tick, or the end of the one in which it stopped. */
static inline uint64_t gpu_due_of(const struct gpu_unit *unit) {
    return unit->stop == GPU_STOP_NONE ? unit->clock.wake : unit->stop_cycle;
}

static inline uint64_t gpu_next_of(const struct gpu_unit *unit) { return gpu_earlier(gpu_due_of(unit), *unit->answer); }

static inline void gpu_note_put(const struct gpu_round *round, struct gpu_note *note, enum gpu_note_set set,
                                uint32_t i) {
    gpu_set_put(gpu_set_of(round, note, set), i);
    note->has_work = true;
}

static inline void gpu_stop_sm(struct gpu_unit *unit, enum gpu_stop why, uint64_t cycle) {
    unit->stop = why;
    unit->stop_cycle = cycle;
}

/* turns.c: blocks of the SM have ended in this cycle. Returns whether it may continue without a turn. */
bool gpu_replaces(struct gpu_run *run, struct gpu_unit *unit, uint64_t cycle);

/* Runs an SM from the cycle for which it asked, up to the one before `end`. Returns false if it stops. */
static inline bool gpu_tick(struct gpu_run *run, struct gpu_unit *unit, uint32_t i, enum sm_freedom freedom,
                            uint64_t end) {
    unit->clock.must_stop = run->is_watched;
    enum sm_outcome outcome = sm_run(unit->sm, freedom, end, &unit->clock);
    if (outcome == SM_WAITS) {
        gpu_stop_sm(unit, GPU_STOP_TURN, unit->clock.wake);
        return false;
    }
    if (outcome == SM_TICKED && !unit->n_ended && !unit->has_room && !run->is_watched)
        return true;
    uint64_t cycle = sm_last_cycle(unit->sm);
    if (outcome == SM_FAULTED || !gpu_watch(run, i, cycle))
        gpu_stop_sm(unit, GPU_STOP_FAULT, cycle);
    else if ((unit->n_ended || unit->has_room) && (freedom != SM_APART || !gpu_replaces(run, unit, cycle)))
        gpu_stop_sm(unit, GPU_STOP_BLOCKS, cycle);
    return unit->stop == GPU_STOP_NONE;
}

/* Notes to which partitions the thread that runs the SM has sent packets. */
static inline void gpu_note_mail(const struct gpu_round *round, uint32_t i, struct gpu_note *note) {
    if (gpu_has_mail(round))
        note->next =
            gpu_earlier(note->next, mem_sm_mail(round->run->timed->mem, i, gpu_set_of(round, note, GPU_TO_PARTITION)));
}

/* Notes what the others must know of an SM that has run. An SM that has stopped in this round is noted again after its
 * turn; until then its next cycle is not known. */
static inline void gpu_note_sm(const struct gpu_round *round, struct gpu_unit *unit, uint32_t i,
                               struct gpu_note *note) {
    note->n_ticks += (uint32_t)unit->clock.n_ticks;
    unit->clock.n_ticks = 0;
    if (exec_stores_are_pending(unit->stores) || unit->n_counted)
        gpu_note_put(round, note, GPU_HAS_LEFT, i);
    note->n_stores += unit->stores->n - unit->stores->n_applied;
    bool has_turn = unit->stop != GPU_STOP_NONE && unit->stop_cycle < round->now->end;
    if (unit->stop != GPU_STOP_NONE)
        gpu_note_put(round, note, GPU_HAS_STOPPED, i);
    if (!has_turn)
        note->next = gpu_earlier(note->next, gpu_next_of(unit));
    note->has_fault |= has_turn && unit->stop == GPU_STOP_FAULT;
    gpu_note_mail(round, i, note);
}

/* clock.c */
/* Runs an SM and its part of the memory up to the cycle before `end`, or until it stops. */
void gpu_run_sm(struct gpu_run *run, uint32_t i, uint64_t end);
void gpu_begin_note(const struct gpu_round *round, struct gpu_note *note);
/* Adds the notes of the other threads to the first. */
void gpu_merge_notes(struct gpu_round *round);

/* turns.c */
/* Before a round: decides how SMs replace blocks that end. */
void gpu_choose_replacing(struct gpu_run *run);
/* Serves the stopped SMs, each in its turn. They then continue to the end of the quantum. Returns false at a fault. */
bool gpu_take_turns(struct gpu_round *round);
/* Returns whether all blocks have ended and no atomic waits in an SM. */
bool gpu_is_over(const struct gpu_run *run);
