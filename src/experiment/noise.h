/* Noise: how far results move when something moves that no claim is about. A claim tighter than that is not a claim. */
#pragma once

#include "experiment/values.h"

/* The same experiment with a variation for each neighbour: four other latencies of the L1 and two other seeds of the
 * input, if it has no variations of its own; otherwise the latencies in each of these. */
const struct experiment *experiment_with_neighbours(const struct experiment *experiment, struct base_arena *arena);

/* Adds the runs that claims need of an experiment's neighbours, and makes them the noise of its grid, ahead of the
 * noise that it has. An example has none. */
int experiment_plan_noise(struct experiment_plan *plan, struct experiment_grid *grid);

/* The option and value that make a machine its neighbour 1..4, such as "l1.latency=38". The L1's latency moves by up
 * to 2 cycles; where it is below 3, the neighbours are the other latencies from 1 to 5. Without an L1 it is the
 * crossbar's. */
const char *experiment_neighbour_change(const struct config_machine *machine, unsigned neighbour,
                                        struct base_arena *arena);

/* In how many neighbours a claim holds, and from where to where its values go; "": not known. */
const char *experiment_noise_text(const struct experiment_grid *grid, const struct experiment_claim *claim,
                                  struct base_arena *arena);
