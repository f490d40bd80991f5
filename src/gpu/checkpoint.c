/* A record contains the identity of the launch, its error, time, the heap of device-side malloc, the text that kernels
 * printed, results (several with dynamic parallelism), and the state of the machine and memory. For the machine and
 * memory it contains only the pages that changed.
 *
 * The process that wrote the record also continues from that state (gpu_timed_load), so that both processes see the
 * same cycles. */
#include "gpu/checkpoint.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "gpu/checkpoint_file.h"
#include "gpu/shadow.h"
#include "gpu/timed.h"

struct gpu_checkpoint {
    struct gpu_checkpoint_file *file;
    struct gpu_shadow shadow;
    struct base_bytes record, text;
    struct base_bytes state, last_state; /* of the machine, now and after the last launch */
    uint64_t launch_hash, input_hash;    /* of the launch that runs */
    uint32_t next;                       /* record to replay */
    uint32_t n_before;                   /* results of earlier launches */
    bool is_over;                        /* no more records are written */
};

struct gpu_checkpoint *gpu_checkpoint_open(const struct gpu *gpu, struct gpu_error *error) {
    char text[GPU_CHECKPOINT_ERROR];
    struct gpu_checkpoint *checkpoint = base_allocate(1, sizeof *checkpoint);
    checkpoint->file = gpu_checkpoint_file_open(gpu->config.checkpoint, text);
    if (checkpoint->file && gpu_shadow_open(&checkpoint->shadow, &gpu->memory))
        return checkpoint;
    *error = (struct gpu_error){.status = GPU_OTHER_RUN};
    snprintf(error->message, sizeof error->message, "%s",
             checkpoint->file ? "the host cannot reserve address space for a checkpoint" : text);
    gpu_checkpoint_free(checkpoint);
    return NULL;
}

void gpu_checkpoint_free(struct gpu_checkpoint *checkpoint) {
    if (!checkpoint)
        return;
    gpu_checkpoint_file_close(checkpoint->file);
    gpu_shadow_close(&checkpoint->shadow);
    base_bytes_free(&checkpoint->record);
    base_bytes_free(&checkpoint->text);
    base_bytes_free(&checkpoint->state);
    base_bytes_free(&checkpoint->last_state);
    free(checkpoint);
}

void gpu_checkpoint_note_text(struct gpu_checkpoint *checkpoint, const char *text, size_t length) {
    base_bytes_put(&checkpoint->text, text, length);
}

/* --- which launch --- */

static uint64_t hash_launch(const struct gpu *gpu, const struct gpu_launch *launch) {
    const struct exec_program *program = launch->kernel->program;
    const uint64_t number[] = {launch->shape.grid[0],
                               launch->shape.grid[1],
                               launch->shape.grid[2],
                               launch->shape.block[0],
                               launch->shape.block[1],
                               launch->shape.block[2],
                               launch->shape.cluster[0],
                               launch->shape.cluster[1],
                               launch->shape.cluster[2],
                               launch->shape.dynamic_shared_bytes,
                               launch->shape.is_cooperative,
                               launch->is_untimed,
                               gpu->config.stack_bytes,
                               gpu->memory.heap_bytes,
                               gpu->code_hash};
    uint64_t hash = base_hash(number, sizeof number, 0);
    hash = base_hash(launch->parameters, program->parameter_bytes, hash);
    return base_hash(program->name, strlen(program->name), hash);
}

static void hash_page(void *user, uint64_t address, const unsigned char *page) {
    uint64_t *hash = user;
    *hash = base_hash(page, GPU_SHADOW_PAGE, *hash ^ address);
}

/* Returns a hash of the allocations, and of everything the host has written since the last launch. */
static uint64_t hash_input(struct gpu *gpu) {
    uint64_t hash = base_hash(gpu->memory.live, gpu->memory.n_live * sizeof *gpu->memory.live, 0);
    gpu_shadow_scan(&gpu->checkpoint->shadow, &gpu->memory, hash_page, &hash);
    return hash;
}

/* --- pages --- */

struct pages {
    struct base_bytes *record;
    uint64_t n;
};

static void put_page(void *user, uint64_t address, const unsigned char *page) {
    struct pages *pages = user;
    base_bytes_put_u64(pages->record, address);
    base_bytes_put(pages->record, page, GPU_SHADOW_PAGE);
    pages->n++;
}

/* Writes the number of pages, then the pages. */
static void put_memory(struct gpu *gpu, struct base_bytes *record) {
    struct pages pages = {record, 0};
    size_t place = record->n;
    base_bytes_put_u64(record, 0);
    gpu_shadow_scan(&gpu->checkpoint->shadow, &gpu->memory, put_page, &pages);
    memcpy(record->data + place, &pages.n, sizeof pages.n);
}

static bool take_memory(struct gpu *gpu, struct base_bytes *record) {
    for (uint64_t n = base_bytes_take_u64(record); n; n--) {
        uint64_t address = base_bytes_take_u64(record);
        const unsigned char *page = base_bytes_skip(record, GPU_SHADOW_PAGE);
        if (!page || !gpu_shadow_set(&gpu->checkpoint->shadow, &gpu->memory, address, page))
            return false;
    }
    gpu_note_all_written(gpu); /* pages do not show who has written them */
    return true;
}

/* --- the machine --- */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Writes the size, then the pages that differ from those after the last launch, then the number of bytes as an end
 * mark. */
static void put_state(struct gpu *gpu, struct base_bytes *record) {
    struct gpu_checkpoint *checkpoint = gpu->checkpoint;
    struct base_bytes *state = &checkpoint->state, *last = &checkpoint->last_state;
    state->n = 0;
    gpu_timed_save(gpu->timed, state);
    if (last->n != state->n) {
        last->n = 0;
        base_bytes_grow(last, state->n);
    }
    base_bytes_put_u64(record, state->n);
    for (size_t at = 0; at < state->n; at += GPU_SHADOW_PAGE) {
        size_t n = least(GPU_SHADOW_PAGE, state->n - at);
        if (memcmp(state->data + at, last->data + at, n) == 0)
            continue;
        base_bytes_put_u64(record, at);
        base_bytes_put(record, state->data + at, n);
        memcpy(last->data + at, state->data + at, n);
    }
    base_bytes_put_u64(record, state->n);
}

static bool take_state(struct gpu *gpu, struct base_bytes *record, bool is_last) {
    struct base_bytes *last = &gpu->checkpoint->last_state;
    uint64_t n = base_bytes_take_u64(record), at;
    if (last->n != n) {
        last->n = 0;
        base_bytes_grow(last, n);
    }
    while ((at = base_bytes_take_u64(record)) < n && !record->is_short)
        base_bytes_take(record, last->data + at, least(GPU_SHADOW_PAGE, n - at));
    last->at = 0;
    last->is_short = false;
    if (record->is_short || at != n)
        return false;
    if (is_last)
        gpu_timed_load(gpu->timed, last);
    return !last->is_short;
}

/* --- the heap of device-side malloc --- */

static void put_heap(const struct gpu_memory *memory, struct base_bytes *record) {
    const struct exec_allocation *first = gpu_memory_next(memory, memory->heap_base);
    uint64_t n = first ? (uint64_t)(memory->live + memory->n_live - first) : 0;
    base_bytes_put_u64(record, memory->next_heap);
    base_bytes_put_u64(record, memory->heap_used);
    base_bytes_put_u64(record, n);
    base_bytes_put(record, first, n * sizeof *first);
}

static bool take_heap(struct gpu_memory *memory, struct base_bytes *record) {
    const struct exec_allocation *old = gpu_memory_next(memory, memory->heap_base);
    uint64_t next_heap = base_bytes_take_u64(record), used = base_bytes_take_u64(record);
    uint64_t n = base_bytes_take_u64(record);
    const unsigned char *list = n <= UINT32_MAX ? base_bytes_skip(record, n * sizeof *old) : NULL;
    if (!list)
        return false;
    while ((old = gpu_memory_next(memory, memory->heap_base)))
        gpu_heap_release(memory, old->address);
    for (uint64_t i = 0; i < n; i++) {
        struct exec_allocation allocation;
        memcpy(&allocation, list + i * sizeof allocation, sizeof allocation);
        if (!gpu_memory_insert(memory, allocation.address, allocation.bytes))
            return false;
    }
    memory->next_heap = next_heap;
    memory->heap_used = used;
    return true;
}

/* --- results --- */

/* The arrays of a series, each with the bytes of one sample. */
#define FOR_EACH_SERIES(series, X)                                                                                     \
    X(thread_instructions, (series)->n_sms * sizeof(uint32_t))                                                         \
    X(channel_busy, (series)->n_channels * sizeof(uint32_t))                                                           \
    X(resident_blocks, (series)->n_sms * sizeof(uint32_t))                                                             \
    X(resident_groups, (series)->n_sms * sizeof(uint32_t))                                                             \
    X(row_accesses, sizeof *(series)->row_accesses)                                                                    \
    X(active_lanes, sizeof *(series)->active_lanes)                                                                    \
    X(sm_cycles, sizeof *(series)->sm_cycles)                                                                          \
    X(traffic, sizeof *(series)->traffic)

/* NULL is like an empty name. */
static void put_name(const char *name, struct base_bytes *record) {
    size_t length = name ? strlen(name) : 0;
    base_bytes_put_u64(record, length);
    base_bytes_put(record, name, length);
}

static const char *take_name(struct gpu *gpu, struct base_bytes *record) {
    uint64_t length = base_bytes_take_u64(record);
    const unsigned char *text = base_bytes_skip(record, length);
    if (!text || !length)
        return NULL;
    char *name = base_allocate(length + 1, 1);
    memcpy(name, text, length);
    const char *kept = gpu_keep_name(gpu, name);
    free(name);
    return kept;
}

static void put_result(const struct gpu_launch_record *result, struct base_bytes *record) {
    const struct gpu_series *series = &result->series;
    put_name(result->kernel, record);
    base_bytes_put(record, result, sizeof *result);
    for (int i = 0; i < GPU_N_HOT; i++)
        put_name(result->hot[i].file, record);
#define PUT(name, bytes) base_bytes_put(record, series->name, series->n_samples *(bytes));
    FOR_EACH_SERIES(series, PUT)
#undef PUT
}

static void *take_array(struct base_bytes *record, uint64_t n, size_t bytes) {
    const unsigned char *from = base_bytes_skip(record, n * bytes);
    return from && n ? memcpy(base_allocate(n, bytes), from, n * bytes) : NULL;
}

static bool take_result(struct gpu *gpu, struct base_bytes *record) {
    const char *kernel = take_name(gpu, record);
    if (!kernel)
        return false;
    struct gpu_launch_record *result = gpu_record_new(gpu);
    if (!result)
        abort();
    base_bytes_take(record, result, sizeof *result);
    result->kernel = kernel;
    for (int i = 0; i < GPU_N_HOT; i++)
        result->hot[i].file = take_name(gpu, record);
    struct gpu_series *series = &result->series;
    series->capacity = series->n_samples;
    series->lines = (struct gpu_line_series){0}; /* like listings, which a checkpoint does not contain */
#define TAKE(name, bytes) series->name = take_array(record, series->n_samples, bytes);
    FOR_EACH_SERIES(series, TAKE)
#undef TAKE
    if (!record->is_short)
        gpu_add_to_totals(gpu, result);
    return !record->is_short;
}

/* --- replaying --- */

static bool take_record(struct gpu *gpu, struct base_bytes *record, bool is_last, struct gpu_error *error) {
    base_bytes_take(record, error, sizeof *error);
    gpu->time_ns = base_bytes_take_u64(record);
    gpu->n_grids = base_bytes_take_u64(record);
    uint64_t length = base_bytes_take_u64(record);
    const unsigned char *text = base_bytes_skip(record, length);
    if (text)
        fwrite(text, 1, length, stdout);
    fflush(stdout);
    for (uint64_t n = base_bytes_take_u64(record); n; n--)
        if (!take_result(gpu, record))
            return false;
    return take_heap(&gpu->memory, record) && (!gpu->timed || take_state(gpu, record, is_last)) &&
           take_memory(gpu, record) && !record->is_short && record->at == record->n;
}

static bool differ(struct gpu_error *error, uint32_t number, const char *what) {
    error->status = GPU_OTHER_RUN;
    snprintf(error->message, sizeof error->message, "launch %" PRIu32 " is not that of the checkpoint: %s", number + 1,
             what);
    return true;
}

bool gpu_checkpoint_replay(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    struct gpu_checkpoint *checkpoint = gpu->checkpoint;
    uint32_t number = checkpoint->next, n_records = gpu_checkpoint_file_count(checkpoint->file);
    char text[GPU_CHECKPOINT_ERROR];
    if (checkpoint->is_over)
        return false;
    checkpoint->launch_hash = hash_launch(gpu, launch);
    checkpoint->input_hash = hash_input(gpu);
    checkpoint->text.n = 0;
    checkpoint->n_before = gpu->n_launches;
    if (number >= n_records)
        return false;
    checkpoint->next++;
    struct base_bytes *record = &checkpoint->record;
    if (!gpu_checkpoint_file_read(checkpoint->file, number, record, text))
        return differ(error, number, text);
    if (base_bytes_take_u64(record) != checkpoint->launch_hash)
        return differ(error, number, "the program launches another kernel, or with other parameters");
    if (base_bytes_take_u64(record) != checkpoint->input_hash)
        return differ(error, number, "the program has allocated or written other memory");
    if (!take_record(gpu, record, number + 1 == n_records, error))
        return differ(error, number, "its record is damaged");
    return true;
}

/* --- writing --- */

void gpu_checkpoint_add(struct gpu *gpu, const struct gpu_error *error) {
    struct gpu_checkpoint *checkpoint = gpu->checkpoint;
    struct base_bytes *record = &checkpoint->record;
    char text[GPU_CHECKPOINT_ERROR];
    if (error->status == GPU_INTERRUPTED || error->status == GPU_TIME_LIMIT)
        checkpoint->is_over = true;
    if (checkpoint->is_over)
        return;
    record->n = 0;
    base_bytes_put_u64(record, checkpoint->launch_hash);
    base_bytes_put_u64(record, checkpoint->input_hash);
    base_bytes_put(record, error, sizeof *error);
    base_bytes_put_u64(record, gpu->time_ns);
    base_bytes_put_u64(record, gpu->n_grids);
    base_bytes_put_u64(record, checkpoint->text.n);
    base_bytes_put(record, checkpoint->text.data, checkpoint->text.n);
    base_bytes_put_u64(record, gpu->n_launches - checkpoint->n_before);
    for (uint32_t i = checkpoint->n_before; i < gpu->n_launches; i++)
        put_result(&gpu->launch[i], record);
    put_heap(&gpu->memory, record);
    if (gpu->timed) {
        put_state(gpu, record);
        gpu_timed_load(gpu->timed, &checkpoint->state);
    }
    put_memory(gpu, record);
    if (gpu_checkpoint_file_append(checkpoint->file, record, text)) {
        checkpoint->next++;
        return;
    }
    fprintf(stderr, "heddle: %s; the run continues without checkpoints\n", text);
    checkpoint->is_over = true;
}
