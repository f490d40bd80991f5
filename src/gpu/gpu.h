/* The GPU as its driver sees it: memory, modules, launches, and their measurements. It uses no CUDA types.
 *
 * gpu_launch() runs one launch, and returns when it has ended. Launches that may run at the same time are added as
 * tasks and run by gpu_run_tasks(). Errors of the simulated program are returned as struct gpu_error. The driver makes
 * the first one sticky, as CUDA does. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/occupancy.h"
#include "exec/exec.h"
#include "ptx/ptx.h"
#include "stats/counters.h"
#include "stats/lines.h"
#include "stats/stalls.h"

struct config_machine;
struct gpu;
struct gpu_module;
struct gpu_kernel;

/* The extent of a timeline (--trace). Cycles count from the device's start, over all launches. */
struct gpu_trace_config {
    char path[4096];                  /* empty: none */
    uint64_t first_cycle, last_cycle; /* last_cycle 0: to the end */
    uint32_t first_sm, last_sm;
    uint64_t most_bytes;
};

/* What programs read about the device. */
struct gpu_identity {
    char name[256];
    uint32_t major, minor; /* compute capability */
    uint32_t memory_khz, bus_bits;
    uint32_t l2_bytes, persisting_bytes;
    uint32_t fp64_ratio; /* single-precision operations for each of double precision */
};

struct gpu_config {
    const struct config_machine *machine; /* NULL: execute without timing. Copied. */
    char scheduler[512];                  /* empty: the machine's own */
    uint32_t n_sms;
    struct gpu_identity device;
    struct config_capacity sm;
    uint32_t threads_per_block, shared_bytes_per_block, shared_bytes_per_block_optin, registers_per_block;
    uint32_t clock_khz;
    uint64_t memory_bytes;             /* device memory a program can allocate */
    uint32_t stack_bytes;              /* per thread, for recursion (CU_LIMIT_STACK_SIZE) */
    uint64_t heap_bytes;               /* device-side malloc (CU_LIMIT_MALLOC_HEAP_SIZE) */
    uint64_t max_instructions;         /* per thread row and launch; 0: no limit. Ends runaway loops. */
    double timeout_seconds;            /* wall clock of the whole run; 0: none */
    const volatile sig_atomic_t *stop; /* end the running launch with GPU_INTERRUPTED when this is not 0; may be NULL */
    uint64_t sample_cycles;            /* timed: cycles between samples; 0: none */
    uint64_t most_samples;             /* of a launch: if there would be more, intervals double; 0: no limit */
    char live[4096];                   /* timed: a file with the state of the run (live.c); empty: none */
    bool shows_progress;               /* one line on standard error while a launch runs long */
    bool records_threads;              /* gpu_profiles(): counts per thread and per branch */
    bool allows_strays;                /* accesses near allocations go through, with a warning (stray.c) */
    bool checks_memory;                /* finds uninitialised reads and races (memcheck.c) */
    bool records_lines;                /* gpu_listings(): counts per line */
    uint32_t n_threads;                /* timed: host threads; 0 and 1: one. Never changes a result */
    bool picks_threads;                /* at most n_threads: as many as pay */
    struct gpu_trace_config trace;     /* timed */
    char checkpoint[4096];             /* a file to which each launch is added (checkpoint.h); empty: none */
    uint32_t draws;       /* timed: estimates from this number of sections of each segment (draw.h); 0: no... */
    double draw_error;    /* or from more, to know the cycles within this part of them; 0: no more */
    bool keeps_step;      /* timed, for tests: no SM runs ahead of the others */
    uint32_t check_every; /* timed, for tests: ticks of SMs between checks of groups; 0: never */
};

/* Returns a device without a machine, with room for programs that were written for any GPU. */
struct gpu_config gpu_default_config(void);
/* Makes the device a timed one: it takes its shape from the machine, which must outlive the config. */
void gpu_config_use(struct gpu_config *config, const struct config_machine *machine);

enum gpu_status {
    GPU_OK,
    GPU_OUT_OF_MEMORY,
    GPU_INVALID_VALUE,
    GPU_INVALID_SHAPE, /* a grid or block that no kernel may have on this device */
    GPU_INVALID_PTX,
    GPU_NOT_FOUND,
    GPU_LAUNCH_OUT_OF_RESOURCES,
    GPU_COOPERATIVE_TOO_LARGE,
    GPU_INVALID_CLUSTER,
    GPU_NOT_SUPPORTED, /* the machine or the divergence model refuses the kernel */
    GPU_ILLEGAL_ADDRESS,
    GPU_MISALIGNED_ADDRESS,
    GPU_ASSERT,
    GPU_TRAP,           /* CUDA_ERROR_LAUNCH_FAILED */
    GPU_LAUNCH_TIMEOUT, /* deadlock, livelock */
    GPU_TIME_LIMIT,     /* these four are CUDA_ERROR_LAUNCH_TIMEOUT too */
    GPU_INSTRUCTION_LIMIT,
    GPU_CYCLE_LIMIT,
    GPU_INTERRUPTED,
    GPU_STACK_OVERFLOW, /* CUDA_ERROR_HARDWARE_STACK_ERROR */
    GPU_INVALID_PC,
    GPU_OTHER_RUN, /* the checkpoint belongs to another run */
};

struct gpu_error {
    enum gpu_status status;
    char message[1024]; /* one line: kind, kernel, block, thread, PTX line, address */
};

/* The cycles of groups at each source line over time: a row for each sample, with a column for each of the lines that
 * took most and a last one for the others. Lines without a source are lines of the PTX. */
enum { GPU_MOST_SERIES_LINES = 24 };
struct gpu_line_series {
    uint32_t n_lines; /* 0: not recorded */
    struct gpu_series_line {
        char *file; /* NULL: the line is of the PTX */
        uint32_t line;
    } line[GPU_MOST_SERIES_LINES];
    uint32_t *cycles; /* n_samples x (n_lines + 1) */
};

/* The counters of the memory system that a time series contains. */
enum {
#define GPU_TRAFFIC(name) GPU_TRAFFIC_##name,
#include "gpu/traffic.def"
    GPU_N_TRAFFIC
};
extern const char *const gpu_traffic_names[GPU_N_TRAFFIC];

/* A time series of a launch: samples at equal intervals of cycles, each about the time since the last. */
struct gpu_series {
    uint64_t every_cycles, n_samples, capacity;
    uint32_t n_sms, n_channels;
    uint32_t *thread_instructions;            /* n_samples x n_sms */
    uint32_t *channel_busy;                   /* n_samples x n_channels: cycles in which the DRAM channel moved data */
    uint32_t *resident_blocks;                /* n_samples x n_sms: blocks on the SM at the time of the sample */
    uint32_t *resident_groups;                /* n_samples x n_sms: groups in slots at the time of the sample */
    uint32_t (*row_accesses)[2];              /* per sample: DRAM accesses that hit the open row, and that did not */
    uint32_t (*active_lanes)[EXEC_LANES + 1]; /* per sample: instructions issued by number of active lanes */
    uint32_t (*sm_cycles)[1 + STATS_N_SM_STALLS]; /* per sample: cycles of all SMs, active and by stall */
    uint64_t (*traffic)[GPU_N_TRAFFIC];           /* per sample: the counters of gpu_traffic_names */
    struct gpu_line_series lines;
};

/* How a launch fills an SM. */
struct gpu_occupancy {
    uint32_t registers_per_thread, shared_bytes; /* of a block */
    uint32_t blocks, warps;                      /* that fit on an SM */
    uint32_t most_warps;                         /* of an SM */
    enum config_resource limiter;
    uint32_t blocks_by[CONFIG_N_RESOURCES]; /* that each resource allows; UINT32_MAX: any number */
};

/* The source line that cost a launch most, in each of these ways. */
enum gpu_hot { GPU_HOT_LOADS, GPU_HOT_CONFLICTS, GPU_HOT_BRANCHES, GPU_N_HOT };
struct gpu_hot_line {
    const char *file; /* lives as long as the device; NULL: the line is of the PTX */
    uint32_t line;
    uint32_t second;          /* GPU_HOT_CONFLICTS: a line of the file with nearly as many; part has both. 0: none */
    uint64_t part, whole;     /* cycles of loads in flight, bank conflicts or divergences: of the line, of all lines */
    uint64_t accesses, lines; /* GPU_HOT_LOADS: of its loads */
};

/* Lines of the L2 that a launch without timing touched when it warmed the caches, and those that were not there. */
struct gpu_warmed {
    uint64_t touched_lines, missed_lines;
};

/* With draws: a part of a launch that is timed or not, as one. Short launches are one section; the first launch of a
 * kernel is always timed, and `counted` is then what the timed run counts. Of others the first and the last blocks, and
 * some number of neighbouring blocks between them, are a section each. */
enum gpu_section_kind {
    GPU_SECTION_WHOLE,
    GPU_SECTION_NEW, /* the same, of a kernel that has not run before */
    GPU_SECTION_FIRST,
    GPU_SECTION_MIDDLE,
    GPU_SECTION_LAST,
    GPU_N_SECTION_KINDS
};
struct gpu_section {
    uint32_t launch; /* its number, from 0 */
    enum gpu_section_kind kind;
    uint64_t first_block, n_blocks;
    uint32_t n_later;              /* sections of the launch after it */
    uint32_t stratum, segment;     /* sections that were drawn together: draw.h */
    double work;                   /* the cycles that the machine's peaks would allow */
    uint64_t instructions_before;  /* thread instructions of the launch's blocks before it */
    uint64_t longest;              /* instructions of its longest row */
    struct stats_counters counted; /* in the functional run */
    struct gpu_warmed warmed;
    bool has_true_caches;         /* timed, and every launch before it: it found the caches of a full run */
    double line_cycles;           /* by how much a line that is missed wrongly can delay the launch, roughly */
    struct stats_counters *timed; /* NULL: it was not timed */
    uint64_t early_cycles[2]; /* timed, in the middle of a launch: if no blocks, or half as many, had run before it */
};

struct gpu_launch_record {
    const char *kernel; /* lives as long as the device */
    struct exec_shape shape;
    struct stats_counters counters;
    uint64_t active_lanes[EXEC_LANES + 1]; /* timed: instructions by number of active lanes; [0]: guard false for all */
    struct gpu_series series;              /* timed, with sample_cycles */
    struct gpu_occupancy occupancy;        /* timed */
    struct gpu_hot_line hot[GPU_N_HOT];    /* timed; whole is 0: none */
    struct gpu_warmed warmed;              /* untimed, with draws */
    double host_seconds;
    bool is_timed;
};

/* With records_threads: the sum over all launches of a kernel with one shape. */
struct gpu_profile {
    const char *kernel; /* lives as long as the device */
    struct exec_shape shape;
    uint32_t n_launches, n_branches;
    struct gpu_branch {
        uint32_t line;               /* in the PTX */
        uint64_t executed, diverged; /* counted for groups of threads */
    } * branch;
    uint64_t n_threads;     /* block after block, in the order of their numbers: */
    uint32_t *path, *split; /* instructions executed with a true guard; branches that split the thread's group */
    uint32_t *miss;         /* timed: accesses whose line was not in the L1 */
};

/* With records_lines: the instructions of a kernel in the order of their pcs, summed over all its launches. */
struct gpu_listing {
    const char *kernel; /* lives as long as the device */
    uint32_t n_launches, n_lines;
    struct gpu_line {
        uint32_t line;        /* in the PTX; 0: the return at a function's end, which is not written there */
        uint32_t source_line; /* in the CUDA source, by the nearest .loc before; 0: unknown */
        const char *file;     /* of the CUDA source, or NULL. This and text live as long as the device. */
        const char *text;     /* the PTX line without the blanks around it */
        struct stats_line counters;
    } * line;
};

struct gpu *gpu_new(const struct gpu_config *config, struct gpu_error *error);
void gpu_free(struct gpu *gpu);
const struct gpu_config *gpu_config(const struct gpu *gpu);
/* May be changed between launches. */
void gpu_set_stack_bytes(struct gpu *gpu, uint32_t bytes);
void gpu_set_heap_bytes(struct gpu *gpu, uint64_t bytes);

/* Returns zeroed memory at a multiple of `alignment` (a power of two, at least 256), or 0 if it does not fit. */
uint64_t gpu_malloc(struct gpu *gpu, uint64_t bytes, uint64_t alignment);
/* Says that this allocation is memory of the host: timed kernels access it over the machine's link. */
void gpu_place_on_host(struct gpu *gpu, uint64_t address, uint64_t bytes);
bool gpu_release(struct gpu *gpu, uint64_t address); /* false: no allocation starts there */
/* Returns the host memory of [address, address + bytes), or NULL if that is not inside one allocation. Valid until
 * release. If gpu_is_unified(), a device address is the host address too. */
unsigned char *gpu_host(struct gpu *gpu, uint64_t address, uint64_t bytes);
/* Does the same for memory that is only read. */
const unsigned char *gpu_host_read(struct gpu *gpu, uint64_t address, uint64_t bytes);
/* Says that the device itself, not the host, has written this memory of gpu_host(), as cudaMemset does. */
void gpu_note_filled(struct gpu *gpu, uint64_t address, uint64_t bytes);
bool gpu_is_unified(const struct gpu *gpu);
/* Finds the allocation that contains address. Returns false if there is none. */
bool gpu_find_allocation(const struct gpu *gpu, uint64_t address, uint64_t *base, uint64_t *bytes);
/* Returns true if address lies in the range that allocations come from, live or not. */
bool gpu_is_device_address(const struct gpu *gpu, uint64_t address);
/* Returns the device address of the host memory of an allocation, and an address of no allocation for other memory. */
uint64_t gpu_device_address(const struct gpu *gpu, const void *host);
uint64_t gpu_memory_used(const struct gpu *gpu);
/* With checks_memory: a program must write memory from gpu_note_unwritten() on, until it is released, before its
 * kernels read it. gpu_note_written() reports memory that was written, but not by a kernel. Without checks these do
 * nothing.
 * */
void gpu_note_unwritten(struct gpu *gpu, uint64_t address, uint64_t bytes);
void gpu_note_written(struct gpu *gpu, uint64_t address, uint64_t bytes);
void gpu_note_all_written(struct gpu *gpu);
void gpu_note_freed(struct gpu *gpu, uint64_t address);
/* Returns how many accesses of all launches were uninitialised reads, and how many raced with another. */
void gpu_count_findings(const struct gpu *gpu, uint64_t *n_uninitialised, uint64_t *n_races);
/* Reserves addresses without memory, at a multiple of `alignment`. Returns 0 if there is no room. */
uint64_t gpu_range_reserve(struct gpu *gpu, uint64_t bytes, uint64_t alignment);
/* Allocates memory without addresses, as a file. Returns -1 if none is left. */
int gpu_pages_new(struct gpu *gpu, uint64_t bytes);
void gpu_pages_free(struct gpu *gpu, int pages, uint64_t bytes);
/* Maps `bytes` of the pages, from `offset` on, at reserved addresses. unmap undoes it. All numbers are multiples of a
 * host page. Returns false if something is already mapped there or, for unmap, if nothing is. */
bool gpu_range_map(struct gpu *gpu, uint64_t address, uint64_t bytes, int pages, uint64_t offset);
bool gpu_range_unmap(struct gpu *gpu, uint64_t address, uint64_t bytes);

/* Loads a module. name is used in messages. Returns NULL on errors; messages then holds all of them. */
struct gpu_module *gpu_module_load(struct gpu *gpu, const char *name, const char *text, size_t length,
                                   struct ptx_messages *messages);
/* The same for several texts that were compiled separately, linked into one module. */
struct gpu_text {
    const char *name, *text;
    size_t length;
};
struct gpu_module *gpu_module_load_linked(struct gpu *gpu, const char *name, const struct gpu_text *part,
                                          uint32_t n_parts, struct ptx_messages *messages);
void gpu_module_unload(struct gpu *gpu, struct gpu_module *module);
/* Returns NULL if the module has no such kernel or (with messages) it cannot be linked. */
struct gpu_kernel *gpu_module_kernel(struct gpu_module *module, const char *name, struct ptx_messages *messages);
/* Sets the registers of a thread of a kernel, which are otherwise estimated, before the kernel is first used. Other
 * names are ignored. */
void gpu_module_set_registers(struct gpu_module *module, const char *kernel, uint32_t registers);
bool gpu_module_global(struct gpu_module *module, const char *name, uint64_t *address, uint64_t *bytes);
const struct ptx_module *gpu_module_ptx(const struct gpu_module *module);

const char *gpu_kernel_name(const struct gpu_kernel *kernel);
const struct ptx_function *gpu_kernel_function(const struct gpu_kernel *kernel);
const struct exec_program *gpu_kernel_program(const struct gpu_kernel *kernel);
/* The most dynamic shared memory that a launch of the kernel may ask for; at first as much as a block may have. */
/* Whether clusters of more than 8 blocks, which are not portable, are allowed. */
bool gpu_kernel_allows_any_cluster(const struct gpu_kernel *kernel);
void gpu_kernel_allow_any_cluster(struct gpu_kernel *kernel, bool is_allowed);
/* Returns how many clusters of the shape the device holds at once. */
uint32_t gpu_kernel_clusters(const struct gpu *gpu, const struct gpu_kernel *kernel, const struct exec_shape *shape);
uint32_t gpu_kernel_most_dynamic_shared(const struct gpu_kernel *kernel);
void gpu_kernel_set_most_dynamic_shared(struct gpu_kernel *kernel, uint32_t bytes);
/* Returns the number of blocks of this shape that fit on one SM at once. */
uint32_t gpu_kernel_occupancy(const struct gpu *gpu, const struct gpu_kernel *kernel, uint32_t threads,
                              uint32_t dynamic_shared);

/* The limits of every device. Those of threads_per_block and of an SM are the machine's. */
enum {
    GPU_MAX_BLOCK_X = 1024,
    GPU_MAX_BLOCK_Y = 1024,
    GPU_MAX_BLOCK_Z = 64,
    GPU_MAX_GRID_X = INT32_MAX,
    GPU_MAX_GRID_Y = 65535,
    GPU_MAX_GRID_Z = 65535,
};

/* A launch, made once by whoever asks for it and carried to its end. */
struct gpu_launch {
    struct gpu_kernel *kernel;
    struct exec_shape shape;
    void *parameters; /* packed as the kernel's parameter block */
    uint32_t parameter_bytes;
    bool is_untimed; /* runs functionally even on a timed machine */
    /* On the device's timeline: */
    uint32_t stream;
    uint64_t ready; /* it may start from this cycle on */
    int priority;   /* among launches that run together: lower numbers come first */
};

/* Returns false, with a status that gpu_is_refusal() knows, if the launch cannot start. gpu_launch() does this first.
 */
bool gpu_check_launch(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error);
/* Returns whether the status is about a launch that did not start. */
bool gpu_is_refusal(enum gpu_status status);
/* Runs a launch to its end. */
bool gpu_launch(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error);

/* Work that waits (queue.c), so that launches of several streams can run at the same time. A task is known by its
 * number, from 1 on, until gpu_forget_tasks(). It starts when the tasks that it names have ended, not before cycle
 * `ready` of the timeline. */
struct gpu_after {
    uint64_t ready;
    const uint32_t *task;
    uint32_t n_tasks;
};
/* Returns whether launches may wait and run together on this device. */
bool gpu_runs_together(const struct gpu *gpu);
/* Returns why they may not although the machine can: one clause. NULL: they may, or it cannot. */
const char *gpu_why_apart(const struct gpu *gpu);
/* Returns whether this launch may: one that is cooperative, untimed or launches others itself may not. */
bool gpu_may_run_together(const struct gpu *gpu, const struct gpu_launch *launch);
/* Adds a launch that gpu_check_launch() accepts. Copies its parameters. */
uint32_t gpu_add_launch(struct gpu *gpu, const struct gpu_launch *launch, const struct gpu_after *after);
/* Adds work of the driver. act() does it; it may start in cycle `ready`, and returns the cycle in which it ends. With
 * act NULL the task only ends when those before it have ended. */
uint32_t gpu_add_act(struct gpu *gpu, uint64_t (*act)(void *user, uint64_t ready), void *user,
                     const struct gpu_after *after);
/* Returns the number of tasks so far, and that of the launches among them. */
uint32_t gpu_count_tasks(const struct gpu *gpu);
uint32_t gpu_count_waiting_launches(const struct gpu *gpu);
/* Runs all tasks. Returns false if a launch failed; then those that have not ended never will. */
bool gpu_run_tasks(struct gpu *gpu, struct gpu_error *error);
/* After that, returns the cycle in which a task ended. Without a timeline it is a time in ns, as gpu_time_ns(). */
uint64_t gpu_task_end(const struct gpu *gpu, uint32_t task);
void gpu_forget_tasks(struct gpu *gpu);

/* Returns the host's clock, for limits and rates. */
uint64_t gpu_host_clock_ns(void);
/* Returns the simulated time since the device started, in nanoseconds. */
uint64_t gpu_time_ns(const struct gpu *gpu);
/* The device's timeline (timeline.c), on machines with a link to the host: when the work of a program runs. Cycles are
 * those of the machine's clock. */
enum gpu_work_kind { GPU_WORK_KERNEL, GPU_WORK_TO_DEVICE, GPU_WORK_TO_HOST, GPU_WORK_ON_DEVICE, GPU_WORK_FILL };
enum { GPU_COPY_ENGINES = 3 }; /* one for copies to the device, one for those to the host, one for its own memory */
struct gpu_work {
    enum gpu_work_kind kind;
    uint32_t stream;               /* 0: the default stream */
    uint32_t launch;               /* of a kernel: its number, from 1 */
    uint64_t bytes;                /* of a copy or fill */
    double share;                  /* of a kernel: its part of all places for its blocks on the device, at most 1 */
    uint64_t n_cycles, first, end; /* end: the first cycle after it */
};
bool gpu_has_timeline(const struct gpu *gpu);
/* Adds a copy or fill that may start from cycle `ready` on. gpu_launch() adds kernels. */
void gpu_add_copy(struct gpu *gpu, enum gpu_work_kind kind, uint64_t bytes, uint32_t stream, uint64_t ready);
/* Returns all work so far, in the order of the calls; none without a timeline. */
const struct gpu_work *gpu_timeline(const struct gpu *gpu, uint32_t *count);
uint64_t gpu_cycles_to_ns(const struct gpu *gpu, uint64_t cycles);
/* Returns all launches so far, in order. The totals leave out launches that ran untimed on a timed machine. */
const struct gpu_launch_record *gpu_launches(const struct gpu *gpu, uint32_t *count);
struct stats_counters gpu_totals(const struct gpu *gpu);
/* With draws: waits for the sections that are being timed, and returns all sections so far, in order. error: the first
 * of a section that could not be timed, otherwise GPU_OK. */
const struct gpu_section *gpu_sections(struct gpu *gpu, uint32_t *count, struct gpu_error *error);
/* With records_threads, in the order of their first launch. */
const struct gpu_profile *gpu_profiles(const struct gpu *gpu, uint32_t *count);
/* With records_lines, in the order of their first launch. */
const struct gpu_listing *gpu_listings(const struct gpu *gpu, uint32_t *count);

/* Textures and surfaces. A handle is never 0. */
uint64_t gpu_texture_new(struct gpu *gpu, const struct exec_texture *texture);
bool gpu_texture_set(struct gpu *gpu, uint64_t handle, const struct exec_texture *texture);
const struct exec_texture *gpu_texture_get(const struct gpu *gpu, uint64_t handle);
bool gpu_texture_free(struct gpu *gpu, uint64_t handle);
/* Returns the handle of a module's .texref/.surfref variable, or 0 if there is none. */
uint64_t gpu_module_texture(struct gpu_module *module, const char *name);
