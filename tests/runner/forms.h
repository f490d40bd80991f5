/* The instruction forms of forms.def, extensions.def and kernel_forms.def: patterns whose groups stand for choices. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FORMS_TEXT = 256 };

/* The groups that forms_expand() expands: <a|b>, or <*a|b>. */
enum forms_groups { FORMS_PLAIN, FORMS_STARRED };

typedef void forms_visit_fn(void *context, const char *form);

size_t forms_n_patterns(void);
const char *forms_pattern(size_t i);

/* The forms of extensions.def, Heddle's own, which no GPU has, and of kernel_forms.def, which kernels test. */
size_t forms_n_extensions(void);
const char *forms_extension(size_t i);

/* Calls visit for each combination of parts of the pattern's groups of one kind; groups of the other kind stay. */
void forms_expand(const char *pattern, enum forms_groups groups, forms_visit_fn *visit, void *context);
