/* Reports the findings of checks (exec/check): reads of memory that nothing has written, and races in shared memory.
 * Each kernel gets one line on standard error for each kind, after its first launch with such a finding. The launch
 * continues. The line depends on the launch, not on the number of host threads. Later launches only add to the counts
 * that gpu_count_findings() returns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "exec/check/check.h"
#include "gpu/internal.h"

struct exec_written *gpu_written_new(const struct gpu_memory *memory) {
    struct exec_written *written = calloc(1, sizeof *written);
    if (written && exec_written_open(written, memory->view.base, memory->view.limit))
        return written;
    free(written);
    return NULL;
}

void gpu_written_free(struct exec_written *written) {
    if (!written)
        return;
    exec_written_close(written);
    free(written);
}

/* --- memory --- */

void gpu_note_unwritten(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    if (gpu->written)
        exec_written_watch(gpu->written, address, bytes);
}

void gpu_note_written(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    if (gpu->written)
        exec_written_mark(gpu->written, address, bytes);
}

void gpu_note_all_written(struct gpu *gpu) {
    for (uint32_t i = 0; gpu->written && i < gpu->written->n_watched; i++) {
        const struct exec_allocation *watched = &gpu->written->watched[i];
        exec_written_mark(gpu->written, watched->address, watched->bytes);
    }
}

void gpu_note_freed(struct gpu *gpu, uint64_t address) {
    if (gpu->written)
        exec_written_release(gpu->written, address);
}

/* --- reports --- */

struct exec_check *gpu_check_new(const struct gpu *gpu) {
    struct exec_check *check = gpu->written ? base_allocate(1, sizeof *check) : NULL;
    if (check)
        check->written = gpu->written;
    return check;
}

enum { TEXT_BYTES = 512 };

static const char *thread_text(const struct exec_grid *grid, uint32_t thread, char text[TEXT_BYTES]) {
    const uint32_t *n = grid->shape.block;
    uint32_t number = thread / EXEC_LANES * grid->warp_size + thread % EXEC_LANES;
    snprintf(text, TEXT_BYTES, "thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", number % n[0], number / n[0] % n[1],
             number / n[0] / n[1]);
    return text;
}

static const char *block_text(const struct exec_grid *grid, uint32_t block, char text[TEXT_BYTES]) {
    const uint32_t *n = grid->shape.grid;
    snprintf(text, TEXT_BYTES, "kernel '%s', block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", grid->program->name,
             block % n[0], block / n[0] % n[1], block / n[0] / n[1]);
    return text;
}

/* The line of the CUDA source, if the PTX knows it, otherwise that of the PTX. */
static const char *place_text(const struct exec_program *program, uint32_t pc, char text[TEXT_BYTES]) {
    const struct ptx_instruction *insn = program->source[pc];
    const struct ptx_module *home = program->function[program->function_of[pc]].ptx->home;
    bool has_source = insn->source.file && insn->source.file < home->n_files && home->file[insn->source.file];
    char name[120];
    snprintf(text, TEXT_BYTES, "%s:%" PRIu32 " (%s)", has_source ? home->file[insn->source.file] : home->path,
             has_source ? insn->source.line : insn->at.line, ptx_instruction_name(insn, name, sizeof name));
    return text;
}

static const char *side_text(const struct exec_grid *grid, const struct exec_finding_side *side,
                             char text[TEXT_BYTES]) {
    static const char *const does[] = {
        [EXEC_TOUCH_READ] = "reads", [EXEC_TOUCH_WRITE] = "writes", [EXEC_TOUCH_ATOMIC] = "updates atomically"};
    char thread[TEXT_BYTES], place[TEXT_BYTES];
    snprintf(text, TEXT_BYTES, "%.60s %s at %.400s", thread_text(grid, side->thread, thread),
             side->is_copy ? "copies asynchronously" : does[side->touch], place_text(grid->program, side->pc, place));
    return text;
}

static const char *others_text(uint64_t count, char text[TEXT_BYTES]) {
    text[0] = '\0';
    if (count > 1)
        snprintf(text, TEXT_BYTES, "; %" PRIu64 " more in this launch", count - 1);
    return text;
}

static void report_read(const struct gpu *gpu, const struct exec_grid *grid, const struct exec_findings *findings,
                        bool is_shared) {
    const struct exec_finding *first = &findings->first;
    char block[TEXT_BYTES], thread[TEXT_BYTES], place[TEXT_BYTES], others[TEXT_BYTES], memory[TEXT_BYTES] = "";
    const struct exec_allocation *around = is_shared ? NULL : gpu_memory_find(&gpu->memory, first->address);
    if (around)
        snprintf(memory, sizeof memory, ", %" PRIu64 " bytes into the %" PRIu64 "-byte allocation at 0x%" PRIx64,
                 first->address - around->address, around->bytes, around->address);
    fprintf(stderr,
            "heddle: error: uninitialised read of %" PRIu32 " bytes at 0x%" PRIx64 " of %s memory in %s, %s, %s%s%s\n",
            first->bytes, first->address, is_shared ? "shared" : "global", block_text(grid, first->block, block),
            thread_text(grid, first->side[0].thread, thread), place_text(grid->program, first->side[0].pc, place),
            memory, others_text(findings->count, others));
}

static void report_race(const struct exec_grid *grid, const struct exec_findings *findings) {
    const struct exec_finding *first = &findings->first;
    bool has_copy = first->side[0].is_copy || first->side[1].is_copy;
    char block[TEXT_BYTES], one[TEXT_BYTES], other[TEXT_BYTES], others[TEXT_BYTES];
    fprintf(stderr,
            "heddle: error: race at 0x%" PRIx64 " of shared memory in %s: %s and %s, without a %s between them%s\n",
            first->address, block_text(grid, first->block, block), side_text(grid, &first->side[0], one),
            side_text(grid, &first->side[1], other), has_copy ? "wait and a barrier" : "barrier",
            others_text(findings->count, others));
}

void gpu_check_report(struct gpu *gpu, struct gpu_kernel *kernel, const struct exec_grid *grid) {
    for (int kind = 0; grid->check && kind < EXEC_N_FINDINGS; kind++) {
        const struct exec_findings *findings = &grid->check->findings[kind];
        if (!findings->count)
            continue;
        bool is_new = !(kernel->found >> kind & 1);
        if (is_new && kind == EXEC_FINDING_RACE)
            report_race(grid, findings);
        else if (is_new)
            report_read(gpu, grid, findings, kind == EXEC_FINDING_SHARED);
        kernel->found |= 1u << kind;
        *(kind == EXEC_FINDING_RACE ? &gpu->n_races : &gpu->n_uninitialised) += findings->count;
    }
    free(grid->check);
}

void gpu_count_findings(const struct gpu *gpu, uint64_t *n_uninitialised, uint64_t *n_races) {
    *n_uninitialised = gpu->n_uninitialised;
    *n_races = gpu->n_races;
}
