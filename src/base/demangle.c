/* Demangles names with the host's C++ library, if there is one. Programs with mangled names come with this library. It
 * is opened at run time, so Heddle does not depend on it. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef char *demangle_fn(const char *name, char *buffer, size_t *bytes, int *status);

/* Returns the length of the name without its list of parameters, which starts at the last outermost parenthesis. */
static size_t name_length(const char *text) {
    size_t length = strlen(text), at = length;
    int depth = 0;
    while (at > 0) {
        char c = text[--at];
        depth += c == ')';
        depth -= c == '(';
        if (c == '(' && depth == 0)
            return at;
    }
    return length;
}

const char *base_demangle(const char *name, struct base_arena *arena) {
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    demangle_fn *demangle = NULL;
    if (library)
        *(void **)&demangle = dlsym(library, "__cxa_demangle");
    int status = -1;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    const char *found = name;
    if (text && status == 0) {
        const char *start = strncmp(text, "void ", 5) == 0 ? text + 5 : text; /* of a template */
        found = base_arena_copy(arena, start, name_length(start));
    }
    free(text);
    if (library)
        dlclose(library);
    return found;
}
