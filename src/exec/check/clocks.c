/* Vector clocks of a block's threads. See clocks.h. */
#include "exec/check/clocks.h"

#include "base/memory.h"
#include "exec/internal.h"

struct exec_clock {
    struct exec_clock *next; /* of the spare ones */
    uint32_t n_users;
    uint32_t known[];
};

/* --- clocks --- */

static struct exec_clock *take(struct exec_clocks *clocks) {
    struct exec_clock *clock = clocks->spare;
    if (clock)
        clocks->spare = clock->next;
    else
        clock = base_allocate(1, sizeof *clock + clocks->n_ids * sizeof *clock->known);
    memset(clock->known, 0, clocks->n_ids * sizeof *clock->known);
    clock->n_users = 1;
    return clock;
}

static void drop(struct exec_clocks *clocks, struct exec_clock *clock) {
    if (!clock || --clock->n_users)
        return;
    clock->next = clocks->spare;
    clocks->spare = clock;
}

static void use(struct exec_clocks *clocks, struct exec_clock **place, struct exec_clock *clock) {
    if (*place == clock)
        return;
    clock->n_users++;
    drop(clocks, *place);
    *place = clock;
}

static void join(const struct exec_clocks *clocks, struct exec_clock *to, const struct exec_clock *from) {
    for (uint32_t i = 0; i < clocks->n_ids; i++)
        to->known[i] = to->known[i] > from->known[i] ? to->known[i] : from->known[i];
}

static bool contains(const struct exec_clocks *clocks, const struct exec_clock *all, const struct exec_clock *part) {
    bool is_part = true;
    for (uint32_t i = 0; i < clocks->n_ids; i++)
        is_part &= all->known[i] >= part->known[i];
    return is_part;
}

static void keep_later(uint32_t *known, uint32_t stamp) { *known = *known > stamp ? *known : stamp; }

static bool has_copies(const struct exec_clocks *clocks) { return clocks->n_ids > clocks->n_threads; }

/* --- a block --- */

void exec_clocks_open(struct exec_clocks *clocks, uint32_t n_rows, bool has_async) {
    uint32_t n = n_rows * EXEC_LANES;
    *clocks = (struct exec_clocks){.n_threads = n, .n_ids = has_async ? 2 * n + 1 : n};
    clocks->now = base_allocate(n, sizeof *clocks->now);
    clocks->copied = base_allocate(n, sizeof *clocks->copied);
    clocks->clock = base_allocate(n, sizeof(struct exec_clock *));
    clocks->group = base_allocate(has_async ? n : 0, sizeof *clocks->group);
    clocks->warp = base_allocate(n_rows, sizeof *clocks->warp);
    clocks->warp_members = base_allocate(n_rows, sizeof *clocks->warp_members);
}

static void clear_meeting(struct exec_clocks *clocks, struct exec_meeting *meeting) {
    drop(clocks, meeting->clock);
    drop(clocks, meeting->last);
    *meeting = (struct exec_meeting){.clock = NULL};
}

static void clear(struct exec_clocks *clocks) {
    for (uint32_t i = 0; i < EXEC_N_BARRIERS; i++)
        clear_meeting(clocks, &clocks->barrier[i]);
    for (uint32_t i = 0; i < clocks->n_threads / EXEC_LANES; i++)
        clear_meeting(clocks, &clocks->warp[i]);
    for (uint32_t i = 0; i < clocks->n_mbarriers; i++)
        clear_meeting(clocks, &clocks->mbarrier[i].meeting);
    clocks->n_mbarriers = 0;
    for (uint32_t i = 0; i < clocks->n_threads; i++) {
        drop(clocks, clocks->clock[i]);
        clocks->clock[i] = NULL;
    }
}

void exec_clocks_close(struct exec_clocks *clocks) {
    clear(clocks);
    for (struct exec_clock *clock = clocks->spare, *next; clock; clock = next) {
        next = clock->next;
        free(clock);
    }
    free(clocks->now);
    free(clocks->copied);
    free(clocks->clock);
    free(clocks->group);
    free(clocks->warp);
    free(clocks->warp_members);
    free(clocks->mbarrier);
}

void exec_clocks_start(struct exec_clocks *clocks) {
    clear(clocks);
    struct exec_clock *first = take(clocks);
    clocks->tick = 1;
    for (uint32_t i = 0; i < clocks->n_threads; i++) {
        clocks->now[i] = clocks->tick;
        clocks->copied[i] = 0;
        use(clocks, &clocks->clock[i], first);
    }
    drop(clocks, first);
    if (has_copies(clocks))
        memset(clocks->group, 0, clocks->n_threads * sizeof *clocks->group);
}

bool exec_clocks_knows(const struct exec_clocks *clocks, uint32_t thread, uint32_t id, uint32_t stamp) {
    if (id == thread || (id == exec_clocks_twin(clocks, thread) && clocks->copied[thread] >= stamp))
        return true;
    return clocks->clock[thread]->known[id] >= stamp;
}

/* --- meetings --- */

void exec_clocks_come(struct exec_clocks *clocks, struct exec_meeting *meeting, uint32_t row, uint32_t mask,
                      bool waits) {
    if (!meeting->clock)
        meeting->clock = take(clocks);
    uint32_t *known = meeting->clock->known;
    clocks->tick++;
    EXEC_FOR_ACTIVE(lane, mask) {
        uint32_t thread = row * EXEC_LANES + lane;
        if (clocks->clock[thread] != meeting->last) {
            join(clocks, meeting->clock, clocks->clock[thread]);
            use(clocks, &meeting->last, clocks->clock[thread]);
        }
        keep_later(&known[thread], clocks->now[thread]);
        if (has_copies(clocks))
            keep_later(&known[exec_clocks_twin(clocks, thread)], clocks->copied[thread]);
        clocks->now[thread] = clocks->tick;
    }
    meeting->waiting[row] |= waits ? mask : 0;
}

/* Makes the lanes know the clock in addition to their own. */
static void tell(struct exec_clocks *clocks, struct exec_clock *clock, uint32_t row, uint32_t mask) {
    const struct exec_clock *old = NULL;
    struct exec_clock *both = NULL;
    EXEC_FOR_ACTIVE(lane, mask) {
        struct exec_clock **own = &clocks->clock[row * EXEC_LANES + lane];
        if (*own != old) {
            drop(clocks, both);
            old = *own;
            both = clock;
            both->n_users++;
            if (!contains(clocks, clock, old)) {
                drop(clocks, both);
                both = take(clocks);
                join(clocks, both, clock);
                join(clocks, both, old);
            }
        }
        use(clocks, own, both);
    }
    drop(clocks, both);
}

void exec_clocks_end(struct exec_clocks *clocks, struct exec_meeting *meeting) {
    for (uint32_t row = 0; row < clocks->n_threads / EXEC_LANES && meeting->clock; row++)
        if (meeting->waiting[row])
            tell(clocks, meeting->clock, row, meeting->waiting[row]);
    clear_meeting(clocks, meeting);
}

void exec_clocks_sync_row(struct exec_clocks *clocks, uint32_t row, uint32_t mask, uint32_t members) {
    struct exec_meeting *meeting = &clocks->warp[row];
    /* Under a stack the lanes of several paths come one path after the other, and do not wait. */
    if (clocks->warp_members[row] != members || (meeting->waiting[row] & mask))
        clear_meeting(clocks, meeting);
    clocks->warp_members[row] = members;
    exec_clocks_come(clocks, meeting, row, mask, true);
    tell(clocks, meeting->clock, row, meeting->waiting[row]);
    if (!(members & ~meeting->waiting[row])) {
        clear_meeting(clocks, meeting);
        return;
    }
    struct exec_clock *copy = take(clocks); /* the lanes have the other one now, which must not change */
    join(clocks, copy, meeting->clock);
    drop(clocks, meeting->clock);
    meeting->clock = copy;
}

/* --- mbarriers --- */

static struct exec_meeting *mbarrier_at(struct exec_clocks *clocks, uint32_t offset) {
    uint32_t i = 0;
    while (i < clocks->n_mbarriers && clocks->mbarrier[i].offset != offset)
        i++;
    if (i == clocks->n_mbarriers) {
        clocks->mbarrier = base_grow(clocks->mbarrier, ++clocks->n_mbarriers, sizeof *clocks->mbarrier);
        clocks->mbarrier[i] = (struct exec_mbarrier_clock){.offset = offset};
    }
    if (!clocks->mbarrier[i].meeting.clock)
        clocks->mbarrier[i].meeting.clock = take(clocks);
    return &clocks->mbarrier[i].meeting;
}

/* An arrival after threads have learnt the clock changes another one. */
static struct exec_meeting *own_mbarrier_at(struct exec_clocks *clocks, uint32_t offset) {
    struct exec_meeting *meeting = mbarrier_at(clocks, offset);
    if (meeting->clock->n_users > 1) {
        struct exec_clock *copy = take(clocks);
        join(clocks, copy, meeting->clock);
        drop(clocks, meeting->clock);
        meeting->clock = copy;
    }
    return meeting;
}

void exec_clocks_arrive(struct exec_clocks *clocks, uint32_t offset, uint32_t row, uint32_t mask) {
    exec_clocks_come(clocks, own_mbarrier_at(clocks, offset), row, mask, false);
}

void exec_clocks_learn(struct exec_clocks *clocks, uint32_t offset, uint32_t row, uint32_t mask) {
    tell(clocks, mbarrier_at(clocks, offset)->clock, row, mask);
}

void exec_clocks_complete(struct exec_clocks *clocks, uint32_t offset, uint32_t stamp) {
    keep_later(&own_mbarrier_at(clocks, offset)->clock->known[exec_clocks_bulk(clocks)], stamp);
}

/* --- groups of copies --- */

uint32_t exec_clocks_copy(struct exec_clocks *clocks) { return ++clocks->tick; }

void exec_clocks_commit(struct exec_clocks *clocks, uint32_t thread, uint32_t n) {
    clocks->group[thread][n % EXEC_COPY_GROUPS] = clocks->tick;
}

void exec_clocks_wait(struct exec_clocks *clocks, uint32_t thread, uint32_t n, uint32_t n_pending) {
    if (n > n_pending && n_pending < EXEC_COPY_GROUPS)
        keep_later(&clocks->copied[thread], clocks->group[thread][(n - n_pending) % EXEC_COPY_GROUPS]);
}

void exec_clocks_wait_all(struct exec_clocks *clocks, uint32_t thread) { clocks->copied[thread] = clocks->tick; }
