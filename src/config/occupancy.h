/* Occupancy: how many blocks of a kernel an SM holds at once. The driver's queries, the check of a launch and the SM's
 * own admission of blocks all use this rule. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct config_machine;

/* The resources of an SM that blocks share. Threads and registers go to whole warps. */
struct config_capacity {
    uint32_t warp_size, threads, blocks;
    uint32_t registers;     /* 0: as many as its threads need */
    uint32_t register_unit; /* 0: counted one by one; otherwise a warp takes multiples of it in one of `partitions` */
    uint32_t partitions;
    uint32_t shared_bytes;
    uint32_t shared_reserved_bytes; /* for each block, in addition to its own */
};

/* The needs of one block. */
struct config_demand {
    uint32_t threads, registers_per_thread, shared_bytes;
};

/* A resource that an SM lacks for one block. */
struct config_shortage {
    const char *what; /* "threads" */
    uint64_t need, have;
};

struct config_capacity config_capacity_of(const struct config_machine *machine);

/* Returns the registers that an SM gives to a block of this many threads; 0: they are no limit. */
uint64_t config_registers(const struct config_capacity *sm, uint32_t threads, uint32_t registers_per_thread);

/* Returns the number of warps whose registers fit; UINT32_MAX: they are no limit. */
uint32_t config_register_warps(const struct config_capacity *sm, uint32_t registers_per_thread);

/* The resources that limit the number of blocks, with the words for them. */
enum config_resource { CONFIG_THREADS, CONFIG_REGISTERS, CONFIG_SHARED_MEMORY, CONFIG_BLOCKS, CONFIG_N_RESOURCES };
extern const char *const config_resource_words[CONFIG_N_RESOURCES];
/* The same as keys of results: the blocks that the resource allows. */
extern const char *const config_resource_keys[CONFIG_N_RESOURCES];

/* Finds how many blocks each resource allows. Returns the one that allows the fewest, the first of several. */
enum config_resource config_occupancy_limits(const struct config_capacity *sm, const struct config_demand *block,
                                             uint32_t blocks[CONFIG_N_RESOURCES]);

/* Resources of an SM that blocks have taken, whatever their kernels. */
struct config_use {
    uint64_t threads, registers, shared_bytes, blocks;
};
struct config_use config_use_of(const struct config_capacity *sm, const struct config_demand *block);
void config_take(struct config_use *use, const struct config_use *block);
void config_give_back(struct config_use *use, const struct config_use *block);
/* Returns whether the SM has room for one more block. For blocks of one kernel this agrees with config_occupancy(). */
bool config_has_room(const struct config_capacity *sm, const struct config_use *use, const struct config_use *block);

/* Returns the number of blocks. If it is 0, *shortage says why; it may be NULL. */
uint32_t config_occupancy(const struct config_capacity *sm, const struct config_demand *block,
                          struct config_shortage *shortage);

/* GPCs are groups of neighbouring SMs, on which the blocks of a cluster run; cluster.gpcs lists their sizes. Returns
 * the number of SMs of the GPC with this SM, and sets *first to its first SM. */
uint32_t config_gpc(const struct config_machine *machine, uint32_t sm, uint32_t *first);
