/* A random channel for DRAM policies; see dram_trial.h. Its timing is that of a channel in dram.c without the data bus:
 * a bank serves one access after the other, and opening another row takes longer. */
#include "mem/dram_trial.h"

#include <stdio.h>
#include <string.h>

enum {
    N_BANKS = 8,
    N_ROWS = 6,
    QUEUE = 16,
    HIT_CYCLES = 10,
    CONFLICT_CYCLES = 40,
    LONGEST_PAUSE = 100 * CONFLICT_CYCLES
};

struct channel {
    struct dram_request queue[QUEUE];
    struct dram_bank bank[N_BANKS];
    uint32_t n, n_left;
    uint64_t seed;
};

static uint32_t random_below(struct channel *channel, uint32_t limit) {
    channel->seed = channel->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(channel->seed >> 33) % limit;
}

/* Adds bursts to one bank and row, as coalesced accesses do. */
static void add_requests(struct channel *channel, uint64_t cycle) {
    uint32_t burst = random_below(channel, 6) == 0 ? 1 + random_below(channel, 8) : 0;
    uint16_t bank = (uint16_t)random_below(channel, N_BANKS);
    uint64_t row = random_below(channel, N_ROWS);
    for (; burst && channel->n_left && channel->n < QUEUE; burst--, channel->n_left--)
        channel->queue[channel->n++] = (struct dram_request){
            .row = row, .arrival = cycle, .bytes = 32, .bank = bank, .is_write = random_below(channel, 4) == 0};
}

static void serve(struct channel *channel, const struct dram_view *view, uint32_t place, uint64_t cycle) {
    struct dram_bank *bank = &channel->bank[channel->queue[place].bank];
    bool is_hit = dram_is_row_hit(view, place);
    bank->row = channel->queue[place].row;
    bank->ready_hit = cycle + (is_hit ? HIT_CYCLES : CONFLICT_CYCLES);
    bank->ready_switch = bank->ready_hit;
    channel->n--;
    memmove(&channel->queue[place], &channel->queue[place + 1], (channel->n - place) * sizeof *channel->queue);
}

static bool complain(struct dram_trial_outcome *outcome, const char *what) {
    snprintf(outcome->problem, sizeof outcome->problem, "%s (cycle %llu)", what, (unsigned long long)outcome->cycles);
    return false;
}

bool mem_try_dram_policy(const struct dram_policy *policy, const void *options, uint32_t n_requests, uint64_t seed,
                         struct dram_trial_outcome *outcome) {
    struct channel channel = {.n_left = n_requests, .seed = seed};
    uint64_t last_served = 0;
    *outcome = (struct dram_trial_outcome){.n_served = 0};
    for (uint32_t i = 0; i < N_BANKS; i++)
        channel.bank[i].row = DRAM_NO_ROW;
    for (; outcome->n_served < n_requests; outcome->cycles++) {
        uint64_t cycle = outcome->cycles;
        add_requests(&channel, cycle);
        if (!channel.n) {
            last_served = cycle;
            continue;
        }
        const struct dram_view view = {channel.queue, channel.n, channel.bank, cycle, QUEUE * CONFLICT_CYCLES};
        uint32_t place = policy->pick(options, &view);
        if (place >= channel.n)
            return complain(outcome, "pick() returned a place after the end of the queue");
        if (policy->pick(options, &view) != place)
            return complain(outcome, "pick() returns different places for the same view");
        outcome->picks = (outcome->picks ^ (place + 1)) * 1099511628211u;
        if (dram_start(&view, place) > cycle) {
            if (cycle - last_served > LONGEST_PAUSE)
                return complain(outcome, "no request is served any more");
            continue;
        }
        uint64_t waited = cycle - channel.queue[place].arrival;
        outcome->longest_wait_cycles = waited > outcome->longest_wait_cycles ? waited : outcome->longest_wait_cycles;
        serve(&channel, &view, place, cycle);
        outcome->n_served++;
        last_served = cycle;
    }
    return true;
}
