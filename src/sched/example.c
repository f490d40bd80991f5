/* Runs the machine of example.h; the example of Liu et al. 2023, 2.2. */
#include "sched/example.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const fig1[] = {"LLSL", "SSLL", "LLSL", "SSLL", "LLSL", "LLSL"};

const struct sched_example sched_liu2023_fig1 = {
    .n_warps = sizeof fig1 / sizeof fig1[0], .warp = fig1, .long_cycles = 10, .short_cycles = 1};

struct machine {
    const struct sched_example *example;
    const struct sched_ops *ops;
    void *state;
    const char *next[SCHED_MAX_SLOTS];  /* each warp's next instruction */
    uint32_t ready_at[SCHED_MAX_SLOTS]; /* cycle when it may issue */
    struct sched_slot slot[SCHED_MAX_SLOTS];
    struct sched_set occupied, ready, next_long, waits_long, none;
    struct sched_view view;
};

/* Shows the scheduler the warp's next instruction. */
static void update_next(struct machine *machine, uint32_t warp) {
    sched_put(&machine->next_long, warp, *machine->next[warp] == 'L');
}

static void arrive(struct machine *machine) {
    for (uint32_t warp = 0; warp < machine->example->n_warps; warp++) {
        machine->next[warp] = machine->example->warp[warp];
        machine->slot[warp] = (struct sched_slot){.age = warp, .warp_id = warp, .active_lanes = 32};
        sched_add(&machine->occupied, warp);
        sched_add(&machine->ready, warp);
        update_next(machine, warp);
        machine->ops->arrive(machine->state, &machine->view, warp);
    }
}

/* Results arrive before this cycle's pick. */
static void wake(struct machine *machine, uint32_t cycle) {
    struct sched_set waiting = sched_and_not(&machine->occupied, &machine->ready);
    for (int i; (i = sched_first(&waiting)) != SCHED_NONE; sched_remove(&waiting, (uint32_t)i)) {
        uint32_t warp = (uint32_t)i;
        if (machine->ready_at[warp] > cycle)
            continue;
        sched_remove(&machine->waits_long, warp);
        sched_add(&machine->ready, warp);
        machine->ops->wake(machine->state, &machine->view, warp);
    }
}

static void issue(struct machine *machine, uint32_t warp, uint32_t cycle, struct sched_example_run *run) {
    const struct sched_example *example = machine->example;
    bool is_long = *machine->next[warp]++ == 'L';
    uint32_t done = cycle + (is_long ? example->long_cycles : example->short_cycles);
    run->n_issued++;
    run->cycles = done > run->cycles ? done : run->cycles;
    machine->ready_at[warp] = done;
    update_next(machine, warp);
    machine->ops->issued(machine->state, &machine->view, warp);
    if (*machine->next[warp] == '\0') {
        sched_remove(&machine->occupied, warp);
        sched_remove(&machine->ready, warp);
        machine->ops->leave(machine->state, &machine->view, warp);
    } else if (done > cycle + 1) {
        sched_remove(&machine->ready, warp);
        sched_put(&machine->waits_long, warp, is_long);
        machine->ops->stall(machine->state, &machine->view, warp, is_long);
    }
}

static bool run_machine(struct machine *machine, struct sched_example_run *run) {
    memset(run->issued, SCHED_NONE, sizeof run->issued);
    arrive(machine);
    for (uint32_t cycle = 0; cycle < SCHED_EXAMPLE_MAX_CYCLES; cycle++) {
        if (sched_is_empty(&machine->occupied))
            return true;
        machine->view.cycle = cycle;
        wake(machine, cycle);
        if (sched_is_empty(&machine->ready))
            continue;
        int warp = machine->ops->pick(machine->state, &machine->view, &machine->ready);
        if (warp == SCHED_NONE)
            continue;
        run->issued[cycle] = (int8_t)warp;
        issue(machine, (uint32_t)warp, cycle, run);
    }
    return false;
}

bool sched_example_run(const struct sched_example *example, const struct sched_ops *ops, const void *options,
                       struct sched_example_run *run) {
    assert(example->n_warps <= SCHED_MAX_SLOTS);
    *run = (struct sched_example_run){0};
    struct machine machine = {.example = example, .ops = ops, .state = calloc(1, ops->state_bytes)};
    if (!machine.state)
        return false;
    machine.view = (struct sched_view){.slot = machine.slot,
                                       .occupied = &machine.occupied,
                                       .ready = &machine.ready,
                                       .next_long = &machine.next_long,
                                       .next_load = &machine.next_long, /* every long operation is a load */
                                       .waits_long = &machine.waits_long,
                                       .pending = &machine.none,
                                       .n_slots = example->n_warps};
    ops->start(machine.state, options, example->n_warps);
    bool has_ended = run_machine(&machine, run);
    free(machine.state);
    return has_ended;
}
