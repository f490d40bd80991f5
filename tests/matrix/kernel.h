/* The PTX that runs matrix instructions: one kernel for each form, named form0, form1, ... Its parameters are pointers
 * to the words of inputs and outputs; each block runs one case. */
#pragma once

#include "form.h"
#include "runner/text.h"

void kernel_add_header(struct text *text, const struct form *form);
void kernel_add(struct text *text, const struct form *form, unsigned number);
