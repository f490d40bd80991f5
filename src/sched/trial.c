/* A random machine for schedulers; see trial.h. */
#include "sched/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK = 4, N_BLOCKS = SCHED_TRIAL_SLOTS / BLOCK, INSTRUCTIONS = 40, MOST_CYCLES = 200000 };

struct player {
    struct sched_ops ops;
    void *state;
};

struct machine {
    struct player player[2];
    unsigned n_players;
    struct sched_slot slot[SCHED_MAX_SLOTS];
    struct sched_set occupied, ready, next_long, next_load, waits_long, pending;
    struct sched_view view;
    bool has_marks;
    uint64_t seed, age;
    uint32_t blocks_left, instructions_left[SCHED_TRIAL_SLOTS];
    uint64_t wakes_at[SCHED_TRIAL_SLOTS];
    struct sched_set at_barrier;
    uint64_t picks;
    const char *volatile *hook; /* the name of the running hook, for the caller */
    const char *volatile unseen;
};

static struct sched_set first_slots(uint64_t bits) { return (struct sched_set){{bits, 0}}; }

__attribute__((format(printf, 3, 4))) static bool complain(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return false;
}

static uint32_t random_below(struct machine *machine, uint32_t limit) {
    machine->seed = machine->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(machine->seed >> 33) % limit;
}

/* Calls a hook of every scheduler. */
#define TELL(machine, called, ...)                                                                                     \
    do {                                                                                                               \
        *(machine)->hook = #called;                                                                                    \
        for (unsigned told = 0; told < (machine)->n_players; told++)                                                   \
            (machine)->player[told].ops.called((machine)->player[told].state, &(machine)->view, __VA_ARGS__);          \
        *(machine)->hook = NULL;                                                                                       \
    } while (0)

static int pick(struct machine *machine, const struct player *player, const struct sched_set *candidates) {
    *machine->hook = "pick";
    int slot = player->ops.pick(player->state, &machine->view, candidates);
    *machine->hook = NULL;
    return slot;
}

static void update_next(struct machine *machine, uint32_t slot) {
    bool is_long = machine->has_marks && random_below(machine, 3) == 0;
    sched_put(&machine->next_long, slot, is_long);
    sched_put(&machine->next_load, slot, is_long && random_below(machine, 2));
    /* A step, or sometimes a jump, in a program of 16 instructions with a merge point. */
    struct sched_slot *seen = &machine->slot[slot];
    seen->pc = (random_below(machine, 4) ? seen->pc + 1 : random_below(machine, 16)) % 16;
    seen->passed += seen->pc == 11;
    if (machine->has_marks && random_below(machine, 6) == 0)
        seen->progress += random_below(machine, 3);
}

static void add_block(struct machine *machine, uint32_t block) {
    for (uint32_t slot = block * BLOCK; slot < (block + 1) * BLOCK; slot++) {
        machine->slot[slot] = (struct sched_slot){.age = machine->age++, .warp_id = slot, .block = block};
        machine->instructions_left[slot] = 1 + random_below(machine, INSTRUCTIONS);
        sched_add(&machine->occupied, slot);
        sched_add(&machine->ready, slot);
        update_next(machine, slot);
        TELL(machine, arrive, slot);
    }
    machine->blocks_left--;
}

static void wake(struct machine *machine, uint32_t slot) {
    sched_add(&machine->ready, slot);
    sched_remove(&machine->waits_long, slot);
    sched_remove(&machine->pending, slot);
    sched_remove(&machine->at_barrier, slot);
    TELL(machine, wake, slot);
}

/* Opens the barriers that all warps of a block have reached, and adds new blocks where all have left. */
static void serve_blocks(struct machine *machine) {
    for (uint32_t block = 0; block < N_BLOCKS; block++) {
        struct sched_set slots = first_slots(((1ull << BLOCK) - 1) << block * BLOCK);
        struct sched_set live = sched_and(&slots, &machine->occupied);
        struct sched_set missing = sched_and_not(&live, &machine->at_barrier);
        if (sched_is_empty(&live) && machine->blocks_left)
            add_block(machine, block);
        else if (sched_is_empty(&missing))
            for (uint32_t slot = block * BLOCK; slot < (block + 1) * BLOCK; slot++)
                if (sched_has(&live, slot))
                    wake(machine, slot);
    }
}

static void begin_cycle(struct machine *machine, uint64_t cycle) {
    machine->view.cycle = cycle;
    struct sched_set waiting = sched_and_not(&machine->occupied, &machine->ready);
    for (uint32_t slot = 0; slot < SCHED_TRIAL_SLOTS; slot++)
        if (sched_has(&waiting, slot) && !sched_has(&machine->at_barrier, slot) && machine->wakes_at[slot] <= cycle)
            wake(machine, slot);
    serve_blocks(machine);
}

static void wait_for_something(struct machine *machine, uint32_t slot, uint64_t cycle) {
    uint32_t kind = random_below(machine, 20);
    if (kind < 10)
        return;
    bool is_long = kind < 14, is_barrier = kind == 19;
    machine->wakes_at[slot] = cycle + (is_long ? 20 + random_below(machine, 60) : 2 + random_below(machine, 8));
    sched_remove(&machine->ready, slot);
    sched_put(&machine->waits_long, slot, is_long);
    sched_put(&machine->pending, slot, is_barrier);
    sched_put(&machine->at_barrier, slot, is_barrier);
    TELL(machine, stall, slot, is_long);
}

static void issue(struct machine *machine, uint32_t slot, uint64_t cycle) {
    update_next(machine, slot);
    TELL(machine, issued, slot);
    if (--machine->instructions_left[slot] > 0) {
        wait_for_something(machine, slot, cycle);
        return;
    }
    sched_remove(&machine->occupied, slot);
    sched_remove(&machine->ready, slot);
    TELL(machine, leave, slot);
}

/* Returns false at a mistake. */
static bool pick_and_issue(struct machine *machine, uint64_t cycle, char *problem, size_t size) {
    /* Sometimes a unit is busy. */
    struct sched_set busy = first_slots(random_below(machine, 4) == 0 ? machine->seed >> 20 : 0);
    struct sched_set candidates = sched_and_not(&machine->ready, &busy);
    if (sched_is_empty(&candidates))
        return true;
    const struct player *player = machine->player;
    int slot = pick(machine, &player[0], &candidates);
    if (machine->n_players > 1 && pick(machine, &player[1], &candidates) != slot)
        return complain(problem, size, "the two schedulers pick differently in cycle %llu", (unsigned long long)cycle);
    machine->picks = (machine->picks ^ (uint64_t)(slot + 2)) * 1099511628211u;
    if (slot == SCHED_NONE)
        return player[0].ops.is_strict ||
               complain(problem, size, "pick() returned SCHED_NONE, and it is not strict (cycle %llu)",
                        (unsigned long long)cycle);
    if (slot < 0 || slot >= SCHED_TRIAL_SLOTS || !sched_has(&candidates, (uint32_t)slot))
        return complain(problem, size, "pick() returned slot %d, which is no candidate (cycle %llu)", slot,
                        (unsigned long long)cycle);
    issue(machine, (uint32_t)slot, cycle);
    return true;
}

static void add_player(struct machine *machine, const struct sched_ops *ops, const void *options) {
    struct player *player = &machine->player[machine->n_players++];
    *player = (struct player){sched_complete(ops), base_allocate(1, ops->state_bytes ? ops->state_bytes : 1)};
    *machine->hook = "start";
    player->ops.start(player->state, options, SCHED_TRIAL_SLOTS);
    *machine->hook = NULL;
}

static struct machine *new_machine(const struct sched_trial *trial) {
    struct machine *machine = base_allocate(1, sizeof *machine);
    machine->seed = trial->seed;
    machine->hook = trial->hook ? trial->hook : &machine->unseen;
    machine->view = (struct sched_view){machine->slot,       &machine->occupied,  &machine->ready,
                                        &machine->next_long, &machine->next_load, &machine->waits_long,
                                        &machine->pending,   SCHED_TRIAL_SLOTS,   0};
    return machine;
}

static void free_machine(struct machine *machine) {
    for (unsigned i = 0; i < machine->n_players; i++)
        free(machine->player[i].state);
    free(machine);
}

bool sched_trial_run(const struct sched_trial *trial, struct sched_trial_outcome *outcome) {
    struct machine *machine = new_machine(trial);
    machine->has_marks = trial->has_marks;
    machine->blocks_left = trial->n_blocks;
    *outcome = (struct sched_trial_outcome){.picks = 0};
    add_player(machine, trial->ops, trial->options);
    if (trial->second)
        add_player(machine, trial->second, trial->second_options);
    bool is_good = true;
    do {
        begin_cycle(machine, outcome->cycles);
        is_good = pick_and_issue(machine, outcome->cycles, outcome->problem, sizeof outcome->problem);
        if (is_good && ++outcome->cycles == MOST_CYCLES)
            is_good = complain(outcome->problem, sizeof outcome->problem,
                               "warps are left after %d cycles: it waits for ever", MOST_CYCLES);
    } while (is_good && (machine->blocks_left || !sched_is_empty(&machine->occupied)));
    outcome->picks = machine->picks;
    free_machine(machine);
    return is_good;
}

/* ---- Starvation -------------------------------------------------------------------------------------------------- */

static uint32_t longest_wait_of(struct machine *machine, uint32_t always, uint32_t n_issues) {
    const struct player *player = machine->player;
    uint32_t waited = 0, longest = 0, n_own = 0;
    for (uint32_t slot = 0; slot < SCHED_TRIAL_SLOTS; slot++) {
        machine->slot[slot] = (struct sched_slot){.age = slot, .warp_id = slot};
        sched_add(&machine->occupied, slot);
        TELL(machine, arrive, slot);
    }
    for (uint32_t i = 0; i < n_issues; i++) {
        uint64_t others = (uint64_t)random_below(machine, 1u << 12) << 12 | random_below(machine, 1u << 12);
        machine->ready = first_slots(others | 1ull << always);
        struct sched_set candidates = machine->ready;
        int slot = pick(machine, player, &candidates);
        if (slot < 0 || slot >= SCHED_TRIAL_SLOTS)
            continue;
        TELL(machine, issued, (uint32_t)slot);
        n_own += slot == (int)always;
        waited = slot == (int)always ? 0 : waited + 1;
        longest = waited > longest ? waited : longest;
    }
    return n_own ? longest : UINT32_MAX;
}

uint32_t sched_trial_longest_wait(const struct sched_trial *trial, uint32_t n_issues) {
    uint32_t longest = 0;
    for (uint32_t always = 0; always < SCHED_TRIAL_SLOTS; always++) {
        struct machine *machine = new_machine(trial);
        machine->seed += always;
        add_player(machine, trial->ops, trial->options);
        uint32_t one = longest_wait_of(machine, always, n_issues);
        longest = one > longest ? one : longest;
        free_machine(machine);
    }
    return longest;
}
