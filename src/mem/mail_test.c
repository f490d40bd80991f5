/* Packets reach their receivers one round later, in the order they were sent. */
#include "mem/mail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RECEIVERS = 70 };

static void send(struct mem_outbox *outbox, uint64_t round, uint32_t receiver, uint64_t cycle, uint32_t token) {
    struct mem_message message = {.token = token};
    mem_outbox_add(outbox, round, receiver, cycle, MEM_EVENT_SM_ARRIVE, &message, 0);
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

/* An SM that several host threads run in a round has packets in several outboxes. */
static void packets_of_a_sender_keep_their_order(void **state) {
    (void)state;
    enum { NEAR = 9, FAR = 9 + 2 * MEM_WHEEL_SLOTS };
    static const struct {
        uint16_t sm, sequence;
        uint32_t token;
    } packets[2][3] = {{{5, 1, 6}, {5, 2, 7}, {2, 65535, 2}}, {{5, 65535, 4}, {5, 0, 5}, {2, 1, 3}}};
    for (uint32_t first = 0; first < 2; first++) {
        struct base_arena arena = {0};
        struct mem_events events;
        struct mem_outbox outbox[2];
        mem_events_init(&events, &arena, MEM_SENT_BY_SMS);
        for (uint32_t i = 0; i < 2; i++) {
            mem_outbox_init(&outbox[i], RECEIVERS);
            for (uint32_t k = 0; k < 3; k++) {
                struct mem_message message = {.token = packets[i][k].token, .sm = packets[i][k].sm};
                mem_outbox_add(&outbox[i], 6, 3, NEAR, MEM_EVENT_SM_ARRIVE, &message, packets[i][k].sequence);
                mem_outbox_add(&outbox[i], 6, 3, FAR, MEM_EVENT_SM_ARRIVE, &message, packets[i][k].sequence);
            }
        }
        mem_outbox_collect(&outbox[first], 6, 3, &events);
        mem_outbox_collect(&outbox[1 - first], 6, 3, &events);
        for (uint64_t cycle = NEAR; cycle <= FAR; cycle += FAR - NEAR) {
            for (uint32_t token = 2; token < 8; token++)
                expect(&events, cycle, token);
            assert_false(mem_events_take(&events, &(struct mem_event){0}));
        }
        mem_outbox_free(&outbox[0]);
        mem_outbox_free(&outbox[1]);
        mem_events_free(&events);
        base_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_wait_in_the_box_of_their_receiver),
        cmocka_unit_test(packets_of_a_sender_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
