/* Runs forms on the GPU of the CUDA driver and collects their answers. */
#pragma once

#include "answers.h"

/* Runs the forms [first, first + n) in n_jobs child processes at a time. A form that the driver refuses, or that
 * crashes its process, affects no other: batches are split until it is alone. With `says` the driver's messages about
 * refused forms are printed. Returns false when no GPU answers. */
bool device_run(struct answers *answers, const struct form_list *list, size_t first, size_t n, unsigned n_jobs,
                bool says);
