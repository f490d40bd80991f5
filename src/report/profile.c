/* Reads a run's record of its threads and branches, and prints the table of branches. */
#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "report/internal.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void read_shape(uint32_t shape[3], const json_t *value) {
    for (size_t i = 0; i < 3; i++)
        shape[i] = (uint32_t)json_integer_value(json_array_get(value, i));
}

static void read_branches(struct report_profile *profile, const json_t *array, struct base_arena *arena) {
    profile->n_branches = (unsigned)json_array_size(array);
    profile->branch = BASE_ARENA_ARRAY(arena, struct report_branch, profile->n_branches);
    for (unsigned i = 0; i < profile->n_branches; i++) {
        const json_t *object = json_array_get(array, i);
        struct report_branch *branch = &profile->branch[i];
        branch->line = (uint32_t)json_integer_value(json_object_get(object, "line"));
        branch->executed = (uint64_t)json_integer_value(json_object_get(object, "executed"));
        branch->diverged = (uint64_t)json_integer_value(json_object_get(object, "diverged"));
    }
}

/* Reads three numbers per thread. The file contains one profile after the other. */
static bool read_threads(struct report_profile *profile, FILE *file, struct base_arena *arena) {
    size_t n = (size_t)profile->n_threads;
    profile->path = BASE_ARENA_ARRAY(arena, uint32_t, n);
    profile->split = BASE_ARENA_ARRAY(arena, uint32_t, n);
    profile->miss = BASE_ARENA_ARRAY(arena, uint32_t, n);
    return fread(profile->path, sizeof *profile->path, n, file) == n &&
           fread(profile->split, sizeof *profile->split, n, file) == n &&
           fread(profile->miss, sizeof *profile->miss, n, file) == n;
}

bool report_read_profiles(struct report_run *run, const json_t *array, const char *threads_path,
                          struct base_arena *arena, struct base_diag *diag) {
    run->n_profiles = (unsigned)json_array_size(array);
    run->profile = BASE_ARENA_ARRAY(arena, struct report_profile, run->n_profiles);
    if (!run->n_profiles)
        return true;
    FILE *file = fopen(threads_path, "rb");
    if (!file)
        return base_diag_error(diag, "cannot read the thread counts in '%s': %s", threads_path, strerror(errno));
    bool is_good = true;
    for (unsigned i = 0; i < run->n_profiles && is_good; i++) {
        const json_t *object = json_array_get(array, i);
        struct report_profile *profile = &run->profile[i];
        const char *name = json_string_value(json_object_get(object, "name"));
        profile->kernel = base_arena_copy(arena, name ? name : "?", strlen(name ? name : "?"));
        profile->n_launches = (unsigned)json_integer_value(json_object_get(object, "launches"));
        read_shape(profile->grid, json_object_get(object, "grid"));
        read_shape(profile->block, json_object_get(object, "block"));
        read_branches(profile, json_object_get(object, "branches"), arena);
        profile->n_threads = 1;
        for (int k = 0; k < 3; k++)
            profile->n_threads *= (uint64_t)profile->grid[k] * profile->block[k];
        is_good = read_threads(profile, file, arena);
    }
    fclose(file);
    return is_good || base_diag_error(diag, "the thread counts in '%s' are truncated", threads_path);
}

/* ---- Branches ---------------------------------------------------------------------------------------------------- */

void report_print_branches(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena) {
    static const char *const headings[] = {"kernel", "PTX line", "executed", "diverged", "share"};
    struct report_table table = report_table_new(arena, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        report_table_cell(&table, "%s", headings[i]);
    for (unsigned i = 0; i < run->n_profiles; i++)
        for (unsigned k = 0; k < run->profile[i].n_branches; k++) {
            const struct report_branch *branch = &run->profile[i].branch[k];
            if (!branch->executed)
                continue;
            report_table_cell(&table, "%s", run->profile[i].kernel);
            report_table_cell(&table, "%u", branch->line);
            report_table_count(&table, branch->executed);
            report_table_count(&table, branch->diverged);
            report_table_cell(&table, "%.1f %%", 100 * (double)branch->diverged / (double)branch->executed);
        }
    report_table_print(&table, file, is_colored);
}
