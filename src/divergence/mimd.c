/* mimd: every lane fetches its own instruction. A bundle contains any threads of the SM, as many as there are lanes,
 * whatever their program counters. A divergent branch costs nothing, and lanes stay empty only when threads have ended
 * or wait for others. With perfect memory this model is an upper bound for the gain from grouping the threads of an SM.
 *
 * Source: Malits 2012, 3.2.
 *
 * Ours: threads stay in their group while it is full. If the threads of the incomplete groups would fit into fewer
 * groups, each incomplete group waits for its results after its next instruction. Then the groups that wait to be
 * picked are put together. In one cycle every lane may use the unit it needs. Only one instruction of a group is looked
 * up in the I-cache.
 *
 * On a scoreboard machine that wait would cost time, so every lane has its own scoreboard. A group issues those of its
 * threads that are ready, and other groups issue theirs in the lanes that are left. Groups stay as they are. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/warp_pool/warp_pool.h"

enum { MOST_REGROUPED = 64 };

/* Threads of a warp with one pc. */
struct part {
    uint32_t pc, mask;
    struct exec_row *row; /* the row of all of them, each in its own lane; NULL: there is none */
};

/* A warp in parts, the lowest pc first. They issue in this order, in one cycle. The pc of a single part is that of the
 * group, which the SM advances. The pcs of single threads (warp.pc) are set where parts may change: after control
 * instructions, and when warps are put together. */
struct mixed_warp {
    struct divergence_dynamic_warp warp;
    struct part part[EXEC_LANES];
    uint32_t n_parts;
    uint32_t n_issued;   /* parts that have issued in this cycle */
    uint32_t controlled; /* threads that have executed a control instruction there: warp.pc holds their next pcs */
    /* With scoreboards, instead of the parts; warp.pc then holds all pcs. */
    uint32_t issued, last; /* threads that have issued in this cycle, and those of the last bundle */
    bool shares_issue;     /* several bundles go in this cycle */
};

struct model {
    struct divergence_warp_pool pool;
    bool has_scoreboards;  /* one for each lane: threads continue by themselves */
    bool pays;             /* the last result of regrouping_pays(), */
    bool may_have_changed; /* unless threads have come, gone or waited since */
};

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    return divergence_refuse_unsynced(program, "mimd", text, size);
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    divergence_warp_pool_start(&model->pool, setup, sizeof(struct mixed_warp));
    model->pool.keeps_waiting = model->has_scoreboards = setup->machine->sm.pipeline == CONFIG_PIPELINE_SCOREBOARD;
    return model;
}

static void free_model(void *user) {
    divergence_warp_pool_end(&((struct model *)user)->pool);
    free(user);
}

static struct mixed_warp *mixed(struct divergence_dynamic_warp *warp) { return (struct mixed_warp *)warp; }

static uint32_t n_threads(const struct divergence_dynamic_warp *warp) {
    return (uint32_t)__builtin_popcount(warp->mask);
}

static bool is_full(const struct model *model, const struct divergence_dynamic_warp *warp) {
    return warp->mask == model->pool.all_lanes;
}

/* --- parts --- */

/* Adds threads with this pc, which are lanes of `row` (NULL: of no single row), to the part that has it already. */
static void add_part(struct mixed_warp *warp, uint32_t pc, uint32_t mask, struct exec_row *row) {
    uint32_t at = warp->n_parts;
    while (at > 0 && warp->part[at - 1].pc > pc)
        at--;
    struct part *part = &warp->part[at];
    if (at > 0 && part[-1].pc == pc) {
        part[-1].mask |= mask;
        part[-1].row = part[-1].row == row ? row : NULL;
        return;
    }
    memmove(part + 1, part, (warp->n_parts++ - at) * sizeof *part);
    *part = (struct part){pc, mask, row};
}

/* Adds parts for these threads, each with its own pc; all are lanes of `row`, or that is not known (NULL). */
static void add_threads(struct mixed_warp *warp, uint32_t mask, struct exec_row *row) {
    const uint32_t *pc = warp->warp.pc;
    for (uint32_t left = mask, there; left; left &= ~there) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        there = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            there |= (uint32_t)(pc[__builtin_ctz(rest)] == pc[first]) << __builtin_ctz(rest);
        add_part(warp, pc[first], there, row ? row : divergence_dynamic_warp_row(&warp->warp, there));
    }
}

/* Some threads have executed control instructions, or ended. */
static void find_parts_again(struct mixed_warp *warp) {
    struct part old[EXEC_LANES];
    uint32_t n = warp->n_parts;
    memcpy(old, warp->part, n * sizeof *old);
    warp->n_parts = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].mask & warp->controlled)
            add_threads(warp, old[i].mask & warp->warp.mask, old[i].row);
        else
            add_part(warp, old[i].pc, old[i].mask, old[i].row);
    }
}

/* Sets the pc of every thread to that of its part. */
static void set_pcs(struct mixed_warp *warp) {
    if (warp->n_parts == 1 && !warp->n_issued)
        warp->part[0].pc = warp->warp.group.pc;
    for (uint32_t i = 0; i < warp->n_parts; i++)
        for (uint32_t left = warp->part[i].mask & ~warp->controlled; left; left &= left - 1)
            warp->warp.pc[__builtin_ctz(left)] = warp->part[i].pc;
    warp->controlled = 0;
}

/* --- what the SM sees --- */

/* Returns the pc that the SM sees of a warp with several. If one of them is a memory instruction, it is that pc, since
 * the load/store unit must have room (of several, that of the last thread). Otherwise it is the lowest. */
static uint32_t pc_to_show(const struct exec_insn *code, const struct mixed_warp *warp) {
    uint32_t pc = warp->part[0].pc;
    int last = -1;
    for (uint32_t i = 0; i < warp->n_parts; i++) {
        int lane = 31 - __builtin_clz(warp->part[i].mask);
        if (lane < last || !exec_has_addresses(code[warp->part[i].pc].kind))
            continue;
        pc = warp->part[i].pc;
        last = lane;
    }
    return pc;
}

/* The warp continues, with the parts that it has. */
static void run_parts(const struct model *model, struct mixed_warp *warp) {
    struct divergence_group *group = &warp->warp.group;
    uint32_t lowest = warp->part[0].pc;
    warp->n_issued = warp->controlled = 0;
    group->status = DIVERGENCE_RUNS;
    group->pc = lowest;
    group->notify_pc = is_full(model, &warp->warp) ? (uint32_t)EXEC_NO_PC : lowest + 1;
    if (warp->n_parts > 1)
        group->pc = pc_to_show(model->pool.setup.cx->grid->program->code, warp);
}

static void show(struct divergence_dynamic_warp *warp, struct exec_row *row) {
    warp->group.row = row;
    warp->group.mask = warp->mask;
    warp->group.n_threads = n_threads(warp);
}

/* The same, with new parts. */
static void show_parts(const struct model *model, struct mixed_warp *warp) {
    show(&warp->warp, warp->n_parts == 1 ? warp->part[0].row : NULL);
    run_parts(model, warp);
}

/* Threads that do not wait continue, with scoreboards of their own. */
static void run_lanes(struct mixed_warp *warp) {
    struct divergence_group *group = &warp->warp.group;
    warp->issued = 0;
    warp->shares_issue = false;
    show(&warp->warp, NULL);
    group->status = DIVERGENCE_RUNS;
    group->pc = warp->warp.pc[__builtin_ctz(warp->warp.mask & ~warp->warp.waits)];
    group->notify_pc = group->pc + 1;
}

/* The warp continues with other threads, whose pcs are set. */
static void set_running(const struct model *model, struct divergence_dynamic_warp *warp) {
    if (model->has_scoreboards) {
        run_lanes(mixed(warp));
        return;
    }
    mixed(warp)->n_parts = 0;
    add_threads(mixed(warp), warp->mask, NULL);
    show_parts(model, mixed(warp));
}

static const uint32_t *lane_pcs(void *user, const struct divergence_group *group, uint32_t *mask) {
    (void)user;
    const struct divergence_dynamic_warp *warp = (const struct divergence_dynamic_warp *)group;
    *mask = warp->mask & ~warp->waits;
    return warp->pc;
}

static bool moves_on(const struct exec_insn *insn) {
    return insn->kind < EXEC_KIND_BRANCH && !exec_acts_on_row(insn->kind);
}

/* Fills in the bundle of the first thread that is ready, and of those with the same pc. */
static void bundle_ready(struct mixed_warp *warp, struct exec_context *cx, struct divergence_bundle *bundle) {
    struct divergence_dynamic_warp *threads = &warp->warp;
    uint32_t left = threads->mask & bundle->ready & ~(threads->waits | warp->issued);
    bundle->pc = threads->pc[__builtin_ctz(left)];
    warp->last = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
        warp->last |= (uint32_t)(threads->pc[__builtin_ctz(rest)] == bundle->pc) << __builtin_ctz(rest);
    bundle->shares_issue = left != warp->last;
    warp->shares_issue |= bundle->shares_issue;
    warp->issued |= warp->last;
    bundle->ready = warp->last;
    divergence_dynamic_warp_bundle(threads, warp->last, divergence_dynamic_warp_row(threads, warp->last), cx, bundle);
    if (moves_on(&cx->grid->program->code[bundle->pc]))
        for (uint32_t moved = warp->last; moved; moved &= moved - 1)
            threads->pc[__builtin_ctz(moved)]++;
}

static void bundle(void *user, struct divergence_group *group, struct divergence_bundle *bundle, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct exec_context *cx = model->pool.setup.cx;
    struct mixed_warp *warp = (struct mixed_warp *)group;
    bundle->is_last = true;
    if (model->has_scoreboards) {
        bundle_ready(warp, cx, bundle);
        return;
    }
    struct part *part = &warp->part[warp->n_issued];
    if (warp->n_parts == 1) { /* the SM moves the pc */
        bundle->pc = group->pc;
        divergence_dynamic_warp_bundle(&warp->warp, part->mask, part->row, cx, bundle);
        return;
    }
    bundle->pc = part->pc;
    bundle->shares_issue = ++warp->n_issued < warp->n_parts;
    divergence_dynamic_warp_bundle(&warp->warp, part->mask, part->row, cx, bundle);
    part->pc += moves_on(&cx->grid->program->code[bundle->pc]);
}

/* --- regrouping --- */

static bool is_fewer(const struct model *model, uint32_t n_warps, uint32_t n) {
    uint32_t warp_size = model->pool.setup.machine->sm.warp_size;
    return (n + warp_size - 1) / warp_size < n_warps;
}

/* Returns whether there would be fewer incomplete warps if they were put together. */
static bool regrouping_pays(struct model *model) {
    if (!model->may_have_changed)
        return model->pays;
    uint32_t n_warps = 0, n = 0;
    for (uint32_t i = 0; i < model->pool.n_live; i++) {
        const struct divergence_dynamic_warp *warp = model->pool.live[i];
        if (is_full(model, warp) || warp->group.status == DIVERGENCE_WAITS)
            continue;
        n_warps++;
        n += n_threads(warp);
    }
    model->may_have_changed = false;
    return model->pays = is_fewer(model, n_warps, n);
}

static void move_threads(const struct model *model, struct divergence_dynamic_warp *to,
                         struct divergence_dynamic_warp *from) {
    uint8_t at[EXEC_LANES];
    uint32_t moving = 0;
    for (uint32_t left = from->mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        int room = divergence_dynamic_warp_room(to, from->threads.lane[i], model->pool.setup.machine->sm.warp_size);
        if (room < 0)
            break;
        at[i] = (uint8_t)room;
        to->mask |= 1u << room;
        moving |= 1u << i;
    }
    divergence_dynamic_warp_take(&model->pool, to, at, from, moving);
    from->mask &= ~moving;
}

/* Finds incomplete warps that have nothing in flight, the largest first. `self` is one of them. */
static uint32_t find_at_rest(const struct model *model, struct divergence_dynamic_warp *self, uint64_t cycle,
                             struct divergence_dynamic_warp *found[MOST_REGROUPED]) {
    const struct divergence_setup *setup = &model->pool.setup;
    uint32_t n = 1;
    found[0] = self;
    for (uint32_t i = 0; i < model->pool.n_live && n < MOST_REGROUPED; i++) {
        struct divergence_dynamic_warp *warp = model->pool.live[i];
        if (warp == self || is_full(model, warp) || warp->group.status != DIVERGENCE_RUNS ||
            setup->host->is_in_flight(setup->sm, &warp->group, cycle))
            continue;
        uint32_t at = n++;
        for (; at > 0 && n_threads(found[at - 1]) < n_threads(warp); at--)
            found[at] = found[at - 1];
        found[at] = warp;
    }
    return n;
}

/* Empties the smallest of the warps at rest into the largest. `self`, whose hook runs, is one of them. */
static void regroup(struct model *model, struct divergence_dynamic_warp *self, uint64_t cycle) {
    const struct divergence_setup *setup = &model->pool.setup;
    struct divergence_dynamic_warp *warp[MOST_REGROUPED];
    uint32_t n = find_at_rest(model, self, cycle, warp), sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += n_threads(warp[i]);
    if (!is_fewer(model, n, sum))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (warp[i] != self)
            set_pcs(mixed(warp[i]));
    for (uint32_t to = 0, from = n - 1; to < from;) {
        if (is_full(model, warp[to])) {
            to++;
            continue;
        }
        move_threads(model, warp[to], warp[from]);
        setup->counters->merges++;
        from -= !warp[from]->mask;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (warp[i] == self)
            continue;
        if (!warp[i]->mask) {
            divergence_warp_pool_leave(&model->pool, warp[i], false, cycle);
            continue;
        }
        set_running(model, warp[i]);
        if (warp[i]->group.slot != DIVERGENCE_NO_SLOT)
            setup->host->wake(setup->sm, &warp[i]->group, cycle);
    }
}

/* Loose threads (they no longer wait, or their block is new) become warps: whole rows as they are, the others
 * together. */
static void take_loose(struct model *model, uint64_t cycle) {
    struct divergence_warp_pool *pool = &model->pool;
    struct divergence_dynamic_warp *shared = NULL;
    for (uint32_t k = 0; k < pool->n_loose; k++) {
        const struct divergence_loose set = pool->loose[k];
        bool is_whole = (uint32_t)__builtin_popcount(set.mask) == pool->setup.machine->sm.warp_size;
        struct divergence_dynamic_warp *warp = is_whole ? divergence_warp_pool_new_warp(pool) : shared;
        for (uint32_t left = set.mask; left; left &= left - 1) {
            if (!warp || (is_full(model, warp) && !is_whole)) {
                if (warp) {
                    set_running(model, warp);
                    divergence_warp_pool_enter(pool, warp, cycle);
                }
                warp = shared = divergence_warp_pool_new_warp(pool);
            }
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            int at = divergence_dynamic_warp_room(warp, lane, pool->setup.machine->sm.warp_size);
            divergence_dynamic_warp_put(warp, (uint32_t)at, set.row, lane, set.pc);
            warp->group.passed = set.passed;
        }
        if (is_whole) {
            set_running(model, warp);
            divergence_warp_pool_enter(pool, warp, cycle);
        }
    }
    pool->n_loose = 0;
    if (!shared)
        return;
    set_running(model, shared);
    divergence_warp_pool_enter(pool, shared, cycle);
}

/* --- hooks --- */

static void admit(void *user, struct divergence_block *block, uint64_t cycle) {
    struct model *model = user;
    divergence_warp_pool_admit(&model->pool, block);
    model->may_have_changed = true;
    take_loose(model, cycle);
}

/* Threads that wait stay in the warp, and the others continue without them. */
static void finish_lanes(struct model *model, struct mixed_warp *warp) {
    if (warp->warp.waits == warp->warp.mask)
        warp->warp.group.status = model->pool.queue_length ? DIVERGENCE_DRAINS : DIVERGENCE_WAITS;
    else
        run_lanes(warp);
}

/* Every thread of the warp has executed an instruction. */
static void finish(struct model *model, struct mixed_warp *mixed_warp, uint64_t cycle) {
    struct divergence_dynamic_warp *warp = &mixed_warp->warp;
    if (!warp->mask) {
        divergence_warp_pool_leave(&model->pool, warp, true, cycle);
        return;
    }
    if (model->has_scoreboards) {
        finish_lanes(model, mixed_warp);
        return;
    }
    bool tries = !is_full(model, warp) && regrouping_pays(model);
    if (!tries && !mixed_warp->controlled) { /* no thread has come or gone */
        run_parts(model, mixed_warp);
        return;
    }
    if (warp->waits || tries) {
        set_pcs(mixed_warp);
        mixed_warp->n_issued = 0;
        model->may_have_changed = true;
        warp->group.status =
            warp->waits == warp->mask && !model->pool.queue_length ? DIVERGENCE_WAITS : DIVERGENCE_DRAINS;
        return;
    }
    find_parts_again(mixed_warp);
    show_parts(model, mixed_warp);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct mixed_warp *warp = (struct mixed_warp *)group;
    if (model->has_scoreboards) {
        divergence_warp_pool_control(&model->pool, &warp->warp, warp->last, mask, pc, cycle);
        take_loose(model, cycle);
        if (!warp->shares_issue) /* otherwise reached() follows */
            finish(model, warp, cycle);
        return;
    }
    bool shares_issue = warp->n_issued != 0; /* reached() follows */
    const struct part *part = &warp->part[shares_issue ? warp->n_issued - 1 : 0];
    warp->controlled |= part->mask;
    if (model->pool.setup.cx->grid->program->code[pc].kind != EXEC_KIND_BRANCH)
        model->may_have_changed = true;
    divergence_warp_pool_control(&model->pool, &warp->warp, part->mask, mask, pc, cycle);
    take_loose(model, cycle);
    if (!shares_issue)
        finish(model, warp, cycle);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct mixed_warp *warp = (struct mixed_warp *)group;
    if (!warp->n_issued) /* unused with scoreboards, like the parts */
        warp->part[0].pc = group->pc;
    finish(user, warp, cycle);
}

static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct divergence_dynamic_warp *warp = (struct divergence_dynamic_warp *)group;
    model->may_have_changed = true;
    if (!model->has_scoreboards || warp->waits == warp->mask)
        divergence_dynamic_warp_dismiss(warp);
    if (!model->has_scoreboards && warp->mask && !is_full(model, warp))
        regroup(model, warp, cycle);
    if (warp->mask)
        set_running(model, warp);
    else
        divergence_warp_pool_leave(&model->pool, warp, true, cycle);
}

static void refill(void *user, uint64_t cycle) {
    struct model *model = user;
    model->may_have_changed = true;
    divergence_warp_pool_refill(&model->pool, cycle);
}

static void visit(const void *user, const struct divergence_block *block,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    divergence_warp_pool_visit(&((const struct model *)user)->pool, block, thread, visitor);
}

const struct divergence_ops divergence_mimd = {
    .name = "mimd",
    .help = "every lane fetches its own instruction: a bound on what grouping an SM's threads can gain",
    .splits_rows = true,
    .refuses = refuses,
    .n_slots = divergence_warp_pool_n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .new_block = divergence_warp_pool_new_block,
    .free_block = divergence_warp_pool_free_block,
    .admit = admit,
    .bundle = bundle,
    .joint = &(const struct divergence_joint_ops){.lane_pcs = lane_pcs},
    .control = control,
    .reached = reached,
    .resume = resume,
    .refill = refill,
    .visit = visit,
};
