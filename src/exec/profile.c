/* Threads and branches of a launch. See profile.h. */
#include "exec/profile.h"
#include "base/memory.h"

#include <stdlib.h>

struct exec_profile *exec_profile_new(const struct exec_program *program, uint32_t threads_per_block,
                                      uint64_t n_threads, bool has_lines) {
    struct exec_profile *profile = base_allocate(1, sizeof *profile);
    profile->threads_per_block = threads_per_block;
    profile->path = base_allocate(n_threads, sizeof *profile->path);
    profile->split = base_allocate(n_threads, sizeof *profile->split);
    profile->miss = base_allocate(n_threads, sizeof *profile->miss);
    profile->executed = base_allocate(program->n_insns, sizeof *profile->executed);
    profile->diverged = base_allocate(program->n_insns, sizeof *profile->diverged);
    if (has_lines)
        profile->line = base_allocate(program->n_insns, sizeof *profile->line);
    return profile;
}

void exec_profile_free(struct exec_profile *profile) {
    if (!profile)
        return;
    free(profile->path);
    free(profile->split);
    free(profile->miss);
    free(profile->executed);
    free(profile->diverged);
    free(profile->line);
    free(profile);
}
