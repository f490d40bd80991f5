/* The PTX that runs forms: one kernel for each, named form0, form1, ...
 *
 * A kernel's parameters are pointers: inputs (a slot of 8 bytes for each, case after case), outputs (the same) and
 * 32 bytes of memory for each case. Blocks have 32 threads, one case per thread. */
#pragma once

#include "form.h"
#include "text.h"

enum { KERNEL_THREADS = 32, KERNEL_REGION = 8 * FORM_REGION_WORDS };

void kernel_add_header(struct text *text);
void kernel_add(struct text *text, const struct form *form, unsigned number);
