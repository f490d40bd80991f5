/* The stores of an SM that wait for its link to the crossbar (crossbar.store_lines).
 *
 * Stores leave in order, as lines of 128 bytes. A store to a line that still waits joins it, whichever warp it is of,
 * and even if it writes the same bytes: both leave together, and a sector that the two have written as a whole is no
 * part any more. A line waits for crossbar.store_wait cycles, and then until the link is free and there are credits for
 * its sectors. The rest of the L1's latency follows. When the queue is full, stores wait in front of it. On the card a
 * store joins one that came up to 24 lines before it, and none that came 32 lines before (join_steady, join_barrier,
 * meet_free).
 *
 * Stores of whole sectors pass by while nothing waits, and those of bulk copies always do: our choice. Left out: of
 * stores of at most 4 bytes per lane that touch a single line, fewer lines wait (join_steady_2_of_4). */
#include "mem/internal.h"

enum { LINE_BITS = 7, SECTOR_BITS = 5 };
_Static_assert(1 << LINE_BITS == MEM_LINE_SECTORS << SECTOR_BITS, "a line consists of sectors");

void mem_stores_init(struct mem *mem, struct mem_sm *sm) {
    sm->stores.capacity = mem->machine->crossbar.store_lines;
    sm->stores.line = BASE_ARENA_ARRAY(&mem->arena, struct mem_stored_line, sm->stores.capacity);
}

static struct mem_stored_line *line_at(const struct mem_stores *stores, uint32_t i) {
    uint32_t place = stores->first + i;
    return &stores->line[place < stores->capacity ? place : place - stores->capacity];
}

/* Returns the line of this number that waits, or NULL. */
static struct mem_stored_line *find(const struct mem_sm *sm, uint64_t number) {
    for (uint32_t i = sm->stores.n; i-- > 0;) {
        struct mem_stored_line *line = line_at(&sm->stores, i);
        if (line->number == number)
            return line;
    }
    return NULL;
}

/* Returns how many cycles pass from the moment in which no store can join a line any more until it is on the link. */
static uint64_t rest_of_way(const struct mem *mem, const struct mem_sm *sm) {
    uint32_t wait = mem->machine->crossbar.store_wait_cycles;
    return sm->data.latency_cycles > wait ? sm->data.latency_cycles - wait : 0;
}

static uint32_t count_sectors(const struct mem_stored_line *line) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < MEM_LINE_SECTORS; i++)
        n += line->written[i] != 0;
    return n;
}

/* Sends the oldest line. The bytes of its sectors that are written follow as one more sector, if any is a part. */
static void send_first(struct mem *mem, struct mem_sm *sm, uint64_t cycle) {
    struct mem_stores *stores = &sm->stores;
    const struct mem_stored_line *line = line_at(stores, 0);
    bool is_first = true, has_part = false;
    for (uint32_t i = 0; i < MEM_LINE_SECTORS; i++) {
        if (!line->written[i])
            continue;
        bool is_part = line->written[i] != UINT32_MAX;
        mem_l1_send_store(mem, sm, (line->number << LINE_BITS >> SECTOR_BITS) + i,
                          (uint32_t)__builtin_popcount(line->written[i]), is_part && !has_part ? 2 : 1, is_first,
                          is_part && has_part, cycle + rest_of_way(mem, sm));
        is_first = false;
        has_part |= is_part;
    }
    stores->first = stores->first + 1 < stores->capacity ? stores->first + 1 : 0;
    stores->n--;
}

bool mem_stores_run(struct mem *mem, struct mem_sm *sm, uint64_t cycle) {
    struct mem_stores *stores = &sm->stores;
    bool has_sent = false;
    while (stores->n) {
        const struct mem_stored_line *line = line_at(stores, 0);
        uint32_t n_sectors = count_sectors(line);
        uint64_t free = (sm->out.free_ticks + (1 << MEM_TICK_BITS) - 1) >> MEM_TICK_BITS;
        uint64_t rest = rest_of_way(mem, sm);
        free = free > rest ? free - rest : 0;
        uint64_t when = line->ready > free ? line->ready : free;
        if (when > cycle && !stores->has_event) {
            stores->has_event = true;
            *mem_events_add_own(&sm->events, when, MEM_EVENT_SM_STORES) = (struct mem_message){.sm = (uint16_t)sm->id};
        }
        if (when > cycle || sm->credits < n_sectors)
            break;
        sm->credits -= n_sectors;
        send_first(mem, sm, cycle);
        has_sent = true;
    }
    return has_sent;
}

bool mem_stores_pass(const struct mem_sm *sm) {
    return sm->stores.written == 0 || (sm->stores.written == UINT32_MAX && sm->stores.n == 0);
}

bool mem_stores_add(struct mem *mem, struct mem_sm *sm, uint64_t address, uint64_t cycle) {
    struct mem_stores *stores = &sm->stores;
    uint64_t number = address >> LINE_BITS;
    uint32_t sector = address >> SECTOR_BITS & (MEM_LINE_SECTORS - 1);
    struct mem_stored_line *line = find(sm, number);
    if (!line) {
        if (stores->n == stores->capacity)
            return false;
        line = line_at(stores, stores->n++);
        *line = (struct mem_stored_line){.number = number, .ready = cycle + mem->machine->crossbar.store_wait_cycles};
    }
    line->written[sector] |= stores->written;
    if (!stores->has_event)
        mem_stores_run(mem, sm, cycle);
    return true;
}
