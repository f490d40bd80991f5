/* The directory of a MESI protocol between write-back L1s and an inclusive L2 (Meng 2010, table 3: "directory-based").
 * The paper names the protocol but not its messages. The messages are our choice.
 *
 * Each L2 line knows its owner (the one L1 that may write it, exclusive or modified) or its sharers. All data goes
 * through the L2; L1s do not send to each other.
 *
 *     request    copies                   before the answer        answer
 *     READ       an owner                 DOWNGRADE it, wait       shared, or exclusive if no copy is left
 *     OWN        owner or other sharers   INVALIDATE all, wait     the data, or UPGRADE if the asker has a copy
 *     ATOMIC     any, the asker's too     INVALIDATE all, wait     done
 *     (evicted)  any                      INVALIDATE all, wait     written back if modified
 *
 * Each line serves one request at a time. While acknowledgements are missing, the line has an entry, and requests for
 * it wait there in order. So only the entry has transient states, and these races remain:
 *  - The owner gives the line back before DOWNGRADE or INVALIDATE reaches the owner. Its PUT arrives before its
 *    acknowledgement, and the acknowledgement says that the L1 has no copy.
 *  - An L1 asks for an upgrade and loses its copy before the request is served. It is no longer a sharer, so it gets
 *    the data.
 *  - An L1 drops its shared copy silently and asks again. The directory still lists this L1, but the request says that
 *    the L1 has no copy.
 *  - The line is evicted while an answer is in flight. Lookups take the same time for all messages and a link keeps
 *    messages in order, so INVALIDATE arrives after the data. Answers that follow a wait leave at once. All earlier
 *    messages of the line have left by then, because the acknowledgement or the fill arrives at least a lookup later.
 *
 * Instruction fetches read the L2's copy and are not tracked: code does not change while it runs. */
#include <assert.h>

#include "mem/internal.h"

static uint64_t bit(uint32_t sm) { return UINT64_C(1) << sm; }

uint64_t mem_directory_copies(const struct mem_bank *bank, uint32_t slot) {
    return bank->sharers[slot] | (bank->owner[slot] == MEM_NO_OWNER ? 0 : bit(bank->owner[slot]));
}

/* Returns the SMs that must answer before this request can be served. */
static uint64_t targets_of(const struct mem_bank *bank, uint32_t slot, const struct mem_message *message) {
    uint64_t copies = mem_directory_copies(bank, slot);
    switch ((enum mem_message_type)message->type) {
    case MEM_MSG_READ:
        return bank->owner[slot] == MEM_NO_OWNER || message->flags & MEM_FLAG_READ_ONLY ? 0 : copies;
    case MEM_MSG_OWN:
        return copies & ~bit(message->sm);
    default:
        return copies;
    }
}

static void grant_read(struct mem *mem, struct mem_bank *bank, uint32_t slot, const struct mem_message *message,
                       uint64_t when, uint64_t cycle) {
    bool is_exclusive = false;
    if (!(message->flags & MEM_FLAG_READ_ONLY)) {
        assert(bank->owner[slot] == MEM_NO_OWNER);
        is_exclusive = bank->sharers[slot] == 0;
        if (is_exclusive) {
            bank->owner[slot] = (uint8_t)message->sm;
        } else {
            bank->sharers[slot] |= bit(message->sm);
        }
    }
    mem_bank_answer(mem, message, MEM_MSG_DATA, is_exclusive ? MEM_FLAG_EXCLUSIVE : 0, when, cycle);
}

static void grant_own(struct mem *mem, struct mem_bank *bank, uint32_t slot, const struct mem_message *message,
                      uint64_t when, uint64_t cycle) {
    assert(bank->owner[slot] == MEM_NO_OWNER);
    bool has_copy = message->flags & MEM_FLAG_HAS_COPY && bank->sharers[slot] & bit(message->sm);
    bank->sharers[slot] = 0;
    bank->owner[slot] = (uint8_t)message->sm;
    mem_bank_answer(mem, message, has_copy ? MEM_MSG_UPGRADE : MEM_MSG_DATA, MEM_FLAG_EXCLUSIVE, when, cycle);
}

static void grant(struct mem *mem, struct mem_bank *bank, uint32_t slot, const struct mem_message *message,
                  uint64_t when, uint64_t cycle) {
    mem_cache_touch(&bank->cache, slot);
    switch ((enum mem_message_type)message->type) {
    case MEM_MSG_READ:
        grant_read(mem, bank, slot, message, when, cycle);
        break;
    case MEM_MSG_OWN:
        grant_own(mem, bank, slot, message, when, cycle);
        break;
    default:
        assert(message->type == MEM_MSG_ATOMIC);
        bank->cache.state[slot] = MEM_MODIFIED;
        mem_probe(mem, MEM_PROBE_L2_ATOMIC, message->sm, message->line);
        mem_bank_answer(mem, message, MEM_MSG_DONE, 0, when, cycle);
        break;
    }
}

static void ask(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t targets, enum mem_message_type type,
                uint64_t cycle) {
    bank->entry[entry].n_acks = (uint32_t)__builtin_popcountll(targets);
    for (; targets != 0; targets &= targets - 1) {
        struct mem_message message = {.line = bank->lines.line[entry],
                                      .sm = (uint16_t)__builtin_ctzll(targets),
                                      .unit = (uint16_t)bank->id,
                                      .type = (uint8_t)type};
        mem_bank_send(mem, &message, cycle + mem->l2_latency, cycle);
    }
}

static void collect(struct mem *mem, struct mem_bank *bank, uint32_t slot, uint32_t entry, uint64_t targets,
                    uint64_t cycle) {
    const struct mem_message *message = &bank->waiting[bank->entry[entry].first].message;
    bank->entry[entry].state = MEM_ENTRY_COLLECT;
    bank->cache.is_pinned[slot] = true;
    ask(mem, bank, entry, targets, message->type == MEM_MSG_READ ? MEM_MSG_DOWNGRADE : MEM_MSG_INVALIDATE, cycle);
}

bool mem_directory_request(struct mem *mem, struct mem_bank *bank, uint32_t slot, const struct mem_message *message,
                           uint64_t cycle) {
    uint64_t targets = targets_of(bank, slot, message);
    if (targets == 0) {
        grant(mem, bank, slot, message, cycle + mem->l2_latency, cycle);
        return true;
    }
    uint32_t entry = mem_bank_take_entry(bank, message->line, MEM_ENTRY_COLLECT);
    if (entry == MEM_NONE)
        return false;
    mem_bank_wait(bank, entry, message);
    collect(mem, bank, slot, entry, targets, cycle);
    return true;
}

void mem_directory_continue(struct mem *mem, struct mem_bank *bank, uint32_t entry, uint64_t cycle) {
    uint32_t slot = mem_cache_find(&bank->cache, bank->lines.line[entry]);
    assert(slot != MEM_NONE);
    while (bank->entry[entry].first != MEM_NONE) {
        uint64_t targets = targets_of(bank, slot, &bank->waiting[bank->entry[entry].first].message);
        if (targets != 0) {
            collect(mem, bank, slot, entry, targets, cycle);
            return;
        }
        struct mem_message message = mem_bank_next_waiter(bank, entry, cycle);
        grant(mem, bank, slot, &message, cycle, cycle);
    }
    bank->cache.is_pinned[slot] = false;
    mem_bank_release(bank, entry, cycle);
}

void mem_directory_recall(struct mem *mem, struct mem_bank *bank, uint32_t slot, uint32_t entry, uint64_t cycle) {
    bank->partition->counters.recalls++;
    bank->entry[entry].is_dirty = bank->cache.state[slot] == MEM_MODIFIED;
    ask(mem, bank, entry, mem_directory_copies(bank, slot), MEM_MSG_INVALIDATE, cycle);
}

/* Updates the line in the L2, or the entry of a line that leaves, after an L1 has returned or dropped its copy. */
static void take_copy_back(struct mem *mem, struct mem_bank *bank, uint32_t entry, const struct mem_message *message,
                           bool has_data) {
    if (has_data)
        mem_probe(mem, MEM_PROBE_L2_RECEIVE, message->sm, message->line);
    if (entry != MEM_NONE && bank->entry[entry].state == MEM_ENTRY_RECALL) {
        bank->partition->counters.l2_writebacks += has_data && !bank->entry[entry].is_dirty;
        bank->entry[entry].is_dirty |= has_data;
        return;
    }
    uint32_t slot = mem_cache_find(&bank->cache, message->line);
    assert(slot != MEM_NONE && "the L2 has every line that an L1 has");
    if (has_data)
        bank->cache.state[slot] = MEM_MODIFIED;
    if (bank->owner[slot] == message->sm)
        bank->owner[slot] = MEM_NO_OWNER;
    bank->sharers[slot] &= ~bit(message->sm);
    if (message->type == MEM_MSG_ACK && message->flags & MEM_FLAG_HAS_COPY)
        bank->sharers[slot] |= bit(message->sm);
}

void mem_directory_response(struct mem *mem, struct mem_bank *bank, const struct mem_message *message, uint64_t cycle) {
    uint32_t entry = mem_lines_find(&bank->lines, message->line);
    if (message->type != MEM_MSG_ACK) {
        take_copy_back(mem, bank, entry, message, message->type == MEM_MSG_PUT);
        mem_crossbar_credit(mem, bank, message->sm, true, cycle);
        return;
    }
    assert(entry != MEM_NONE && bank->entry[entry].n_acks > 0);
    take_copy_back(mem, bank, entry, message, message->flags & MEM_FLAG_HAS_DATA);
    if (--bank->entry[entry].n_acks > 0)
        return;
    if (bank->entry[entry].state == MEM_ENTRY_COLLECT)
        mem_directory_continue(mem, bank, entry, cycle);
    else if (bank->entry[entry].is_dirty)
        mem_bank_write_back(mem, bank, entry, mem->line_bytes, cycle);
    else
        mem_bank_release(bank, entry, cycle);
}
