/* Inside gpu: the device's parts. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"
#include "gpu/gpu.h"

/* memory.c: one reserved range of host memory, which contains the allocations. No address is reused before the whole
 * range has been used once. */
struct gpu_memory {
    struct exec_memory view; /* the part that exec reads; .allocation is `live` */
    struct exec_allocation *live;
    uint32_t n_live, live_capacity;
    struct exec_allocation *freed; /* a ring of the last ones freed, for messages */
    uint32_t n_freed;
    uint64_t next, next_heap, heap_base; /* the heap of device-side malloc lies at [heap_base, limit) */
    uint64_t range_base;                 /* ranges of range.c lie at [range_base, heap_base) */
    uint64_t used, heap_used, limit_bytes, heap_bytes;
    uint32_t n_pages; /* of range.c that live */
    bool has_strays;  /* some have gone through: memory outside allocations may no longer be zero */
};

bool gpu_memory_open(struct gpu_memory *memory, const struct gpu_config *config);
void gpu_memory_close(struct gpu_memory *memory);
uint64_t gpu_memory_alloc(struct gpu_memory *memory, uint64_t bytes, uint64_t alignment);
bool gpu_memory_release(struct gpu_memory *memory, uint64_t address);
const struct exec_allocation *gpu_memory_find(const struct gpu_memory *memory, uint64_t address);
/* Returns the first live allocation at or above address, or NULL. */
const struct exec_allocation *gpu_memory_next(const struct gpu_memory *memory, uint64_t address);
/* Add to and remove from the list of live allocations. Memory itself does not change. */
bool gpu_memory_insert(struct gpu_memory *memory, uint64_t address, uint64_t bytes);
bool gpu_memory_remove(struct gpu_memory *memory, uint64_t address);
uint64_t gpu_heap_alloc(struct gpu_memory *memory, uint64_t bytes);
bool gpu_heap_release(struct gpu_memory *memory, uint64_t address);

/* Instructions have their own addresses, far from data. */
#define GPU_CODE_ADDRESS 0x0000300000000000ull
#define GPU_INSTRUCTION_BYTES UINT64_C(8)

struct gpu_texture_slot {
    struct exec_texture texture;
    bool is_used;
};

struct gpu {
    struct gpu_config config;
    struct gpu_memory memory;
    struct gpu_texture_slot *texture; /* handle = index + 1 */
    uint32_t n_textures, texture_capacity;
    struct gpu_launch_record *launch;
    uint32_t n_launches, launch_capacity;
    char **kernel_name; /* every kernel launched, once: records outlive modules */
    uint32_t n_kernel_names;
    struct gpu_profile *profile;
    uint32_t n_profiles;
    struct gpu_listing *listing;
    uint32_t n_listings;
    struct base_arena listing_texts;
    struct stats_counters totals;
    struct gpu_module *modules;    /* a list */
    struct gpu_timed *timed;       /* NULL: functional */
    struct gpu_timeline *timeline; /* NULL: the machine has no link */
    uint64_t time_ns, start_ns;
    uint64_t n_grids;
    uint64_t next_code_address;        /* for the next program linked */
    uint64_t workspace;                /* for cooperative grids; 0 before the first */
    struct gpu_checkpoint *checkpoint; /* NULL: none */
    uint64_t code_hash;                /* with a checkpoint: of all modules loaded so far */
    struct gpu_strays *strays;         /* NULL: none goes through */
    struct exec_written *written;      /* NULL: memory is not checked */
    uint64_t n_uninitialised, n_races; /* findings of all launches */
    struct gpu_child *child;           /* launches that the running grid has made (children.c) */
    uint32_t n_children, n_nested;
    struct gpu_queue *queue;       /* queue.c; NULL: no work has waited so far */
    uint32_t stream;               /* of the launch that runs */
    uint64_t live_ns;              /* when its state was last written */
    struct gpu_sections *sections; /* NULL: no estimate */
    int is_copy_of;                /* in a fork that times a section: the process that made it; otherwise 0 */
};

struct gpu_kernel {
    struct gpu_module *module;
    const struct ptx_function *function;
    struct exec_program *program; /* linked at first use */
    struct sm_program *costs;     /* on the device's machine, from the first timed launch on */
    uint32_t most_dynamic_shared_bytes;
    uint32_t registers_per_thread; /* 0: as estimated */
    bool allows_any_cluster;       /* of more than 8 blocks */
    bool has_run;                  /* it has been launched before */
    bool has_warned;               /* about stray accesses */
    uint32_t found;                /* kinds of findings (memcheck.c) that have been reported, as a set of bits */
};

/* launch.c: records and their parts. The new record is not zeroed. Returns NULL if the host is out of memory. */
struct gpu_launch_record *gpu_record_new(struct gpu *gpu);
/* The parts of a launch before and after its run: makes and completes its grid and record. *number is the record's. */
bool gpu_begin_launch(struct gpu *gpu, const struct gpu_launch *launch, uint64_t workspace, struct exec_grid *grid,
                      uint32_t *number, struct gpu_error *error);
void gpu_end_launch(struct gpu *gpu, const struct gpu_launch *launch, const struct exec_grid *grid,
                    struct gpu_launch_record *record);
/* Returns the part of the device's places for its blocks that a launch takes. One that no SM can run takes all. */
double gpu_share_of(const struct gpu *gpu, const struct gpu_launch *launch);
/* Returns a copy of the name of a kernel or file that lives as long as the device. */
const char *gpu_keep_name(struct gpu *gpu, const char *name);
void gpu_add_to_totals(struct gpu *gpu, const struct gpu_launch_record *record);

/* lines.c: the source line of an instruction. file is NULL if it is unknown; the line is then that of the PTX, or 0 for
 * a return that is not written there. */
struct gpu_place {
    const char *file;
    uint32_t line;
};
struct gpu_place gpu_place_at(const struct exec_program *program, uint32_t pc);
static inline bool gpu_is_same_place(struct gpu_place a, struct gpu_place b) {
    return a.line == b.line && a.file == b.file;
}

/* live.c: the launch has ended: writes the state of the run, if it is watched. */
void gpu_live_end(struct gpu *gpu);

/* functional.c: executes a grid without timing. Unless `warmed` is NULL, its accesses warm the caches of a timed
 * machine. */
bool gpu_run_functional(struct gpu *gpu, const struct exec_grid *grid, struct stats_counters *counters,
                        struct gpu_warmed *warmed, struct gpu_error *error);
/* The same in steps, for grids that take turns. A step ends with the grid, or when all its blocks in flight have had a
 * turn and have not ended: they may wait for another grid. It returns false if the launch has failed. Everything that
 * gpu_engine_new() is passed must outlive the engine. */
struct gpu_engine;
struct gpu_engine *gpu_engine_new(struct gpu *gpu, const struct exec_grid *grid, struct stats_counters *counters,
                                  struct gpu_warmed *warmed, struct gpu_error *error);
bool gpu_engine_step(struct gpu_engine *engine);
bool gpu_engine_is_done(const struct gpu_engine *engine);
void gpu_engine_free(struct gpu_engine *engine);

/* children.c: launches that kernels make. gpu_run_children() runs those of the grid that has just ended. */
uint64_t gpu_child_new(void *user, const struct exec_program *program, const struct exec_child *launch);
bool gpu_child_launch(void *user, uint32_t block, uint64_t parameters, uint64_t stream);
void gpu_child_copy(void *user, uint32_t block, const struct exec_child_copy *copy);
bool gpu_run_children(struct gpu *gpu, bool is_untimed, struct gpu_error *error);
/* module.c */
struct gpu_module *gpu_module_next(const struct gpu_module *module);

/* profile.c: adds a launch's record of its threads and branches to the device's profiles. */
void gpu_profile_add(struct gpu *gpu, const struct exec_grid *grid, const char *kernel);
void gpu_profiles_free(struct gpu *gpu);

/* lines.c: adds a launch's record of its lines to the device's listings. */
void gpu_lines_add(struct gpu *gpu, const struct exec_grid *grid, const char *kernel);
void gpu_lines_free(struct gpu *gpu);

/* stray.c: see there. gpu_strays_report() warns about those of a launch that has ended. */
struct gpu_strays *gpu_strays_new(void);
void gpu_strays_free(struct gpu_strays *strays);
bool gpu_allows_stray(void *user, struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane);
void gpu_strays_report(struct gpu *gpu, struct gpu_kernel *kernel, const struct exec_grid *grid);

/* memcheck.c: reports the findings of a launch that has ended, and frees grid->check. */
struct exec_written *gpu_written_new(const struct gpu_memory *memory);
void gpu_written_free(struct exec_written *written);
struct exec_check *gpu_check_new(const struct gpu *gpu); /* of a new launch. NULL: memory is not checked */
void gpu_check_report(struct gpu *gpu, struct gpu_kernel *kernel, const struct exec_grid *grid);

/* fault.c: describes a fault in the one line that users see. */
void gpu_describe_fault(const struct exec_context *cx, const struct exec_row *row, uint32_t pc,
                        struct gpu_error *error);
