/* Observes an SM: records the instructions of its bundles for each thread (exec/profile.h), and checks for tests that
 * groups, slots and threads agree. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exec/profile.h"
#include "sm/internal.h"

__attribute__((format(printf, 3, 4))) static bool broken(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return false;
}

/* --- bundles --- */

static void count_scattered(const struct sm *sm, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        exec_profile_path(sm->grid->profile, sm->cx.threads->row[lane], 1u << sm->cx.threads->lane[lane]);
    }
}

/* Every thread appears once, is live, and is on one of the machine's lanes. */
static bool check_bundle(const struct sm *sm, const struct divergence_bundle *bundle, char *text, size_t size) {
    if (sm->machine->sm.warp_size < EXEC_LANES && bundle->mask >> sm->machine->sm.warp_size)
        return broken(text, size, "pc %u: a bundle has lanes %08" PRIx32 " of %u", bundle->pc, bundle->mask,
                      sm->machine->sm.warp_size);
    if (bundle->row && bundle->mask & ~bundle->row->live)
        return broken(text, size, "pc %u: ended threads execute", bundle->pc);
    for (uint32_t left = bundle->row ? 0 : bundle->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct exec_row *row = sm->cx.threads->row[lane];
        if (!(row->live >> sm->cx.threads->lane[lane] & 1))
            return broken(text, size, "pc %u: an ended thread executes in lane %u", bundle->pc, lane);
        for (uint32_t rest = left & (left - 1); rest; rest &= rest - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(rest);
            if (sm->cx.threads->row[other] == row && sm->cx.threads->lane[other] == sm->cx.threads->lane[lane])
                return broken(text, size, "pc %u: lanes %u and %u have the same thread", bundle->pc, lane, other);
        }
    }
    return true;
}

void sm_watch_bundle(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle) {
    if (sm->checks && !*sm->broken)
        check_bundle(sm, bundle, sm->broken, sizeof sm->broken);
    if (sm->follower)
        sm_observe_issue(sm, s, bundle->pc, sm_lanes_in(bundle->mask));
    if (!sm->grid->profile)
        return;
    if (bundle->row)
        exec_profile_path(sm->grid->profile, bundle->row, bundle->mask);
    else
        count_scattered(sm, bundle->mask);
}

/* --- groups --- */

/* The threads of one block as the model reports them. */
struct census {
    const struct sm *sm;
    const struct exec_cta *cta;
    uint32_t seen[EXEC_MAX_ROWS];
    const struct divergence_group *group[EXEC_MAX_ROWS][EXEC_LANES];
    char *text;
    size_t size;
    bool is_broken;
};

static void visit_thread(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    struct census *census = user;
    uint32_t index = row->index;
    if (census->is_broken)
        return;
    census->is_broken = true;
    if (row->block != &census->cta->block)
        broken(census->text, census->size, "block %u: a thread of block %u is named", census->cta->block.index,
               row->block->index);
    else if (!(row->live >> lane & 1))
        broken(census->text, census->size, "block %u row %u lane %u: is in a group and has ended", row->block->index,
               index, lane);
    else if (census->seen[index] >> lane & 1)
        broken(census->text, census->size, "block %u row %u lane %u: is named twice", row->block->index, index, lane);
    else
        census->is_broken = false;
    census->seen[index] |= 1u << lane;
    census->group[index][lane] = group;
}

static bool check_block(struct census *census, const struct divergence_block *block) {
    const struct sm *sm = census->sm;
    memset(census->seen, 0, sizeof census->seen);
    census->cta = block->cta;
    sm->divergence->visit(sm->model, block, visit_thread, census);
    for (uint32_t i = 0; i < block->cta->n_rows && !census->is_broken; i++)
        if (census->seen[i] != block->cta->row[i].live) {
            broken(census->text, census->size, "block %u row %u: live %08" PRIx32 ", named %08" PRIx32,
                   block->cta->block.index, i, block->cta->row[i].live, census->seen[i]);
            census->is_broken = true;
        }
    return !census->is_broken;
}

/* If a group consists of lanes of a row of this block, those lanes are its threads. */
static bool check_lanes(const struct census *census, const struct divergence_group *group) {
    if (!group->row || group->row->block != &census->cta->block || group->status != DIVERGENCE_RUNS)
        return true;
    if (!group->mask)
        return broken(census->text, census->size, "slot %d: a group without lanes", group->slot);
    for (uint32_t left = group->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (census->group[group->row->index][lane] != group)
            return broken(census->text, census->size, "block %u row %u lane %u: runs in a group that it is not in",
                          group->row->block->index, group->row->index, lane);
    }
    return true;
}

static bool check_slot(const struct sm *sm, uint32_t s, char *text, size_t size) {
    const struct divergence_group *group = sm->slots.slot[s].group;
    if (!group != (sm->slots.slot[s].state == SM_SLOT_FREE) || !group == sched_has(&sm->slots.occupied, s))
        return broken(text, size, "slot %u: its state and its group disagree", s);
    if (!group)
        return true;
    if (group->slot != (int)s)
        return broken(text, size, "slot %u: its group is in slot %d", s, group->slot);
    if (group->status == DIVERGENCE_ENDED)
        return broken(text, size, "slot %u: its group has ended", s);
    uint32_t n_insns = sm_program_at(sm, s)->n_insns;
    if (group->pc >= n_insns)
        return broken(text, size, "slot %u: its group is at pc %u of %u", s, group->pc, n_insns);
    if (group->status == DIVERGENCE_WAITS && sm->slots.slot[s].state != SM_SLOT_BARRIER)
        return broken(text, size, "slot %u: its group waits, and the slot does not", s);
    return true;
}

bool sm_check_invariants(const struct sm *sm, char *text, size_t size) {
    if (*sm->broken)
        return broken(text, size, "%s", sm->broken);
    for (uint32_t s = 0; s < sm->slots.n; s++)
        if (!check_slot(sm, s, text, size))
            return false;
    struct census census = {.sm = sm, .text = text, .size = size};
    for (uint32_t i = 0; i < sm->blocks.n_places; i++) {
        if (!sm->blocks.place[i] || !sm->blocks.place[i]->is_in_flight)
            continue;
        if (!check_block(&census, &sm->blocks.place[i]->block))
            return false;
        for (uint32_t s = 0; s < sm->slots.n; s++)
            if (sm->slots.slot[s].group && !check_lanes(&census, sm->slots.slot[s].group))
                return false;
    }
    return true;
}
