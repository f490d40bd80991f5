/* The C API of libheddle: a simulated GPU inside your own program.
 *
 *     struct heddle_device *device;
 *     struct heddle_module *module;
 *     uint64_t numbers;
 *     heddle_device_create(&device, NULL);
 *     heddle_module_load(device, "kernels.ptx", text, strlen(text), &module);
 *     heddle_malloc(device, bytes, &numbers);
 *     heddle_copy_to(device, numbers, host, bytes);
 *     heddle_launch(device, module, "twice", &(struct heddle_launch){.grid = {4, 1, 1}, .block = {256, 1, 1},
 *                   .arguments = (const void *[]){&numbers}, .n_arguments = 1});
 *     heddle_copy_from(device, host, numbers, bytes);
 *     heddle_device_destroy(device);
 *
 * docs/examples/api.c is this program with error handling. Link with -lheddle (pkg-config heddle).
 *
 * Every function that can fail returns a status. heddle_last_error() then returns the reason in words. Kernels execute
 * functionally, or timed on the machine that the settings name: heddle_statistic() then returns cycles and all other
 * statistics. heddle_launch() returns when the kernel has ended. Devices are independent of each other. Only one thread
 * at a time may use a device. Kernels print to standard output.
 *
 * The API only grows: HEDDLE_API_VERSION increases, functions keep their meaning, and structures carry their size and
 * get new fields only at their end, so that programs compiled against an older header still work. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_API __attribute__((visibility("default")))
#define HEDDLE_API_VERSION 2

struct heddle_device;
struct heddle_module;

enum heddle_status {
    HEDDLE_OK = 0,
    HEDDLE_INVALID = 1,   /* an argument is invalid, or a launch does not fit the device */
    HEDDLE_NO_MEMORY = 2, /* of the host or of the device */
    HEDDLE_BAD_PTX = 3, /* the text is wrong or uses unsupported features; the reason lists every error with its line */
    HEDDLE_NOT_FOUND = 4, /* no such kernel or variable */
    HEDDLE_FAULT = 5,     /* the kernel did something illegal; the reason names thread and PTX line */
    HEDDLE_LIMIT = 6,     /* a limit of the settings was reached, or threads are in a deadlock */
};

/* ---- The library ------------------------------------------------------------------------------------------------- */

/* Returns the version of this library, as `heddle --version` prints it. */
HEDDLE_API const char *heddle_version(void);
/* Returns the HEDDLE_API_VERSION of the linked library, at least that of the header it was compiled against. */
HEDDLE_API unsigned heddle_api_version(void);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* Start with HEDDLE_SETTINGS and change what you need. 0 means the default. */
struct heddle_settings {
    size_t size;               /* sizeof(struct heddle_settings) */
    uint64_t memory_bytes;     /* device memory */
    uint64_t max_instructions; /* limit per warp and launch, to end endless loops */
    double timeout_seconds;    /* host time since the device was created; the default is no limit */
    /* Since version 2: */
    const char *machine;    /* a name ("gtx480") or a YAML file; NULL: kernels execute functionally */
    const char *scheduler;  /* such as "gto" or "./mine.so"; NULL: the machine's own */
    const char *divergence; /* such as "dwf" or "tbc:meet=every"; NULL: the machine's own */
    const char *const *set; /* options of the machine, such as "l1.size=32K"; NULL, or NULL after the last */
    uint32_t host_threads;  /* for timed launches; their number never changes a result */
};
#define HEDDLE_SETTINGS                                                                                                \
    { sizeof(struct heddle_settings), 0, 0, 0.0, NULL, NULL, NULL, NULL, 0 }

/* Creates a device; settings may be NULL. After a failure *device is NULL, and heddle_last_error(NULL) has the reason.
 * Machines are found by name beside the library, or in the folder that the variable HEDDLE_MACHINES names. */
HEDDLE_API enum heddle_status heddle_device_create(struct heddle_device **device,
                                                   const struct heddle_settings *settings);
/* Destroys the device with its modules and memory. NULL is allowed. */
HEDDLE_API void heddle_device_destroy(struct heddle_device *device);

/* Returns why the last failing call on this device failed: one or more lines, without a newline at the end, or "" if
 * none has failed. With NULL: why this thread's last heddle_device_create() failed. Valid until the next failure. */
HEDDLE_API const char *heddle_last_error(const struct heddle_device *device);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Allocates zeroed device memory. Its address is a multiple of 256 and never 0. */
HEDDLE_API enum heddle_status heddle_malloc(struct heddle_device *device, uint64_t bytes, uint64_t *address);
/* Frees memory of heddle_malloc. Address 0 is allowed. */
HEDDLE_API enum heddle_status heddle_free(struct heddle_device *device, uint64_t address);
/* Copies between the host and one allocation of the device. */
HEDDLE_API enum heddle_status heddle_copy_to(struct heddle_device *device, uint64_t to, const void *from,
                                             uint64_t bytes);
HEDDLE_API enum heddle_status heddle_copy_from(struct heddle_device *device, void *to, uint64_t from, uint64_t bytes);

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* Loads `length` bytes of PTX text and copies them. Messages call it `name`. */
HEDDLE_API enum heddle_status heddle_module_load(struct heddle_device *device, const char *name, const char *text,
                                                 size_t length, struct heddle_module **module);
/* NULL is allowed. */
HEDDLE_API void heddle_module_unload(struct heddle_device *device, struct heddle_module *module);
/* Finds the address and size of a .global or .const variable of the module. */
HEDDLE_API enum heddle_status heddle_module_variable(struct heddle_device *device, struct heddle_module *module,
                                                     const char *name, uint64_t *address, uint64_t *bytes);

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

struct heddle_launch {
    uint32_t grid[3];             /* blocks; none may be 0 */
    uint32_t block[3];            /* threads of a block; none may be 0 */
    uint32_t shared_bytes;        /* dynamic shared memory of a block */
    uint32_t n_arguments;         /* as many as the kernel has parameters */
    const void *const *arguments; /* a pointer to each value, which has the size of its parameter */
};

/* Runs a kernel to its end. After a fault or a limit the device still works, and memory is as the kernel left it. */
HEDDLE_API enum heddle_status heddle_launch(struct heddle_device *device, struct heddle_module *module,
                                            const char *kernel, const struct heddle_launch *launch);

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

/* A row is 32 lanes, which a warp instruction executes at once. */
struct heddle_counters {
    uint64_t launches;
    uint64_t blocks, threads;
    uint64_t warp_instructions;   /* once per row, whichever of its lanes are active */
    uint64_t thread_instructions; /* once for each active lane */
    uint64_t branches, divergent_branches, memory_instructions, barriers; /* once per row */
};

/* Returns the counters of all launches so far, and of the last one. `size` is sizeof *counters. */
HEDDLE_API void heddle_counters(const struct heddle_device *device, struct heddle_counters *counters, size_t size);
HEDDLE_API void heddle_last_counters(const struct heddle_device *device, struct heddle_counters *counters, size_t size);

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

/* Returns the number of launches so far. */
HEDDLE_API uint32_t heddle_launch_count(const struct heddle_device *device);
/* Returns the name of each statistic, from index 0 on, and NULL after the last. docs/statistics.md explains them. */
HEDDLE_API const char *heddle_statistic_name(uint32_t index);
/* Reads a statistic of one launch, counted from 1, or of all launches (0). A ratio without a denominator is NaN.
 * HEDDLE_NOT_FOUND: no such statistic. HEDDLE_INVALID: no such launch, or the statistic exists only on timed devices.
 */
HEDDLE_API enum heddle_status heddle_statistic(struct heddle_device *device, uint32_t launch, const char *name,
                                               double *value);

#ifdef __cplusplus
}
#endif
