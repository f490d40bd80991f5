/* The order of events. */
#include "mem/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CAPACITY = 20000 };

static void add(struct mem_events *events, uint64_t cycle, enum mem_event_phase phase, uint16_t sm, uint32_t token) {
    struct mem_message message = {.sm = sm, .token = token};
    mem_events_add(events, cycle, phase, MEM_EVENT_BANK_SERVE, &message);
}

static uint32_t take(struct mem_events *events) {
    struct mem_event event = {0};
    assert_true(mem_events_take(events, &event));
    return event.message.token;
}

static void expect_empty(struct mem_events *events) {
    struct mem_event event;
    assert_false(mem_events_take(events, &event));
}

static void events_come_by_cycle_and_then_in_the_order_they_were_added(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events *events = BASE_ARENA_NEW(&arena, struct mem_events);
    mem_events_init(events, &arena, MEM_SENT_BY_SMS);
    assert_true(events->next == MEM_NEVER);
    add(events, 7, MEM_PHASE_OWN, 0, 1);
    add(events, 5, MEM_PHASE_OWN, 0, 2);
    add(events, 7, MEM_PHASE_OWN, 0, 3);
    assert_int_equal(events->next, 5);
    mem_events_move(events, 5);
    assert_int_equal(take(events), 2);
    add(events, 5, MEM_PHASE_OWN, 0, 4); /* into the current cycle */
    assert_int_equal(take(events), 4);
    expect_empty(events);
    assert_int_equal(events->next, 7);
    mem_events_move(events, 7);
    assert_int_equal(take(events), 1);
    assert_int_equal(take(events), 3);
    expect_empty(events);
    assert_true(events->next == MEM_NEVER);
    mem_events_free(events);
    base_arena_free(&arena);
}

static void packets_come_last_and_by_sender(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events *events = BASE_ARENA_NEW(&arena, struct mem_events);
    mem_events_init(events, &arena, MEM_SENT_BY_SMS);
    add(events, 5, MEM_PHASE_PACKETS, 3, 30);
    add(events, 5, MEM_PHASE_PACKETS, 1, 10);
    add(events, 5, MEM_PHASE_PACKETS, 3, 31);
    add(events, 5, MEM_PHASE_PACKETS, 2, 20);
    add(events, 5, MEM_PHASE_PACKETS, 1, 11);
    add(events, 5, MEM_PHASE_OWN, 9, 0);
    mem_events_move(events, 5);
    const uint32_t order[] = {0, 10, 11, 20, 30, 31};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(take(events), order[i]);
    expect_empty(events);
    mem_events_free(events);
    base_arena_free(&arena);
}

static void events_beyond_the_wheel_keep_their_order(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events *events = BASE_ARENA_NEW(&arena, struct mem_events);
    mem_events_init(events, &arena, MEM_SENT_BY_SMS);
    add(events, 5000, MEM_PHASE_OWN, 0, 1); /* beyond the wheel */
    add(events, 4000, MEM_PHASE_OWN, 0, 2);
    add(events, 5000, MEM_PHASE_OWN, 0, 3);
    assert_int_equal(events->next, 4000);
    mem_events_move(events, 4000);
    assert_int_equal(take(events), 2);
    expect_empty(events);
    mem_events_move(events, 4900); /* an empty cycle; 5000 is on the wheel now */
    add(events, 5000, MEM_PHASE_OWN, 0, 4);
    assert_int_equal(events->next, 5000);
    mem_events_move(events, 5000);
    for (uint32_t token = 1; token <= 4; token += token == 1 ? 2 : 1)
        assert_int_equal(take(events), token);
    expect_empty(events);
    mem_events_free(events);
    base_arena_free(&arena);
}

static void a_tail_on_a_faster_link_overtakes_those_on_a_slower_one(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events *events = BASE_ARENA_NEW(&arena, struct mem_events);
    mem_events_init(events, &arena, MEM_SENT_BY_BANKS);
    enum { COUNT = 100 };
    struct mem_message tail;
    for (uint32_t i = 0; i < COUNT;
         i++) { /* the slower link's tails come in 102, 104, ..., the faster one's in 51, 52, ... */
        mem_events_add_tail(events, 102 + 2 * i, &(struct mem_message){.token = 102 + 2 * i});
        mem_events_add_tail(events, 51 + i, &(struct mem_message){.token = 51 + i});
    }
    uint32_t n = 0;
    while (events->next != MEM_NEVER) {
        uint64_t now = events->next;
        mem_events_move(events, now);
        for (; mem_events_take_tail(events, &tail); n++)
            assert_int_equal(tail.token, now);
        expect_empty(events);
    }
    assert_int_equal(n, 2 * COUNT);
    mem_events_free(events);
    base_arena_free(&arena);
}

static void tails_keep_their_order_and_come_before_the_events_of_their_cycle(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events *events = BASE_ARENA_NEW(&arena, struct mem_events);
    struct mem_message tail;
    uint32_t expected = 0;
    mem_events_init(events, &arena, MEM_SENT_BY_BANKS);
    add(events, 60, MEM_PHASE_PACKETS, 0, 1000);
    for (uint32_t i = 0; i < 200; i++) { /* more than the ring holds at first, and its beginning moves */
        mem_events_add_tail(events, 2 + i / 3, &(struct mem_message){.token = i});
        if (i % 7 != 6)
            continue;
        mem_events_move(events, events->next);
        if (!mem_events_take_tail(events, &tail)) { /* the last tail of that cycle was the previous one */
            expect_empty(events);
            mem_events_move(events, events->next);
            assert_true(mem_events_take_tail(events, &tail));
        }
        assert_int_equal(tail.token, expected++);
    }
    while (events->next != MEM_NEVER) {
        uint64_t now = events->next;
        mem_events_move(events, now);
        while (mem_events_take_tail(events, &tail)) {
            assert_int_equal(now, 2 + tail.token / 3);
            assert_int_equal(tail.token, expected++);
        }
        if (now == 60)
            assert_int_equal(take(events), 1000);
        expect_empty(events);
    }
    assert_int_equal(expected, 200);
    mem_events_free(events);
    base_arena_free(&arena);
}

/* Many events, on the wheel and beyond it, come out sorted by (cycle, order added). */
static void random_events_come_out_sorted(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events *events = BASE_ARENA_NEW(&arena, struct mem_events);
    uint64_t *cycle_of = BASE_ARENA_ARRAY(&arena, uint64_t, CAPACITY);
    mem_events_init(events, &arena, MEM_SENT_BY_SMS);
    uint64_t random = 1, last_cycle = 0;
    uint32_t added = 0, taken = 0, last_token = 0;
    while (taken < CAPACITY) {
        for (uint32_t i = 0; i < 3 && added < CAPACITY; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            uint64_t delay = random >> 33 & (random >> 60 == 0 ? 0xffff : 0x1ff);
            cycle_of[added] = events->base + delay;
            add(events, cycle_of[added], MEM_PHASE_OWN, 0, added);
            added++;
        }
        struct mem_event event;
        mem_events_move(events, events->next);
        if (!mem_events_take(events, &event))
            continue;
        assert_int_equal(cycle_of[event.message.token], events->base);
        assert_true(events->base > last_cycle || event.message.token > last_token || taken == 0);
        last_cycle = events->base;
        last_token = event.message.token;
        taken++;
    }
    expect_empty(events);
    assert_true(events->next == MEM_NEVER);
    mem_events_free(events);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_by_cycle_and_then_in_the_order_they_were_added),
        cmocka_unit_test(packets_come_last_and_by_sender),
        cmocka_unit_test(events_beyond_the_wheel_keep_their_order),
        cmocka_unit_test(a_tail_on_a_faster_link_overtakes_those_on_a_slower_one),
        cmocka_unit_test(tails_keep_their_order_and_come_before_the_events_of_their_cycle),
        cmocka_unit_test(random_events_come_out_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
