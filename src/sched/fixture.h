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

#include "sched/sched.h"

struct bench {
    const struct sched_ops *ops;
    void *options, *state;
    struct sched_slot slot[SCHED_MAX_SLOTS];
    struct sched_set occupied, ready, next_long, next_load, waits_long, pending;
    struct sched_view view;
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
    bench->view = (struct sched_view){bench->slot,       &bench->occupied,  &bench->ready,
                                      &bench->next_long, &bench->next_load, &bench->waits_long,
                                      &bench->pending,   n_slots,           0};
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
    bench->ops->arrive(bench->state, &bench->view, slot);
}

static inline void bench_leave(struct bench *bench, uint32_t slot) {
    sched_remove(&bench->occupied, slot);
    sched_remove(&bench->waits_long, slot);
    sched_remove(&bench->pending, slot);
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
    bench->ops->stall(bench->state, &bench->view, slot, wait == WAITS_LONG);
}

static inline void bench_wake(struct bench *bench, uint32_t slot) {
    sched_remove(&bench->waits_long, slot);
    sched_remove(&bench->pending, slot);
    bench->ops->wake(bench->state, &bench->view, slot);
}

/* Picks one of the candidates and issues it. */
static inline int bench_issue(struct bench *bench, uint64_t candidates) {
    bench->ready = bench_set(candidates);
    struct sched_set set = bench->ready;
    int slot = bench->ops->pick(bench->state, &bench->view, &set);
    if (slot != SCHED_NONE)
        bench->ops->issued(bench->state, &bench->view, (uint32_t)slot);
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
