/* Occupancy. See occupancy.h. */
#include "config/occupancy.h"

#include <stddef.h>

#include "config/machine.h"

struct config_capacity config_capacity_of(const struct config_machine *machine) {
    return (struct config_capacity){
        .warp_size = machine->sm.warp_size,
        .threads = machine->sm.threads,
        .blocks = machine->sm.blocks,
        .registers = machine->sm.registers,
        .shared_bytes = machine->shared.size_bytes,
        .shared_reserved_bytes = machine->shared.reserved_bytes,
    };
}

static uint64_t whole_warps(const struct config_capacity *sm, uint32_t threads) {
    return ((uint64_t)threads + sm->warp_size - 1) / sm->warp_size * sm->warp_size;
}

uint64_t config_registers(const struct config_capacity *sm, uint32_t threads, uint32_t registers_per_thread) {
    return sm->registers ? whole_warps(sm, threads) * registers_per_thread : 0;
}

uint32_t config_occupancy(const struct config_capacity *sm, const struct config_demand *block,
                          struct config_shortage *shortage) {
    const struct config_shortage limit[] = {
        {"threads", whole_warps(sm, block->threads), sm->threads},
        {"registers", config_registers(sm, block->threads, block->registers_per_thread), sm->registers},
        {"bytes of shared memory", (uint64_t)block->shared_bytes + sm->shared_reserved_bytes, sm->shared_bytes},
    };
    uint64_t blocks = sm->blocks;
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        uint64_t fit = limit[i].need ? limit[i].have / limit[i].need : blocks;
        if (!fit && shortage)
            *shortage = limit[i];
        if (fit == 0)
            return 0;
        blocks = fit < blocks ? fit : blocks;
    }
    return block->threads ? (uint32_t)blocks : 0;
}
