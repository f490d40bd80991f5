/* Draws the sections of a program that --estimate times (sections.c). It does so while the program runs, so it does not
 * know how many sections will follow. The draw depends only on the sections, never on the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpu/gpu.h"

struct gpu_draw;

/* How far timed sections of one kernel and kind are from their prediction. */
struct gpu_deviation {
    double relative; /* standard deviation of one section */
    double drift;    /* standard deviation of segments, in addition */
    double freedom;  /* degrees of freedom that it was computed with; 0: nothing is known */
};

/* draws: sections drawn from each segment of a stratum, at least. error: more are drawn where sections deviate too much
 * to know the sum within this part of it, and only one where they hardly deviate; 0: neither. deviation: returns that
 * of the sections drawn so far; only called if error > 0, when a segment begins or is expected to. */
struct gpu_draw *
gpu_draw_new(uint32_t draws, double error,
             struct gpu_deviation (*deviation)(void *user, const char *kernel, enum gpu_section_kind kind), void *user);
void gpu_draw_free(struct gpu_draw *draw);
/* Adds a section that has run functionally: finds its stratum and segment, and returns whether it is to be timed. It
 * cannot be if !is_possible; then a later one of its segment takes its place. */
bool gpu_draw_add(struct gpu_draw *draw, const char *kernel, struct gpu_section *section, bool is_possible);
/* Adds a section that has been timed already, and stands for itself alone. */
void gpu_draw_add_timed(struct gpu_draw *draw, struct gpu_section *section);
/* Returns whether gpu_draw_add() will draw the section that comes `ahead` sections after the next one, if all of them
 * are possible and have about this much work. */
bool gpu_draw_expects(const struct gpu_draw *draw, const char *kernel, enum gpu_section_kind kind, double work,
                      uint32_t ahead);
