/* Delayed reconvergence points: where threads that leave a loop may wait for those that stay in it, although they wait
 * for each other (ElTantawy and Aamodt 2016: SIMT-induced deadlock). */
#pragma once

#include "divergence/convergence/paths.h"

/* Moves the reconvergence points of loops that await other threads (exec_loop.awaits). A thread that has left such a
 * loop may be the one that the others in it wait for, until it has written. So the branches that leave the loop meet at
 * the first post-dominator from which no write is reached except through the loop again. Writes are all stores, atomics
 * and calls, but those to local memory. A branch that met at a place which is skipped in this way meets at the later
 * one, too, so that regions stay nested. */
void divergence_delay(struct exec_regions *regions, const struct exec_program *program);
