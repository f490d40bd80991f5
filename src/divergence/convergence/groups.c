/* Warps whose paths run at the same time. See groups.h. */
#include "divergence/convergence/groups.h"

#include <stdlib.h>

#include "base/memory.h"
#include "divergence/parts/count.h"

enum { MOST_TURNS = 256 }; /* control instructions in a slot while others queue for one */

struct block {
    struct divergence_groups_warp *warp;
    struct divergence_sync *sync;
    uint32_t n_rows;
};

/* A hook of the model, while it runs. */
struct hook {
    struct divergence_groups *groups;
    struct divergence_path_group *self; /* the group that the SM calls the hook for; NULL: none */
    uint64_t cycle;
    bool spins; /* self does */
};

static struct divergence_path_group *of(struct divergence_group *group) {
    return (struct divergence_path_group *)group;
}

/* --- launches and blocks --- */

void divergence_groups_init(struct divergence_groups *groups, const struct divergence_setup *setup,
                            const struct divergence_groups_rules *rules) {
    groups->setup = *setup;
    groups->rules = *rules;
}

void divergence_groups_free(void *model) {
    struct divergence_groups *groups = model;
    for (uint32_t i = 0; i < groups->n_pool; i++)
        free(groups->pool[i]);
    free(groups->pool);
    divergence_postdominators_free(groups->regions);
    free(groups);
}

void divergence_groups_begin_grid(void *model) {
    struct divergence_groups *groups = model;
    divergence_postdominators_free(groups->regions);
    groups->regions = divergence_postdominators(groups->setup.cx->grid->program);
    groups->queue = groups->queue_tail = groups->free = NULL; /* a launch that failed leaves groups behind */
    groups->warp_ids = (struct divergence_warp_ids){.used = {0}};
    for (uint32_t i = groups->n_pool; i-- > 0;) {
        struct divergence_path_group *group = groups->pool[i];
        *group = (struct divergence_path_group){.group.slot = DIVERGENCE_NO_SLOT, .next = groups->free};
        groups->free = group;
    }
}

void *divergence_groups_new_block(void *model, const struct exec_cta *cta) {
    (void)model;
    struct block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate(cta->n_rows, sizeof *block->warp);
    block->sync = divergence_sync_new(cta->n_rows);
    return block;
}

void divergence_groups_free_block(void *model, void *state) {
    (void)model;
    struct block *block = state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_paths_free(&block->warp[i].paths);
    divergence_sync_free(block->sync);
    free(block->warp);
    free(block);
}

/* --- slots --- */

static void wake(const struct hook *hook, struct divergence_path_group *group) {
    if (group != hook->self && group->group.slot != DIVERGENCE_NO_SLOT)
        hook->groups->setup.host->wake(hook->groups->setup.sm, &group->group, hook->cycle);
}

static void leave_queue(struct divergence_groups *groups, struct divergence_path_group *group) {
    if (!group->is_queued)
        return;
    struct divergence_path_group **at = &groups->queue, *before = NULL;
    for (; *at != group; at = &(*at)->next_queued)
        before = *at;
    *at = group->next_queued;
    if (groups->queue_tail == group)
        groups->queue_tail = before;
    group->is_queued = false;
}

static void enqueue(struct divergence_groups *groups, struct divergence_path_group *group) {
    group->is_queued = true;
    group->next_queued = NULL;
    *(groups->queue ? &groups->queue_tail->next_queued : &groups->queue) = group;
    groups->queue_tail = group;
}

/* Takes a group that waits for others out of its slot. Returns false if there is none. */
static bool make_room(const struct hook *hook) {
    struct divergence_groups *groups = hook->groups;
    for (uint32_t i = 0; i < groups->n_pool; i++) {
        struct divergence_path_group *group = groups->pool[i];
        if (!group->is_used || group == hook->self || group->group.slot == DIVERGENCE_NO_SLOT ||
            group->group.status != DIVERGENCE_WAITS)
            continue;
        groups->setup.host->evict(groups->setup.sm, &group->group, hook->cycle);
        return true;
    }
    return false;
}

/* Puts the group into a slot. Returns false if there is none. */
static bool place(const struct hook *hook, struct divergence_path_group *group) {
    const struct divergence_setup *setup = &hook->groups->setup;
    do
        if (setup->host->place(setup->sm, &group->group, hook->cycle)) {
            group->n_turns = 0;
            return true;
        }
    while (make_room(hook));
    return false;
}

static enum divergence_status status_of(const struct divergence_path_group *group) {
    return group->is_scheduled ? DIVERGENCE_RUNS : DIVERGENCE_WAITS;
}

static void seat_queue(const struct hook *hook) {
    struct divergence_groups *groups = hook->groups;
    while (groups->queue && groups->queue->group.slot == DIVERGENCE_NO_SLOT) {
        struct divergence_path_group *group = groups->queue;
        group->group.status = (uint8_t)status_of(group);
        if (!place(hook, group))
            return;
        leave_queue(groups, group);
    }
}

/* --- groups --- */

static struct divergence_path_group *new_group(const struct hook *hook, struct divergence_groups_warp *warp) {
    struct divergence_groups *groups = hook->groups;
    struct divergence_path_group *made = NULL;
    for (struct divergence_path_group **at = &groups->free; *at && !made; at = &(*at)->next)
        if ((*at)->group.slot == DIVERGENCE_NO_SLOT) { /* others leave theirs after the hook in which they ended */
            made = *at;
            *at = made->next;
            break;
        }
    if (!made) {
        made = base_allocate(1, sizeof *made);
        if (groups->n_pool == groups->pool_capacity) {
            groups->pool_capacity = groups->pool_capacity ? 2 * groups->pool_capacity : 64;
            groups->pool = base_grow(groups->pool, groups->pool_capacity, sizeof(struct divergence_path_group *));
        }
        groups->pool[groups->n_pool++] = made;
    }
    *made = (struct divergence_path_group){
        .group = {.row = warp->paths.row,
                  .warp_id = warp->warp_id,
                  .home = warp->block,
                  .passed = hook->self ? hook->self->group.passed : 0,
                  .slot = DIVERGENCE_NO_SLOT},
        .warp = warp,
        .next = warp->group,
        .watch.has_spun = warp->has_spun,
        .is_used = true,
    };
    warp->group = made;
    return made;
}

static void drop(const struct hook *hook, struct divergence_path_group *group) {
    struct divergence_groups *groups = hook->groups;
    struct divergence_path_group **at = &group->warp->group;
    leave_queue(groups, group);
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    group->next = groups->free;
    groups->free = group;
    group->is_used = false;
    group->group.status = DIVERGENCE_ENDED;
    if (group != hook->self)
        groups->setup.host->evict(groups->setup.sm, &group->group, hook->cycle);
}

/* Returns a group for a new path: the hook's own, or one that has no path any more. */
static struct divergence_path_group *choose(const struct hook *hook, struct divergence_groups_warp *warp,
                                            const struct divergence_path *path) {
    struct divergence_path_group *found = NULL;
    for (struct divergence_path_group *group = warp->group; group; group = group->next)
        if (!group->has_path && group->group.mask & path->mask &&
            (group == hook->self || (!found && group->group.slot != DIVERGENCE_NO_SLOT)))
            found = group;
    return found ? found : new_group(hook, warp);
}

/* The group's path has come into being in this hook. */
static void begin_path(const struct hook *hook, struct divergence_groups_warp *warp, struct divergence_path *path,
                       bool is_scheduled) {
    struct divergence_path_group *group = choose(hook, warp, path);
    path->group = &group->group;
    group->has_path = true;
    group->is_scheduled = is_scheduled;
    group->group.pc = path->pc;
    group->group.mask = path->mask;
    group->group.notify_pc = divergence_paths_next_stop(&warp->paths, path);
    group->group.status = (uint8_t)status_of(group);
    if (group->group.slot != DIVERGENCE_NO_SLOT)
        wake(hook, group);
    else if (is_scheduled && (hook->groups->queue || !place(hook, group)))
        enqueue(hook->groups, group);
}

/* The group's path was there before this hook, which may have let it run or not, or have taken lanes from it. */
static void go_on(const struct hook *hook, struct divergence_path_group *group, const struct divergence_path *path,
                  bool is_scheduled) {
    group->is_scheduled = is_scheduled;
    bool is_same = group->group.mask == path->mask && group->group.status == status_of(group);
    group->group.mask = path->mask;
    group->group.status = (uint8_t)status_of(group);
    if (!is_same)
        wake(hook, group);
    if (!is_scheduled)
        leave_queue(hook->groups, group);
    else if (group->group.slot == DIVERGENCE_NO_SLOT && !group->is_queued)
        enqueue(hook->groups, group);
}

/* --- warps --- */

/* Sets a bit for each path that may run. */
static uint32_t schedule(const struct divergence_groups *groups, const struct divergence_paths *paths) {
    uint32_t scheduled = 0, n = 0;
    for (uint32_t i = paths->n_paths; i-- > 0;) {
        const struct divergence_path *path = &paths->path[i];
        if (path->state != DIVERGENCE_PATH_RUNS || (groups->rules.n_at_once && n == groups->rules.n_at_once))
            continue;
        /* The last path runs if any does (divergence_paths_select). */
        if (groups->rules.n_at_once && path->join != paths->path[paths->n_paths - 1].join)
            continue;
        scheduled |= 1u << i;
        n++;
    }
    return scheduled;
}

/* Joins new paths with those that have the same pc and barrier and are about to issue there. */
static void meet_early(const struct hook *hook, struct divergence_paths *paths) {
    for (uint32_t i = 0; i < paths->n_paths; i++)
        for (uint32_t j = 0; j < paths->n_paths && !paths->path[i].group; j++) {
            const struct divergence_path *path = &paths->path[i], *other = &paths->path[j];
            if (!other->group || path->state != DIVERGENCE_PATH_RUNS || other->state != DIVERGENCE_PATH_RUNS ||
                other->join != path->join || other->group->pc != path->pc || other->group->status != DIVERGENCE_RUNS)
                continue;
            divergence_paths_merge(paths, i, j);
            hook->groups->setup.counters->merges++;
            i -= j < i;
            j = UINT32_MAX; /* from the first one again */
        }
}

/* The paths of the warp have changed: makes its groups agree with them. */
static void settle(const struct hook *hook, struct divergence_groups_warp *warp) {
    struct divergence_paths *paths = &warp->paths;
    bool is_alive = paths->row->live;
    divergence_paths_select(paths);
    hook->groups->setup.counters->reconvergences += paths->n_reconverged;
    paths->n_reconverged = 0;
    if (hook->groups->rules.meets_early)
        meet_early(hook, paths);
    for (struct divergence_path_group *group = warp->group; group; group = group->next)
        group->has_path = false;
    for (uint32_t i = 0; i < paths->n_paths; i++)
        if (paths->path[i].group)
            of(paths->path[i].group)->has_path = true;
    uint32_t scheduled = schedule(hook->groups, paths);
    for (uint32_t i = 0; i < paths->n_paths; i++)
        if (paths->path[i].group)
            go_on(hook, of(paths->path[i].group), &paths->path[i], scheduled >> i & 1);
    for (uint32_t pass = 2; pass-- > 0;) /* those that run first: they need slots */
        for (uint32_t i = 0; i < paths->n_paths; i++)
            if (!paths->path[i].group && (scheduled >> i & 1) == pass)
                begin_path(hook, warp, &paths->path[i], pass);
    for (struct divergence_path_group *group = warp->group, *next; group; group = next) {
        next = group->next;
        if (!group->has_path)
            drop(hook, group);
    }
    if (!is_alive) {
        divergence_free_warp_id(&hook->groups->warp_ids, warp->warp_id);
        warp->warp_id = DIVERGENCE_NO_WARP;
    }
}

/* Lanes of the block no longer wait. */
static void set_free(const struct hook *hook, struct block *block, const struct divergence_groups_warp *self) {
    for (uint32_t i = 0; i < block->n_rows; i++)
        if (divergence_paths_take_released(&block->warp[i].paths, block->sync, i) && &block->warp[i] != self)
            settle(hook, &block->warp[i]);
}

void divergence_groups_admit(void *model, struct divergence_block *place, uint64_t cycle) {
    struct hook hook = {.groups = model, .cycle = cycle};
    struct block *block = place->state;
    uint32_t first_pc = hook.groups->setup.cx->grid->program->function[0].first_pc;
    divergence_sync_start(block->sync);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_groups_warp *warp = &block->warp[i];
        divergence_paths_start(&warp->paths, hook.groups->regions, &place->cta->row[i], first_pc);
        warp->paths.nests = hook.groups->rules.nests;
        warp->block = place;
        warp->group = NULL;
        warp->has_spun = false;
        warp->warp_id = divergence_take_warp_id(&hook.groups->warp_ids);
        settle(&hook, warp);
    }
}

/* --- control instructions --- */

static bool is_diverged(const struct divergence_paths *paths) {
    return paths->n_paths > 1 || paths->path[0].join != DIVERGENCE_NO_JOIN;
}

/* Makes the group's path the running one of `paths`, and a new one. */
static void take_up(struct divergence_paths *paths, const struct divergence_group *group) {
    divergence_paths_continue(paths, group->mask);
    divergence_paths_top(paths)->group = NULL;
}

/* The path, which has no group now, spins on a value that others of its warp may write. */
static void let_others_run(const struct hook *hook, struct divergence_groups_warp *warp) {
    struct divergence_paths *paths = &warp->paths;
    warp->has_spun = true;
    for (struct divergence_path_group *group = warp->group; group; group = group->next)
        group->watch.has_spun = true;
    if (!divergence_paths_release_nearest(paths) && hook->groups->rules.n_at_once)
        divergence_paths_send_back(paths, 1);
}

static void execute(const struct hook *hook, uint32_t pc, uint32_t taken) {
    struct divergence_groups *groups = hook->groups;
    struct divergence_path_group *self = hook->self;
    struct divergence_groups_warp *warp = self->warp;
    struct block *block = warp->block->state;
    struct divergence_paths *paths = &warp->paths;
    uint32_t mask = self->group.mask;
    take_up(paths, &self->group);
    struct divergence_paths_effect effect = divergence_paths_execute(paths, &groups->setup, block->sync, pc, taken);
    if (groups->setup.cx->fault.kind)
        return;
    uint32_t n_new = 0;
    for (uint32_t i = 0; i < paths->n_paths; i++)
        n_new += !paths->path[i].group;
    groups->setup.counters->warp_splits += effect.outcome.is_divergent && n_new > 1;
    bool goes_on = paths->n_paths && !divergence_paths_top(paths)->group && divergence_paths_top(paths)->mask == mask &&
                   divergence_paths_top(paths)->state == DIVERGENCE_PATH_RUNS;
    if (goes_on && (hook->spins || divergence_spins(&self->watch, is_diverged(paths), false, pc)))
        let_others_run(hook, warp);
    if (effect.has_released)
        set_free(hook, block, warp);
    settle(hook, warp);
    if (divergence_has_ended(&effect.outcome) && !warp->block->cta->n_live_rows)
        groups->setup.host->block_ended(groups->setup.sm, warp->block);
}

/* Others queue for slots: the hook's group leaves its own if it waits, or has had it for long. */
static void make_way(const struct hook *hook) {
    struct divergence_path_group *self = hook->self;
    if (!hook->groups->queue || !self->is_used)
        return;
    if (self->is_scheduled && ++self->n_turns <= MOST_TURNS)
        return;
    self->group.status = DIVERGENCE_ENDED; /* for the SM, until it has a slot again */
    if (self->is_scheduled)
        enqueue(hook->groups, self);
}

/* Returns whether the branch only moves the path: the warp's tables stay as they are. */
static bool stays_on_path(const struct divergence_groups *groups, const struct divergence_path_group *self,
                          uint32_t target) {
    const struct divergence_paths *paths = &self->warp->paths;
    if (!is_diverged(paths))
        return true;
    return target != self->group.notify_pc && !groups->regions->next_gathering && !groups->rules.meets_early;
}

void divergence_groups_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t taken,
                               uint64_t cycle) {
    struct hook hook = {.groups = model, .self = of(group), .cycle = cycle};
    const struct divergence_setup *setup = &hook.groups->setup;
    const struct exec_insn *insn = &setup->cx->grid->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH && !hook.groups->queue) {
        struct divergence_outcome outcome = divergence_resolve_branch(insn, pc, 1, &group->mask, &taken);
        bool stays = !outcome.is_divergent && stays_on_path(hook.groups, hook.self, outcome.target);
        hook.spins = stays && divergence_spins(&hook.self->watch, is_diverged(&hook.self->warp->paths), false, pc);
        if (stays && !hook.spins) {
            divergence_count_branch(setup, pc, false);
            group->pc = outcome.target;
            return;
        }
    }
    hook.self->warp->paths.cycle = cycle;
    execute(&hook, pc, taken);
    make_way(&hook);
    seat_queue(&hook);
}

void divergence_groups_reached(void *model, struct divergence_group *group, uint64_t cycle) {
    struct hook hook = {.groups = model, .self = of(group), .cycle = cycle};
    struct divergence_groups_warp *warp = hook.self->warp;
    warp->paths.cycle = cycle;
    take_up(&warp->paths, group);
    divergence_paths_reach(&warp->paths, group->pc);
    settle(&hook, warp);
    make_way(&hook);
    seat_queue(&hook);
}

void divergence_groups_refill(void *model, uint64_t cycle) {
    struct hook hook = {.groups = model, .cycle = cycle};
    seat_queue(&hook);
}

void divergence_groups_visit(const void *model, const struct divergence_block *place,
                             void (*thread)(void *user, const struct divergence_group *group,
                                            const struct exec_row *row, uint32_t lane),
                             void *user) {
    (void)model;
    const struct block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_paths_visit(&block->warp[i].paths, NULL, thread, user);
}
