/* Functions of the toolkit's libraries that this library has in their place.
 *
 * The loader finds ours first because this library is preloaded. A program that opens such a library by itself asks
 * dlsym() for its functions, so this file shadows that name too. Ours find the originals in the list of loaded objects,
 * whoever opened them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "cudart/preload/preload.h"

static const struct {
    const char *name;
    void (*function)(void);
} replaced[] = {
#define REPLACED(name) {#name, (void (*)(void))name},
#include "cudart/preload/replaced.def"
#undef REPLACED
};

typedef void *(*find_function)(void *handle, const char *name);

/* The C library's dlsym(). */
static find_function next_dlsym(void) { return (find_function)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"); }

struct search {
    const char *library;
    const char *const *names;
    size_t n;
    void **functions;
};

/* Stops the search when an object has all functions. */
static int look_at(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    const struct search *search = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!strstr(slash ? slash : info->dlpi_name, search->library))
        return 0;
    find_function find = next_dlsym();
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    size_t n_found = 0;
    while (library && n_found < search->n) {
        search->functions[n_found] = find(library, search->names[n_found]);
        if (!search->functions[n_found])
            break;
        n_found++;
    }
    if (library)
        dlclose(library);
    return n_found == search->n;
}

bool find_functions(const char *library, const char *const *names, size_t n, void **functions) {
    struct search search = {library, names, n, functions};
    return dl_iterate_phdr(look_at, &search) != 0;
}

/* Ours for a name; one such as __nvJitLinkCreate_13_0 has a version. */
static void *ours(const char *name) {
    bool has_version = strncmp(name, "__", 2) == 0;
    const char *base = has_version ? name + 2 : name;
    for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
        size_t length = strlen(replaced[i].name);
        if (strncmp(base, replaced[i].name, length) == 0 && base[length] == (has_version ? '_' : '\0'))
            return (void *)(uintptr_t)replaced[i].function;
    }
    return NULL;
}

/* A search may depend on the object that calls (RTLD_NEXT), so one for other names must remain a jump. */
EXPORTED void *dlsym(void *handle, const char *name) {
    find_function next = next_dlsym();
    void *function = ours(name);
    if (!function)
        return next(handle, name);
    return next(handle, name) ? function : NULL;
}
