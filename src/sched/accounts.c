/* Accounts: instructions and stall cycles of each group and each block. An instruction in cycle a and the next one in
 * cycle b make b - a - 1 stall cycles. A wait that began with the instruction of cycle a and ended in cycle b, in which
 * the group may issue again, has the same length. */
#include "sched/accounts.h"

void sched_accounts_begin_block(struct sched_accounts *accounts, uint32_t block, uint64_t number, uint64_t cycle) {
    accounts->block[block] = (struct sched_block){.number = number, .start_cycle = cycle};
}

void sched_accounts_arrive(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot) {
    accounts->account[slot] = (struct sched_account){0};
    accounts->last_cycle[slot] = view->cycle;
    accounts->wait[slot] = SCHED_WAIT_NONE;
    sched_add(&accounts->block[view->slot[slot].block].slots, slot);
}

void sched_accounts_leave(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot) {
    sched_remove(&accounts->block[view->slot[slot].block].slots, slot);
    sched_remove(&accounts->at_barrier, slot);
}

/* Ends the group's wait, which lasted up to and including this cycle. */
static void end_wait(struct sched_accounts *accounts, uint32_t slot, uint64_t last_cycle) {
    uint64_t began = accounts->wait_began[slot], cycles = last_cycle > began ? last_cycle - began : 0;
    if (accounts->wait[slot] == SCHED_WAIT_MEMORY)
        accounts->account[slot].memory_cycles += cycles;
    else if (accounts->wait[slot] == SCHED_WAIT_BARRIER)
        accounts->account[slot].barrier_cycles += cycles;
    accounts->wait[slot] = SCHED_WAIT_NONE;
    sched_remove(&accounts->at_barrier, slot);
}

void sched_accounts_stall(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot, bool is_long) {
    end_wait(accounts, slot, view->cycle);
    bool waits_for_others = !is_long && sched_has(view->pending, slot);
    accounts->wait[slot] = is_long ? SCHED_WAIT_MEMORY : waits_for_others ? SCHED_WAIT_BARRIER : SCHED_WAIT_SHORT;
    accounts->wait_began[slot] = view->cycle;
    sched_put(&accounts->at_barrier, slot, waits_for_others);
}

void sched_accounts_wake(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot) {
    end_wait(accounts, slot, view->cycle ? view->cycle - 1 : 0);
}

void sched_accounts_issued(struct sched_accounts *accounts, const struct sched_view *view, uint32_t slot) {
    struct sched_block *block = &accounts->block[view->slot[slot].block];
    uint64_t last = accounts->last_cycle[slot], stalled = view->cycle > last ? view->cycle - last - 1 : 0;
    accounts->last_cycle[slot] = view->cycle;
    accounts->account[slot].instructions++;
    accounts->account[slot].stall_cycles += stalled;
    block->instructions++;
    block->stall_cycles += stalled;
}
