/* Control instructions of a warp's paths, for models that keep paths and barriers (paths.h). */
#pragma once

#include "divergence/convergence/paths.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/sync.h"

struct divergence_paths_effect {
    struct divergence_outcome outcome;
    bool has_released; /* lanes of the block no longer wait: divergence_sync_take() returns them */
};

/* Executes the control instruction at pc for the running path, whose lanes with a true guard are `taken` (may be 0).
 * Changes the paths, and counts branches and barriers. Lanes that wait for others are in `sync`. Faults are left in
 * cx->fault. */
struct divergence_paths_effect divergence_paths_execute(struct divergence_paths *paths,
                                                        const struct divergence_setup *setup,
                                                        struct divergence_sync *sync, uint32_t pc, uint32_t taken);
/* Takes the released lanes of the row out of `sync`; they continue. Returns whether there were any. */
bool divergence_paths_take_released(struct divergence_paths *paths, struct divergence_sync *sync, uint32_t row);
/* Calls thread() with each live lane of the paths, and with the group of its path or, without one, with `group`. */
void divergence_paths_visit(const struct divergence_paths *paths, const struct divergence_group *group,
                            void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                           uint32_t lane),
                            void *visitor);
