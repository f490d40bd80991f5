/* Packets reach their receivers one round later, in the order they were sent. */
#include "mem/mail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RECEIVERS = 70, SLOTS = 64 };

static void send(struct mem_outbox *outbox, uint32_t side, uint32_t receiver, uint64_t cycle, uint32_t token) {
    struct mem_message message = {.token = token};
    mem_outbox_add(outbox, side, receiver, cycle, MEM_EVENT_SM_ARRIVE, &message);
}

static void expect(struct mem_events *events, uint64_t cycle, uint32_t token) {
    struct mem_event event;
    assert_int_equal(events->next, cycle);
    mem_events_move(events, cycle);
    assert_true(mem_events_take(events, &event));
    assert_int_equal(event.message.token, token);
    assert_int_equal(event.kind, MEM_EVENT_SM_ARRIVE);
}

static void packets_wait_in_the_box_of_their_receiver(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct mem_events events, other;
    struct mem_outbox outbox;
    uint64_t set[2] = {0};
    mem_events_init(&events, &arena, SLOTS, MEM_SENT_BY_BANKS);
    mem_events_init(&other, &arena, SLOTS, MEM_SENT_BY_BANKS);
    mem_outbox_init(&outbox, RECEIVERS);
    assert_true(mem_outbox_receivers(&outbox, 0, set) == MEM_NEVER);
    send(&outbox, 0, 69, 12, 1);
    send(&outbox, 0, 3, 9, 2);
    for (uint32_t token = 3; token < 40; token++)
        send(&outbox, 0, 69, 12, token);
    assert_int_equal(mem_outbox_receivers(&outbox, 0, set), 9);
    assert_int_equal(set[0], 1u << 3);
    assert_int_equal(set[1], 1u << (69 - 64));
    send(&outbox, 1, 69, 13, 100); /* of the next round, while the others are collected */
    mem_outbox_empty(&outbox, 0, 69, &events);
    expect(&events, 12, 1);
    for (uint32_t token = 3; token < 40; token++)
        expect(&events, 12, token);
    assert_false(mem_events_take(&events, &(struct mem_event){0}));
    mem_outbox_empty(&outbox, 0, 69, &events); /* they are not there twice */
    assert_true(events.next == MEM_NEVER);
    mem_outbox_empty(&outbox, 0, 3, &other);
    expect(&other, 9, 2);
    mem_outbox_begin(&outbox, 0);
    assert_true(mem_outbox_receivers(&outbox, 0, set) == MEM_NEVER);
    assert_int_equal(mem_outbox_receivers(&outbox, 1, set), 13);
    mem_outbox_free(&outbox);
    mem_events_free(&events);
    mem_events_free(&other);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_wait_in_the_box_of_their_receiver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
