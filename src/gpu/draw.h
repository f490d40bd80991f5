/* Draws the sections of a program that --estimate times (sections.c), while the program runs: how many will come is not
 * known. The draw depends only on the sections, never on the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpu/gpu.h"

struct gpu_draw;

/* draws: sections drawn from each segment of a stratum. */
struct gpu_draw *gpu_draw_new(uint32_t draws);
void gpu_draw_free(struct gpu_draw *draw);
/* Adds a section that has run functionally: finds its stratum and segment, and returns whether it is to be timed. It
 * cannot be if !is_possible; then a later one of its segment takes its place. */
bool gpu_draw_add(struct gpu_draw *draw, const char *kernel, struct gpu_section *section, bool is_possible);
