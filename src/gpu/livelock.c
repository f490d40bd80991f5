/* Livelock. See livelock.h.
 *
 * While memory does not change, no thread ends and no barrier is reached, a group's next steps depend only on its
 * registers and its pc. So a group that returns to a state it has been in since the last such change loops forever. If
 * every group loops, or waits for a group that loops, the kernel never ends. A group that has not moved since the last
 * look has not returned to its state, because it never left it: it waits for memory, for room in the load/store unit,
 * or for a scheduler that never picks it. It counts as looping only in this look, and not if it has accesses in flight.
 * So no livelock is found while any group waits for memory. States are compared by a 64-bit hash. The clock needs no
 * exception: a loop that reads it never returns to the same registers. A group is followed only if it consists of all
 * live lanes of one row. Otherwise other lanes of the row may still get their turn. While a group is not followed, no
 * livelock is found, and only --max-cycles ends the launch. */
#include "gpu/livelock.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_EVERY = 4096, /* cycles: more than an SM runs ahead of the others, so that all advance between looks */
    LOOK_LATER = 61,   /* additional cycles for each look, so that a loop is not always met at the same instruction */
    N_STATES = 16,     /* states kept per group: those at its last looks */
};

struct watched {
    const struct exec_row *row;
    uint64_t last; /* its state at the last look */
    uint64_t state[N_STATES];
    uint32_t n_states;
    bool is_looping;
};

struct gpu_livelock {
    uint64_t last_change, next_look, n_looks;
    uint64_t n_issued; /* instructions of all SMs at the first look */
    uint32_t n_slots;  /* per SM */
    struct watched watched[];
};

void gpu_livelock_free(struct gpu_livelock *livelock) { free(livelock); }

static uint64_t count_issued(struct sm *const *sm, uint32_t n_sms) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < n_sms; i++)
        n += sm_counters(sm[i])->warp_instructions;
    return n;
}

static void start(struct gpu_livelock **livelock, struct sm *const *sm, uint32_t n_sms, uint64_t last_change) {
    uint32_t n_slots = sm_slots(sm[0]);
    size_t bytes = sizeof **livelock + (size_t)n_sms * n_slots * sizeof(struct watched);
    if (!*livelock)
        *livelock = malloc(bytes);
    if (!*livelock)
        abort();
    memset(*livelock, 0, bytes);
    (*livelock)->last_change = last_change;
    (*livelock)->n_slots = n_slots;
    (*livelock)->n_issued = count_issued(sm, n_sms);
}

/* FNV-1a, by words. */
static uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3ull; }

/* Returns the registers of the group's threads, which are those of its row, or NULL if they are in two places. */
static const void *registers_of(const struct divergence_group *group) {
    if (divergence_is_in_row(group))
        return group->row->base[EXEC_BASE_REGISTERS];
    return group->mask & ~group->threads->carried ? NULL : group->threads->registers;
}

static uint64_t state_of(const struct divergence_group *group) {
    const struct exec_row *row = group->row;
    const uint64_t *registers = registers_of(group);
    uint64_t hash = mix(mix(0xcbf29ce484222325ull, (uint64_t)group->pc << 32 | group->mask), row->live);
    for (size_t i = 0; i < row->block->grid->program->register_bytes / sizeof *registers; i++)
        hash = mix(hash, registers[i]);
    for (unsigned lane = 0; lane < EXEC_LANES; lane++)
        hash = mix(hash, (uint64_t)row->taken[lane] << 32 | row->frame[lane]);
    return hash;
}

/* Returns true if the group has returned to a state, or has not moved although it waits for no access of its own. */
static bool is_looping(struct watched *watched, const struct divergence_group *group, bool has_accesses) {
    if (watched->row != group->row)
        *watched = (struct watched){.row = group->row};
    if (watched->is_looping)
        return true;
    uint64_t state = state_of(group);
    if (state == watched->last)
        return !has_accesses;
    watched->last = state;
    for (uint32_t i = 0; i < watched->n_states; i++)
        watched->is_looping |= watched->state[i] == state;
    if (watched->n_states < N_STATES)
        watched->state[watched->n_states++] = state;
    else
        watched->state[state % N_STATES] = state;
    return watched->is_looping;
}

static uint64_t last_change_of(struct sm *const *sm, uint32_t n_sms) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < n_sms; i++)
        last = sm_last_change(sm[i]) > last ? sm_last_change(sm[i]) : last;
    return last;
}

bool gpu_is_quiet(struct sm *const *sm, uint32_t n_sms, uint64_t quiet_cycles, uint64_t cycle) {
    uint64_t last_change = last_change_of(sm, n_sms);
    return quiet_cycles && cycle >= last_change && cycle - last_change >= quiet_cycles;
}

bool gpu_livelock_found(struct gpu_livelock **livelock, struct sm *const *sm, uint32_t n_sms, uint64_t cycle) {
    uint64_t last_change = last_change_of(sm, n_sms);
    if (!*livelock || (*livelock)->last_change != last_change)
        start(livelock, sm, n_sms, last_change);
    if (cycle < (*livelock)->next_look)
        return false;
    (*livelock)->next_look = cycle + LOOK_EVERY + LOOK_LATER * (++(*livelock)->n_looks % LOOK_EVERY);
    bool all_loop = true, has_any = false;
    for (uint32_t i = 0; i < n_sms; i++)
        for (uint32_t s = 0; s < (*livelock)->n_slots; s++) {
            const struct divergence_group *group = sm_group(sm[i], s);
            if (!group || group->status == DIVERGENCE_WAITS)
                continue;
            if (!group->row || group->mask != group->row->live || !registers_of(group))
                return false;
            has_any = true;
            all_loop &=
                is_looping(&(*livelock)->watched[i * (*livelock)->n_slots + s], group, sm_has_accesses(sm[i], s));
        }
    return all_loop && has_any;
}

const char *gpu_livelock_scheduler(const struct gpu_livelock *livelock, struct sm *const *sm, uint32_t n_sms) {
    const char *name = NULL;
    for (uint32_t i = 0; i < n_sms && !name; i++)
        name = sm_strict_scheduler(sm[i]);
    return count_issued(sm, n_sms) == livelock->n_issued ? name : NULL;
}
