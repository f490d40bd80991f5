/* For each kernel and shape, adds up the records of threads and branches of all launches (exec/profile.h). */
#include "exec/profile.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"

static bool is_branch(const struct exec_insn *insn) {
    return insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED;
}

static uint32_t line_of(const struct exec_program *program, uint32_t pc) {
    return program->source[pc] ? program->source[pc]->at.line : 0;
}

/* A kernel of this name in another program has other branches. */
static bool is_of(const struct gpu_profile *profile, const struct exec_grid *grid, const char *kernel) {
    const struct exec_program *program = grid->program;
    uint32_t n = 0;
    if (profile->kernel != kernel || memcmp(profile->shape.grid, grid->shape.grid, sizeof grid->shape.grid) != 0 ||
        memcmp(profile->shape.block, grid->shape.block, sizeof grid->shape.block) != 0)
        return false;
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        if (!is_branch(&program->code[pc]))
            continue;
        if (n == profile->n_branches || profile->branch[n++].line != line_of(program, pc))
            return false;
    }
    return n == profile->n_branches;
}

static struct gpu_profile *new_profile(struct gpu *gpu, const struct exec_grid *grid, const char *kernel) {
    const struct exec_program *program = grid->program;
    gpu->profile = realloc(gpu->profile, (gpu->n_profiles + 1) * sizeof *gpu->profile);
    if (!gpu->profile)
        abort();
    struct gpu_profile *profile = &gpu->profile[gpu->n_profiles++];
    *profile = (struct gpu_profile){
        .kernel = kernel,
        .shape = grid->shape,
        .n_threads = exec_shape_blocks(&grid->shape) * exec_shape_threads(&grid->shape),
    };
    profile->path = base_allocate(profile->n_threads, sizeof *profile->path);
    profile->split = base_allocate(profile->n_threads, sizeof *profile->split);
    profile->miss = base_allocate(profile->n_threads, sizeof *profile->miss);
    profile->branch = base_allocate(program->n_insns, sizeof *profile->branch);
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        if (is_branch(&program->code[pc]))
            profile->branch[profile->n_branches++].line = line_of(program, pc);
    return profile;
}

void gpu_profile_add(struct gpu *gpu, const struct exec_grid *grid, const char *kernel) {
    const struct exec_profile *from = grid->profile;
    struct gpu_profile *to = NULL;
    for (uint32_t i = 0; i < gpu->n_profiles && !to; i++)
        to = is_of(&gpu->profile[i], grid, kernel) ? &gpu->profile[i] : NULL;
    if (!to)
        to = new_profile(gpu, grid, kernel);
    to->n_launches++;
    for (uint64_t i = 0; i < to->n_threads; i++) {
        to->path[i] += from->path[i];
        to->split[i] += from->split[i];
        to->miss[i] += from->miss[i];
    }
    struct gpu_branch *branch = to->branch;
    for (uint32_t pc = 0; pc < grid->program->n_insns; pc++)
        if (is_branch(&grid->program->code[pc])) {
            branch->executed += from->executed[pc];
            branch++->diverged += from->diverged[pc];
        }
}

const struct gpu_profile *gpu_profiles(const struct gpu *gpu, uint32_t *count) {
    *count = gpu->n_profiles;
    return gpu->profile;
}

void gpu_profiles_free(struct gpu *gpu) {
    for (uint32_t i = 0; i < gpu->n_profiles; i++) {
        free(gpu->profile[i].path);
        free(gpu->profile[i].split);
        free(gpu->profile[i].miss);
        free(gpu->profile[i].branch);
    }
    free(gpu->profile);
}
