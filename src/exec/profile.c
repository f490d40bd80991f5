/* Threads and branches of a launch. See profile.h. */
#include "exec/profile.h"

#include <stdlib.h>

static void *allocate(uint64_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

struct exec_profile *exec_profile_new(const struct exec_program *program, uint32_t threads_per_block,
                                      uint64_t n_threads) {
    struct exec_profile *profile = allocate(1, sizeof *profile);
    profile->threads_per_block = threads_per_block;
    profile->path = allocate(n_threads, sizeof *profile->path);
    profile->split = allocate(n_threads, sizeof *profile->split);
    profile->executed = allocate(program->n_insns, sizeof *profile->executed);
    profile->diverged = allocate(program->n_insns, sizeof *profile->diverged);
    return profile;
}

void exec_profile_free(struct exec_profile *profile) {
    if (!profile)
        return;
    free(profile->path);
    free(profile->split);
    free(profile->executed);
    free(profile->diverged);
    free(profile);
}
