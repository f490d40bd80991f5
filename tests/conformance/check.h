/* Compares the answers of one GPU with those recorded on another. */
#pragma once

#include "answers.h"

/* Prints every form that differs, the errors of the approximate forms and the counts. Returns true when every
 * implemented form agrees and 99 of 100 have recorded answers. */
bool check_answers(const struct form_list *list, const struct answers *recorded, const struct answers *got);

/* Prints inputs, recorded and computed outputs of a form's cases; cases that differ have a star. */
void check_print_cases(const struct form *form, const struct answer *recorded, const struct answer *got);

/* Parts of the documentation: the table of supported instructions, and the errors of the approximate forms with the
 * counts. */
void check_print_table(const struct form_list *list, const struct answers *recorded, const struct answers *got);
void check_print_errors(const struct form_list *list, const struct answers *recorded, const struct answers *got);
