/* The fixture: ends loads, and chooses the order in which groups take their steps. */
#include "divergence/testing/internal.h"

static void fixture_end_access(struct fixture_sm *sm, uint32_t s, uint32_t i) {
    struct fixture_slot *slot = &sm->slot[s];
    struct divergence_group *group = slot->group;
    uint32_t tag = slot->access[i].tag;
    slot->access[i] = slot->access[--slot->n_accesses];
    if (sm->f->ops->memory && sm->f->ops->memory->complete)
        sm->f->ops->memory->complete(sm->model, group, tag, sm->f->cycle);
    fixture_after(sm, group);
}

static uint64_t fixture_end_of(const struct fixture_access *access) {
    uint64_t end = 0;
    for (uint32_t left = access->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        end = access->arrives[lane] > end ? access->arrives[lane] : end;
    }
    return end;
}

/* Tells the model of groups that wait for a load: others of their row may run instead. */
static void fixture_stall(struct fixture_sm *sm) {
    bool (*stalls)(void *, struct divergence_group *, uint64_t) =
        sm->f->ops->memory ? sm->f->ops->memory->stalls : NULL;
    for (uint32_t s = 0; s < sm->n_used && stalls; s++) {
        struct fixture_slot *slot = &sm->slot[s];
        bool waits = slot->group && slot->group->status == DIVERGENCE_RUNS && !sm->f->runs_ahead &&
                     fixture_awaits(sm, slot->group->row, slot->group->mask);
        if (waits && stalls(sm->model, slot->group, sm->f->cycle)) {
            fixture_after(sm, slot->group);
            waits = false;
        }
        slot->is_stalled = waits;
    }
}

void fixture_catch_up(struct fixture *f) {
    for (uint32_t k = 0; k < f->n_sms; k++) {
        struct fixture_sm *sm = &f->sm[k];
        for (uint32_t s = 0; s < sm->n_used; s++)
            for (uint32_t i = 0; i < sm->slot[s].n_accesses && sm->slot[s].group;) {
                if (fixture_end_of(&sm->slot[s].access[i]) > f->cycle) {
                    i++;
                    continue;
                }
                fixture_end_access(sm, s, i);
                i = 0;
            }
        fixture_stall(sm);
        if (sm->call_at <= f->cycle) {
            sm->call_at = UINT64_MAX;
            f->ops->refill(sm->model, f->cycle);
            fixture_after(sm, NULL);
        }
    }
}

void fixture_idle(struct fixture *f) {
    bool is_something_ahead = false;
    for (uint32_t k = 0; k < f->n_sms; k++) {
        struct fixture_sm *sm = &f->sm[k];
        is_something_ahead |= sm->call_at != UINT64_MAX;
        for (uint32_t s = 0; s < sm->n_used; s++) {
            const struct divergence_group *group = sm->slot[s].group;
            is_something_ahead |= group && (sm->slot[s].n_accesses ||
                                            (group->status == DIVERGENCE_RUNS && group->ready_cycle > f->cycle));
        }
    }
    if (!is_something_ahead)
        fail_msg("%s: deadlock at cycle %llu: %u of %u blocks have ended, and no group can go on",
                 f->label ? f->label : "", (unsigned long long)f->cycle, f->n_finished, f->grid.shape.grid[0]);
    f->cycle++;
    for (uint32_t k = 0; k < f->n_sms && f->ops->memory && f->ops->memory->idle; k++) {
        f->ops->memory->idle(f->sm[k].model, f->cycle);
        fixture_after(&f->sm[k], NULL);
    }
}

bool fixture_is_done(const struct fixture *f) {
    for (uint32_t k = 0; k < f->n_sms; k++)
        if (f->sm[k].cx.fault.kind)
            return true;
    return f->n_finished == f->grid.shape.grid[0];
}

static void fixture_count_step(struct fixture *f) {
    if (f->most_steps-- == 0)
        fail_msg("%s: no end: %u of %u blocks have ended", f->label ? f->label : "", f->n_finished,
                 f->grid.shape.grid[0]);
}

void fixture_run(struct fixture *f) {
    while (!fixture_is_done(f)) {
        bool has_stepped = false;
        fixture_catch_up(f);
        for (uint32_t k = 0; k < f->n_sms; k++)
            for (uint32_t s = 0; s < f->sm[k].n_used && !fixture_is_done(f); s++) {
                if (!fixture_can_step(&f->sm[k], s))
                    continue;
                has_stepped = true;
                fixture_step(&f->sm[k], s);
                fixture_count_step(f);
                if (!fixture_is_done(f))
                    fixture_catch_up(f);
            }
        if (!has_stepped && !fixture_is_done(f))
            fixture_idle(f);
    }
}

uint32_t fixture_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

void fixture_run_random(struct fixture *f, uint64_t seed) {
    while (!fixture_is_done(f)) {
        uint32_t n = 0, of_sm = 0, of_slot = 0;
        fixture_catch_up(f);
        for (uint32_t k = 0; k < f->n_sms; k++)
            for (uint32_t s = 0; s < f->sm[k].n_used; s++)
                if (fixture_can_step(&f->sm[k], s) && fixture_random(&seed) % ++n == 0) {
                    of_sm = k;
                    of_slot = s;
                }
        if (n) {
            fixture_step(&f->sm[of_sm], of_slot);
            fixture_count_step(f);
        } else if (!fixture_is_done(f)) {
            fixture_idle(f);
        }
    }
}

void fixture_resume_all(struct fixture *f) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < f->n_sms; k++)
            for (uint32_t s = 0; s < f->sm[k].n_used; s++) {
                const struct fixture_slot *slot = &f->sm[k].slot[s];
                if (!slot->group || slot->group->status != DIVERGENCE_DRAINS || slot->n_accesses)
                    continue;
                fixture_step(&f->sm[k], s);
                again = true;
            }
    }
}
