/* Finds Heddle's own files relative to its executable, so that an installed tree and a build tree may be moved:
 *      PREFIX/bin/heddle, then PREFIX/LIB/heddle/{cuda,workloads,bench,heddle-ptx-run}; LIB as GNUInstallDirs names it
 *      BUILD/bin/heddle, then BUILD/{lib/cuda,workloads,bench,lib/heddle-ptx-run}
 *  The machines are in PREFIX/share/heddle/machines or BUILD/machines, the experiments and the page beside them. */
#include "program/place.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"

/* Returns the parent of the executable's folder, or NULL. */
static const char *find_root(struct base_arena *arena) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return NULL;
    path[length] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return base_arena_copy(arena, path, strlen(path));
}

/* Returns the first folder that matches the pattern and contains cuda/libcuda.so.1. */
static const char *find_private(const char *root, const char *pattern, struct base_arena *arena) {
    const char *found = NULL;
    glob_t matches;
    if (glob(base_arena_printf(arena, "%s/%s/cuda/libcuda.so.1", root, pattern), 0, NULL, &matches) == 0) {
        const char *path = matches.gl_pathv[0];
        found = base_arena_copy(arena, path, strlen(path) - strlen("/cuda/libcuda.so.1"));
    }
    globfree(&matches);
    return found;
}

bool program_find_place(struct program_place *place, struct base_arena *arena) {
    const char *root = find_root(arena);
    if (!root) {
        command_fail(COMMAND_ERROR, "cannot find the place of this executable: %s", strerror(errno));
        return false;
    }
    const char *folder = find_private(root, "lib*/heddle", arena);
    if (!folder)
        folder = find_private(root, "lib/*/heddle", arena);
    if (folder) {
        place->workloads = base_arena_printf(arena, "%s/workloads", folder);
        place->bench = base_arena_printf(arena, "%s/bench", folder);
    } else {
        folder = find_private(root, "lib", arena);
        place->workloads = base_arena_printf(arena, "%s/workloads", root);
        place->bench = base_arena_printf(arena, "%s/bench", root);
    }
    if (!folder) {
        command_fail(COMMAND_ERROR,
                     "Heddle's libcuda.so.1 is missing: neither %s/lib/heddle/cuda nor %s/lib/cuda has it", root, root);
        return false;
    }
    place->cuda = base_arena_printf(arena, "%s/cuda", folder);
    const char *preload = base_arena_printf(arena, "%s/libheddle-preload.so", place->cuda);
    place->preload = access(preload, R_OK) == 0 ? preload : NULL;
    place->ptx_run = base_arena_printf(arena, "%s/heddle-ptx-run", folder);
    return true;
}

/* Returns a folder of data: PREFIX/share/heddle/NAME, or BUILD/NAME. */
static const char *find_data(const char *name, struct base_arena *arena) {
    const char *root = find_root(arena);
    if (!root) {
        command_fail(COMMAND_ERROR, "cannot find the place of this executable: %s", strerror(errno));
        return NULL;
    }
    const char *installed = base_arena_printf(arena, "%s/share/heddle/%s", root, name);
    return access(installed, F_OK) == 0 ? installed : base_arena_printf(arena, "%s/%s", root, name);
}

const char *program_find_machines(struct base_arena *arena) { return find_data("machines", arena); }

const char *program_find_experiments(struct base_arena *arena) { return find_data("experiments", arena); }

const char *program_find_championship(struct base_arena *arena) { return find_data("championship", arena); }

const char *program_find_recordings(struct base_arena *arena) { return find_data("recordings", arena); }

const char *program_find_page(struct base_arena *arena) {
    const char *folder = find_data("web", arena);
    return folder ? base_arena_printf(arena, "%s/page.html", folder) : NULL;
}

const char *program_find_templates(struct base_arena *arena) { return find_data("templates", arena); }

/* Returns PREFIX/include, or the target of the build tree's link `sources`. */
static const char *find_include(const char *built, const char *installed, struct base_arena *arena) {
    const char *root = find_root(arena), *link = base_arena_printf(arena, "%s/sources", root ? root : "");
    char path[PATH_MAX];
    if (realpath(link, path))
        return base_arena_printf(arena, "%s/%s", path, built);
    return base_arena_printf(arena, "%s/%s", root ? root : "", installed);
}

const char *program_find_include(struct base_arena *arena) { return find_include("include", "include", arena); }

const char *program_find_internal_include(struct base_arena *arena) {
    return find_include("src", "include/heddle/src", arena);
}

const char *program_find_build(struct base_arena *arena) {
    const char *root = find_root(arena);
    return root && find_private(root, "lib", arena) ? root : NULL;
}
