/* Inside libcuda: the state of the process, its objects, and how every API function begins and ends.
 *
 * An API function begins with
 *     CUDA_ENTER(call, cuda_enter_context());
 * and then does its work. The lock taken on entry is released when `call` goes out of scope. */
#pragma once

#include <regex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda.h"
#include "gpu/gpu.h"

/* Symbols of earlier versions whose source names the newest ones took over. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinity, int n_affinities, unsigned flags,
                        CUdevice device);

/* The library exports cu*; names that begin with cuda_ stay inside. */
#pragma GCC visibility push(hidden)

enum {
    CUDA_DRIVER_VERSION = 13000,
    CUDA_MAX_WINDOW_BYTES = 128 << 20, /* of an access policy, on devices with a persisting L2 */
    CUDA_MAX_LINEAR_TEXELS = 1 << 28,  /* of a one-dimensional texture in linear memory */
    CUDA_PITCH_ALIGNMENT = 512,        /* alignment of lines in arrays and allocations with a pitch */
    CUDA_ALLOCATION_ALIGNMENT = 256,
    CUDA_PAGE_BYTES = 4096, /* alignment of host and managed memory */
    CUDA_DEFAULT_PRINTF_BYTES = 1 << 20,
    CUDA_STREAM_ATTRIBUTES = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING + 1,
    CUDA_STREAM_LEAST_PRIORITY = 0,
    CUDA_STREAM_GREATEST_PRIORITY = -5,
};

/* ---- Tables: 64-bit key to pointer (table.c) -------------------------------------------------------------------- */

struct cuda_table {
    struct cuda_entry *entry;
    size_t capacity, count; /* count includes removed entries */
};

struct cuda_entry {
    uint64_t key; /* 0: never used */
    void *value;  /* NULL: removed */
};

void *cuda_table_get(const struct cuda_table *table, uint64_t key);
void cuda_table_put(struct cuda_table *table, uint64_t key, void *value);
void *cuda_table_remove(struct cuda_table *table, uint64_t key);
/* Returns the next used entry at or after *at, which is advanced past it; NULL at the end. Entries may be removed
 * during the walk. */
struct cuda_entry *cuda_table_next(const struct cuda_table *table, size_t *at);

/* ---- Objects ---------------------------------------------------------------------------------------------------- */

enum cuda_kind {
    CUDA_KIND_CONTEXT,
    CUDA_KIND_MODULE,
    CUDA_KIND_FUNCTION, /* a CUfunction and a CUkernel: the driver accepts one for the other */
    CUDA_KIND_LIBRARY,
    CUDA_KIND_STREAM,
    CUDA_KIND_EVENT,
    CUDA_KIND_ARRAY,
    CUDA_KIND_MIPMAP,
    CUDA_KIND_TEXREF,
    CUDA_KIND_SURFREF,
    CUDA_KIND_POOL,
    CUDA_KIND_LINK,
    CUDA_KIND_GRAPH,
    CUDA_KIND_GRAPH_NODE,
    CUDA_KIND_GRAPH_EXEC,
    CUDA_KIND_USER_OBJECT,
    CUDA_KIND_PAGES,
};

/* The head of every object that a handle points to. A handle is valid while its address is in the state's table. */
struct cuda_object {
    enum cuda_kind kind;
    struct CUctx_st *context; /* it ends with this context; NULL: it belongs to none */
};

struct CUctx_st {
    struct cuda_object object;
    bool is_primary, is_destroyed;
    struct CUctx_st *next_destroyed;
    unsigned flags;
    uint64_t id;
    CUresult error; /* of a kernel that failed: returned by every later call */
    size_t printf_bytes, l2_fetch_bytes, persisting_bytes, n_pending_launches;
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
};

struct CUmod_st {
    struct cuda_object object;
    struct gpu_module *gpu;
    struct CUlib_st *library;    /* that it belongs to; NULL: a module of its own */
    struct CUfunc_st **function; /* handles returned so far */
    unsigned n_functions;
    struct cuda_object **reference; /* texture and surface references returned so far */
    unsigned n_references;
};

struct CUlib_st {
    struct cuda_object object;
    struct CUmod_st *module;
};

struct CUfunc_st {
    struct cuda_object object;
    struct CUmod_st *module;
    struct gpu_kernel *kernel;
    int carveout;
    struct gpu_launch next; /* what cuParamSet* and cuFuncSet* have set for cuLaunch and cuLaunchGrid */
};

struct CUstream_st {
    struct cuda_object object;
    unsigned flags;
    int priority;
    uint64_t id;
    uint64_t end;                                             /* order.c: of its work so far */
    uint32_t task;                                            /* waiting.c: its last; 0: none waits */
    struct cuda_capture *capture;                             /* graph.h; NULL: work is executed, not recorded */
    CUlaunchAttributeValue attribute[CUDA_STREAM_ATTRIBUTES]; /* as the program set them; without effect */
};

struct CUevent_st {
    struct cuda_object object;
    unsigned flags;
    bool is_recorded;
    uint64_t cycle;               /* of the device's timeline, if the machine has one */
    uint32_t task;                /* waiting.c: it happens when this task has ended; 0: the time is known */
    uint64_t time_ns;             /* simulated */
    struct cuda_capture *capture; /* that it was recorded in last; NULL: none */
};

/* A launch of a function. */
struct cuda_kernel_work {
    struct CUfunc_st *function;
    struct gpu_launch launch; /* its parameters are from cuda_allocate() */
};

/* Lines of texels, each starting at a multiple of CUDA_PITCH_ALIGNMENT. */
struct CUarray_st {
    struct cuda_object object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    uint64_t address, pitch;
    bool is_level; /* of a mipmapped array, with which it ends */
};

struct CUmipmappedArray_st {
    struct cuda_object object;
    unsigned n_levels;
    struct CUarray_st *level[EXEC_MAX_LEVELS];
};

/* A module's texture or surface variable: its binding, and how it is read. */
struct CUtexref_st {
    struct cuda_object object;
    uint64_t handle; /* in struct gpu */
    bool is_bound;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUarray_format format; /* of linear memory and lines with a pitch; an array has its own */
    unsigned channels;
};

struct CUsurfref_st {
    struct cuda_object object;
    uint64_t handle;
    CUarray array; /* NULL: not bound */
};

struct CUmemPoolHandle_st {
    struct cuda_object object;
    bool is_default;
    uint64_t attribute[9]; /* by enum CUmemPool_attribute */
};

enum cuda_memory { CUDA_MEMORY_DEVICE, CUDA_MEMORY_HOST, CUDA_MEMORY_MANAGED };

struct cuda_allocation {
    enum cuda_memory kind;
    uint64_t address, bytes;
    unsigned char *host; /* the same memory as the program's pointer, for CUDA_MEMORY_HOST and _MANAGED */
    unsigned flags;
    uint64_t id;
    struct cuda_advice *advice; /* of each page of managed memory (advice.c); NULL: none was given */
    struct CUctx_st *context;
    struct CUmemPoolHandle_st *pool; /* NULL: not from a pool */
    struct cuda_graph_block *block;  /* of a graph; NULL: not allocated by one */
    void *registered;                /* the program's own memory, as named to cuMemHostRegister; NULL: ours */
    int file;                        /* of registered memory: the file that its pages map */
};

/* A texture or surface object by its handle. */
struct cuda_texture_object {
    bool is_surface;
    struct CUctx_st *context;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
};

/* ---- The state of the process (state.c) ------------------------------------------------------------------------- */

struct cuda_error_record {
    CUresult result;
    const char *limit; /* the limit that ended the launch: "timeout", "max-instructions", "interrupt"; NULL: none */
    bool is_wrong;     /* a GPU's driver refuses it too: wrong PTX that the program itself loaded */
    char message[1024];
};

/* Which launches are timed on a timed machine. The others run functionally. */
struct cuda_timed_launches {
    char kernels[512];    /* an extended regular expression; empty: all */
    uint64_t first, last; /* numbers from 1; 0: no bound */
    regex_t *compiled;    /* of `kernels`; NULL: all */
};

/* Times on the device's timeline (order.c), in cycles. */
struct cuda_order {
    uint64_t host;                      /* the program has waited for the device until then */
    uint64_t default_end;               /* of the work of the default stream */
    uint64_t blocking_end;              /* of the streams for which the default stream waits */
    uint64_t last_end;                  /* of all work */
    uint32_t default_task;              /* waiting.c: the last of the default stream; 0: none waits */
    uint32_t n_streams, n_free_streams; /* streams, and those of them that do not wait for the default stream */
};

/* watch.c */
struct cuda_watch {
    _Atomic uint64_t since_ns; /* the host's clock when work last began to wait; 0: none waits */
    bool is_started;
};

/* Launches that could have run at the same time as others, and ran one after the other. */
struct cuda_apart {
    uint32_t n_launches;
    uint64_t stream;  /* of the first */
    bool has_several; /* they are of several streams, or of branches of a graph */
};

struct cuda_state {
    bool is_initialized;
    bool is_verbose;
    bool is_launch_blocking; /* CUDA_LAUNCH_BLOCKING: a launch returns its own fault */
    int pid;                 /* of the process that called cuInit */
    bool is_copy;            /* this process is a fork of that one: its device would be a copy, so it has none */
    bool has_said_copy;
    bool is_of_command; /* `heddle run` has started the program and removes the results afterwards */
    bool is_extra;      /* another process of the run writes the results */
    char *results_path; /* HEDDLE_RESULTS; NULL: nothing is written */
    char *threads_path; /* results_path and ".threads" */
    struct gpu *gpu;
    struct cuda_table objects;                   /* by handle */
    struct cuda_table allocations;               /* by device address */
    struct cuda_table host_memory;               /* CUDA_MEMORY_HOST and _MANAGED allocations by host address */
    struct cuda_table textures;                  /* by handle in struct gpu */
    struct cuda_table ranges;                    /* reserved addresses, by the first: uint64_t bytes */
    struct cuda_table mappings;                  /* struct cuda_mapping by address */
    unsigned n_registered;                       /* allocations that are memory of the program */
    struct cuda_table graph_blocks;              /* memory of graphs, by address: graph_memory.c */
    uint64_t graph_bytes;                        /* of it, allocated now */
    uint64_t graph_bytes_held, graph_bytes_high; /* allocated or kept for the next launch, and at most so far */
    CUlaunchAttributeValue stream_attribute[CUDA_STREAM_ATTRIBUTES]; /* of the default stream */
    uint64_t next_id;
    uint64_t peak_bytes;
    unsigned n_modules; /* loaded so far, for the names of unnamed ones */
    struct CUctx_st
        *destroyed; /* contexts: kept in memory, so that a thread that still has one current gets an error */
    struct CUctx_st *primary;
    unsigned primary_count, primary_flags;
    struct CUmemPoolHandle_st *default_pool, *current_pool;
    uint32_t n_launches; /* recorded so far */
    uint32_t n_refused_launches;
    struct cuda_timed_launches timed;
    struct cuda_order order;
    struct CUctx_st *waiting_context; /* of the work that waits */
    struct cuda_watch watch;
    struct cuda_apart apart;
    struct cuda_error_record *error;
    unsigned n_errors;
    bool has_lost_module;     /* the program used a module or library that does not exist */
    const char **unsupported; /* functions without effect here that the program called or looked up */
    unsigned n_unsupported;
    uint64_t written_ns;           /* host clock of the last write */
    uint64_t write_ns;             /* how long it took */
    uint64_t n_changes, n_written; /* results: changes so far, and those in the file */
};

struct cuda_call {
    struct cuda_state *state;
    struct gpu *gpu;
    struct CUctx_st *context; /* only after cuda_enter_context() */
    CUstream stream;          /* of cuda_enter_stream(), in which its work runs */
    uint64_t ready, end;      /* its work may start in cycle `ready` of the timeline, and has ended by `end` */
    CUresult result;
    bool is_locked;
    bool is_registering; /* loads an object that the program's compiler made */
};

#define CUDA_CALL __attribute__((cleanup(cuda_leave))) struct cuda_call
/* Declares `call` and enters the driver. Returns from the function if that fails. */
#define CUDA_ENTER(call, enter)                                                                                        \
    CUDA_CALL call = enter;                                                                                            \
    if (call.result != CUDA_SUCCESS)                                                                                   \
    return call.result
/* Declares `object`, which a handle names. Returns CUDA_ERROR_INVALID_HANDLE from the function if there is none. */
#define CUDA_FIND(type, object, find)                                                                                  \
    type *object = find;                                                                                               \
    if (!object)                                                                                                       \
    return CUDA_ERROR_INVALID_HANDLE

/* Takes the lock. For functions that work before cuInit. CUDA_ERROR_DEINITIALIZED if the process is ending inside a
 * call. */
struct cuda_call cuda_enter_any(void);
/* CUDA_ERROR_NOT_INITIALIZED before cuInit. */
struct cuda_call cuda_enter(void);
/* And CUDA_ERROR_INVALID_DEVICE unless device is 0, the only one. */
struct cuda_call cuda_enter_device(CUdevice device);
/* And CUDA_ERROR_INVALID_CONTEXT without a current context, CUDA_ERROR_CONTEXT_IS_DESTROYED if it has been destroyed,
 * and the error of a kernel that failed in it. */
struct cuda_call cuda_enter_context(void);
/* The same, and the stream must exist. */
struct cuda_call cuda_enter_stream(CUstream stream);
/* The same, but work that waits (waiting.c) continues to wait. The two above let it run. */
struct cuda_call cuda_enter_waiting(CUstream stream);
/* As cuda_enter(), after work that waits has run. */
struct cuda_call cuda_enter_settled(void);

/* ---- Order of streams on the device's timeline (order.c) --------------------------------------------------------- */

/* Returns the first cycle in which new work of the stream may start. */
uint64_t cuda_stream_ready(const struct cuda_call *call, CUstream stream);
/* Notes that work of the stream ends then, or that it waits until then. */
void cuda_stream_ends(const struct cuda_call *call, CUstream stream, uint64_t end);
/* Notes that the program waits until then. */
void cuda_host_waits(const struct cuda_call *call, uint64_t end);
/* Adds a copy or fill of the call's stream, which may start in cycle call->ready. */
void cuda_add_copy(struct cuda_call *call, enum gpu_work_kind kind, uint64_t bytes);
/* Runs a launch of the call's stream, likewise. */
bool cuda_launch_on_timeline(struct cuda_call *call, struct gpu_launch *launch, struct gpu_error *error);
/* Records the event in the call's stream. */
void cuda_event_record(const struct cuda_call *call, struct CUevent_st *event);

/* ---- Work that waits (waiting.c) --------------------------------------------------------------------------------- */

bool cuda_is_waiting(const struct cuda_call *call);
/* Returns whether work of another stream could run beside that of the call's stream. */
bool cuda_may_meet(const struct cuda_call *call);
/* Returns whether a launch of the call's stream may wait. */
bool cuda_may_wait(const struct cuda_call *call, const struct gpu_launch *launch);
/* Returns whether new work of the call's stream comes after work that waits. */
bool cuda_must_wait(const struct cuda_call *call);
/* Adds a launch, or work of the driver, to the call's stream. The argument is copied. run() finds the work's time in
 * its call, as if it were called then. */
void cuda_wait_with_launch(struct cuda_call *call, struct gpu_launch *launch);
void cuda_wait_with(struct cuda_call *call, CUresult (*run)(struct cuda_call *call, const void *argument),
                    const void *argument, size_t bytes);
/* The same for work of a graph in the call's stream, after these tasks (n 0: after the work before the graph). Return
 * the task. run may be NULL: nothing is done. Then cuda_wait_for_all() lets new work of the stream wait for all of
 * them. */
bool cuda_may_share(const struct cuda_call *call, const struct gpu_launch *launch); /* beside others, in any stream */
/* Returns why launches run one after the other in this run, or NULL: they need not, or they do on every machine of this
 * kind. */
const char *cuda_why_apart(const struct cuda_state *state);
/* watch.c: work waits, or has begun to run. */
void cuda_watch_waiting(struct cuda_watch *watch, bool waits);
uint32_t cuda_add_launch(struct cuda_call *call, struct gpu_launch *launch, const uint32_t *after, uint32_t n);
uint32_t cuda_add_work(struct cuda_call *call, CUresult (*run)(struct cuda_call *call, const void *argument),
                       const void *argument, size_t bytes, const uint32_t *after, uint32_t n);
void cuda_wait_for_all(struct cuda_call *call, const uint32_t *task, uint32_t n);
/* Returns the task after which everything in the call's stream has ended; 0: nothing waits there. */
uint32_t cuda_waiting_task(const struct cuda_call *call);
/* Lets new work of the call's stream wait for the task; 0: does nothing. */
void cuda_stream_waits(const struct cuda_call *call, uint32_t task);
/* Runs everything that waits. A fault is then in its context. */
void cuda_settle(struct cuda_call *call);
/* The same, and finds the time from which on new work of the call's stream may start. Returns the context's error. */
CUresult cuda_settle_stream(struct cuda_call *call);
/* launch.c: reports a launch that has failed. */
void cuda_launch_failed(struct cuda_call *call, const struct gpu_error *error);
/* Sets whether the launch is timed. It comes after all so far, and after n_before others. */
void cuda_choose_timing(const struct cuda_call *call, const struct CUfunc_st *function, uint32_t n_before,
                        struct gpu_launch *launch);

/* Releases the lock early, before calling code of the program. */
void cuda_unlock(struct cuda_call *call);
void cuda_leave(struct cuda_call *call);
/* Lets forks of this process know that they are. */
void cuda_watch_forks(void);
/* Writes the results at the end of the process; may be called more than once. */
void cuda_finish(void);

/* The calling thread's stack of contexts. */
struct CUctx_st *cuda_current_context(void);
bool cuda_push_context(struct CUctx_st *context);
struct CUctx_st *cuda_pop_context(void);
/* Sets the calling thread's mode and returns the previous one. */
CUstreamCaptureMode cuda_exchange_capture_mode(CUstreamCaptureMode mode);

/* Makes a zeroed object of `bytes` bytes that starts with struct cuda_object, and adds it to the table. Ends the
 * process if out of memory. */
void *cuda_object_new(struct cuda_call *call, enum cuda_kind kind, size_t bytes);
/* Returns the object of a handle, or NULL if there is no live object of that kind. */
void *cuda_object_find(const struct cuda_call *call, const void *handle, enum cuda_kind kind);
/* Counts a new stream, whose flags are set. */
void cuda_stream_made(struct cuda_call *call, const struct CUstream_st *stream);
/* Takes the object out of the table and frees its memory. */
void cuda_object_delete(struct cuda_state *state, void *object);

/* `heddle: ...` on standard error. */
__attribute__((format(printf, 1, 2))) void cuda_print(const char *format, ...);
/* Explains why a call fails, if its result alone does not. An unsupported feature (CUDA_ERROR_NOT_SUPPORTED) is printed
 * the first time, and is an error of the run. Other refusals, which a GPU makes too, are printed only with "verbose" in
 * the configuration. Returns result. */
__attribute__((format(printf, 3, 4))) CUresult cuda_refuse(const struct cuda_call *call, CUresult result,
                                                           const char *format, ...);
/* The file name, without its folder, of the program or library that contains an address. */
const char *cuda_object_file(const void *address);
/* Prints one line and exits if this process is out of memory. */
void *cuda_allocate(size_t bytes);

/* ---- Between the files ------------------------------------------------------------------------------------------ */

/* config.c: reads HEDDLE_CONFIG. Returns false after one line on standard error. */
bool cuda_read_config(const char *json, struct gpu_config *config, struct cuda_timed_launches *timed, bool *is_verbose,
                      bool *is_interruptible);

/* device.c: the compute capability; 90 is 9.0. */
uint32_t cuda_capability(const struct cuda_call *call);

/* error.c */
const char *cuda_error_name(CUresult result); /* NULL: no such code */
CUresult cuda_result_of(enum gpu_status status);

/* context.c: ends the context and everything that belongs to it. */
void cuda_context_destroy(struct cuda_state *state, struct CUctx_st *context);

/* jit.c */
struct cuda_log {
    char *text;
    size_t size;
    void **size_value; /* receives the number of bytes written */
};
void cuda_collect_logs(unsigned n_options, const CUjit_option *options, void **values, struct cuda_log *error,
                       struct cuda_log *info);
/* With a size of 0 or no buffer the caller wants no text. Text that does not fit is cut. */
void cuda_write_log(const struct cuda_log *log, const char *text);

/* module.c */
/* Returns the file's bytes with a 0 after them, for the caller to free, or NULL if it cannot be read. */
char *cuda_read_file(const char *path, size_t *bytes);
void cuda_module_destroy(struct cuda_state *state, struct CUmod_st *module);
struct CUfunc_st *cuda_find_function(const struct cuda_call *call, CUfunction handle);
/* Finds the handle of a kernel, the same one every time. Returns CUDA_ERROR_INVALID_PTX, with messages on standard
 * error, if it cannot be linked. */
CUresult cuda_module_function(struct cuda_call *call, struct CUmod_st *module, const char *name,
                              struct CUfunc_st **function);
/* Rejects an image in the program's memory that has no PTX; the message begins with its user ("kernel 'x' of lib.so").
 */
CUresult cuda_module_check(struct cuda_call *call, const void *image, const char *user);
/* Loads an image of `length` bytes (0: see image.h) or rejects it; options as for cuModuleLoadDataEx. */
CUresult cuda_module_load(struct cuda_call *call, struct CUmod_st **module, const char *name, const void *image,
                          size_t length, unsigned n_options, const CUjit_option *options, void **values);
CUresult cuda_module_load_file(struct cuda_call *call, struct CUmod_st **module, const char *path, unsigned n_options,
                               const CUjit_option *options, void **values);
CUresult cuda_module_global(struct CUmod_st *module, const char *name, CUdeviceptr *address, size_t *bytes);
unsigned cuda_module_kernel_count(const struct CUmod_st *module);
/* Handles of the first `size` kernels. */
CUresult cuda_module_kernels(struct cuda_call *call, struct CUmod_st *module, struct CUfunc_st **function,
                             unsigned size);

/* launch.c: begins a launch of the function with these parameters, passed in either way, and runs one. */
CUresult cuda_kernel_prepare(const struct cuda_call *call, struct cuda_kernel_work *work, CUfunction function,
                             const struct exec_shape *shape, void **parameters, void **extra);
CUresult cuda_kernel_run(struct cuda_call *call, const struct cuda_kernel_work *work);

/* copy.c, memset.c */
CUresult cuda_copy(struct cuda_call *call, const CUDA_MEMCPY3D *copy);
CUresult cuda_fill(struct cuda_call *call, const CUDA_MEMSET_NODE_PARAMS *fill);

/* capture.c: the capture of a stream, or NULL, and the functions that record into it. cuda_capture_kernel() takes
 * ownership of the parameters. */
struct cuda_capture *cuda_capture_of(const struct cuda_call *call, CUstream stream);
/* An event is recorded in a captured stream; a stream waits for such an event, and joins the capture. */
void cuda_capture_event(struct cuda_capture *capture, const struct CUstream_st *stream, const struct CUevent_st *event);
CUresult cuda_capture_wait(struct cuda_capture *capture, struct CUstream_st *stream, const struct CUevent_st *event);
CUresult cuda_capture_kernel(struct cuda_call *call, struct cuda_capture *capture, struct cuda_kernel_work *work);
CUresult cuda_capture_copy(struct cuda_call *call, struct cuda_capture *capture, const CUDA_MEMCPY3D *copy);
CUresult cuda_capture_fill(struct cuda_call *call, struct cuda_capture *capture, const CUDA_MEMSET_NODE_PARAMS *fill);
CUresult cuda_capture_graph(struct cuda_call *call, struct cuda_capture *capture, const struct CUgraph_st *graph);
CUresult cuda_capture_allocation(struct cuda_call *call, struct cuda_capture *capture, CUdeviceptr *address,
                                 uint64_t bytes);
CUresult cuda_capture_free(struct cuda_call *call, struct cuda_capture *capture, CUdeviceptr address);
CUresult cuda_capture_host(struct cuda_call *call, struct cuda_capture *capture, CUhostFn function, void *user);

/* graph_memory.c: the memory of a graph is no longer allocated. */
struct cuda_graph_block;
void cuda_graph_block_freed(struct cuda_state *state, struct cuda_graph_block *block);

/* link.c */
void cuda_link_destroy(struct cuda_state *state, struct CUlinkState_st *link);

/* function.c */
CUresult cuda_function_attribute(const struct cuda_call *call, const struct CUfunc_st *function,
                                 CUfunction_attribute attribute, int *value);
CUresult cuda_function_set_attribute(const struct cuda_call *call, struct CUfunc_st *function,
                                     CUfunction_attribute attribute, int value);

/* memory.c */
struct cuda_allocation *cuda_find_allocation(const struct cuda_call *call, uint64_t address);
/* Returns the host or managed allocation that contains a host address, or NULL. */
struct cuda_allocation *cuda_find_host_memory(const struct cuda_call *call, uint64_t memory);
void cuda_free_allocation(struct cuda_state *state, struct cuda_allocation *allocation);
void cuda_note_memory(struct cuda_state *state); /* after every allocation of device memory */

/* host_register.c: gives the program its own pages again. */
void cuda_unregister(struct cuda_state *state, const struct cuda_allocation *allocation);

/* pool.c: the pool of cuMemAllocAsync. */
struct CUmemPoolHandle_st *cuda_current_pool(struct cuda_call *call);

/* array.c */
uint32_t cuda_format_bytes(CUarray_format format); /* per channel; 0: not supported */
void cuda_array_destroy(struct cuda_state *state, struct CUarray_st *array);

/* texture.c */
void cuda_textures_destroy(struct cuda_state *state, const struct CUctx_st *context);
/* Applies a reference's settings to the device. Does nothing while it is not bound. */
CUresult cuda_texref_apply(struct cuda_call *call, struct CUtexref_st *texref);
CUresult cuda_surfref_apply(struct cuda_call *call, struct CUsurfref_st *surfref, CUarray array);

/* results.c: keeps the data about the launches since the last call that the file reports, because a module may be
 * unloaded by the time it is written. */
void cuda_results_note_launches(struct cuda_state *state);
void cuda_results_add_error(struct cuda_state *state, CUresult result, const char *limit, const char *message);
bool cuda_results_has_error(const struct cuda_state *state, const char *message);
/* interrupt.c: the first SIGINT or SIGTERM ends the running launch, so that its results are kept, and then the
 * process. */
const volatile sig_atomic_t *cuda_interrupt_catch(void);
void cuda_interrupt_defer(bool is_running);
_Noreturn void cuda_interrupt_end(void);

/* Writes the file, unless it was written a moment ago. */
void cuda_results_write_sometimes(struct cuda_state *state);
/* Writes the file, if there is one and it would change. The caller holds the lock. */
void cuda_results_write(struct cuda_state *state);

/* proc_address.c, unsupported.c: records a name once; true the first time. */
bool cuda_note_unsupported(struct cuda_state *state, const char *name);

/* Another symbol for a function of this file. */
#define CUDA_ALIAS(symbol, target)                                                                                     \
    extern __typeof__(target) symbol __attribute__((alias(#target), visibility("default")))

#pragma GCC visibility pop
