/* A random machine for schedulers; see trial.h. */
#include "sched/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sched/accounts.h"

enum {
    BLOCK = 4,
    N_BLOCKS = SCHED_TRIAL_SLOTS / BLOCK,
    INSTRUCTIONS = 40,
    MOST_CYCLES = 200000,
    PROGRAM = 16,    /* instructions of the program; the second half is a loop */
    CACHE_LINES = 8, /* of the L1, which is direct-mapped */
    OWN_LINES = 2,   /* that mostly the same warp accesses */
    LINE_BYTES = 128,
};

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
    struct sched_accounts accounts;
    struct sched_pressure pressure;
    struct sched_kernel kernel;
    struct sched_insn insn[PROGRAM];
    struct sched_loop loop;
    uint64_t line[CACHE_LINES]; /* its address, or 0 */
    uint32_t line_slot[CACHE_LINES], line_pc[CACHE_LINES];
    uint32_t most_blocks; /* that the first scheduler allows */
    struct sched_blocks_left left;
    uint64_t *started, n_on_sm;
    uint64_t picks;
    const char *mistake;        /* of the first scheduler, beside its picks; NULL: none */
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

/* Enters it into the accounts, and calls a hook of every scheduler. */
#define TELL(machine, called, ...)                                                                                     \
    do {                                                                                                               \
        sched_accounts_##called(&(machine)->accounts, &(machine)->view, __VA_ARGS__);                                  \
        *(machine)->hook = #called;                                                                                    \
        for (unsigned told = 0; told < (machine)->n_players; told++)                                                   \
            (machine)->player[told].ops.called((machine)->player[told].state, &(machine)->view, __VA_ARGS__);          \
        *(machine)->hook = NULL;                                                                                       \
    } while (0)

/* Enters a decision of the first scheduler into the digest. */
static void note(struct machine *machine, uint64_t decision) {
    machine->picks = (machine->picks ^ decision) * 1099511628211u;
}

/* Picks among the candidates that the scheduler does not hold back. */
static int pick(struct machine *machine, const struct player *player, const struct sched_set *candidates) {
    struct sched_set held = {{0}};
    *machine->hook = "hold";
    if (player->ops.hold)
        player->ops.hold(player->state, &machine->view, &held);
    held = sched_and(&held, &machine->next_long);
    struct sched_set left = sched_and_not(candidates, &held);
    *machine->hook = "pick";
    int slot = sched_is_empty(&left) ? SCHED_NONE : player->ops.pick(player->state, &machine->view, &left);
    *machine->hook = NULL;
    return slot;
}

static void tell_l1(struct machine *machine, enum sched_l1_kind kind, uint32_t slot, uint32_t pc, uint64_t line) {
    *machine->hook = "l1";
    for (unsigned told = 0; told < machine->n_players; told++)
        if (machine->player[told].ops.l1)
            machine->player[told].ops.l1(
                machine->player[told].state, &machine->view,
                &(struct sched_l1_event){.kind = kind, .slot = slot, .pc = pc, .line = line, .n_lines = 1 + pc % 4});
    *machine->hook = NULL;
}

/* Asks the first scheduler about a load: whether its warp is critical, and how many loads may wait aside if memory
 * takes none. */
static void ask_about_load(struct machine *machine, uint32_t slot) {
    const struct player *player = &machine->player[0];
    if (player->ops.is_critical) {
        *machine->hook = "is_critical";
        note(machine, player->ops.is_critical(player->state, &machine->view, slot));
    }
    if (player->ops.most_aside && machine->pressure.is_refused) {
        *machine->hook = "most_aside";
        uint32_t most = player->ops.most_aside(player->state, &machine->view);
        note(machine, most < SCHED_MOST_ASIDE ? most : SCHED_MOST_ASIDE);
    }
    *machine->hook = NULL;
}

/* A load of the warp finds its line in the L1, or brings it there. */
static void access_l1(struct machine *machine, uint32_t slot, uint32_t pc) {
    ask_about_load(machine, slot);
    uint32_t owner = random_below(machine, 4) ? slot : random_below(machine, SCHED_TRIAL_SLOTS);
    uint64_t line = (uint64_t)(1 + owner * OWN_LINES + random_below(machine, OWN_LINES)) * LINE_BYTES;
    uint32_t at = (uint32_t)(line / LINE_BYTES % CACHE_LINES);
    bool is_hit = machine->line[at] == line;
    tell_l1(machine, is_hit ? SCHED_L1_HIT : SCHED_L1_MISS, slot, pc, line);
    if (is_hit)
        return;
    if (machine->line[at])
        tell_l1(machine, SCHED_L1_EVICTION, machine->line_slot[at], machine->line_pc[at], machine->line[at]);
    machine->line[at] = line;
    machine->line_slot[at] = slot;
    machine->line_pc[at] = pc;
    tell_l1(machine, SCHED_L1_FILL, slot, pc, line);
}

static void update_next(struct machine *machine, uint32_t slot) {
    bool is_long = machine->has_marks && random_below(machine, 3) == 0;
    sched_put(&machine->next_long, slot, is_long);
    sched_put(&machine->next_load, slot, is_long && random_below(machine, 2));
    /* A step, or sometimes a jump, in a program with a merge point. */
    struct sched_slot *seen = &machine->slot[slot];
    seen->pc = (random_below(machine, 4) ? seen->pc + 1 : random_below(machine, PROGRAM)) % PROGRAM;
    seen->passed += seen->pc == 11;
    if (machine->has_marks && random_below(machine, 6) == 0)
        seen->progress += random_below(machine, 3);
}

/* Facts as an SM states them. Which instructions access memory changes here from time to time, so they may be wrong. */
static void describe_kernel(struct machine *machine, uint32_t n_blocks) {
    machine->loop = (struct sched_loop){.head_pc = PROGRAM / 2, .parent = SCHED_NO_LOOP, .depth = 1, .n_loads = 2};
    for (uint32_t pc = 0; pc < PROGRAM; pc++)
        machine->insn[pc] = (struct sched_insn){.loop = pc < PROGRAM / 2 ? SCHED_NO_LOOP : 0,
                                                .to_long = (PROGRAM - 1 - pc) % 4,
                                                .is_long = pc % 4 == 3,
                                                .is_load = pc % 4 == 3,
                                                .is_branch = pc == PROGRAM - 1 || pc == 2};
    machine->insn[PROGRAM - 1].target = PROGRAM / 2;
    machine->insn[PROGRAM - 1].taken_path = PROGRAM / 2;
    machine->insn[2].target = 5;
    machine->insn[2].taken_path = 1;
    machine->insn[2].other_path = 2;
    machine->kernel = (struct sched_kernel){.insn = machine->insn,
                                            .n_insns = PROGRAM,
                                            .n_loops = 1,
                                            .loop = &machine->loop,
                                            .threads_per_block = BLOCK * 32,
                                            .warp_size = 32,
                                            .n_sms = 1,
                                            .n_blocks = n_blocks,
                                            .l1_lines = CACHE_LINES,
                                            .l1_ways = 1,
                                            .l1_line_bytes = LINE_BYTES};
    machine->pressure = (struct sched_pressure){.n_mshrs = 4, .n_queue = 8, .n_channels = 2};
}

/* Memory is sometimes full. */
static void change_pressure(struct machine *machine) {
    struct sched_pressure *pressure = &machine->pressure;
    uint64_t bits = machine->view.cycle / 16 * 0x9e3779b97f4a7c15u >> 32;
    pressure->mshrs_used = (uint32_t)(bits % (pressure->n_mshrs + 1));
    pressure->queue_used = (uint32_t)(bits >> 8) % (pressure->n_queue + 1);
    pressure->is_refused = pressure->mshrs_used == pressure->n_mshrs;
    pressure->dram_waiting = (uint32_t)(bits >> 16) % 32;
    pressure->dram_busy_cycles = machine->view.cycle;
    pressure->dram_cycle = machine->view.cycle;
}

/* Lets the first scheduler choose the block that starts next. Returns SCHED_NO_BLOCK if it wants none. */
static uint64_t choose_block(struct machine *machine) {
    const struct player *player = &machine->player[0];
    struct sched_blocks_left *left = &machine->left;
    uint64_t block = left->first;
    if (player->ops.choose_block) {
        *machine->hook = "choose_block";
        block = player->ops.choose_block(player->state, &machine->view, left);
        *machine->hook = NULL;
        note(machine, block);
    }
    if (block == SCHED_NO_BLOCK) {
        if (!machine->view.n_blocks)
            machine->mistake = "choose_block() leaves blocks that no SM takes, and all others have ended";
        return block;
    }
    if (block >= left->n_blocks || left->started[block / 64] >> block % 64 & 1) {
        machine->mistake = "choose_block() returned a block that cannot start";
        return SCHED_NO_BLOCK;
    }
    machine->started[block / 64] |= UINT64_C(1) << block % 64;
    machine->n_on_sm++;
    while (left->first < left->n_blocks && left->started[left->first / 64] >> left->first % 64 & 1)
        left->first++;
    return block;
}

static void add_block(struct machine *machine, uint32_t block) {
    uint64_t index = choose_block(machine);
    if (index == SCHED_NO_BLOCK)
        return;
    sched_accounts_begin_block(&machine->accounts, block, index, machine->view.cycle);
    machine->view.n_blocks++;
    for (uint32_t slot = block * BLOCK; slot < (block + 1) * BLOCK; slot++) {
        machine->slot[slot] = (struct sched_slot){
            .age = machine->age++, .warp_id = slot, .block = block, .active_lanes = 1 + random_below(machine, 32)};
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

/* Asks the first scheduler how many blocks it allows. */
static void limit_blocks(struct machine *machine) {
    const struct player *player = &machine->player[0];
    *machine->hook = "blocks";
    uint32_t most = player->ops.blocks ? player->ops.blocks(player->state, &machine->view) : N_BLOCKS;
    *machine->hook = NULL;
    machine->most_blocks = most < 1 ? 1 : most > N_BLOCKS ? N_BLOCKS : most;
}

/* Opens the barriers that all warps of a block have reached, and adds new blocks where all have left. */
static void serve_blocks(struct machine *machine) {
    limit_blocks(machine);
    for (uint32_t block = 0; block < N_BLOCKS; block++) {
        struct sched_set slots = first_slots(((1ull << BLOCK) - 1) << block * BLOCK);
        struct sched_set live = sched_and(&slots, &machine->occupied);
        struct sched_set missing = sched_and_not(&live, &machine->at_barrier);
        if (sched_is_empty(&live) && machine->blocks_left && machine->view.n_blocks < machine->most_blocks)
            add_block(machine, block);
        else if (sched_is_empty(&missing))
            for (uint32_t slot = block * BLOCK; slot < (block + 1) * BLOCK; slot++)
                if (sched_has(&live, slot))
                    wake(machine, slot);
    }
}

static void begin_cycle(struct machine *machine, uint64_t cycle) {
    machine->view.cycle = cycle;
    change_pressure(machine);
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
    bool is_load = sched_has(&machine->next_load, slot);
    uint32_t pc = machine->slot[slot].pc;
    update_next(machine, slot);
    TELL(machine, issued, slot);
    if (is_load)
        access_l1(machine, slot, pc);
    if (--machine->instructions_left[slot] > 0) {
        wait_for_something(machine, slot, cycle);
        return;
    }
    sched_remove(&machine->occupied, slot);
    sched_remove(&machine->ready, slot);
    TELL(machine, leave, slot);
    machine->view.n_blocks -= sched_is_empty(&machine->accounts.block[machine->slot[slot].block].slots);
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
    note(machine, (uint64_t)(slot + 2));
    if (slot == SCHED_NONE)
        return player[0].ops.is_strict || player[0].ops.hold ||
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
    machine->view = (struct sched_view){.slot = machine->slot,
                                        .occupied = &machine->occupied,
                                        .ready = &machine->ready,
                                        .next_long = &machine->next_long,
                                        .next_load = &machine->next_load,
                                        .waits_long = &machine->waits_long,
                                        .pending = &machine->pending,
                                        .n_slots = SCHED_TRIAL_SLOTS,
                                        .n_schedulers = 1,
                                        .most_blocks = N_BLOCKS,
                                        .account = machine->accounts.account,
                                        .block = machine->accounts.block,
                                        .at_barrier = &machine->accounts.at_barrier,
                                        .pressure = &machine->pressure,
                                        .kernel = &machine->kernel};
    describe_kernel(machine, trial->n_blocks);
    machine->started = base_allocate(trial->n_blocks / 64 + 1, sizeof *machine->started);
    machine->left = (struct sched_blocks_left){
        .started = machine->started, .n_blocks = trial->n_blocks, .n_sms = 1, .n_on_sm = &machine->n_on_sm};
    return machine;
}

static void free_machine(struct machine *machine) {
    for (unsigned i = 0; i < machine->n_players; i++)
        free(machine->player[i].state);
    free(machine->started);
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
        if (machine->mistake)
            is_good = complain(outcome->problem, sizeof outcome->problem, "%s (cycle %llu)", machine->mistake,
                               (unsigned long long)outcome->cycles);
        else
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
