/* Functions of the toolkit's libraries that Heddle replaces.
 *
 * The loader finds ours first because this library is preloaded. A program that opens such a library by itself asks
 * dlsym() for its functions, so this file shadows dlsym() too. Our functions find the originals in the list of loaded
 * objects, no matter who opened them. Nothing is remembered between calls, so threads need no lock here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
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
    unsigned n_skipped; /* matching objects before the wanted one */
    char path[PATH_MAX];
};

static int find_path(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct search *search = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!strstr(slash ? slash : info->dlpi_name, search->library) || search->n_skipped-- > 0)
        return 0;
    snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
    return 1;
}

static bool find_in(const char *path, const char *const *names, size_t n, void **functions) {
    find_function find = next_dlsym();
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    size_t n_found = 0;
    while (library && n_found < n && (functions[n_found] = find(library, names[n_found])))
        n_found++;
    if (library)
        dlclose(library);
    return n_found == n;
}

/* Several objects may match: libnvrtc comes with libnvrtc-builtins. dl_iterate_phdr() holds a lock that a dlopen() of
 * another thread may wait for, so it must not call dlopen() itself. */
bool find_functions(const char *library, const char *const *names, size_t n, void **functions) {
    for (unsigned i = 0;; i++) {
        struct search search = {.library = library, .n_skipped = i};
        if (!dl_iterate_phdr(find_path, &search))
            return false;
        if (find_in(search.path, names, n, functions))
            return true;
    }
}

/* Returns our function of that name, or NULL. A name such as __nvJitLinkCreate_13_0 contains a version. */
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

/* The result may depend on the calling object (RTLD_NEXT), so the call for other names must remain a jump. */
EXPORTED void *dlsym(void *handle, const char *name) {
    find_function next = next_dlsym();
    void *function = ours(name);
    if (!function)
        return next(handle, name);
    return next(handle, name) ? function : NULL;
}
