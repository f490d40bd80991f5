/* Noise: how far results move when something moves that no claim is about. A claim tighter than that is not a claim. */
#pragma once

#include "cli/experiments/values.h"

/* The same experiment with a variation for each neighbour: four other latencies of the L1 and two other seeds of the
 * input, if it has no variations of its own; otherwise the latencies in each of these. */
const struct cli_experiment *cli_with_neighbours(const struct cli_experiment *experiment, struct base_arena *arena);

/* Adds the runs that claims need of an experiment's neighbours, and makes them the noise of its grid. An example has
 * none. */
int cli_plan_noise(struct cli_plan *plan, struct cli_grid *grid);

/* The option and value that make a machine its neighbour 1..4, such as "l1.latency=38". The L1's latency moves by up
 * to 2 cycles; where it is below 3, the neighbours are the other latencies from 1 to 5. Without an L1 it is the
 * crossbar's. */
const char *cli_neighbour_change(const struct config_machine *machine, unsigned neighbour, struct base_arena *arena);

/* In how many neighbours a claim holds, and from where to where its values go; "": not known. */
const char *cli_noise_text(const struct cli_grid *grid, const struct cli_claim *claim, struct base_arena *arena);
