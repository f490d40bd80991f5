/* Holds the answers of one GPU against those recorded on another. */
#pragma once

#include "answers.h"

struct check_names {
    char **name;
    size_t n;
};

/* Forms that are known to answer otherwise, one a line, # comments. False after a message. */
bool check_names_read(struct check_names *names, const char *path);
void check_names_free(struct check_names *names);

/* Compares, prints every form that differs, the errors of approximate forms and the counts. True when only the known
 * deviations differ, and all of them do. */
bool check_answers(const struct form_list *list, const struct answers *recorded, const struct answers *got,
                   const struct check_names *deviations);

/* Prints inputs, recorded and computed outputs of a form's cases; only those that differ unless all are asked for. */
void check_print_cases(const struct form *form, const struct answer *recorded, const struct answer *got, bool all);

/* The rows of docs/ptx.md: what forms.def names, how much of it is supported and recorded. */
void check_print_table(const struct form_list *list, const struct answers *recorded, const struct answers *got,
                       const struct check_names *deviations);
