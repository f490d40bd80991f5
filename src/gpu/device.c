/* The device: its shape, its memory, its textures, its launches. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/checkpoint.h"
#include "gpu/internal.h"
#include "gpu/queue.h"
#include "gpu/sampler.h"
#include "gpu/sections.h"
#include "gpu/timed.h"
#include "gpu/timeline.h"

struct gpu_config gpu_default_config(void) {
    return (struct gpu_config){
        /* Memory and L2: the values of the first device of capability 8.0, for programs that divide by them. */
        .device = {"Heddle simulated GPU", 8, 0, 1215000, 5120, 40 << 20, 0, 2},
        .n_sms = 15,
        .sm = {.warp_size = EXEC_LANES, .threads = 2048, .blocks = 32, .registers = 65536, .shared_bytes = 164 * 1024},
        .threads_per_block = 1024,
        .shared_bytes_per_block = 48 * 1024,
        .shared_bytes_per_block_optin = 163 * 1024,
        .registers_per_block = 65536,
        .clock_khz = 1400000,
        .memory_bytes = 16ull << 30,
        .stack_bytes = 16384,
        .heap_bytes = 8ull << 20,
        .max_instructions = 4000000000ull,
        .trace = {.last_sm = UINT32_MAX, .most_bytes = 100000000},
    };
}

static struct gpu_identity identity_of(const struct config_machine *machine) {
    const struct config_device *device = &machine->device;
    struct gpu_identity identity = {
        .memory_khz = (uint32_t)(device->memory_ghz * 1e6 + 0.5),
        .bus_bits = device->bus_bits,
        .l2_bytes = device->l2_bytes ? device->l2_bytes : machine->l2.cache.size_bytes,
        .persisting_bytes = device->persisting_bytes,
        .fp64_ratio = (uint32_t)(machine->sm.simd_width / machine->sm.fp64_width + 0.5),
    };
    memcpy(identity.name, device->name, sizeof identity.name);
    sscanf(device->capability, "%" SCNu32 ".%" SCNu32, &identity.major, &identity.minor);
    return identity;
}

void gpu_config_use(struct gpu_config *config, const struct config_machine *machine) {
    enum { MOST_REGISTERS = 255 }; /* of a thread, by the CUDA C Programming Guide */
    config->machine = machine;
    config->device = identity_of(machine);
    config->n_sms = machine->sm.count;
    config->sm = config_capacity_of(machine);
    config->registers_per_block = config->sm.registers ? config->sm.registers : config->sm.threads * MOST_REGISTERS;
    config->shared_bytes_per_block_optin = config->sm.shared_bytes - config->sm.shared_reserved_bytes;
    if (config->shared_bytes_per_block > config->shared_bytes_per_block_optin)
        config->shared_bytes_per_block = config->shared_bytes_per_block_optin;
    config->threads_per_block = machine->sm.threads_per_block;
    config->clock_khz = (uint32_t)(machine->clock_ghz * 1e6);
}

uint64_t gpu_host_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void print_text(void *user, const char *text, size_t length) {
    const struct gpu *gpu = user;
    fwrite(text, 1, length, stdout);
    if (gpu->checkpoint)
        gpu_checkpoint_note_text(gpu->checkpoint, text, length);
}

static const struct exec_texture *find_texture(void *user, uint64_t handle) { return gpu_texture_get(user, handle); }

struct gpu *gpu_new(const struct gpu_config *config, struct gpu_error *error) {
    struct gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu || !gpu_memory_open(&gpu->memory, config)) {
        *error = (struct gpu_error){GPU_OUT_OF_MEMORY, "the host cannot reserve address space for device memory"};
        free(gpu);
        return NULL;
    }
    gpu->config = *config;
    if (config->machine) {
        gpu->timed = gpu_timed_new(config, error->message, sizeof error->message);
        if (!gpu->timed) {
            error->status = GPU_INVALID_VALUE;
            gpu_free(gpu);
            return NULL;
        }
        if (config->machine->link.is_present)
            gpu->timeline = gpu_timeline_new(&config->machine->link, config->machine->launch.concurrent);
    }
    if (gpu->timed && config->draws)
        gpu->sections = gpu_sections_new(gpu);
    if (*config->checkpoint) {
        gpu->checkpoint = gpu_checkpoint_open(gpu, error);
        if (!gpu->checkpoint) {
            gpu_free(gpu);
            return NULL;
        }
    }
    gpu->start_ns = gpu_host_clock_ns();
    gpu->memory.view.user = gpu;
    gpu->memory.view.new_child = gpu_child_new;
    gpu->memory.view.launch_child = gpu_child_launch;
    gpu->memory.view.copy_child = gpu_child_copy;
    gpu->memory.view.texture = find_texture;
    if (config->allows_strays) {
        gpu->strays = gpu_strays_new();
        gpu->memory.view.allows_stray = gpu_allows_stray;
    }
    if (config->checks_memory && !(gpu->written = gpu_written_new(&gpu->memory))) {
        *error = (struct gpu_error){GPU_OUT_OF_MEMORY, "the host cannot reserve address space for checks of memory"};
        gpu_free(gpu);
        return NULL;
    }
    gpu->memory.view.print = print_text;
    return gpu;
}

void gpu_free(struct gpu *gpu) {
    if (!gpu)
        return;
    while (gpu->modules)
        gpu_module_unload(gpu, gpu->modules);
    gpu_queue_free(gpu->queue);
    gpu_sections_free(gpu->sections);
    gpu_timed_free(gpu->timed);
    gpu_timeline_free(gpu->timeline);
    gpu_checkpoint_free(gpu->checkpoint);
    gpu_memory_close(&gpu->memory);
    gpu_strays_free(gpu->strays);
    gpu_written_free(gpu->written);
    free(gpu->texture);
    free(gpu->child);
    for (uint32_t i = 0; i < gpu->n_launches; i++)
        gpu_series_free(&gpu->launch[i].series);
    free(gpu->launch);
    gpu_profiles_free(gpu);
    gpu_lines_free(gpu);
    for (uint32_t i = 0; i < gpu->n_kernel_names; i++)
        free(gpu->kernel_name[i]);
    free(gpu->kernel_name);
    free(gpu);
}

const struct gpu_config *gpu_config(const struct gpu *gpu) { return &gpu->config; }
void gpu_set_stack_bytes(struct gpu *gpu, uint32_t bytes) { gpu->config.stack_bytes = bytes; }

void gpu_set_heap_bytes(struct gpu *gpu, uint64_t bytes) {
    gpu->config.heap_bytes = bytes;
    gpu->memory.heap_bytes = bytes < gpu->memory.heap_used ? gpu->memory.heap_used : bytes;
}

uint64_t gpu_malloc(struct gpu *gpu, uint64_t bytes, uint64_t alignment) {
    return gpu_memory_alloc(&gpu->memory, bytes, alignment);
}

void gpu_place_on_host(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    if (gpu->timed)
        gpu_timed_add_host_memory(gpu->timed, address, bytes);
}

bool gpu_release(struct gpu *gpu, uint64_t address) {
    if (gpu->timed)
        gpu_timed_remove_host_memory(gpu->timed, address);
    gpu_note_freed(gpu, address);
    return gpu_memory_release(&gpu->memory, address);
}

static unsigned char *host_memory(struct gpu *gpu, uint64_t address, uint64_t bytes, enum mem_warming warming) {
    const struct exec_allocation *found = gpu_memory_find(&gpu->memory, address);
    if (!found || bytes > found->bytes - (address - found->address))
        return NULL;
    if (gpu->timed)
        gpu_timed_access(gpu->timed, address, bytes, warming);
    return (unsigned char *)(uintptr_t)(address + (uint64_t)gpu->memory.view.delta);
}

unsigned char *gpu_host(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    return host_memory(gpu, address, bytes, MEM_WARMED_BY_HOST);
}

const unsigned char *gpu_host_read(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    return host_memory(gpu, address, bytes, MEM_WARMED_BY_READ);
}

void gpu_note_filled(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    if (gpu->timed)
        gpu_timed_access(gpu->timed, address, bytes, MEM_WARMED_BY_DEVICE);
}

bool gpu_is_unified(const struct gpu *gpu) { return gpu->memory.view.delta == 0; }

bool gpu_find_allocation(const struct gpu *gpu, uint64_t address, uint64_t *base, uint64_t *bytes) {
    const struct exec_allocation *found = gpu_memory_find(&gpu->memory, address);
    if (!found)
        return false;
    *base = found->address;
    *bytes = found->bytes;
    return true;
}

bool gpu_is_device_address(const struct gpu *gpu, uint64_t address) {
    return address >= gpu->memory.view.base && address < gpu->memory.view.limit;
}

uint64_t gpu_device_address(const struct gpu *gpu, const void *host) {
    return (uint64_t)(uintptr_t)host - (uint64_t)gpu->memory.view.delta;
}

uint64_t gpu_memory_used(const struct gpu *gpu) { return gpu->memory.used; }
uint64_t gpu_time_ns(const struct gpu *gpu) { return gpu->time_ns; }

uint64_t gpu_cycles_to_ns(const struct gpu *gpu, uint64_t cycles) {
    return (uint64_t)((double)cycles / gpu->config.machine->clock_ghz);
}

bool gpu_has_timeline(const struct gpu *gpu) { return gpu->timeline != NULL; }

void gpu_add_copy(struct gpu *gpu, enum gpu_work_kind kind, uint64_t bytes, uint32_t stream, uint64_t ready) {
    const struct gpu_work *work =
        gpu_timeline_add(gpu->timeline, &(struct gpu_work){.kind = kind, .stream = stream, .bytes = bytes}, ready);
    gpu_timed_note_work(gpu->timed, work, NULL);
}

const struct gpu_work *gpu_timeline(const struct gpu *gpu, uint32_t *count) {
    return gpu_timeline_work(gpu->timeline, count);
}

const struct gpu_launch_record *gpu_launches(const struct gpu *gpu, uint32_t *count) {
    *count = gpu->n_launches;
    return gpu->launch;
}

struct stats_counters gpu_totals(const struct gpu *gpu) {
    return gpu->totals;
}

/* --- textures --- */

uint64_t gpu_texture_new(struct gpu *gpu, const struct exec_texture *texture) {
    uint32_t at = 0;
    while (at < gpu->n_textures && gpu->texture[at].is_used)
        at++;
    if (at == gpu->texture_capacity) {
        uint32_t capacity = at ? 2 * at : 16;
        struct gpu_texture_slot *larger = realloc(gpu->texture, capacity * sizeof *larger);
        if (!larger)
            return 0;
        gpu->texture = larger;
        gpu->texture_capacity = capacity;
    }
    if (at == gpu->n_textures)
        gpu->n_textures++;
    gpu->texture[at] = (struct gpu_texture_slot){*texture, true};
    return at + 1;
}

static struct gpu_texture_slot *texture_slot(const struct gpu *gpu, uint64_t handle) {
    bool exists = handle && handle <= gpu->n_textures && gpu->texture[handle - 1].is_used;
    return exists ? &gpu->texture[handle - 1] : NULL;
}

bool gpu_texture_set(struct gpu *gpu, uint64_t handle, const struct exec_texture *texture) {
    struct gpu_texture_slot *slot = texture_slot(gpu, handle);
    if (slot)
        slot->texture = *texture;
    return slot != NULL;
}

const struct exec_texture *gpu_texture_get(const struct gpu *gpu, uint64_t handle) {
    const struct gpu_texture_slot *slot = texture_slot(gpu, handle);
    return slot ? &slot->texture : NULL;
}

bool gpu_texture_free(struct gpu *gpu, uint64_t handle) {
    struct gpu_texture_slot *slot = texture_slot(gpu, handle);
    if (slot)
        slot->is_used = false;
    return slot != NULL;
}
