/* Products of warp groups (wgmma) in flight: when they end, and the groups of products that a warp waits for. */
#pragma once

#include "divergence/divergence.h"
#include "sm/timing.h"

struct sm;
struct sm_product_warp;

struct sm_products {
    struct sm_product_warp *warp;              /* for each slot; NULL: the program has no product of warp groups */
    uint64_t unit_free[CONFIG_MAX_SCHEDULERS]; /* the cycle in which each matrix unit can begin the next one */
};

void sm_products_begin(struct sm *sm); /* a grid */
void sm_products_end(struct sm *sm);
/* Handles an executed wgmma. */
void sm_products_follow(struct sm *sm, uint32_t slot, const struct divergence_bundle *bundle, uint64_t cycle);

/* Returns the cycles for which a product occupies the matrix unit of each of its four warps. */
uint32_t sm_product_cycles(const struct config_machine *machine, const struct ptx_instruction *insn);
/* Returns the cycles until its sums are there, if the unit is free. */
uint32_t sm_product_latency(const struct config_machine *machine, const struct ptx_instruction *insn);
