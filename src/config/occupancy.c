/* Occupancy. See occupancy.h. */
#include "config/occupancy.h"

#include <stddef.h>

#include "config/internal.h"
#include "config/machine.h"

struct config_capacity config_capacity_of(const struct config_machine *machine) {
    return (struct config_capacity){
        .warp_size = machine->sm.warp_size,
        .threads = machine->sm.threads,
        .blocks = machine->sm.blocks,
        .registers = machine->sm.registers,
        .register_unit = machine->sm.register_unit,
        .partitions = machine->sm.schedulers,
        .shared_bytes = machine->shared.size_bytes,
        .shared_reserved_bytes = machine->shared.reserved_bytes,
    };
}

static uint64_t round_up(uint64_t value, uint64_t unit) { return unit ? (value + unit - 1) / unit * unit : value; }

static uint64_t registers_of_warp(const struct config_capacity *sm, uint32_t registers_per_thread) {
    return round_up((uint64_t)sm->warp_size * registers_per_thread, sm->register_unit);
}

static uint64_t warps_of_block(const struct config_capacity *sm, uint32_t threads) {
    return ((uint64_t)threads + sm->warp_size - 1) / sm->warp_size;
}

/* CUDA checks a launch as if a block took registers for as many warps in each partition. Blocks that run take them only
 * for their own warps, as its occupancy calculator counts and an H200 shows. */
uint64_t config_registers(const struct config_capacity *sm, uint32_t threads, uint32_t registers_per_thread) {
    uint64_t warps = warps_of_block(sm, threads);
    if (sm->register_unit)
        warps = round_up(warps, sm->partitions);
    return sm->registers ? warps * registers_of_warp(sm, registers_per_thread) : 0;
}

static uint64_t registers_of_block(const struct config_capacity *sm, const struct config_demand *block) {
    return sm->registers ? warps_of_block(sm, block->threads) * registers_of_warp(sm, block->registers_per_thread) : 0;
}

uint32_t config_register_warps(const struct config_capacity *sm, uint32_t registers_per_thread) {
    uint64_t registers = registers_of_warp(sm, registers_per_thread),
             partitions = sm->register_unit ? sm->partitions : 1;
    if (!sm->registers || !registers)
        return UINT32_MAX;
    return (uint32_t)(sm->registers / partitions / registers * partitions);
}

const char *const config_resource_words[CONFIG_N_RESOURCES] = {
    [CONFIG_THREADS] = "threads",
    [CONFIG_REGISTERS] = "registers",
    [CONFIG_SHARED_MEMORY] = "shared memory",
    [CONFIG_BLOCKS] = "blocks",
};

const char *const config_resource_keys[CONFIG_N_RESOURCES] = {
    [CONFIG_THREADS] = "blocks_by_threads",
    [CONFIG_REGISTERS] = "blocks_by_registers",
    [CONFIG_SHARED_MEMORY] = "blocks_by_shared_memory",
    [CONFIG_BLOCKS] = "blocks_by_blocks",
};

/* How many blocks a resource allows, and the demand of one block. */
struct limit {
    struct config_shortage resource;
    uint64_t fit; /* blocks */
};

static void find_limits(const struct config_capacity *sm, const struct config_demand *block,
                        struct limit limit[CONFIG_N_RESOURCES]) {
    uint32_t register_warps = config_register_warps(sm, block->registers_per_thread);
    uint64_t need = config_registers(sm, block->threads, block->registers_per_thread);
    uint64_t threads = round_up(block->threads, sm->warp_size), warps = warps_of_block(sm, block->threads);
    uint64_t shared = (uint64_t)block->shared_bytes + sm->shared_reserved_bytes;
    limit[CONFIG_THREADS] = (struct limit){{"threads", threads, sm->threads}, sm->threads / threads};
    bool is_refused = sm->registers && need > sm->registers;
    limit[CONFIG_REGISTERS] =
        (struct limit){{"registers", need, sm->registers}, is_refused ? 0 : register_warps / warps};
    limit[CONFIG_SHARED_MEMORY] = (struct limit){{"bytes of shared memory", shared, sm->shared_bytes},
                                                 shared ? sm->shared_bytes / shared : UINT32_MAX};
    limit[CONFIG_BLOCKS] = (struct limit){{"blocks", 1, sm->blocks}, sm->blocks};
}

enum config_resource config_occupancy_limits(const struct config_capacity *sm, const struct config_demand *block,
                                             uint32_t blocks[CONFIG_N_RESOURCES]) {
    struct limit limit[CONFIG_N_RESOURCES];
    unsigned least = 0;
    find_limits(sm, block, limit);
    for (unsigned i = 0; i < CONFIG_N_RESOURCES; i++) {
        blocks[i] = limit[i].fit < UINT32_MAX ? (uint32_t)limit[i].fit : UINT32_MAX;
        if (blocks[i] < blocks[least])
            least = i;
    }
    return (enum config_resource)least;
}

uint32_t config_occupancy(const struct config_capacity *sm, const struct config_demand *block,
                          struct config_shortage *shortage) {
    struct limit limit[CONFIG_N_RESOURCES];
    uint64_t blocks = UINT64_MAX;
    if (!block->threads)
        return 0;
    find_limits(sm, block, limit);
    for (unsigned i = 0; i < CONFIG_N_RESOURCES; i++) {
        if (!limit[i].fit && shortage)
            *shortage = limit[i].resource;
        blocks = limit[i].fit < blocks ? limit[i].fit : blocks;
        if (!blocks)
            return 0;
    }
    return (uint32_t)blocks;
}

struct config_use config_use_of(const struct config_capacity *sm, const struct config_demand *block) {
    return (struct config_use){
        .threads = round_up(block->threads, sm->warp_size),
        .registers = registers_of_block(sm, block),
        .shared_bytes = (uint64_t)block->shared_bytes + sm->shared_reserved_bytes,
        .blocks = 1,
    };
}

void config_take(struct config_use *use, const struct config_use *block) {
    use->threads += block->threads;
    use->registers += block->registers;
    use->shared_bytes += block->shared_bytes;
    use->blocks += block->blocks;
}

void config_give_back(struct config_use *use, const struct config_use *block) {
    use->threads -= block->threads;
    use->registers -= block->registers;
    use->shared_bytes -= block->shared_bytes;
    use->blocks -= block->blocks;
}

bool config_has_room(const struct config_capacity *sm, const struct config_use *use, const struct config_use *block) {
    return use->threads + block->threads <= sm->threads && use->blocks + block->blocks <= sm->blocks &&
           use->shared_bytes + block->shared_bytes <= sm->shared_bytes &&
           (!sm->registers || use->registers + block->registers <= sm->registers);
}

/* --- GPCs --- */

/* Reads the number at `*text` and moves on to the next. Returns 0 for other text. */
static uint32_t next_number(const char **text) {
    uint32_t number = 0;
    for (; **text >= '0' && **text <= '9' && number < 100000; ++*text)
        number = 10 * number + (uint32_t)(**text - '0');
    if (**text && **text != ',')
        return 0;
    *text += **text == ',';
    return number;
}

bool config_check_gpcs(const struct config_machine *machine, char *error, size_t error_bytes) {
    const char *rest = machine->cluster.gpcs;
    bool is_good = *rest;
    while (is_good && *rest)
        is_good = next_number(&rest) > 0;
    return is_good || !machine->cluster.is_present ||
           config_error(error, error_bytes, "cluster.gpcs is '%s', but must be numbers of SMs, such as 16,16,18",
                        machine->cluster.gpcs);
}

uint32_t config_gpc(const struct config_machine *machine, uint32_t sm, uint32_t *first) {
    const char *rest = machine->cluster.gpcs;
    for (*first = 0;;) {
        uint32_t n = next_number(&rest);
        if (sm < *first + n)
            return *first + n > machine->sm.count ? machine->sm.count - *first : n;
        *first += n;
        rest = *rest ? rest : machine->cluster.gpcs;
    }
}
