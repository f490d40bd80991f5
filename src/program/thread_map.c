/* Pictures of the work of each thread: PREFIX-path.png and PREFIX-divergence.png; with several kernels, or a kernel
 * that is launched with several shapes, PREFIX-KERNEL-... and PREFIX-KERNEL-2-... A prefix that ends in .pgm selects
 * PGM files. */
#include "program/thread_map.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"

static bool is_pgm(const char *prefix) {
    size_t length = strlen(prefix);
    return length > 4 && strcmp(prefix + length - 4, ".pgm") == 0;
}

bool program_check_thread_map(const char *prefix, struct base_arena *arena) {
    const char *slash = strrchr(prefix, '/');
    const char *folder = slash ? base_arena_copy(arena, prefix, (size_t)(slash - prefix) + 1) : ".";
    if (access(folder, W_OK) == 0)
        return true;
    command_fail(COMMAND_ERROR, "cannot write pictures into '%s': %s", folder, strerror(errno));
    return false;
}

/* Returns the number of earlier profiles of the same kernel. */
static unsigned shapes_before(const struct report_run *run, unsigned at) {
    unsigned n = 0;
    for (unsigned i = 0; i < at; i++)
        n += strcmp(run->profile[i].kernel, run->profile[at].kernel) == 0;
    return n;
}

static const char *path_of(const char *prefix, const struct report_run *run, unsigned at, const char *what,
                           struct base_arena *arena) {
    int length = (int)strlen(prefix) - (is_pgm(prefix) ? 4 : 0);
    const char *ending = is_pgm(prefix) ? "pgm" : "png", *kernel = run->profile[at].kernel;
    unsigned before = shapes_before(run, at);
    if (run->n_profiles == 1)
        return base_arena_printf(arena, "%.*s-%s.%s", length, prefix, what, ending);
    if (!before)
        return base_arena_printf(arena, "%.*s-%s-%s.%s", length, prefix, kernel, what, ending);
    return base_arena_printf(arena, "%.*s-%s-%u-%s.%s", length, prefix, kernel, before + 1, what, ending);
}

static bool write_image(const char *path, const struct report_image *image) {
    FILE *file;
    if (!command_open_output(path, &file))
        return false;
    bool is_written =
        strcmp(path + strlen(path) - 4, ".pgm") == 0 ? report_write_pgm(file, image) : report_write_png(file, image);
    return command_close_output(path, file, is_written);
}

static bool write_one(const char *prefix, const struct report_run *run, unsigned at, bool is_path, FILE *file,
                      struct base_arena *arena) {
    const struct report_profile *profile = &run->profile[at];
    uint32_t most;
    struct report_image image = report_thread_image(profile, is_path ? profile->path : profile->split, &most, arena);
    const char *path = path_of(prefix, run, at, is_path ? "path" : "divergence", arena);
    if (!write_image(path, &image))
        return false;
    if (file)
        fprintf(file, "%s: %u x %u, white is %" PRIu32 " %s of a thread\n", path, image.width, image.height, most,
                is_path ? "instructions" : "divergences");
    return true;
}

bool program_write_thread_map(const char *prefix, const struct report_run *run, FILE *file, struct base_arena *arena) {
    for (unsigned i = 0; i < run->n_profiles; i++)
        if (!write_one(prefix, run, i, true, file, arena) || !write_one(prefix, run, i, false, file, arena))
            return false;
    return true;
}
