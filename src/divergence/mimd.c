/* mimd: every lane fetches an instruction of its own. A bundle is any threads of the SM, as many as there are lanes,
 * whatever their program counters; a divergent branch costs nothing, and lanes stay empty only when threads have ended
 * or wait for others. With perfect memory it bounds what grouping the threads of an SM can gain.
 *
 * Source: Malits 2012, 3.2.
 *
 * Ours: threads stay in their group while it is full. When regrouping the incomplete ones gives fewer groups, each of
 * them waits for its results after its next instruction, and then those that wait to be picked are put together. On a
 * scoreboard machine, where that wait costs time, a group that found nobody tries again after RETRY_AFTER instructions.
 * In one cycle every lane may use the unit it needs, and only one instruction of a group is looked up in the I-cache.
 *
 * The SM keeps one scoreboard for a group. On barrel and switch-on-access machines, where a group waits for its results
 * in any case, that changes little; on a scoreboard machine a thread that waits for a load holds up the other threads
 * of its group, and a model that splits groups may do better. */
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/crowd.h"

enum { RETRY_AFTER = 16, MOST_REGROUPED = 64 };

struct model {
    struct divergence_crowd crowd;
    uint32_t retry_after;
};

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    return divergence_refuse_unsynced(program, "mimd", text, size);
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    divergence_crowd_start(&model->crowd, setup);
    model->retry_after = setup->machine->pipeline == CONFIG_PIPELINE_SCOREBOARD ? RETRY_AFTER : 0;
    return model;
}

static void free_model(void *user) {
    divergence_crowd_end(&((struct model *)user)->crowd);
    free(user);
}

static uint32_t n_threads(const struct divergence_team *team) { return (uint32_t)__builtin_popcount(team->mask); }

static bool is_full(const struct model *model, const struct divergence_team *team) {
    return n_threads(team) == model->crowd.setup.machine->warp_size;
}

/* --- what the SM sees --- */

static bool is_mixed(const struct divergence_team *team) {
    uint32_t there;
    divergence_team_lowest(team, team->mask, &there);
    return there != team->mask;
}

/* The team goes on. With different pcs the group has the one of a memory instruction, if there is one: the load/store
 * unit must have room; else the lowest. */
static void set_running(struct model *model, struct divergence_team *team) {
    const struct exec_insn *code = model->crowd.setup.cx->grid->program->code;
    struct divergence_group *group = &team->group;
    uint32_t there, lowest = divergence_team_lowest(team, team->mask, &there);
    team->issued = 0;
    divergence_team_show(team);
    group->status = DIVERGENCE_RUNS;
    group->pc = lowest;
    group->meet = is_full(model, team) ? (uint32_t)EXEC_NO_PC : group->pc + 1;
    if (there == team->mask)
        return;
    group->row = NULL;
    for (uint32_t left = team->mask; left; left &= left - 1)
        if (exec_has_addresses(code[team->pc[__builtin_ctz(left)]].kind))
            group->pc = team->pc[__builtin_ctz(left)];
}

static void bundle(void *user, struct divergence_group *group, struct divergence_bundle *bundle, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct exec_context *cx = model->crowd.setup.cx;
    struct divergence_team *team = (struct divergence_team *)group;
    uint32_t issued = team->issued, mask, pc = divergence_team_lowest(team, team->mask & ~issued, &mask);
    bundle->is_last = true;
    bundle->shares_issue = (team->mask & ~issued) != mask;
    if (!issued && !bundle->shares_issue) { /* all at one pc: the SM moves it */
        bundle->pc = group->pc;
        team->last = mask;
        divergence_team_bundle(team, mask, cx, bundle);
        return;
    }
    bundle->pc = pc;
    team->issued |= mask;
    team->last = mask;
    divergence_team_bundle(team, mask, cx, bundle);
    const struct exec_insn *insn = &cx->grid->program->code[bundle->pc];
    if (insn->kind < EXEC_KIND_BRANCH && !exec_acts_on_row(insn->kind))
        for (uint32_t left = mask; left; left &= left - 1)
            team->pc[__builtin_ctz(left)]++;
}

/* --- regrouping --- */

static bool is_fewer(const struct model *model, uint32_t n_teams, uint32_t n) {
    uint32_t warp_size = model->crowd.setup.machine->warp_size;
    return (n + warp_size - 1) / warp_size < n_teams;
}

/* Whether the incomplete teams would be fewer if they went together. */
static bool regrouping_pays(const struct model *model) {
    uint32_t n_teams = 0, n = 0;
    for (uint32_t i = 0; i < model->crowd.n_live; i++) {
        const struct divergence_team *team = model->crowd.live[i];
        if (is_full(model, team) || team->group.status == DIVERGENCE_WAITS)
            continue;
        n_teams++;
        n += n_threads(team);
    }
    return is_fewer(model, n_teams, n);
}

/* While a team runs with one pc for all, the SM moves that. */
static void take_pcs(struct divergence_team *team) {
    if (!is_mixed(team))
        divergence_team_set_pcs(team, team->group.pc);
}

static void move_threads(const struct model *model, struct divergence_team *to, struct divergence_team *from) {
    for (uint32_t left = from->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        int at = divergence_team_room(to, from->lane[i], true, model->crowd.setup.machine->warp_size);
        if (at < 0)
            return;
        divergence_team_put(to, (uint32_t)at, from->row[i], from->lane[i], from->pc[i]);
        from->mask &= ~(1u << i);
    }
}

/* Incomplete teams of which nothing is under way, the largest first; `self` is one of them. */
static uint32_t find_at_rest(const struct model *model, struct divergence_team *self, uint64_t cycle,
                             struct divergence_team *found[MOST_REGROUPED]) {
    const struct divergence_setup *setup = &model->crowd.setup;
    uint32_t n = 1;
    found[0] = self;
    for (uint32_t i = 0; i < model->crowd.n_live && n < MOST_REGROUPED; i++) {
        struct divergence_team *team = model->crowd.live[i];
        if (team == self || is_full(model, team) || team->group.status != DIVERGENCE_RUNS ||
            setup->host->is_under_way(setup->sm, &team->group, cycle))
            continue;
        uint32_t at = n++;
        for (; at > 0 && n_threads(found[at - 1]) < n_threads(team); at--)
            found[at] = found[at - 1];
        found[at] = team;
    }
    return n;
}

/* Empties the smallest of the teams at rest into the largest. `self`, whose hook runs, is one of them. */
static void regroup(struct model *model, struct divergence_team *self, uint64_t cycle) {
    const struct divergence_setup *setup = &model->crowd.setup;
    struct divergence_team *team[MOST_REGROUPED];
    uint32_t n = find_at_rest(model, self, cycle, team), sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += n_threads(team[i]);
    if (!is_fewer(model, n, sum)) {
        self->patience = model->retry_after;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        if (team[i] != self)
            take_pcs(team[i]);
    for (uint32_t to = 0, from = n - 1; to < from;) {
        if (is_full(model, team[to])) {
            to++;
            continue;
        }
        move_threads(model, team[to], team[from]);
        setup->counters->merges++;
        from -= !team[from]->mask;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (team[i] == self)
            continue;
        if (!team[i]->mask) {
            divergence_crowd_leave(&model->crowd, team[i], false, cycle);
            continue;
        }
        set_running(model, team[i]);
        if (team[i]->group.slot != DIVERGENCE_NO_SLOT)
            setup->host->wake(setup->sm, &team[i]->group, cycle);
    }
}

/* Threads that barriers have set free, or a new block's: whole rows as they are, the others together. */
static void take_loose(struct model *model, uint64_t cycle) {
    struct divergence_crowd *crowd = &model->crowd;
    struct divergence_team *shared = NULL;
    for (uint32_t k = 0; k < crowd->n_loose; k++) {
        const struct divergence_set set = crowd->loose[k];
        bool is_whole = (uint32_t)__builtin_popcount(set.mask) == crowd->setup.machine->warp_size;
        struct divergence_team *team = is_whole ? divergence_crowd_new_team(crowd) : shared;
        for (uint32_t left = set.mask; left; left &= left - 1) {
            if (!team || (is_full(model, team) && !is_whole)) {
                if (team) {
                    set_running(model, team);
                    divergence_crowd_enter(crowd, team, cycle);
                }
                team = shared = divergence_crowd_new_team(crowd);
            }
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            int at = divergence_team_room(team, lane, true, crowd->setup.machine->warp_size);
            divergence_team_put(team, (uint32_t)at, set.row, lane, set.pc);
            team->group.passed = set.passed;
        }
        if (is_whole) {
            set_running(model, team);
            divergence_crowd_enter(crowd, team, cycle);
        }
    }
    crowd->n_loose = 0;
    if (!shared)
        return;
    set_running(model, shared);
    divergence_crowd_enter(crowd, shared, cycle);
}

/* --- hooks --- */

static void admit(void *user, struct divergence_block *block, uint64_t cycle) {
    struct model *model = user;
    divergence_crowd_admit(&model->crowd, block);
    take_loose(model, cycle);
}

/* Every thread of the team has executed an instruction. */
static void finish(struct model *model, struct divergence_team *team, uint64_t cycle) {
    if (!team->mask) {
        divergence_crowd_leave(&model->crowd, team, true, cycle);
        return;
    }
    bool tries = !is_full(model, team) && !team->patience && regrouping_pays(model);
    if (team->waits || tries) {
        team->issued = 0;
        team->group.status =
            team->waits == team->mask && !model->crowd.queue_length ? DIVERGENCE_WAITS : DIVERGENCE_DRAINS;
        return;
    }
    team->patience -= team->patience > 0;
    set_running(model, team);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    (void)mask;
    struct model *model = user;
    struct divergence_team *team = (struct divergence_team *)group;
    bool shares_issue = team->issued != 0; /* meet() follows */
    divergence_crowd_control(&model->crowd, team, shares_issue ? team->last : team->mask, pc, cycle);
    take_loose(model, cycle);
    if (!shares_issue)
        finish(model, team, cycle);
}

static void meet(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_team *team = (struct divergence_team *)group;
    if (!team->issued)
        divergence_team_set_pcs(team, group->pc);
    finish(user, team, cycle);
}

static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_team *team = (struct divergence_team *)group;
    divergence_team_dismiss(team);
    if (team->mask && !is_full(model, team))
        regroup(model, team, cycle);
    if (team->mask)
        set_running(model, team);
    else
        divergence_crowd_leave(&model->crowd, team, true, cycle);
}

static void refill(void *user, uint64_t cycle) { divergence_crowd_refill(&((struct model *)user)->crowd, cycle); }

static void visit(const void *user, const struct divergence_block *block,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    divergence_crowd_visit(&((const struct model *)user)->crowd, block, thread, visitor);
}

const struct divergence_ops divergence_mimd = {
    .name = "mimd",
    .help = "every lane fetches its own instruction: a bound on what grouping an SM's threads can gain",
    .splits_rows = true,
    .refuses = refuses,
    .n_slots = divergence_crowd_n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .new_block = divergence_crowd_new_block,
    .free_block = divergence_crowd_free_block,
    .admit = admit,
    .bundle = bundle,
    .control = control,
    .meet = meet,
    .resume = resume,
    .refill = refill,
    .visit = visit,
};
