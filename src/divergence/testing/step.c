/* The fixture: executes instructions of groups. */
#include "divergence/testing/internal.h"

static void fixture_execute(struct fixture_sm *sm, const struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &sm->f->program->code[bundle->pc];
    if (!bundle->mask || fixture_is_control(sm->f, insn))
        return;
    if (bundle->row)
        exec_row_insn(&sm->cx, bundle->row, insn, bundle->mask);
    else
        exec_scattered_insn(&sm->cx, insn, bundle->mask);
}

/* Tells the model of a memory instruction: which lanes hit, and, when none is missing, that it is complete. */
static void fixture_access_memory(struct fixture_sm *sm, struct divergence_group *group,
                                  const struct divergence_bundle *bundle) {
    struct fixture *f = sm->f;
    const struct exec_insn *insn = &f->program->code[bundle->pc];
    bool is_long = insn->access.space == PTX_SPACE_GLOBAL || insn->access.space == PTX_SPACE_GENERIC ||
                   insn->access.space == PTX_SPACE_LOCAL;
    if (insn->kind != EXEC_KIND_CONTEXT || !is_long || !bundle->mask || group->status == DIVERGENCE_ENDED)
        return;
    struct fixture_slot *slot = fixture_slot_of(sm, group);
    uint32_t delay[EXEC_LANES] = {0};
    if (f->outcome && insn->n_dst)
        f->outcome(f->user, group, bundle->pc, bundle->mask, delay);
    struct fixture_access access = {.tag = bundle->tag, .pc = bundle->pc, .lanes = bundle->mask, .row = bundle->row};
    struct divergence_access report = {.pc = bundle->pc,
                                       .row = bundle->row,
                                       .tag = bundle->tag,
                                       .ready = f->cycle,
                                       .is_awaited = insn->n_dst > 0,
                                       .n_others = slot->n_accesses};
    for (uint32_t left = bundle->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        access.arrives[lane] = f->cycle + delay[lane];
        *(delay[lane] ? &report.missing : &report.hit) |= 1u << lane;
    }
    access.missed = report.missing;
    if (report.missing) {
        assert_true(slot->n_accesses < FIXTURE_ACCESSES);
        slot->access[slot->n_accesses++] = access;
        sm->reported = &access;
    }
    if (f->ops->memory && f->ops->memory->answered)
        f->ops->memory->answered(sm->model, group, &report, f->cycle);
    sm->reported = NULL;
    if (!report.missing && f->ops->memory && f->ops->memory->complete && group->status != DIVERGENCE_ENDED)
        f->ops->memory->complete(sm->model, group, bundle->tag, f->cycle);
}

/* The bundle that a group with a row or threads is. */
static struct divergence_bundle fixture_own_bundle(struct fixture_sm *sm, const struct divergence_group *group) {
    const struct exec_insn *insn = &sm->f->program->code[group->pc];
    struct exec_row *row = divergence_is_in_row(group) ? group->row : NULL;
    if (!row) {
        exec_threads_ready(&sm->cx, group->threads, group->pc, group->mask);
        exec_use_threads(&sm->cx, group->threads);
    }
    uint32_t mask =
        row ? divergence_guard(row, insn, group->mask) : exec_threads_guard(group->threads, insn, group->mask);
    return (struct divergence_bundle){.pc = group->pc, .mask = mask, .row = row, .is_last = true};
}

/* One bundle. True when another one belongs to it: of the same instruction, or of the same cycle (shares_issue). */
static bool fixture_issue_bundle(struct fixture_sm *sm, struct divergence_group *group, bool *is_shared) {
    struct fixture *f = sm->f;
    struct divergence_bundle bundle = {.pc = group->pc, .ready = ~0u};
    if (group->row || group->threads)
        bundle = fixture_own_bundle(sm, group);
    else
        f->ops->bundle(sm->model, group, &bundle, f->cycle);
    if (f->watch)
        f->watch(f->user, group, &bundle);
    sm->n_bundles += !bundle.shares_issue;
    *is_shared |= bundle.shares_issue;
    if (!sm->cx.fault.kind)
        fixture_execute(sm, &bundle);
    if (sm->cx.fault.kind)
        return false;
    bool is_control = fixture_is_control(f, &f->program->code[bundle.pc]);
    if (is_control && (bundle.is_last || *is_shared))
        f->ops->control(sm->model, group, bundle.pc, bundle.mask, f->cycle);
    if (*is_shared ? !bundle.shares_issue : bundle.is_last && !is_control && ++group->pc == group->notify_pc)
        f->ops->reached(sm->model, group, f->cycle);
    if (!sm->cx.fault.kind)
        fixture_access_memory(sm, group, &bundle);
    return *is_shared ? bundle.shares_issue : !bundle.is_last && !group->is_blocked;
}

static void fixture_issue_with_others(struct fixture_sm *sm, uint32_t s) {
    struct divergence_group *group = sm->slot[s].group;
    bool is_shared = false;
    sm->slot[s].n_issued++;
    fixture_issue_bundle(sm, group, &is_shared);
    fixture_after(sm, group);
}

/* Groups that issue with the one that has just issued at pc: parts of its instruction, and none of its own. */
static void fixture_issue_followers(struct fixture_sm *sm, uint32_t pc) {
    for (uint32_t s = 0; s < sm->n_used && !sm->cx.fault.kind; s++) {
        struct divergence_group *group = sm->slot[s].group;
        bool is_ready = fixture_can_step(sm, s) && group->status == DIVERGENCE_RUNS && group->row && group->pc == pc;
        if (is_ready && sm->f->ops->joint->follows(sm->model, group))
            fixture_issue_with_others(sm, s);
    }
}

/* The groups that could take a step before the one that leads did, by slot; 0: none. Others need another cycle. */
struct fixture_ready {
    uint32_t pc[FIXTURE_SLOTS], mask[FIXTURE_SLOTS];
};

static void fixture_find_ready(const struct fixture_sm *sm, uint32_t first, struct fixture_ready *ready) {
    for (uint32_t s = 0; s < sm->f->n_slots; s++) {
        const struct divergence_group *group = sm->slot[s].group;
        bool is_ready = s != first && fixture_can_step(sm, s) && group->status == DIVERGENCE_RUNS;
        ready->pc[s] = is_ready ? group->pc : 0;
        ready->mask[s] = is_ready ? group->mask : 0;
    }
}

/* Groups that issue in the same cycle as another, with instructions of their own. */
static void fixture_issue_others(struct fixture_sm *sm, struct fixture_ready *ready) {
    while (!sm->cx.fault.kind) {
        struct divergence_group *found[FIXTURE_SLOTS];
        uint32_t n = 0;
        for (uint32_t s = 0; s < sm->n_used; s++) {
            struct divergence_group *group = sm->slot[s].group;
            if (ready->mask[s] && fixture_can_step(sm, s) && group->status == DIVERGENCE_RUNS &&
                group->pc == ready->pc[s] && group->mask == ready->mask[s])
                found[n++] = group;
        }
        int at = n ? sm->f->ops->joint->next(sm->model, found, n) : -1;
        if (at < 0)
            return;
        ready->mask[found[at]->slot] = 0;
        fixture_issue_with_others(sm, (uint32_t)found[at]->slot);
    }
}

void fixture_step(struct fixture_sm *sm, uint32_t s) {
    struct fixture *f = sm->f;
    struct divergence_group *group = sm->slot[s].group;
    if (!fixture_can_step(sm, s))
        fail_msg("slot %u cannot take a step: %s", s,
                 !group                               ? "no group"
                 : group->status == DIVERGENCE_WAITS  ? "waits"
                 : group->status == DIVERGENCE_DRAINS ? "drains with loads in flight"
                 : group->ready_cycle > f->cycle      ? "not ready yet"
                                                      : "loads in flight");
    f->cycle++;
    sm->cx.time = f->cycle;
    if (group->status == DIVERGENCE_DRAINS) {
        f->ops->resume(sm->model, group, f->cycle);
    } else {
        uint32_t pc = group->pc;
        bool leads = f->ops->joint && f->ops->joint->leads && group->row && f->ops->joint->leads(sm->model, group),
             is_shared = false;
        struct fixture_ready ready;
        if (leads && f->ops->joint->next)
            fixture_find_ready(sm, s, &ready);
        sm->n_instructions++;
        sm->slot[s].n_issued++;
        while (fixture_issue_bundle(sm, group, &is_shared) && !sm->cx.fault.kind) {
        }
        fixture_after(sm, group);
        uint64_t n_bundles = sm->n_bundles; /* they count as one */
        if (leads && !sm->cx.fault.kind && f->ops->joint->next)
            fixture_issue_others(sm, &ready);
        else if (leads && !sm->cx.fault.kind)
            fixture_issue_followers(sm, pc);
        sm->n_bundles = n_bundles;
        return;
    }
    fixture_after(sm, group);
}
