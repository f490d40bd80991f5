/* The instruction forms of forms.def, extensions.def and kernel_forms.def. */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const patterns[] = {
#define FORMS(pattern) pattern,
#include "forms.def"
#undef FORMS
};

static const char *const extensions[] = {
#define FORMS(pattern) pattern,
#include "extensions.def"
#include "kernel_forms.def"
#undef FORMS
};

size_t forms_n_patterns(void) { return sizeof patterns / sizeof patterns[0]; }

const char *forms_pattern(size_t i) { return patterns[i]; }

size_t forms_n_extensions(void) { return sizeof extensions / sizeof extensions[0]; }

const char *forms_extension(size_t i) { return extensions[i]; }

void forms_expand(const char *pattern, enum forms_groups groups, forms_visit_fn *visit, void *context) {
    const char *open = pattern;
    while ((open = strchr(open, '<')) && (open[1] == '*') != (groups == FORMS_STARRED))
        open++;
    if (!open) {
        visit(context, pattern);
        return;
    }
    const char *part = open + (groups == FORMS_STARRED ? 2 : 1), *close = strchr(open, '>');
    for (; part <= close; part += strcspn(part, "|>") + 1) {
        char chosen[FORMS_TEXT];
        int length = snprintf(chosen, sizeof chosen, "%.*s%.*s%s", (int)(open - pattern), pattern,
                              (int)strcspn(part, "|>"), part, close + 1);
        if (length >= FORMS_TEXT)
            abort();
        forms_expand(chosen, groups, visit, context);
    }
}
