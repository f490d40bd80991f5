/* Packets reach their receivers one round later, in the order they were sent. */
#include "mem/mail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RECEIVERS = 70 };

static void send(struct mem_outbox *outbox, uint64_t round, uint32_t receiver, uint64_t cycle, uint32_t token) {
    struct mem_message message = {.token = token};
    mem_outbox_add(outbox, round, receiver, cycle, MEM_EVENT_SM_ARRIVE, &message);
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
    mem_events_init(&events, &arena, MEM_SENT_BY_BANKS);
    mem_events_init(&other, &arena, MEM_SENT_BY_BANKS);
    mem_outbox_init(&outbox, RECEIVERS);
    assert_true(mem_outbox_receivers(&outbox, 6, set) == MEM_NEVER);
    send(&outbox, 6, 69, 12, 1);
    send(&outbox, 6, 3, 9, 2);
    for (uint32_t token = 3; token < 40; token++)
        send(&outbox, 6, 69, 12, token);
    assert_int_equal(mem_outbox_receivers(&outbox, 6, set), 9);
    assert_int_equal(set[0], 1u << 3);
    assert_int_equal(set[1], 1u << (69 - 64));
    send(&outbox, 7, 69, 13, 100); /* of the next round, while the others are collected */
    mem_outbox_collect(&outbox, 6, 69, &events);
    expect(&events, 12, 1);
    for (uint32_t token = 3; token < 40; token++)
        expect(&events, 12, token);
    assert_false(mem_events_take(&events, &(struct mem_event){0}));
    mem_outbox_collect(&outbox, 6, 3, &other);
    expect(&other, 9, 2);
    assert_int_equal(mem_outbox_receivers(&outbox, 7, set), 13);
    assert_true(mem_outbox_receivers(&outbox, 8, set) == MEM_NEVER);
    mem_outbox_collect(&outbox, 8, 69, &events); /* packets of an earlier round do not come again */
    assert_true(events.next == MEM_NEVER);
    send(&outbox, 8, 69, 14, 200); /* and make room for new ones */
    mem_outbox_collect(&outbox, 8, 69, &events);
    expect(&events, 14, 200);
    assert_false(mem_events_take(&events, &(struct mem_event){0}));
    assert_true(events.next == MEM_NEVER);
    mem_outbox_free(&outbox);
    mem_events_free(&events);
    mem_events_free(&other);
    base_arena_free(&arena);
}

static void senders_show_their_receivers(void **state) {
    (void)state;
    enum { SENDERS = 3 };
    struct mem_senders senders;
    struct mem_outbox outbox;
    mem_senders_init(&senders, SENDERS, RECEIVERS);
    mem_outbox_init(&outbox, RECEIVERS);
    send(&outbox, 7, 69, 12, 1);
    assert_false(mem_senders_have(&senders, 2, 7, 69));
    mem_senders_show(&senders, 2, &outbox, 7);
    for (uint32_t sender = 0; sender < SENDERS; sender++)
        for (uint64_t round = 6; round < 8; round++)
            for (uint32_t receiver = 0; receiver < RECEIVERS; receiver++)
                assert_int_equal(mem_senders_have(&senders, sender, round, receiver),
                                 sender == 2 && round == 7 && receiver == 69);
    send(&outbox, 9, 4, 20, 1);
    mem_senders_show(&senders, 2, &outbox, 9);
    assert_false(mem_senders_have(&senders, 2, 9, 69));
    assert_true(mem_senders_have(&senders, 2, 9, 4));
    mem_outbox_free(&outbox);
    mem_senders_free(&senders);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_wait_in_the_box_of_their_receiver),
        cmocka_unit_test(senders_show_their_receivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
