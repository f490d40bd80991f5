/* Times asynchronous copies. cp.async takes a turn in the load/store unit like a load. Its lines then arrive without
 * anything waiting for them. A bulk copy goes to a separate queue, which uses the L1 when the load/store unit does not.
 * It has requests of MEM_MAX_TRANSACTIONS lines, up to MOST_REQUESTS at a time, until all its lines have arrived.
 *
 * With copies.present, an engine executes bulk and tensor copies. It requests a line of 128 bytes per cycle, takes
 * longer for shorter pieces of rows, and writes a sector per cycle. Data of loads arrives over a link of its own, and a
 * copy is complete some cycles after its last line (bench/hardware: bulk_*, tensor_*).
 *
 * Values are already in place (copy.c), so a wait only delays its group. After cp.async.wait_group, .wait_all and a
 * true mbarrier.test_wait or .try_wait, the group's next instruction issues when the copies that the threads wait for
 * have arrived. A copy belongs to threads, not to a group, so the threads may be in any group when they wait.
 * cp.async.mbarrier.arrive ties the copies of its threads to an mbarrier. A bulk copy has an mbarrier from the start.
 *
 * Left out: the cycles that the data takes from the L1 to shared memory, and the banks there; .cg, which goes through
 * the L1 here like .ca; the 80 cycles that a thread of the card needs to start one more bulk copy; the time until other
 * blocks have the data of .multicast::cluster, or of a copy between blocks. Copies and waits on different SMs do not
 * affect each other (odgs moves threads). */
#include "sm/copies.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sm/internal.h"

enum { MOST_REQUESTS = 16 };

enum copy_state { COPY_FREE, COPY_IN_FLIGHT, COPY_ARRIVED };

/* One instruction's copies, a lane for each thread. */
struct sm_copy {
    enum copy_state state;
    bool is_bulk;
    uint32_t lanes;
    uint32_t n_requests;                    /* bulk: in flight or in the queue */
    uint64_t ready;                         /* ARRIVED: the cycle in which its data arrived */
    uint32_t more_cycles;                   /* from its last line until it is complete */
    double sector_cycles;                   /* of the engine, for each sector that it writes; 0: it reads */
    const struct exec_row *row[EXEC_LANES]; /* compared, never dereferenced: the row may no longer exist */
    const struct exec_block *block[EXEC_LANES];
    uint8_t home[EXEC_LANES];                   /* the thread's lane in its row */
    uint32_t group[EXEC_LANES];                 /* of cp.async or cp.async.bulk */
    uint32_t mbarrier[EXEC_LANES];              /* EXEC_NO_MBARRIER: none yet */
    uint32_t left;                              /* bulk: lanes whose lines have not all been requested, */
    uint64_t next[EXEC_LANES], end[EXEC_LANES]; /* and the addresses of the rest */
    uint64_t begin[EXEC_LANES];                 /* of the row, or of the whole copy */
    /* Tensor copies: the rows of the boxes, of which `row_at` to `row_end` are left for a lane after the one from next
     * to end. */
    struct exec_rows rows;
    uint32_t row_at[EXEC_LANES], row_end[EXEC_LANES];
};

static bool has_copies(const struct sm_program *program) {
    for (uint32_t pc = 0; pc < program->exec->n_insns; pc++)
        if (program->timing[pc].copies != SM_COPIES_NONE && program->timing[pc].copies < SM_PRODUCTS_FENCE)
            return true;
    return false;
}

void sm_copies_begin(struct sm *sm) {
    if (!has_copies(sm->program) && exec_shape_cluster(&sm->grid->shape) <= 1)
        return;
    struct sm_copies *copies = &sm->copies;
    copies->n_copies = 2 * sm->ldst.n_requests; /* those in flight, and some whose data still moves from the L1 */
    copies->n_words = (copies->n_copies + 63) / 64;
    copies->copy = base_allocate(copies->n_copies, sizeof *copies->copy);
    copies->awaited = base_allocate((size_t)sm->slots.n * copies->n_words, sizeof *copies->awaited);
    copies->queue = base_allocate(sm->ldst.n_requests, sizeof *copies->queue);
}

/* Requests outlive the grid. The lines that a bulk copy has not requested yet are dropped. */
void sm_copies_end(struct sm *sm) {
    struct sm_copies *copies = &sm->copies;
    if (!copies->copy)
        return;
    for (; sm->copies.n_queued; sm->copies.n_queued--) {
        struct sm_request *request = &sm->ldst.request[copies->queue[copies->queue_head]];
        copies->queue_head = (copies->queue_head + 1) % sm->ldst.n_requests;
        request->n_transactions = request->next;
        if (!request->outstanding)
            sm_ldst_release(&sm->ldst, request);
    }
    for (uint32_t i = 0; i < sm->ldst.n_touched; i++)
        if (sm->ldst.request[i].is_copy)
            sm->ldst.request[i].copy = SM_NO_COPY;
    for (uint32_t i = 0; i < copies->n_used; i++)
        free(copies->copy[i].rows.row);
    free(copies->copy);
    free(copies->awaited);
    free(copies->queue);
    *copies = (struct sm_copies){0};
}

/* --- copies --- */

/* Takes a copy that is free or has arrived, otherwise the one that arrives next. */
static uint32_t take_copy(struct sm_copies *copies, uint64_t cycle) {
    uint32_t best = 0;
    uint64_t least = SM_NEVER;
    for (uint32_t i = 0; i < copies->n_copies; i++) {
        const struct sm_copy *copy = &copies->copy[i];
        if (copy->state == COPY_FREE || (copy->state == COPY_ARRIVED && copy->ready <= cycle)) {
            copies->n_used = i < copies->n_used ? copies->n_used : i + 1;
            return i;
        }
        if (copy->state == COPY_ARRIVED && copy->ready < least) {
            least = copy->ready;
            best = i;
        }
    }
    return best;
}

/* Goes on with the next row of the lane's box. Returns false if there is none. */
static bool next_row(struct sm_copy *copy, uint32_t lane) {
    if (copy->row_at[lane] == copy->row_end[lane])
        return false;
    const struct exec_row_of_box *row = &copy->rows.row[copy->row_at[lane]++];
    copy->begin[lane] = copy->next[lane] = row->address;
    copy->end[lane] = row->address + row->bytes;
    return true;
}

/* Lets the request take this many cycles. */
static void set_pace(struct sm_request *request, double cycles) {
    uint32_t whole = (uint32_t)cycles > 1 ? (uint32_t)cycles : 1, n = request->n_transactions;
    request->lines_per_cycle = (uint8_t)((n + whole - 1) / whole);
    uint32_t taken = (n + request->lines_per_cycle - 1) / request->lines_per_cycle;
    request->more_cycles = (uint8_t)(whole > taken ? whole - taken : 0);
}

/* Returns the engine's cycles for the sectors from `next` to `end` of a lane's row. A row is read in pieces that end
 * where lines of 128 bytes do. Their first sector counts for the whole piece. */
static double engine_cycles(const struct sm *sm, const struct sm_copy *copy, uint32_t lane, uint64_t end) {
    enum { LINE = 128, SECTOR = 32 };
    uint64_t next = copy->next[lane];
    if (copy->sector_cycles > 0)
        return end - next < SECTOR ? 2 * copy->sector_cycles : copy->sector_cycles;
    if (next != copy->begin[lane] && next % LINE)
        return 0;
    uint64_t piece = LINE - next % LINE;
    return piece < LINE || copy->end[lane] - next < LINE ? sm->machine->copies.piece_cycles : 1;
}

/* Fills the request with the next lines of a bulk copy. */
static void request_lines(const struct sm *sm, struct sm_copy *copy, struct sm_request *request) {
    const uint64_t line_bytes = sm->machine->l1.cache.line_bytes;
    double cycles = 0;
    request->n_transactions = request->next = 0;
    while (copy->left && request->n_transactions < MEM_MAX_TRANSACTIONS) {
        uint32_t lane = (uint32_t)__builtin_ctz(copy->left);
        uint64_t line = copy->next[lane] & ~(line_bytes - 1);
        uint64_t end = line + line_bytes < copy->end[lane] ? line + line_bytes : copy->end[lane];
        request->transaction[request->n_transactions++] =
            (struct mem_transaction){.line = line, .lanes = 1u << lane, .bytes = (uint32_t)(end - copy->next[lane])};
        cycles += engine_cycles(sm, copy, lane, end);
        copy->next[lane] = end;
        if (end == copy->end[lane] && !next_row(copy, lane))
            copy->left &= ~(1u << lane);
    }
    if (sm->machine->copies.is_present)
        set_pace(request, cycles);
}

static void queue_bulk(struct sm *sm, uint32_t number) {
    struct sm_copies *copies = &sm->copies;
    copies->queue[(copies->queue_head + sm->copies.n_queued++) % sm->ldst.n_requests] = number;
}

uint32_t sm_copies_first(const struct sm *sm) { return sm->copies.queue[sm->copies.queue_head]; }

void sm_copies_pop(struct sm *sm) {
    sm->copies.queue_head = (sm->copies.queue_head + 1) % sm->ldst.n_requests;
    sm->copies.n_queued--;
}

/* Records the threads that own the copies. */
static void start_copy(const struct sm *sm, struct sm_copy *copy, uint32_t lanes, bool is_bulk, bool has_mbarrier) {
    const uint32_t kind = is_bulk;
    copy->state = COPY_IN_FLIGHT;
    copy->is_bulk = is_bulk;
    copy->lanes = lanes;
    copy->n_requests = 1;
    copy->ready = 0;
    copy->left = is_bulk ? lanes : 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        const struct exec_row *row = exec_row_at(&sm->cx, l);
        uint32_t home = exec_lane_at(&sm->cx, l);
        copy->row[l] = row;
        copy->block[l] = row->block;
        copy->home[l] = (uint8_t)home;
        copy->group[l] = has_mbarrier ? SM_NO_GROUP : row->n_copy_groups[kind][home];
        copy->mbarrier[l] = has_mbarrier ? sm->cx.async.mbarrier[l] : EXEC_NO_MBARRIER;
        copy->begin[l] = copy->next[l] = sm->cx.address[l];
        copy->end[l] = sm->cx.address[l] + sm->cx.async.bytes[l];
        copy->row_at[l] = copy->row_end[l] = 0;
    }
}

/* Takes the rows of a tensor copy. Lanes whose box is outside the tensor read nothing. */
static void take_rows(struct sm *sm, struct sm_copy *copy) {
    const struct exec_async *async = &sm->cx.async;
    if (copy->rows.room < async->rows.n) {
        copy->rows.row = base_grow(copy->rows.row, async->rows.n, sizeof *copy->rows.row);
        copy->rows.room = async->rows.n;
    }
    for (uint32_t i = 0; i < async->rows.n; i++)
        copy->rows.row[i] = async->rows.row[i];
    for (uint32_t left = copy->lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        copy->row_at[l] = async->first_row[l];
        copy->row_end[l] = async->first_row[l] + async->n_rows[l];
        if (!next_row(copy, l))
            copy->left &= ~(1u << l);
    }
}

static void use_engine(const struct config_copies *copies, struct sm_copy *copy, bool is_store, bool is_reduction) {
    copy->more_cycles = is_store ? copies->store_cycles : copies->load_cycles;
    if (is_store)
        copy->sector_cycles = is_reduction ? copies->reduce_sector_cycles : copies->store_sector_cycles;
}

uint32_t sm_copies_issue(struct sm *sm, const struct divergence_bundle *bundle, struct sm_request *request,
                         uint64_t cycle) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    const struct sm_timing *timing = &sm->program->timing[bundle->pc];
    bool is_bulk = timing->copies == SM_COPIES_BULK, has_mbarrier = is_bulk && !timing->is_store;
    uint32_t lanes = 0;
    for (uint32_t left = bundle->mask; left; left &= left - 1)
        lanes |= (uint32_t)(sm->cx.async.bytes[__builtin_ctz(left)] != 0) << __builtin_ctz(left);
    if (!lanes)
        return 0;
    uint32_t number = take_copy(&sm->copies, cycle);
    struct sm_copy *copy = &sm->copies.copy[number];
    start_copy(sm, copy, lanes, is_bulk, has_mbarrier);
    copy->sector_cycles = 0;
    copy->more_cycles = 0;
    if (is_bulk && sm->machine->copies.is_present)
        use_engine(&sm->machine->copies, copy, timing->is_store,
                   ptx_has(sm->program->exec->source[bundle->pc], PTX_MOD_REDUCE));
    request->copy = number;
    request->is_copy = true;
    request->age = SM_NEVER; /* no group owns it */
    if (is_bulk) {
        if (ptx_has(sm->program->exec->source[bundle->pc], PTX_MOD_TENSOR))
            take_rows(sm, copy);
        request_lines(sm, copy, request);
        queue_bulk(sm, (uint32_t)(request - sm->ldst.request));
    } else {
        request->n_transactions = mem_coalesce(sm->cx.address, lanes, insn->access.bytes,
                                               sm->machine->l1.cache.line_bytes, request->transaction);
    }
    return lanes;
}

void sm_copies_spread(struct sm *sm, uint32_t number) {
    const struct sm_request *first = &sm->ldst.request[number];
    struct sm_copy *copy = &sm->copies.copy[first->copy];
    while (copy->left && copy->n_requests < MOST_REQUESTS && sm->ldst.n_free > sm->ldst.n_requests / 2) {
        uint32_t more = sm_ldst_take(&sm->ldst);
        struct sm_request *request = &sm->ldst.request[more];
        *request = *first;
        request->outstanding = request->conflicting = request->missed = 0;
        request_lines(sm, copy, request);
        queue_bulk(sm, more);
        copy->n_requests++;
    }
}

void sm_copies_signal(struct sm *sm, const struct exec_block *block, uint32_t mbarrier, uint64_t ready,
                      uint64_t cycle) {
    struct sm_copy *copy = &sm->copies.copy[take_copy(&sm->copies, cycle)];
    copy->state = COPY_ARRIVED;
    copy->is_bulk = false;
    copy->lanes = 1;
    copy->ready = ready;
    copy->block[0] = block;
    copy->group[0] = SM_NO_GROUP;
    copy->mbarrier[0] = mbarrier;
}

/* --- waits --- */

static uint64_t *awaited_by(const struct sm_copies *copies, uint32_t s) {
    return copies->awaited + (size_t)s * copies->n_words;
}

static void hold(struct sm *sm, uint32_t s, uint32_t number) {
    awaited_by(&sm->copies, s)[number / 64] |= 1ull << number % 64;
    sched_add(&sm->copies.waiting, s);
    sm->slots.slot[s].waits_for_copies = true;
}

static void hold_until(struct sm *sm, uint32_t s, uint64_t ready) {
    if (sm->slots.slot[s].fetch_ready != SM_NEVER && ready > sm->slots.slot[s].fetch_ready)
        sm->slots.slot[s].fetch_ready = ready;
}

void sm_copies_forget(struct sm *sm, uint32_t s) {
    uint64_t *awaited = awaited_by(&sm->copies, s);
    for (uint32_t word = 0; word < sm->copies.n_words; word++)
        awaited[word] = 0;
    sched_remove(&sm->copies.waiting, s);
    sm->slots.slot[s].waits_for_copies = false;
}

/* Tells the groups that wait for the copy. */
static void arrive(struct sm *sm, uint32_t number, uint64_t ready, uint64_t cycle) {
    struct sched_set waiting = sm->copies.waiting;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = waiting.word[word]; left; left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            uint64_t *awaited = awaited_by(&sm->copies, s), any = 0;
            if (!(awaited[number / 64] >> number % 64 & 1))
                continue;
            awaited[number / 64] &= ~(1ull << number % 64);
            hold_until(sm, s, ready);
            for (uint32_t i = 0; i < sm->copies.n_words; i++)
                any |= awaited[i];
            if (any)
                continue;
            sm_copies_forget(sm, s);
            if (sm->slots.slot[s].state == SM_SLOT_MEMORY)
                sm_prepare(sm, s, cycle);
        }
}

bool sm_copies_finish(struct sm *sm, struct sm_request *request, uint64_t cycle) {
    if (request->copy == SM_NO_COPY) /* of an earlier grid */
        return true;
    struct sm_copy *copy = &sm->copies.copy[request->copy];
    if (copy->left) {
        request_lines(sm, copy, request);
        queue_bulk(sm, (uint32_t)(request - sm->ldst.request));
        return false;
    }
    copy->ready = request->ready > copy->ready ? request->ready : copy->ready;
    if (--copy->n_requests)
        return true;
    copy->ready += copy->more_cycles;
    copy->state = COPY_ARRIVED;
    arrive(sm, request->copy, copy->ready, cycle);
    return true;
}

/* Returns the lane in which a copy's thread now executes, or EXEC_LANES. */
static uint32_t lane_of(const struct sm *sm, const struct divergence_bundle *bundle, const struct sm_copy *copy,
                        uint32_t i) {
    if (bundle->row)
        return bundle->row == copy->row[i] && bundle->mask >> copy->home[i] & 1 ? copy->home[i] : EXEC_LANES;
    for (uint32_t left = bundle->mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        if (exec_row_at(&sm->cx, l) == copy->row[i] && exec_lane_at(&sm->cx, l) == copy->home[i])
            return l;
    }
    return EXEC_LANES;
}

/* Returns whether the thread of the copy's lane i executes the wait and must wait for the copy: for all but its last
 * imm groups. */
static bool is_of_group(const struct sm *sm, const struct divergence_bundle *bundle, const struct sm_copy *copy,
                        uint32_t i) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    enum sm_copies_role role = (enum sm_copies_role)sm->program->timing[bundle->pc].copies;
    bool is_bulk = role == SM_COPIES_WAIT_BULK;
    if (copy->is_bulk != is_bulk || copy->group[i] == SM_NO_GROUP || lane_of(sm, bundle, copy, i) == EXEC_LANES)
        return false;
    return role == SM_COPIES_WAIT_ALL ||
           copy->group[i] + (uint64_t)insn->imm < copy->row[i]->n_copy_groups[is_bulk][copy->home[i]];
}

/* Returns whether a lane that executes a wait has seen the completion of the phase to which the copy's lane i
 * belongs. */
static bool is_of_mbarrier(const struct sm *sm, const struct divergence_bundle *bundle, const struct sm_copy *copy,
                           uint32_t i) {
    for (uint32_t left = bundle->mask; left && copy->mbarrier[i] != EXEC_NO_MBARRIER; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        if (sm->cx.async.mbarrier[l] == copy->mbarrier[i] && exec_row_at(&sm->cx, l)->block == copy->block[i])
            return true;
    }
    return false;
}

static bool is_awaited(const struct sm *sm, const struct divergence_bundle *bundle, const struct sm_copy *copy) {
    bool is_mbarrier = sm->program->timing[bundle->pc].copies == SM_COPIES_WAIT_MBARRIER;
    for (uint32_t left = copy->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (is_mbarrier ? is_of_mbarrier(sm, bundle, copy, i) : is_of_group(sm, bundle, copy, i))
            return true;
    }
    return false;
}

/* Ties the copies of the arriving threads that have no mbarrier yet to this one. */
static void tie(const struct sm *sm, const struct divergence_bundle *bundle, struct sm_copy *copy) {
    for (uint32_t left = copy->is_bulk ? 0 : copy->lanes; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), l = lane_of(sm, bundle, copy, i);
        if (l != EXEC_LANES && copy->mbarrier[i] == EXEC_NO_MBARRIER)
            copy->mbarrier[i] = sm->cx.async.mbarrier[l];
    }
}

void sm_copies_follow(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    struct sm_copies *copies = &sm->copies;
    enum sm_copies_role role = (enum sm_copies_role)sm->program->timing[bundle->pc].copies;
    if (role < SM_COPIES_ARRIVE || role >= SM_PRODUCTS_FENCE)
        return;
    for (uint32_t number = 0; number < copies->n_used; number++) {
        struct sm_copy *copy = &copies->copy[number];
        if (copy->state == COPY_FREE || (copy->state == COPY_ARRIVED && copy->ready <= cycle))
            continue;
        if (role == SM_COPIES_ARRIVE)
            tie(sm, bundle, copy);
        else if (!is_awaited(sm, bundle, copy))
            continue;
        else if (copy->state == COPY_ARRIVED)
            hold_until(sm, s, copy->ready);
        else
            hold(sm, s, number);
    }
}
