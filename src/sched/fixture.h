/* A test bench for policies: the test sets the state of slots, and picks issue. Sets are written as bits of slots 0 to
 * 63.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/accounts.h"
#include "sched/sched.h"

struct bench {
    const struct sched_ops *ops;
    void *options, *state;
    struct sched_slot slot[SCHED_MAX_SLOTS];
    struct sched_set occupied, ready, next_long, next_load, waits_long, pending;
    struct sched_view view;
    struct sched_accounts accounts;
    struct sched_pressure pressure;
    struct sched_kernel kernel;
};

static inline struct sched_set bench_set(uint64_t bits) { return (struct sched_set){{bits, 0}}; }

/* Age and id are the slot's number and the block is 0, unless the test changes them before the slot arrives. */
static inline void bench_start(struct bench *bench, const char *scheduler, uint32_t n_slots) {
    char error[256] = "";
    memset(bench, 0, sizeof *bench);
    if (!sched_parse(scheduler, &bench->ops, &bench->options, error, sizeof error))
        fail_msg("%s", error);
    bench->state = calloc(1, bench->ops->state_bytes);
    assert_non_null(bench->state);
    bench->view = (struct sched_view){.slot = bench->slot,
                                      .occupied = &bench->occupied,
                                      .ready = &bench->ready,
                                      .next_long = &bench->next_long,
                                      .next_load = &bench->next_load,
                                      .waits_long = &bench->waits_long,
                                      .pending = &bench->pending,
                                      .n_slots = n_slots,
                                      .n_schedulers = 1,
                                      .n_blocks = 1,
                                      .most_blocks = 8,
                                      .account = bench->accounts.account,
                                      .block = bench->accounts.block,
                                      .at_barrier = &bench->accounts.at_barrier,
                                      .pressure = &bench->pressure,
                                      .kernel = &bench->kernel};
    for (uint32_t slot = 0; slot < SCHED_MAX_SLOTS; slot++)
        bench->slot[slot] = (struct sched_slot){.age = slot, .warp_id = slot};
    bench->ops->start(bench->state, bench->options, n_slots);
}

static inline void bench_end(struct bench *bench) {
    free(bench->options);
    free(bench->state);
}

static inline void bench_arrive(struct bench *bench, uint32_t slot) {
    sched_add(&bench->occupied, slot);
    sched_accounts_arrive(&bench->accounts, &bench->view, slot);
    bench->ops->arrive(bench->state, &bench->view, slot);
}

static inline void bench_leave(struct bench *bench, uint32_t slot) {
    sched_remove(&bench->occupied, slot);
    sched_remove(&bench->waits_long, slot);
    sched_remove(&bench->pending, slot);
    sched_accounts_leave(&bench->accounts, &bench->view, slot);
    bench->ops->leave(bench->state, &bench->view, slot);
}

/* With slots 0 to n_slots - 1 occupied. */
static inline void bench_start_full(struct bench *bench, const char *scheduler, uint32_t n_slots) {
    bench_start(bench, scheduler, n_slots);
    for (uint32_t slot = 0; slot < n_slots; slot++)
        bench_arrive(bench, slot);
}

enum bench_wait { WAITS_SHORT, WAITS_LONG, WAITS_PENDING };

static inline void bench_stall(struct bench *bench, uint32_t slot, enum bench_wait wait) {
    sched_put(&bench->waits_long, slot, wait == WAITS_LONG);
    sched_put(&bench->pending, slot, wait == WAITS_PENDING);
    sched_accounts_stall(&bench->accounts, &bench->view, slot, wait == WAITS_LONG);
    bench->ops->stall(bench->state, &bench->view, slot, wait == WAITS_LONG);
}

static inline void bench_wake(struct bench *bench, uint32_t slot) {
    sched_remove(&bench->waits_long, slot);
    sched_remove(&bench->pending, slot);
    sched_accounts_wake(&bench->accounts, &bench->view, slot);
    bench->ops->wake(bench->state, &bench->view, slot);
}

static inline void bench_l1(struct bench *bench, enum sched_l1_kind kind, uint32_t slot, uint64_t line) {
    bench->ops->l1(
        bench->state, &bench->view,
        &(struct sched_l1_event){.kind = kind, .slot = slot, .pc = bench->slot[slot].pc, .line = line, .n_lines = 1});
}

/* Picks one of the candidates, without those that the policy holds back, and issues it. */
static inline int bench_issue(struct bench *bench, uint64_t candidates) {
    bench->ready = bench_set(candidates);
    struct sched_set set = bench->ready, held = {{0}};
    if (bench->ops->hold)
        bench->ops->hold(bench->state, &bench->view, &held);
    held = sched_and(&held, &bench->next_long);
    set = sched_and_not(&set, &held);
    int slot = sched_is_empty(&set) ? SCHED_NONE : bench->ops->pick(bench->state, &bench->view, &set);
    if (slot != SCHED_NONE) {
        sched_accounts_issued(&bench->accounts, &bench->view, (uint32_t)slot);
        bench->ops->issued(bench->state, &bench->view, (uint32_t)slot);
    }
    return slot;
}

static inline void bench_expect(struct bench *bench, uint64_t candidates, const int *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int slot = bench_issue(bench, candidates);
        if (slot != expected[i])
            fail_msg("pick %zu is %d, not %d", i, slot, expected[i]);
    }
}

/* Picks from the same candidates repeatedly and expects these slots, in this order. */
#define EXPECT_ISSUES(bench, candidates, ...)                                                                          \
    bench_expect(bench, candidates, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
