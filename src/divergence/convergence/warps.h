/* Warps whose lanes meet at convergence barriers: the hooks of barriers, which subwarp and aware use too. Each warp is
 * one group in one slot, and one of its paths runs. paths.h is the mechanism. */
#pragma once

#include "divergence/convergence/execute.h"
#include "divergence/parts/spin.h"

struct divergence_converging_warp {
    _Alignas(64) struct divergence_group group; /* the SM reads it with every instruction */
    struct divergence_watch watch;
    bool is_listed; /* (subwarp) among those that may switch later */
    struct divergence_paths paths;
};

struct divergence_converging_block {
    struct divergence_converging_warp *warp;
    struct divergence_sync *sync;
    uint32_t n_rows;
};

/* The first member of a model's state. */
struct divergence_converging {
    struct divergence_setup setup;
    const struct exec_regions *regions; /* (aware) where paths meet; NULL: where the program's regions say */
    /* (aware) The running path has executed the control instruction at pc, with this outcome, or has reached its
     * barrier (outcome NULL). Decides which path runs next: the last one that can. n_new paths at the end are new.
     * NULL: a path that awaits others, or spins, yields. */
    void (*next_turn)(struct divergence_converging *model, struct divergence_converging_warp *warp, uint32_t pc,
                      const struct divergence_outcome *outcome, uint32_t n_new);
    const uint32_t *next_pause; /* (subwarp) per pc: the next pc, after it, that reached() is called at; NULL: none */
};

/* Hooks of divergence_ops; the model is a struct divergence_converging. */
void *divergence_converging_new_block(void *model, const struct exec_cta *cta);
void divergence_converging_free_block(void *model, void *state);
void divergence_converging_admit(void *model, struct divergence_block *block, uint64_t cycle);
void divergence_converging_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask,
                                   uint64_t cycle);
void divergence_converging_release(void *user, struct divergence_block *place, uint64_t cycle);
void divergence_converging_reached(void *model, struct divergence_group *group, uint64_t cycle);
void divergence_converging_visit(const void *model, const struct divergence_block *block,
                                 void (*thread)(void *user, const struct divergence_group *group,
                                                const struct exec_row *row, uint32_t lane),
                                 void *user);
/* A pc for each thread, and barrier registers of a bit for each thread. */
uint64_t divergence_converging_cost_bits(const void *options, const struct config_machine *machine, char *formula,
                                         size_t size);

/* Sets the group to the path that runs now: the last one that can. */
void divergence_converging_show(struct divergence_converging *model, struct divergence_converging_warp *warp);
/* (aware) The model has added paths to a warp outside its hooks: they run later, or now if none did. */
void divergence_converging_added(struct divergence_converging *model, struct divergence_converging_warp *warp,
                                 uint64_t cycle);
