/* The state of a run, for a user who watches it (--live): the current launch, with its blocks, cycles, IPC and stalls
 * so far, and the last finished launches. It is a small JSON file, rewritten a few times per second and renamed, so a
 * reader never sees half of it. Nothing is read back, so watching cannot change a result. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/demangle.h"
#include "gpu/engine.h"

enum { WRITE_EVERY_NS = 250000000, MOST_ENDED = 32, MOST_NAME_BYTES = 160 };

/* Writes a text without the characters that JSON escapes. */
static void put_text(FILE *file, const char *text) {
    fputc('"', file);
    for (unsigned i = 0; text[i] && i < MOST_NAME_BYTES; i++)
        fputc(text[i] >= ' ' && text[i] < 127 && text[i] != '"' && text[i] != '\\' ? text[i] : '?', file);
    fputc('"', file);
}

static void put_kernel(FILE *file, const char *name) {
    struct base_arena arena = {0};
    put_text(file, base_demangle(name, &arena));
    base_arena_free(&arena);
}

uint64_t gpu_count_instructions(const struct gpu_timed *timed) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sum += sm_counters(timed->sm[i])->thread_instructions;
    return sum;
}

static void put_launch(FILE *file, const struct gpu_run *run) {
    const struct gpu_timed *timed = run->timed;
    uint64_t cycles[1 + STATS_N_SM_STALLS] = {0};
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_add_cycles(timed->sm[i], SM_ALL_GRIDS, timed->cycle, cycles);
    fprintf(file, "\"launch\":%" PRIu32 ",\"kernel\":", run->gpu->n_launches);
    put_kernel(file, run->grid->program->name);
    fprintf(file,
            ",\"blocks\":%" PRIu64 ",\"done\":%" PRIu64 ",\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64
            ",\"seconds\":%.3f,\"sm_cycles\":{",
            run->n_blocks, run->n_finished, timed->cycle - run->first_cycle,
            gpu_count_instructions(timed) - run->progress.first_instructions,
            (double)(gpu_host_clock_ns() - run->progress.start_ns) * 1e-9);
    for (unsigned i = 0; i < 1 + STATS_N_SM_STALLS; i++)
        fprintf(file, "%s\"%s\":%" PRIu64, i ? "," : "", i ? stats_sm_stalls[i - 1].word : "active",
                cycles[i] - run->progress.first_cycles[i]);
    fputs("}", file);
}

/* The record of the running launch is the last one. */
static void put_ended(FILE *file, const struct gpu *gpu, uint32_t n_ended) {
    fputs("\"ended\":[", file);
    for (uint32_t i = n_ended > MOST_ENDED ? n_ended - MOST_ENDED : 0, n = 0; i < n_ended; i++, n++) {
        const struct gpu_launch_record *record = &gpu->launch[i];
        fprintf(file, "%s{\"launch\":%" PRIu32 ",\"kernel\":", n ? "," : "", i + 1);
        put_kernel(file, record->kernel);
        fprintf(file, ",\"cycles\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"seconds\":%.3f}", record->counters.cycles,
                record->counters.thread_instructions, record->host_seconds);
    }
    fputs("]", file);
}

/* Writes the state; `run` is NULL if no launch runs. A failure is ignored: the page then shows an older state. */
static void write_state(const struct gpu *gpu, const struct gpu_run *run) {
    char path[sizeof gpu->config.live + 8];
    snprintf(path, sizeof path, "%s.new", gpu->config.live);
    FILE *file = fopen(path, "we");
    if (!file)
        return;
    fprintf(file, "{\"state\":\"%s\",", run ? "running" : "waiting");
    if (run) {
        put_launch(file, run);
        fputs(",", file);
    }
    put_ended(file, gpu, gpu->n_launches - (run ? 1 : 0));
    fputs("}\n", file);
    if (fclose(file) == 0)
        rename(path, gpu->config.live);
}

void gpu_live_look(struct gpu_run *run) {
    uint64_t now = gpu_host_clock_ns();
    if (!*run->gpu->config.live || now - run->gpu->live_ns < WRITE_EVERY_NS)
        return;
    run->gpu->live_ns = now;
    write_state(run->gpu, run);
}

void gpu_live_end(struct gpu *gpu) {
    if (*gpu->config.live)
        write_state(gpu, NULL);
}
