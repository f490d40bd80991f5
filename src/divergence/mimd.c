/* mimd: every lane fetches an instruction of its own. A bundle is any threads of the SM, as many as there are lanes,
 * whatever their program counters; a divergent branch costs nothing, and lanes stay empty only when threads have ended
 * or wait for others. With perfect memory it bounds what grouping the threads of an SM can gain.
 *
 * Source: Malits 2012, 3.2.
 *
 * Ours: threads stay in their group while it is full. When regrouping the incomplete ones gives fewer groups, each of
 * them waits for its results after its next instruction, and then those that wait to be picked are put together. In one
 * cycle every lane may use the unit it needs, and only one instruction of a group is looked up in the I-cache.
 *
 * On a scoreboard machine, where that wait would cost time, every lane has a scoreboard of its own: a group issues
 * those of its threads that can go, and other groups theirs in the lanes that are left. Groups stay as they are. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/warp_pool/warp_pool.h"

enum { MOST_REGROUPED = 64 };

/* Threads of a team with one pc. */
struct part {
    uint32_t pc, mask;
    struct exec_row *row; /* they are lanes of it, each in its own; NULL: not so */
};

/* In parts, the lowest pc first: they issue in this order, in one cycle. A team of one part has the pc of its group,
 * which the SM moves. The pcs of single threads (team.pc) are set where parts may change: after control instructions,
 * and when teams are put together. */
struct mixed_team {
    struct divergence_team team;
    struct part part[EXEC_LANES];
    uint32_t n_parts;
    uint32_t n_issued;   /* parts that have issued in this cycle */
    uint32_t controlled; /* threads that have executed a control instruction there: team.pc has their next pcs */
    /* With scoreboards, instead of the parts: team.pc has all pcs. */
    uint32_t issued, last; /* threads that have issued in this cycle, and those of the last bundle */
    bool shares_issue;     /* several bundles go in this cycle */
};

struct model {
    struct divergence_crowd crowd;
    bool has_scoreboards;  /* one for each lane: threads go on by themselves */
    bool pays;             /* what regrouping_pays() found last */
    bool may_have_changed; /* and threads have come, gone or waited since */
};

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    return divergence_refuse_unsynced(program, "mimd", text, size);
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    divergence_crowd_start(&model->crowd, setup, sizeof(struct mixed_team));
    model->crowd.keeps_waiting = model->has_scoreboards = setup->machine->pipeline == CONFIG_PIPELINE_SCOREBOARD;
    return model;
}

static void free_model(void *user) {
    divergence_crowd_end(&((struct model *)user)->crowd);
    free(user);
}

static struct mixed_team *mixed(struct divergence_team *team) { return (struct mixed_team *)team; }

static uint32_t n_threads(const struct divergence_team *team) { return (uint32_t)__builtin_popcount(team->mask); }

static bool is_full(const struct model *model, const struct divergence_team *team) {
    return team->mask == model->crowd.all_lanes;
}

/* --- parts --- */

/* Threads with this pc, which are lanes of `row` (NULL: of no one row), join those that have it already. */
static void add_part(struct mixed_team *team, uint32_t pc, uint32_t mask, struct exec_row *row) {
    uint32_t at = team->n_parts;
    while (at > 0 && team->part[at - 1].pc > pc)
        at--;
    struct part *part = &team->part[at];
    if (at > 0 && part[-1].pc == pc) {
        part[-1].mask |= mask;
        part[-1].row = part[-1].row == row ? row : NULL;
        return;
    }
    memmove(part + 1, part, (team->n_parts++ - at) * sizeof *part);
    *part = (struct part){pc, mask, row};
}

/* Adds parts for these threads, each with its own pc; all are lanes of `row`, or that is not known (NULL). */
static void add_threads(struct mixed_team *team, uint32_t mask, struct exec_row *row) {
    const uint32_t *pc = team->team.pc;
    for (uint32_t left = mask, there; left; left &= ~there) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        there = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            there |= (uint32_t)(pc[__builtin_ctz(rest)] == pc[first]) << __builtin_ctz(rest);
        add_part(team, pc[first], there, row ? row : divergence_team_row(&team->team, there));
    }
}

/* Some threads have executed control instructions, or ended. */
static void find_parts_again(struct mixed_team *team) {
    struct part old[EXEC_LANES];
    uint32_t n = team->n_parts;
    memcpy(old, team->part, n * sizeof *old);
    team->n_parts = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].mask & team->controlled)
            add_threads(team, old[i].mask & team->team.mask, old[i].row);
        else
            add_part(team, old[i].pc, old[i].mask, old[i].row);
    }
}

/* Gives every thread the pc of its part. */
static void set_pcs(struct mixed_team *team) {
    if (team->n_parts == 1 && !team->n_issued)
        team->part[0].pc = team->team.group.pc;
    for (uint32_t i = 0; i < team->n_parts; i++)
        for (uint32_t left = team->part[i].mask & ~team->controlled; left; left &= left - 1)
            team->team.pc[__builtin_ctz(left)] = team->part[i].pc;
    team->controlled = 0;
}

/* --- what the SM sees --- */

/* The pc of a team with several: of a memory instruction, if there is one (of several, that of the last thread), since
 * the load/store unit must have room; else the lowest. */
static uint32_t pc_to_show(const struct exec_insn *code, const struct mixed_team *team) {
    uint32_t pc = team->part[0].pc;
    int last = -1;
    for (uint32_t i = 0; i < team->n_parts; i++) {
        int lane = 31 - __builtin_clz(team->part[i].mask);
        if (lane < last || !exec_has_addresses(code[team->part[i].pc].kind))
            continue;
        pc = team->part[i].pc;
        last = lane;
    }
    return pc;
}

/* The team goes on, with the parts that it has. */
static void run_parts(const struct model *model, struct mixed_team *team) {
    struct divergence_group *group = &team->team.group;
    uint32_t lowest = team->part[0].pc;
    team->n_issued = team->controlled = 0;
    group->status = DIVERGENCE_RUNS;
    group->pc = lowest;
    group->meet = is_full(model, &team->team) ? (uint32_t)EXEC_NO_PC : lowest + 1;
    if (team->n_parts > 1)
        group->pc = pc_to_show(model->crowd.setup.cx->grid->program->code, team);
}

static void show(struct divergence_team *team, struct exec_row *row) {
    team->group.row = row;
    team->group.mask = team->mask;
    team->group.n_threads = n_threads(team);
}

/* The same, with new parts. */
static void show_parts(const struct model *model, struct mixed_team *team) {
    show(&team->team, team->n_parts == 1 ? team->part[0].row : NULL);
    run_parts(model, team);
}

/* Those that do not wait go on, with scoreboards of their own. */
static void run_lanes(struct mixed_team *team) {
    struct divergence_group *group = &team->team.group;
    team->issued = 0;
    team->shares_issue = false;
    show(&team->team, NULL);
    group->status = DIVERGENCE_RUNS;
    group->pc = team->team.pc[__builtin_ctz(team->team.mask & ~team->team.waits)];
    group->meet = group->pc + 1;
}

/* The team goes on with other threads, whose pcs are set. */
static void set_running(const struct model *model, struct divergence_team *team) {
    if (model->has_scoreboards) {
        run_lanes(mixed(team));
        return;
    }
    mixed(team)->n_parts = 0;
    add_threads(mixed(team), team->mask, NULL);
    show_parts(model, mixed(team));
}

static const uint32_t *lane_pcs(void *user, const struct divergence_group *group, uint32_t *mask) {
    (void)user;
    const struct divergence_team *team = (const struct divergence_team *)group;
    *mask = team->mask & ~team->waits;
    return team->pc;
}

static bool moves_on(const struct exec_insn *insn) {
    return insn->kind < EXEC_KIND_BRANCH && !exec_acts_on_row(insn->kind);
}

/* Of the threads that are ready, the first and those with the same pc. */
static void bundle_ready(struct mixed_team *team, struct exec_context *cx, struct divergence_bundle *bundle) {
    struct divergence_team *threads = &team->team;
    uint32_t left = threads->mask & bundle->ready & ~(threads->waits | team->issued);
    bundle->pc = threads->pc[__builtin_ctz(left)];
    team->last = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
        team->last |= (uint32_t)(threads->pc[__builtin_ctz(rest)] == bundle->pc) << __builtin_ctz(rest);
    bundle->shares_issue = left != team->last;
    team->shares_issue |= bundle->shares_issue;
    team->issued |= team->last;
    bundle->ready = team->last;
    divergence_team_bundle(threads, team->last, divergence_team_row(threads, team->last), cx, bundle);
    if (moves_on(&cx->grid->program->code[bundle->pc]))
        for (uint32_t moved = team->last; moved; moved &= moved - 1)
            threads->pc[__builtin_ctz(moved)]++;
}

static void bundle(void *user, struct divergence_group *group, struct divergence_bundle *bundle, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct exec_context *cx = model->crowd.setup.cx;
    struct mixed_team *team = (struct mixed_team *)group;
    bundle->is_last = true;
    if (model->has_scoreboards) {
        bundle_ready(team, cx, bundle);
        return;
    }
    struct part *part = &team->part[team->n_issued];
    if (team->n_parts == 1) { /* the SM moves the pc */
        bundle->pc = group->pc;
        divergence_team_bundle(&team->team, part->mask, part->row, cx, bundle);
        return;
    }
    bundle->pc = part->pc;
    bundle->shares_issue = ++team->n_issued < team->n_parts;
    divergence_team_bundle(&team->team, part->mask, part->row, cx, bundle);
    part->pc += moves_on(&cx->grid->program->code[bundle->pc]);
}

/* --- regrouping --- */

static bool is_fewer(const struct model *model, uint32_t n_teams, uint32_t n) {
    uint32_t warp_size = model->crowd.setup.machine->warp_size;
    return (n + warp_size - 1) / warp_size < n_teams;
}

/* Whether the incomplete teams would be fewer if they went together. */
static bool regrouping_pays(struct model *model) {
    if (!model->may_have_changed)
        return model->pays;
    uint32_t n_teams = 0, n = 0;
    for (uint32_t i = 0; i < model->crowd.n_live; i++) {
        const struct divergence_team *team = model->crowd.live[i];
        if (is_full(model, team) || team->group.status == DIVERGENCE_WAITS)
            continue;
        n_teams++;
        n += n_threads(team);
    }
    model->may_have_changed = false;
    return model->pays = is_fewer(model, n_teams, n);
}

static void move_threads(const struct model *model, struct divergence_team *to, struct divergence_team *from) {
    uint8_t at[EXEC_LANES];
    uint32_t moving = 0;
    for (uint32_t left = from->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        int room = divergence_team_room(to, from->threads.lane[i], model->crowd.setup.machine->warp_size);
        if (room < 0)
            break;
        at[i] = (uint8_t)room;
        to->mask |= 1u << room;
        moving |= 1u << i;
    }
    divergence_team_take(&model->crowd, to, at, from, moving);
    from->mask &= ~moving;
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
    if (!is_fewer(model, n, sum))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (team[i] != self)
            set_pcs(mixed(team[i]));
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
            int at = divergence_team_room(team, lane, crowd->setup.machine->warp_size);
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
    model->may_have_changed = true;
    take_loose(model, cycle);
}

/* Threads that wait stay where they are, and the others go on without them. */
static void finish_lanes(struct model *model, struct mixed_team *team) {
    if (team->team.waits == team->team.mask)
        team->team.group.status = model->crowd.queue_length ? DIVERGENCE_DRAINS : DIVERGENCE_WAITS;
    else
        run_lanes(team);
}

/* Every thread of the team has executed an instruction. */
static void finish(struct model *model, struct mixed_team *mixed_team, uint64_t cycle) {
    struct divergence_team *team = &mixed_team->team;
    if (!team->mask) {
        divergence_crowd_leave(&model->crowd, team, true, cycle);
        return;
    }
    if (model->has_scoreboards) {
        finish_lanes(model, mixed_team);
        return;
    }
    bool tries = !is_full(model, team) && regrouping_pays(model);
    if (!tries && !mixed_team->controlled) { /* nobody has come or gone */
        run_parts(model, mixed_team);
        return;
    }
    if (team->waits || tries) {
        set_pcs(mixed_team);
        mixed_team->n_issued = 0;
        model->may_have_changed = true;
        team->group.status =
            team->waits == team->mask && !model->crowd.queue_length ? DIVERGENCE_WAITS : DIVERGENCE_DRAINS;
        return;
    }
    find_parts_again(mixed_team);
    show_parts(model, mixed_team);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct mixed_team *team = (struct mixed_team *)group;
    if (model->has_scoreboards) {
        divergence_crowd_control(&model->crowd, &team->team, team->last, mask, pc, cycle);
        take_loose(model, cycle);
        if (!team->shares_issue) /* else meet() follows */
            finish(model, team, cycle);
        return;
    }
    bool shares_issue = team->n_issued != 0; /* meet() follows */
    const struct part *part = &team->part[shares_issue ? team->n_issued - 1 : 0];
    team->controlled |= part->mask;
    if (model->crowd.setup.cx->grid->program->code[pc].kind != EXEC_KIND_BRANCH)
        model->may_have_changed = true;
    divergence_crowd_control(&model->crowd, &team->team, part->mask, mask, pc, cycle);
    take_loose(model, cycle);
    if (!shares_issue)
        finish(model, team, cycle);
}

static void meet(void *user, struct divergence_group *group, uint64_t cycle) {
    struct mixed_team *team = (struct mixed_team *)group;
    if (!team->n_issued) /* with scoreboards of no meaning, like the parts */
        team->part[0].pc = group->pc;
    finish(user, team, cycle);
}

static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_team *team = (struct divergence_team *)group;
    model->may_have_changed = true;
    if (!model->has_scoreboards || team->waits == team->mask)
        divergence_team_dismiss(team);
    if (!model->has_scoreboards && team->mask && !is_full(model, team))
        regroup(model, team, cycle);
    if (team->mask)
        set_running(model, team);
    else
        divergence_crowd_leave(&model->crowd, team, true, cycle);
}

static void refill(void *user, uint64_t cycle) {
    struct model *model = user;
    model->may_have_changed = true;
    divergence_crowd_refill(&model->crowd, cycle);
}

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
    .lane_pcs = lane_pcs,
    .bundle = bundle,
    .control = control,
    .meet = meet,
    .resume = resume,
    .refill = refill,
    .visit = visit,
};
