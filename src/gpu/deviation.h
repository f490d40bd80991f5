/* The deviation of timed sections (sections.c) from their prediction, for --estimate. */
#pragma once

#include "gpu/draw.h"
#include "gpu/internal.h"

/* Computes the deviation of the timed sections of one kernel and kind: their cycles are predicted from what the
 * functional run counted, and the mean square of the differences between neighbours of a stratum is their variance, as
 * in report/sample.c. */
struct gpu_deviation gpu_deviation_of(const struct gpu *gpu, const struct gpu_section *all, uint32_t n_sections,
                                      const char *kernel, enum gpu_section_kind kind);
