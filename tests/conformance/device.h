/* Runs forms on the GPU that the CUDA driver offers and gathers their answers. */
#pragma once

#include "answers.h"

/* Runs the forms [first, first + n) in n_jobs child processes at a time. A form that the driver refuses, or that ends
 * its process, costs itself only: batches are split until it stands alone. With `says` the driver's words about refused
 * forms are printed. False when no GPU answers at all. */
bool device_run(struct answers *answers, const struct form_list *list, size_t first, size_t n, unsigned n_jobs,
                bool says);
