/* For the tests of this folder: a device without time. It parses PTX text, links its kernel `k`, and executes the
 * groups of a model one instruction at a time, in the order that a test says, round robin or at random. Results are
 * there at once; only loads may have to wait (the callback `outcome`). After every step the invariants hold: each
 * live thread is in one place of the model, and a group that changed outside its own hooks has been woken.
 *
 *     struct fixture *f = fixture_open(&divergence_dwf, "dwf:lanes=free", TEXT, &(struct fixture_shape){.block = 64});
 *     uint64_t out = fixture_alloc(f, 256); fixture_parameter(f, 0, out);
 *     fixture_start(f);                                       (admits blocks)
 *     fixture_step(&f->sm[0], 0); ...   or   fixture_run(f); or   fixture_run_random(f, seed);
 *     fixture_u32(f, out)[i] ...        fixture_close(f); */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "divergence/divergence.h"
#include "divergence/parts/threads.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIXTURE_IS_SANITIZED
#endif
#endif

#define FIXTURE_MEMORY 0x200000000000ull

enum {
    FIXTURE_MEMORY_BYTES = 1 << 16,
    FIXTURE_SYMBOLS = 16,
    FIXTURE_PARAMETERS = 8, /* of 64 bits each */
    FIXTURE_SLOTS = 128,
    FIXTURE_BLOCKS = 16, /* in execution on an SM */
    FIXTURE_SMS = 4,
    FIXTURE_ACCESSES = 16, /* in flight in one group */
    FIXTURE_MOST_STEPS = 1 << 20,
#ifdef FIXTURE_IS_SANITIZED
    FIXTURE_CHECK_EVERY = 16, /* under sanitizers, which look for other mistakes and are slow */
#else
    FIXTURE_CHECK_EVERY = 1,
#endif
};

/* What is left 0 gets the value in brackets. */
struct fixture_shape {
    uint32_t block, grid;   /* threads in a block [32], blocks [1] */
    uint32_t warp_size;     /* [32] */
    uint32_t n_slots;       /* of an SM [what the model asks for] */
    uint32_t blocks_per_sm; /* in execution [all blocks of the grid, at most FIXTURE_BLOCKS] */
    uint32_t n_sms;         /* [1] */
    bool is_scoreboard;     /* the machine's pipeline [barrel] */
};

/* A load that waits for some of its lanes. */
struct fixture_access {
    uint32_t tag, pc;
    uint32_t lanes;               /* lanes that still belong to it */
    uint64_t arrives[EXEC_LANES]; /* the cycle in which each lane has its data */
};

struct fixture_slot {
    struct divergence_group *group; /* NULL: free */
    struct fixture_access *access;  /* FIXTURE_ACCESSES of them, apart: every step looks at all slots, few have any */
    uint32_t n_accesses;
    /* What the SM knows of the group: a change without a call is a mistake of the model. */
    uint32_t pc, mask;
    enum divergence_status status;
    uint64_t n_issued; /* instructions since the group came here */
};

struct fixture_block {
    struct divergence_block block;
    bool is_in_flight;
};

struct fixture;

struct fixture_sm {
    struct fixture *f;
    uint32_t index;
    void *model;
    struct exec_context cx;
    struct stats_divergence counters;
    struct fixture_slot slot[FIXTURE_SLOTS];
    struct fixture_access access[FIXTURE_SLOTS][FIXTURE_ACCESSES];
    struct fixture_block block[FIXTURE_BLOCKS];
    uint64_t call_at;                      /* UINT64_MAX: never */
    const struct fixture_access *reported; /* while memory() runs */
    uint64_t n_instructions, n_bundles;
};

/* Where visit() has found threads. */
struct fixture_census {
    const struct fixture *f;
    uint32_t n_rows; /* of a block */
    bool is_stray;
    const struct exec_row *row; /* of the last thread, and its number */
    size_t at;
    /* By SM, block and row: */
    uint32_t named[FIXTURE_SMS * FIXTURE_BLOCKS * EXEC_MAX_ROWS], again[FIXTURE_SMS * FIXTURE_BLOCKS * EXEC_MAX_ROWS];
    /* By thread, of those that are named; only where lanes matter. */
    const struct divergence_group *group_of[FIXTURE_SMS * FIXTURE_BLOCKS * EXEC_MAX_ROWS * EXEC_LANES];
};

struct fixture {
    struct ptx_module *module;
    struct exec_program *program;
    const struct divergence_ops *ops;
    void *options, *chip;
    struct config_machine machine;
    struct exec_grid grid;
    struct exec_memory memory;
    struct exec_allocation allocation[1];
    const struct ptx_variable *symbol[FIXTURE_SYMBOLS];
    uint64_t symbol_address[FIXTURE_SYMBOLS], next_address;
    uint64_t parameter[FIXTURE_PARAMETERS];
    uint32_t n_sms, n_slots, blocks_per_sm, next_block, n_finished;
    uint64_t cycle; /* one for every step */
    uint64_t n_changes;
    struct fixture_sm sm[FIXTURE_SMS];

    /* For tests to set after fixture_open(): */
    bool is_lane_aware; /* no group has two threads of one lane */
    bool checks_nothing;
    bool
        runs_ahead; /* groups continue while loads are in flight, as if no instruction read them; otherwise they wait */
    bool expects_fault; /* running ends at a fault instead of failing the test */
    uint64_t most_steps;
    uint64_t active_cycles, waiting_cycles; /* what activity() returns */
    const char *label;                      /* for messages; may be NULL */
    /* How many cycles each lane of a load or atomic waits; delay[] is zeroed: all hit. May be NULL. */
    void (*outcome)(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                    uint32_t delay[EXEC_LANES]);
    /* Every bundle (mask: the lanes that execute), of groups with a row too. May be NULL. */
    void (*watch)(void *user, const struct divergence_group *group, const struct divergence_bundle *bundle);
    void *user;
    struct fixture_census census;
    _Alignas(64) unsigned char memory_bytes[FIXTURE_MEMORY_BYTES];
};

/* --- groups in slots --- */

static inline struct fixture_slot *fixture_slot_of(struct fixture_sm *sm, const struct divergence_group *group) {
    assert_true(group->slot >= 0 && group->slot < (int)sm->f->n_slots);
    struct fixture_slot *slot = &sm->slot[group->slot];
    assert_ptr_equal(slot->group, group);
    return slot;
}

static inline void fixture_note(struct fixture_slot *slot) {
    slot->pc = slot->group->pc;
    slot->mask = slot->group->mask;
    slot->status = slot->group->status;
}

static inline bool fixture_place(void *handle, struct divergence_group *group, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    (void)cycle;
    assert_int_equal(group->slot, DIVERGENCE_NO_SLOT);
    for (uint32_t s = 0; s < sm->f->n_slots; s++)
        if (!sm->slot[s].group) {
            sm->slot[s] = (struct fixture_slot){.group = group, .access = sm->access[s]};
            group->slot = (int)s;
            if (group->warp_id == DIVERGENCE_NO_WARP)
                group->warp_id = s;
            fixture_note(&sm->slot[s]);
            return true;
        }
    return false;
}

static inline void fixture_wake(void *handle, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    fixture_note(fixture_slot_of(handle, group));
}

static inline void fixture_vacate(struct fixture_slot *slot) {
    slot->group->slot = DIVERGENCE_NO_SLOT;
    slot->group = NULL;
}

static inline void fixture_evict(void *handle, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    if (group->slot == DIVERGENCE_NO_SLOT)
        return;
    struct fixture_slot *slot = fixture_slot_of(handle, group);
    assert_int_equal(slot->n_accesses, 0);
    fixture_vacate(slot);
}

static inline bool fixture_is_in_flight(void *handle, const struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    return group->slot != DIVERGENCE_NO_SLOT && fixture_slot_of(handle, group)->n_accesses > 0;
}

static inline bool fixture_split(void *handle, struct divergence_group *from, struct divergence_group *to,
                                 uint64_t cycle) {
    struct fixture_sm *sm = handle;
    struct fixture_slot *source = fixture_slot_of(sm, from);
    const struct fixture_access *ended = sm->reported ? sm->reported : &source->access[0];
    assert_true(source->n_accesses > 0 && (sm->reported || source->n_accesses == 1));
    if (!fixture_place(sm, to, cycle))
        return false;
    struct fixture_slot *target = fixture_slot_of(sm, to);
    for (uint32_t i = 0; i < source->n_accesses; i++) {
        struct fixture_access *access = &source->access[i];
        if (access->tag == ended->tag && access->pc == ended->pc)
            access->lanes &= from->mask;
        else
            target->access[target->n_accesses++] = *access;
    }
    fixture_note(source);
    return true;
}

static inline uint32_t fixture_arrived(void *handle, const struct divergence_group *group) {
    struct fixture_sm *sm = handle;
    const struct fixture_slot *slot = fixture_slot_of(sm, group);
    uint32_t missing = 0;
    if (slot->n_accesses != 1)
        return 0;
    for (uint32_t left = slot->access[0].lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        missing |= (uint32_t)(slot->access[0].arrives[lane] > sm->f->cycle) << lane;
    }
    return ~missing;
}

static inline bool fixture_is_control(const struct fixture *f, const struct exec_insn *insn) {
    return insn->kind > EXEC_KIND_WARP || (f->ops->splits_rows && exec_acts_on_row(insn->kind));
}

/* Whether a step of this slot would do something: an instruction, or resume(). */
static inline bool fixture_can_step(const struct fixture_sm *sm, uint32_t s) {
    const struct fixture_slot *slot = &sm->slot[s];
    const struct divergence_group *group = slot->group;
    if (!group || group->status == DIVERGENCE_WAITS || group->status == DIVERGENCE_ENDED)
        return false;
    if (group->status == DIVERGENCE_DRAINS)
        return slot->n_accesses == 0;
    if (group->is_blocked || group->ready_cycle > sm->f->cycle)
        return false;
    if (slot->n_accesses && group->overlaps) {
        const struct exec_insn *insn = &sm->f->program->code[group->pc];
        return !fixture_is_control(sm->f, insn) || insn->kind == EXEC_KIND_BRANCH;
    }
    return slot->n_accesses == 0 || sm->f->runs_ahead;
}

static inline bool fixture_others_wait(void *handle, const struct divergence_group *group) {
    struct fixture_sm *sm = handle;
    for (uint32_t s = 0; s < sm->f->n_slots; s++)
        if (sm->slot[s].group != group && fixture_can_step(sm, s))
            return false;
    return true;
}

static inline uint32_t fixture_free_slots(const void *handle) {
    const struct fixture_sm *sm = handle;
    uint32_t n = 0;
    for (uint32_t s = 0; s < sm->f->n_slots; s++)
        n += !sm->slot[s].group;
    return n;
}

static inline void fixture_activity(void *handle, uint64_t *active, uint64_t *waiting) {
    const struct fixture_sm *sm = handle;
    *active = sm->f->active_cycles;
    *waiting = sm->f->waiting_cycles;
}

static inline void fixture_call_at(void *handle, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    sm->call_at = cycle < sm->call_at ? cycle : sm->call_at;
}

static inline void fixture_block_ended(void *handle, struct divergence_block *block) {
    struct fixture_sm *sm = handle;
    struct fixture_block *entry = (struct fixture_block *)block; /* its first member */
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        assert_int_equal(block->cta->row[i].live, 0);
    assert_true(entry->is_in_flight);
    entry->is_in_flight = false;
    sm->f->n_finished++;
}

/* Starts the grid's next block on this SM; false when no block or no room is left. */
static inline bool fixture_pull_block(void *handle, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    struct fixture *f = sm->f;
    for (uint32_t i = 0; i < f->blocks_per_sm && f->next_block < f->grid.grid[0]; i++) {
        struct fixture_block *entry = &sm->block[i];
        if (entry->is_in_flight)
            continue;
        exec_cta_start(entry->block.cta, f->next_block++, sm->index);
        entry->is_in_flight = true;
        f->ops->admit(sm->model, &entry->block, cycle);
        return true;
    }
    return false;
}

/* --- what must hold --- */

static inline bool fixture_find_row(struct fixture_census *census, const struct exec_row *row) {
    const struct fixture *f = census->f;
    for (uint32_t i = 0; i < f->n_sms; i++)
        for (uint32_t b = 0; b < f->blocks_per_sm; b++)
            if (&f->sm[i].block[b].block.cta->block == row->block) {
                census->row = row;
                census->at = (size_t)(i * f->blocks_per_sm + b) * census->n_rows + row->index;
                return true;
            }
    return false;
}

static inline void fixture_count_thread(void *user, const struct divergence_group *group, const struct exec_row *row,
                                        uint32_t lane) {
    struct fixture_census *census = user;
    if (row != census->row && !fixture_find_row(census, row)) {
        census->is_stray = true;
        return;
    }
    census->again[census->at] |= census->named[census->at] & 1u << lane;
    census->named[census->at] |= 1u << lane;
    if (census->f->is_lane_aware)
        census->group_of[census->at * EXEC_LANES + lane] = group;
}

static inline void fixture_check_lanes(const struct fixture_census *census, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++)
        for (uint32_t left = census->named[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            const struct divergence_group *group = census->group_of[i * EXEC_LANES + lane];
            for (size_t j = i + 1; group && j < n_rows; j++)
                if (census->named[j] >> lane & 1 && group == census->group_of[j * EXEC_LANES + lane])
                    fail_msg("lane %u has two threads in one group at pc %u", lane, group->pc);
        }
}

/* Every live thread is in exactly one place, and no other is in any. */
static inline void fixture_check(struct fixture *f) {
    uint32_t rows_per_block = f->sm[0].block[0].block.cta->n_rows;
    size_t n_rows = (size_t)f->n_sms * f->blocks_per_sm * rows_per_block;
    struct fixture_census *census = &f->census; /* zeroed as far as it is used: this runs after every step */
    census->f = f;
    census->n_rows = rows_per_block;
    census->is_stray = false;
    census->row = NULL;
    memset(census->named, 0, n_rows * sizeof *census->named);
    memset(census->again, 0, n_rows * sizeof *census->again);
    for (uint32_t i = 0; i < f->n_sms; i++)
        for (uint32_t b = 0; b < f->blocks_per_sm; b++)
            if (f->sm[i].block[b].is_in_flight)
                f->ops->visit(f->sm[i].model, &f->sm[i].block[b].block, fixture_count_thread, census);
    assert_false(census->is_stray);
    for (size_t at = 0; at < n_rows; at++) {
        const struct fixture_block *entry =
            &f->sm[at / rows_per_block / f->blocks_per_sm].block[at / rows_per_block % f->blocks_per_sm];
        uint32_t row = (uint32_t)(at % rows_per_block),
                 live = entry->is_in_flight ? entry->block.cta->row[row].live : 0;
        uint32_t wrong = (census->named[at] ^ live) | census->again[at];
        if (wrong)
            fail_msg("thread %d of row %u, block %u is %s by visit()", __builtin_ctz(wrong), row,
                     entry->block.cta->block.index,
                     census->again[at] & wrong & -wrong   ? "named twice"
                     : census->named[at] & wrong & -wrong ? "not alive and named"
                                                          : "alive and not named");
    }
    if (f->is_lane_aware)
        fixture_check_lanes(census, n_rows);
}

/* Groups that have ended leave; all others are as their slots know them. `own` is the one whose hook ran. */
static inline void fixture_settle(struct fixture_sm *sm, const struct divergence_group *own) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t s = 0; s < sm->f->n_slots; s++) {
            struct fixture_slot *slot = &sm->slot[s];
            if (!slot->group)
                continue;
            bool is_known = slot->status == slot->group->status &&
                            (slot->status != DIVERGENCE_RUNS ||
                             (slot->pc == slot->group->pc && (!slot->group->row || slot->mask == slot->group->mask)));
            if (!is_known && slot->group != own)
                fail_msg("the group in slot %u at pc %u has been changed and not woken", s, slot->group->pc);
            fixture_note(slot);
            if (slot->group->status == DIVERGENCE_RUNS && slot->group->row)
                assert_true(slot->mask && !(slot->mask & ~slot->group->row->live));
            if (slot->group->status != DIVERGENCE_ENDED)
                continue;
            fixture_vacate(slot);
            own = NULL;
            if (sm->f->ops->refill)
                sm->f->ops->refill(sm->model, sm->f->cycle);
            again = true;
        }
    }
}

static inline void fixture_after(struct fixture_sm *sm, const struct divergence_group *own) {
    struct fixture *f = sm->f;
    if (sm->cx.fault.kind) {
        if (!f->expects_fault)
            fail_msg("fault %d in lane %u, address 0x%llx: %s", sm->cx.fault.kind, sm->cx.fault.lane,
                     (unsigned long long)sm->cx.fault.address, sm->cx.fault.detail);
        return;
    }
    for (uint32_t i = 0; i < f->n_sms; i++)
        fixture_settle(&f->sm[i], own);
    for (uint32_t i = 0; i < f->n_sms && !f->ops->chip; i++)
        while (fixture_free_slots(&f->sm[i]) >= f->sm[i].block[0].block.cta->n_rows &&
               fixture_pull_block(&f->sm[i], f->cycle)) {
        }
    if (!f->checks_nothing && ++f->n_changes % FIXTURE_CHECK_EVERY == 0)
        fixture_check(f);
}

/* --- instructions --- */

static inline void fixture_execute(struct fixture_sm *sm, const struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &sm->f->program->code[bundle->pc];
    if (!bundle->mask || fixture_is_control(sm->f, insn))
        return;
    if (bundle->row)
        exec_row_insn(&sm->cx, bundle->row, insn, bundle->mask);
    else
        exec_scattered_insn(&sm->cx, insn, bundle->mask);
}

/* Tells the model of a memory instruction: which lanes hit, and, when none is missing, that it is complete. */
static inline void fixture_access_memory(struct fixture_sm *sm, struct divergence_group *group,
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
    struct fixture_access access = {.tag = bundle->tag, .pc = bundle->pc, .lanes = bundle->mask};
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
static inline struct divergence_bundle fixture_own_bundle(struct fixture_sm *sm, const struct divergence_group *group) {
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
static inline bool fixture_issue_bundle(struct fixture_sm *sm, struct divergence_group *group, bool *is_shared) {
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

/* Groups that issue with the one that has just issued at pc: parts of its instruction, and none of its own. */
static inline void fixture_issue_followers(struct fixture_sm *sm, uint32_t pc) {
    uint64_t n_bundles = sm->n_bundles;
    for (uint32_t s = 0; s < sm->f->n_slots && !sm->cx.fault.kind; s++) {
        struct divergence_group *group = sm->slot[s].group;
        bool is_ready = fixture_can_step(sm, s) && group->status == DIVERGENCE_RUNS && group->row && group->pc == pc;
        if (!is_ready || !sm->f->ops->joint->follows(sm->model, group))
            continue;
        bool is_shared = false;
        sm->slot[s].n_issued++;
        fixture_issue_bundle(sm, group, &is_shared);
        fixture_after(sm, group);
    }
    sm->n_bundles = n_bundles;
}

/* Executes one instruction (all its bundles) of the group in the slot, with those that issue together with it, or
 * resumes a group that drains. */
static inline void fixture_step(struct fixture_sm *sm, uint32_t s) {
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
        sm->n_instructions++;
        sm->slot[s].n_issued++;
        while (fixture_issue_bundle(sm, group, &is_shared) && !sm->cx.fault.kind) {
        }
        fixture_after(sm, group);
        if (leads && !sm->cx.fault.kind)
            fixture_issue_followers(sm, pc);
        return;
    }
    fixture_after(sm, group);
}

/* --- time --- */

static inline void fixture_end_access(struct fixture_sm *sm, uint32_t s, uint32_t i) {
    struct fixture_slot *slot = &sm->slot[s];
    struct divergence_group *group = slot->group;
    uint32_t tag = slot->access[i].tag;
    slot->access[i] = slot->access[--slot->n_accesses];
    if (sm->f->ops->memory && sm->f->ops->memory->complete)
        sm->f->ops->memory->complete(sm->model, group, tag, sm->f->cycle);
    fixture_after(sm, group);
}

static inline uint64_t fixture_end_of(const struct fixture_access *access) {
    uint64_t end = 0;
    for (uint32_t left = access->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        end = access->arrives[lane] > end ? access->arrives[lane] : end;
    }
    return end;
}

/* Ends the accesses whose time has come, and calls refill() where it was asked for. */
static inline void fixture_catch_up(struct fixture *f) {
    for (uint32_t k = 0; k < f->n_sms; k++) {
        struct fixture_sm *sm = &f->sm[k];
        for (uint32_t s = 0; s < f->n_slots; s++)
            for (uint32_t i = 0; i < sm->slot[s].n_accesses && sm->slot[s].group;) {
                if (fixture_end_of(&sm->slot[s].access[i]) > f->cycle) {
                    i++;
                    continue;
                }
                fixture_end_access(sm, s, i);
                i = 0;
            }
        if (sm->call_at <= f->cycle) {
            sm->call_at = UINT64_MAX;
            f->ops->refill(sm->model, f->cycle);
            fixture_after(sm, NULL);
        }
    }
}

/* No group can take a step: time passes until one can. */
static inline void fixture_idle(struct fixture *f) {
    bool is_something_ahead = false;
    for (uint32_t k = 0; k < f->n_sms; k++) {
        struct fixture_sm *sm = &f->sm[k];
        is_something_ahead |= sm->call_at != UINT64_MAX;
        for (uint32_t s = 0; s < f->n_slots; s++) {
            const struct divergence_group *group = sm->slot[s].group;
            is_something_ahead |= group && (sm->slot[s].n_accesses ||
                                            (group->status == DIVERGENCE_RUNS && group->ready_cycle > f->cycle));
        }
    }
    if (!is_something_ahead)
        fail_msg("%s: deadlock at cycle %llu: %u of %u blocks have ended, and nobody can go on",
                 f->label ? f->label : "", (unsigned long long)f->cycle, f->n_finished, f->grid.grid[0]);
    f->cycle++;
    for (uint32_t k = 0; k < f->n_sms && f->ops->memory && f->ops->memory->idle; k++) {
        f->ops->memory->idle(f->sm[k].model, f->cycle);
        fixture_after(&f->sm[k], NULL);
    }
}

static inline bool fixture_is_done(const struct fixture *f) {
    for (uint32_t k = 0; k < f->n_sms; k++)
        if (f->sm[k].cx.fault.kind)
            return true;
    return f->n_finished == f->grid.grid[0];
}

static inline void fixture_count_step(struct fixture *f) {
    if (f->most_steps-- == 0)
        fail_msg("%s: no end: %u of %u blocks have ended", f->label ? f->label : "", f->n_finished, f->grid.grid[0]);
}

/* Round robin over SMs and slots until the grid ends. */
static inline void fixture_run(struct fixture *f) {
    while (!fixture_is_done(f)) {
        bool has_stepped = false;
        fixture_catch_up(f);
        for (uint32_t k = 0; k < f->n_sms; k++)
            for (uint32_t s = 0; s < f->n_slots && !fixture_is_done(f); s++) {
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

static inline uint32_t fixture_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Steps groups that can in random order until the grid ends; the same order for the same seed. */
static inline void fixture_run_random(struct fixture *f, uint64_t seed) {
    while (!fixture_is_done(f)) {
        uint32_t n = 0, of_sm = 0, of_slot = 0;
        fixture_catch_up(f);
        for (uint32_t k = 0; k < f->n_sms; k++)
            for (uint32_t s = 0; s < f->n_slots; s++)
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

/* Resumes every group that drains and can be, again and again; no instruction is executed. */
static inline void fixture_resume_all(struct fixture *f) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < f->n_sms; k++)
            for (uint32_t s = 0; s < f->n_slots; s++) {
                const struct fixture_slot *slot = &f->sm[k].slot[s];
                if (!slot->group || slot->group->status != DIVERGENCE_DRAINS || slot->n_accesses)
                    continue;
                fixture_step(&f->sm[k], s);
                again = true;
            }
    }
}

/* --- memory --- */

/* Bytes of device memory, zeroed; an address for kernel parameters. */
static inline uint64_t fixture_alloc(struct fixture *f, uint64_t bytes) {
    uint64_t address = f->next_address;
    f->next_address += (bytes + 255) & ~255ull;
    assert_true(f->next_address <= FIXTURE_MEMORY + FIXTURE_MEMORY_BYTES);
    return address;
}

static inline uint32_t *fixture_u32(struct fixture *f, uint64_t address) {
    return (uint32_t *)(f->memory_bytes + (address - FIXTURE_MEMORY));
}

static inline uint64_t fixture_symbol_address(void *user, const struct ptx_variable *variable) {
    struct fixture *f = user;
    uint32_t i = 0;
    while (f->symbol[i] && f->symbol[i] != variable)
        i++;
    assert_true(i < FIXTURE_SYMBOLS - 1);
    if (!f->symbol[i]) {
        f->symbol[i] = variable;
        f->symbol_address[i] = fixture_alloc(f, variable->size ? variable->size : 1);
    }
    return f->symbol_address[i];
}

/* Returns the address of a module's variable; 0: the kernel does not use it. */
static inline uint64_t fixture_variable(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; f->symbol[i]; i++)
        if (strcmp(f->symbol[i]->name, name) == 0)
            return f->symbol_address[i];
    return 0;
}

/* Kernel parameter number `index`, all of them .u64 (or .u32 with padding): at byte 8 * index. */
static inline void fixture_parameter(struct fixture *f, uint32_t index, uint64_t value) {
    assert_true(index < FIXTURE_PARAMETERS);
    f->parameter[index] = value;
}

/* --- life --- */

static inline void fixture_load(struct fixture *f, const char *text) {
    struct ptx_messages messages = {0};
    f->module = ptx_parse("t.ptx", text, strlen(text), &messages);
    if (!f->module)
        fail_msg("%s", messages.text);
    const struct ptx_function *kernel = ptx_find_function(f->module, "k");
    assert_non_null(kernel);
    f->program = exec_link(f->module, kernel, fixture_symbol_address, f, &messages);
    if (!f->program)
        fail_msg("%s", messages.text);
    assert_true(f->program->parameter_bytes <= sizeof f->parameter);
}

static inline void fixture_parse_options(struct fixture *f, const char *text) {
    struct config_plugin plugin = {f->ops->name, f->ops->help, f->ops->option, f->ops->preset, f->ops->options_bytes};
    char error[256] = "";
    size_t which;
    if (!config_plugin_parse("divergence model", &plugin, 1, text, &which, &f->options, error, sizeof error))
        fail_msg("%s", error);
}

static inline uint32_t fixture_or(uint32_t value, uint32_t otherwise) { return value ? value : otherwise; }

/* `text` has a kernel `k`; `model` is the model's name with its options. Tests may change f->machine before
 * fixture_start(). */
static inline struct fixture *fixture_open(const struct divergence_ops *ops, const char *model, const char *text,
                                           const struct fixture_shape *shape) {
    /* Most of it is never touched: fresh pages cost less than zeroing all of it in each of thousands of runs. */
    struct fixture *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f != MAP_FAILED);
    f->ops = ops;
    f->next_address = FIXTURE_MEMORY;
    f->most_steps = FIXTURE_MOST_STEPS;
    f->allocation[0] = (struct exec_allocation){FIXTURE_MEMORY, FIXTURE_MEMORY_BYTES};
    f->memory = (struct exec_memory){.base = FIXTURE_MEMORY,
                                     .limit = FIXTURE_MEMORY + FIXTURE_MEMORY_BYTES,
                                     .delta = (ptrdiff_t)((uintptr_t)f->memory_bytes - FIXTURE_MEMORY),
                                     .allocation = f->allocation,
                                     .n_allocations = 1};
    fixture_parse_options(f, model);
    fixture_load(f, text);
    uint32_t warp_size = fixture_or(shape->warp_size, EXEC_LANES), block = fixture_or(shape->block, 32);
    uint32_t blocks = fixture_or(shape->grid, 1), most = blocks < FIXTURE_BLOCKS ? blocks : FIXTURE_BLOCKS;
    f->n_sms = fixture_or(shape->n_sms, 1);
    f->blocks_per_sm = fixture_or(shape->blocks_per_sm, most);
    assert_true(f->n_sms <= FIXTURE_SMS && f->blocks_per_sm <= FIXTURE_BLOCKS);
    uint32_t n_warps = (block + warp_size - 1) / warp_size * f->blocks_per_sm;
    f->machine =
        (struct config_machine){.name = "fixture",
                                .n_sms = f->n_sms,
                                .warp_size = warp_size,
                                .simd_width = warp_size,
                                .threads_per_sm = n_warps * warp_size,
                                .blocks_per_sm = f->blocks_per_sm,
                                .threads_per_block = 1024,
                                .pipeline = shape->is_scoreboard ? CONFIG_PIPELINE_SCOREBOARD : CONFIG_PIPELINE_BARREL,
                                .schedulers = 1};
    f->n_slots = shape->n_slots ? shape->n_slots
                 : ops->n_slots ? ops->n_slots(f->options, &f->machine, n_warps, FIXTURE_SLOTS)
                                : n_warps;
    assert_true(f->n_slots <= FIXTURE_SLOTS && f->n_slots > 0);
    f->grid = (struct exec_grid){
        .program = f->program,
        .memory = &f->memory,
        .parameters = (const unsigned char *)f->parameter,
        .parameter_bytes = f->program->parameter_bytes,
        .grid = {blocks, 1, 1},
        .block = {block, 1, 1},
        .shared_bytes = f->program->dynamic_shared_offset,
        .local_bytes = (f->program->local_bytes + (f->program->is_recursive ? 4096u : 0u) + 15u) & ~15u,
        .grid_id = 1,
        .n_sms = f->n_sms,
        .warps_per_sm = n_warps,
        .warp_size = warp_size,
    };
    return f;
}

static inline void fixture_start_sm(struct fixture *f, uint32_t index) {
    static const struct divergence_split_host splits = {
        .split = fixture_split,
        .arrived = fixture_arrived,
        .others_wait = fixture_others_wait,
        .activity = fixture_activity,
    };
    static const struct divergence_chip_host chip = {.call_at = fixture_call_at, .pull_block = fixture_pull_block};
    static const struct divergence_host host = {
        .place = fixture_place,
        .wake = fixture_wake,
        .evict = fixture_evict,
        .is_in_flight = fixture_is_in_flight,
        .free_slots = fixture_free_slots,
        .block_ended = fixture_block_ended,
        .splits = &splits,
        .chip = &chip,
    };
    struct fixture_sm *sm = &f->sm[index];
    sm->f = f;
    sm->index = index;
    sm->call_at = UINT64_MAX;
    for (uint32_t s = 0; s < FIXTURE_SLOTS; s++)
        sm->slot[s].access = sm->access[s];
    sm->cx.grid = &f->grid;
    sm->cx.lanes = exec_isa_table();
    struct divergence_setup setup = {.machine = &f->machine,
                                     .options = f->options,
                                     .chip = f->chip,
                                     .sm_index = index,
                                     .n_slots = f->n_slots,
                                     .host = &host,
                                     .sm = sm,
                                     .cx = &sm->cx,
                                     .counters = &sm->counters};
    sm->model = f->ops->new_model(&setup);
    for (uint32_t b = 0; b < f->blocks_per_sm; b++) {
        struct divergence_block *block = &sm->block[b].block;
        block->cta = exec_cta_new(&f->grid);
        block->cta->owner = block;
        block->slot = b;
        block->state = f->ops->new_block ? f->ops->new_block(sm->model, block->cta) : NULL;
    }
}

/* Makes the model and starts the first blocks, one on each SM in turn. */
static inline void fixture_start(struct fixture *f) {
    f->chip = f->ops->chip ? f->ops->chip->new_chip(f->options, &f->machine) : NULL;
    for (uint32_t i = 0; i < f->n_sms; i++)
        fixture_start_sm(f, i);
    for (uint32_t i = 0; i < f->n_sms; i++)
        if (f->ops->begin_grid)
            f->ops->begin_grid(f->sm[i].model);
    if (f->ops->chip) {
        for (uint32_t i = 0; i < f->n_sms; i++)
            f->ops->refill(f->sm[i].model, f->cycle);
    } else {
        for (bool again = true; again;) {
            again = false;
            for (uint32_t i = 0; i < f->n_sms; i++)
                again |= fixture_free_slots(&f->sm[i]) >= f->sm[i].block[0].block.cta->n_rows &&
                         fixture_pull_block(&f->sm[i], f->cycle);
        }
    }
    fixture_after(&f->sm[0], NULL);
}

static inline void fixture_close(struct fixture *f) {
    for (uint32_t i = 0; i < f->n_sms && f->sm[i].f; i++) {
        for (uint32_t b = 0; b < f->blocks_per_sm; b++) {
            if (f->ops->free_block)
                f->ops->free_block(f->sm[i].model, f->sm[i].block[b].block.state);
            exec_cta_free(f->sm[i].block[b].block.cta);
        }
        f->ops->free_model(f->sm[i].model);
    }
    if (f->ops->chip)
        f->ops->chip->free_chip(f->chip);
    exec_program_free(f->program);
    ptx_module_free(f->module);
    free(f->options);
    munmap(f, sizeof *f);
}

/* The sum of a counter over all SMs. */
#define FIXTURE_COUNTER(f, name)                                                                                       \
    (f->sm[0].counters.name + f->sm[1].counters.name + f->sm[2].counters.name + f->sm[3].counters.name)
