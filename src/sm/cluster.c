/* Clusters of several blocks: accesses to the shared memory of other SMs, signals to their mbarriers, and the barrier
 * of the cluster.
 *
 * The SMs of a GPC are connected by a network of their own (NVIDIA H100 white paper, "Distributed Shared Memory"). Its
 * structure is not published. Here an SM requests cluster.bytes_per_cycle from others, and has a port of
 * cluster.port_bytes_per_cycle, which an access occupies at both ends. The way there and back takes cluster.latency.
 * Nothing else limits the network. An atomic moves its sectors there and back. A store needs no request, so its lines
 * take half of cluster.line_cycles.
 *
 * An instruction that another block may see, or that sees another block, waits for the SM's turn (gpu/turns.c), so it
 * may change the state of other SMs. Those may have passed the current cycle, by less than a quantum. Values change at
 * once, as always. Only the time in which others continue is later: signals after cluster.signal_cycles, and the
 * barrier cluster.barrier_cycles after the last arrival. */
#include "divergence/parts/threads.h"
#include "sm/internal.h"

static struct sm_resident *resident_of(const struct exec_block *block) {
    return ((const struct exec_cta *)block)->owner;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* --- what others see --- */

static bool is_of_other_block(const struct exec_block *own, uint64_t address, bool is_generic) {
    if (is_generic && address - EXEC_SHARED_WINDOW >= EXEC_WINDOW_BYTES)
        return false;
    uint64_t rank = (address & (EXEC_WINDOW_BYTES - 1)) >> EXEC_RANK_BIT;
    return rank && rank != own->rank + 1;
}

/* Returns whether a lane's address, source number `k` of the instruction, may be in another block. */
static bool has_other_address(const struct divergence_group *group, const struct exec_insn *insn, unsigned k,
                              bool is_generic) {
    if (!group->row)
        return true;
    const struct exec_operand operand = insn->operand[insn->n_dst + k];
    const void *lanes = divergence_lanes(group->row, operand);
    for (uint32_t left = divergence_guard(group->row, insn, group->mask); left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t address = operand.width == PTX_WIDTH_64 ? ((const uint64_t *)lanes)[l] : ((const uint32_t *)lanes)[l];
        if (is_of_other_block(group->row->block, address, is_generic))
            return true;
    }
    return false;
}

bool sm_cluster_is_seen(const struct sm *sm, const struct divergence_group *group) {
    const struct exec_insn *insn = &sm->program->exec->code[group->pc];
    const struct exec_cta *cta = group->home->cta;
    switch (insn->kind) {
    case EXEC_KIND_BARRIER:
        return insn->barrier_mode == EXEC_BARRIER_ARRIVE && insn->n_src == 1;
    case EXEC_KIND_EXIT:
        return exec_cta_is_open(cta, EXEC_CLUSTER_BARRIER);
    case EXEC_KIND_CONTEXT:
        if (insn->opcode == PTX_OP_CP)
            return ptx_has(sm->program->exec->source[group->pc], PTX_MOD_BULK);
        return (insn->access.space == PTX_SPACE_SHARED || insn->access.space == PTX_SPACE_GENERIC) &&
               insn->goes_to_memory && has_other_address(group, insn, 0, insn->access.space == PTX_SPACE_GENERIC);
    default:
        return false;
    }
}

/* --- accesses --- */

uint32_t sm_cluster_lanes(const struct sm *sm, uint32_t mask) {
    uint32_t others = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        others |= (uint32_t)is_of_other_block(exec_row_at(&sm->cx, l)->block, sm->cx.address[l], false) << l;
    }
    return others;
}

/* Occupies a link for so many cycles, after everything that it has promised so far. Returns the cycle of its end. */
static double take_link(double *next, double cycles, uint64_t cycle) {
    *next = (*next > (double)cycle ? *next : (double)cycle) + cycles;
    return *next;
}

static double later_of(double a, double b) { return a > b ? a : b; }

/* Occupies the links for an access of this many sectors, for `least` cycles at least. Returns the cycle in which its
 * last byte leaves. */
static uint64_t occupy(struct sm *sm, struct sm *other, uint32_t sectors, double least, uint64_t cycle) {
    enum { SECTOR = 32 };
    const struct config_cluster *cluster = &sm->machine->cluster;
    double own = SECTOR * sectors / cluster->bytes_per_cycle, port = SECTOR * sectors / cluster->port_bytes_per_cycle;
    port = later_of(port, least);
    double end = take_link(&sm->network.next_request, own, cycle);
    end = later_of(end, take_link(&sm->network.next, port, cycle));
    return (uint64_t)later_of(end, take_link(&other->network.next, port, cycle));
}

static const struct exec_block *block_at(const struct sm *sm, uint32_t lane) {
    uint64_t rank = (sm->cx.address[lane] & (EXEC_WINDOW_BYTES - 1)) >> EXEC_RANK_BIT;
    return exec_row_at(&sm->cx, lane)->block->cluster->block[rank - 1];
}

/* An SM answers for all lanes that access one of its blocks. */
uint64_t sm_cluster_access(struct sm *sm, uint32_t mask, uint32_t bytes, const struct sm_timing *timing, uint64_t cycle,
                           uint64_t *sent) {
    enum { SECTOR = 32, LINE = 128 };
    const struct config_cluster *cluster = &sm->machine->cluster;
    struct mem_transaction transaction[MEM_MAX_TRANSACTIONS];
    uint64_t ready = *sent = cycle;
    for (uint32_t left = mask; left;) {
        struct sm *other = resident_of(block_at(sm, (uint32_t)__builtin_ctz(left)))->sm;
        uint32_t lanes = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(rest);
            lanes |= (uint32_t)(resident_of(block_at(sm, l))->sm == other) << l;
        }
        left &= ~lanes;
        uint32_t sectors = mem_coalesce(sm->cx.address, lanes, bytes, SECTOR, transaction);
        uint32_t lines = mem_coalesce(sm->cx.address, lanes, bytes, LINE, transaction);
        uint64_t end = occupy(sm, other, timing->is_atomic ? 2 * sectors : sectors,
                              lines * cluster->line_cycles / (timing->is_store ? 2 : 1), cycle);
        bool is_pair = (sm->index ^ other->index) == 1;
        *sent = later(*sent, end);
        ready = later(ready, end + (is_pair ? cluster->pair_latency_cycles : cluster->latency_cycles));
    }
    return ready;
}

/* --- signals --- */

/* Returns the time that an arrival waits until earlier accesses are visible to the cluster. */
static uint64_t fence_cycles(const struct sm *sm, uint32_t pc) {
    return sm->program->timing[pc].is_device_fence ? sm->machine->lowering.fence_cycles : 0;
}

void sm_cluster_signal(struct sm *sm, uint32_t pc, uint32_t mask, uint64_t cycle) {
    uint64_t ready = cycle + fence_cycles(sm, pc);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        const struct exec_block *block = sm->cx.async.mbarrier_block[l];
        struct sm *other = resident_of(block)->sm;
        if (block != exec_row_at(&sm->cx, l)->block && other->copies.copy)
            sm_copies_signal(other, block, sm->cx.async.mbarrier[l], ready + sm->machine->cluster.signal_cycles, cycle);
    }
}

/* --- the barrier --- */

/* Releases the block's threads. They continue from `ready` on, and not in a cycle that the SM has passed. */
static void release(struct sm_resident *resident, uint64_t ready, uint64_t cycle) {
    struct sm *sm = resident->sm;
    struct exec_cta *cta = resident->block.cta;
    cycle = later(cycle, later(sm->last_cycle, sm->turn.cycle));
    if (cycle)
        sm_catch_up(sm, cycle - 1);
    sm->last_change = cycle;
    cta->cluster_ready = ready;
    cta->is_released = true;
    sm->blocks.start = later(ready, cycle + 1);
    sm->divergence->release(sm->model, &resident->block, cycle);
    sm->blocks.start = 0;
    cta->is_released = false;
}

/* The last thread has arrived, if all have, in cycle `arrival`. */
static void complete(struct sm *sm, const struct exec_cluster *cluster, uint64_t arrival, uint64_t cycle) {
    if (!cluster->n_live || !exec_cluster_is_complete(cluster, sm->grid->warp_size))
        return;
    for (uint32_t i = 0; i < cluster->n_blocks; i++)
        if (cluster->block[i] && ((struct exec_cta *)cluster->block[i])->n_live_rows)
            release(resident_of(cluster->block[i]), arrival + sm->machine->cluster.barrier_cycles, cycle);
}

void sm_cluster_changed(struct sm *sm, const struct exec_cta *cta, uint32_t pc, uint64_t cycle) {
    const struct exec_cluster *cluster = cta->block.cluster ? cta->block.cluster : sm->left_cluster;
    sm->left_cluster = NULL;
    if (cluster)
        complete(sm, cluster, cycle + fence_cycles(sm, pc), cycle);
}

void sm_cluster_leave(struct sm *sm, struct exec_cta *cta) {
    struct exec_cluster *cluster = cta->block.cluster;
    if (exec_cta_leave(cta))
        sm->dispatcher.cluster_ended(sm->dispatcher.user, cluster);
    else
        sm->left_cluster = cluster;
}
