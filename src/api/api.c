/* The public C API (include/heddle/heddle.h) over the device. It checks a caller's arguments and turns messages into
 * heddle_last_error(), but adds no behaviour. A module handle of the API is a struct gpu_module. machine.c builds the
 * machine of a timed device. */
#include "heddle/heddle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/machine.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "report/advice.h"

enum { ALIGNMENT = 256 };

struct heddle_device {
    struct gpu *gpu;
    struct config_machine *machine; /* malloc'ed; NULL: the device is functional */
    struct report_target target;    /* of the machine, for statistics derived from counters */
    char *error;                    /* malloc'ed; NULL: none yet */
};

/* Why this thread's last heddle_device_create() failed: there is no device to keep it. */
static _Thread_local char creation_error[CONFIG_ERROR_BYTES];

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static const char out_of_memory[] = "the host has no memory left";

__attribute__((format(printf, 3, 4))) static enum heddle_status
fail(struct heddle_device *device, enum heddle_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    free(device->error);
    device->error = malloc((size_t)length + 1);
    if (device->error) {
        va_start(arguments, format);
        vsnprintf(device->error, (size_t)length + 1, format, arguments);
        va_end(arguments);
        for (; length > 0 && device->error[length - 1] == '\n'; length--)
            device->error[length - 1] = '\0';
    }
    return status;
}

static enum heddle_status status_of(enum gpu_status status) {
    switch (status) {
    case GPU_OK:
        return HEDDLE_OK;
    case GPU_OUT_OF_MEMORY:
        return HEDDLE_NO_MEMORY;
    case GPU_INVALID_PTX:
        return HEDDLE_BAD_PTX;
    case GPU_NOT_FOUND:
        return HEDDLE_NOT_FOUND;
    case GPU_INVALID_VALUE:
    case GPU_INVALID_SHAPE:
    case GPU_LAUNCH_OUT_OF_RESOURCES:
    case GPU_COOPERATIVE_TOO_LARGE:
    case GPU_INVALID_CLUSTER:
    case GPU_NOT_SUPPORTED:
        return HEDDLE_INVALID;
    case GPU_LAUNCH_TIMEOUT:
    case GPU_TIME_LIMIT:
    case GPU_INSTRUCTION_LIMIT:
    case GPU_CYCLE_LIMIT:
    case GPU_INTERRUPTED:
        return HEDDLE_LIMIT;
    default:
        return HEDDLE_FAULT;
    }
}

const char *heddle_last_error(const struct heddle_device *device) {
    if (!device)
        return creation_error;
    return device->error ? device->error : "";
}

/* ---- The library and devices ------------------------------------------------------------------------------------- */

const char *heddle_version(void) { return HEDDLE_VERSION; }
unsigned heddle_api_version(void) { return HEDDLE_API_VERSION; }

/* A program compiled against an older header knows fewer fields. */
static struct heddle_settings known_settings(const struct heddle_settings *settings) {
    struct heddle_settings known = {0};
    if (settings)
        memcpy(&known, settings, settings->size < sizeof known ? settings->size : sizeof known);
    return known;
}

/* Loads the machine and takes the device's shape from it. */
static enum heddle_status use_machine(struct heddle_device *device, const struct heddle_settings *settings,
                                      struct gpu_config *config) {
    device->machine = malloc(sizeof *device->machine);
    if (!device->machine) {
        snprintf(creation_error, sizeof creation_error, "%s", out_of_memory);
        return HEDDLE_NO_MEMORY;
    }
    if (!api_load_machine(device->machine, settings, creation_error, sizeof creation_error))
        return HEDDLE_INVALID;
    gpu_config_use(config, device->machine);
    config->n_threads = settings->host_threads;
    device->target = (struct report_target){
        .machine = device->machine->name,
        .scheduler = device->machine->scheduler,
        .divergence = device->machine->divergence,
        .lanes = device->machine->sm.warp_size,
        .channels = device->machine->dram.channels,
        .peaks = report_peaks_of(device->machine),
    };
    return HEDDLE_OK;
}

static enum heddle_status open_device(struct heddle_device *device, const struct heddle_settings *settings) {
    struct gpu_error error = {.status = GPU_OK};
    struct gpu_config config = gpu_default_config();
    if (settings->memory_bytes)
        config.memory_bytes = settings->memory_bytes;
    if (settings->max_instructions)
        config.max_instructions = settings->max_instructions;
    config.timeout_seconds = settings->timeout_seconds;
    enum heddle_status status = api_is_timed(settings) ? use_machine(device, settings, &config) : HEDDLE_OK;
    if (status != HEDDLE_OK)
        return status;
    device->gpu = gpu_new(&config, &error);
    if (!device->gpu)
        snprintf(creation_error, sizeof creation_error, "%s", error.message);
    return status_of(error.status);
}

enum heddle_status heddle_device_create(struct heddle_device **device, const struct heddle_settings *settings) {
    struct heddle_settings known = known_settings(settings);
    creation_error[0] = '\0';
    *device = calloc(1, sizeof **device);
    enum heddle_status status = *device ? open_device(*device, &known) : HEDDLE_NO_MEMORY;
    if (status == HEDDLE_OK)
        return status;
    heddle_device_destroy(*device);
    *device = NULL;
    return status;
}

void heddle_device_destroy(struct heddle_device *device) {
    if (!device)
        return;
    if (device->gpu)
        gpu_free(device->gpu);
    free(device->machine);
    free(device->error);
    free(device);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

enum heddle_status heddle_malloc(struct heddle_device *device, uint64_t bytes, uint64_t *address) {
    *address = 0;
    if (bytes == 0)
        return fail(device, HEDDLE_INVALID, "an allocation of 0 bytes");
    *address = gpu_malloc(device->gpu, bytes, ALIGNMENT);
    if (*address)
        return HEDDLE_OK;
    return fail(device, HEDDLE_NO_MEMORY, "%" PRIu64 " bytes do not fit: %" PRIu64 " of %" PRIu64 " are in use", bytes,
                gpu_memory_used(device->gpu), gpu_config(device->gpu)->memory_bytes);
}

enum heddle_status heddle_free(struct heddle_device *device, uint64_t address) {
    if (address == 0 || gpu_release(device->gpu, address))
        return HEDDLE_OK;
    return fail(device, HEDDLE_INVALID, "no allocation starts at 0x%" PRIx64, address);
}

static unsigned char *host_memory(struct heddle_device *device, uint64_t address, uint64_t bytes) {
    unsigned char *host = gpu_host(device->gpu, address, bytes);
    if (!host)
        fail(device, HEDDLE_INVALID, "%" PRIu64 " bytes at 0x%" PRIx64 " are not inside one allocation", bytes,
             address);
    return host;
}

enum heddle_status heddle_copy_to(struct heddle_device *device, uint64_t to, const void *from, uint64_t bytes) {
    unsigned char *host = bytes ? host_memory(device, to, bytes) : NULL;
    if (host)
        memcpy(host, from, bytes);
    return host || bytes == 0 ? HEDDLE_OK : HEDDLE_INVALID;
}

enum heddle_status heddle_copy_from(struct heddle_device *device, void *to, uint64_t from, uint64_t bytes) {
    const unsigned char *host = bytes ? host_memory(device, from, bytes) : NULL;
    if (host)
        memcpy(to, host, bytes);
    return host || bytes == 0 ? HEDDLE_OK : HEDDLE_INVALID;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static struct gpu_module *inner(struct heddle_module *module) { return (struct gpu_module *)(void *)module; }

/* Keeps the text of the messages and frees them. */
static enum heddle_status fail_with(struct heddle_device *device, enum heddle_status status,
                                    struct ptx_messages *messages) {
    fail(device, status, "%s", messages->text ? messages->text : out_of_memory);
    ptx_messages_free(messages);
    return status;
}

enum heddle_status heddle_module_load(struct heddle_device *device, const char *name, const char *text, size_t length,
                                      struct heddle_module **module) {
    struct ptx_messages messages = {0};
    *module = (struct heddle_module *)(void *)gpu_module_load(device->gpu, name, text, length, &messages);
    if (!*module)
        return fail_with(device, HEDDLE_BAD_PTX, &messages);
    ptx_messages_free(&messages);
    return HEDDLE_OK;
}

void heddle_module_unload(struct heddle_device *device, struct heddle_module *module) {
    if (module)
        gpu_module_unload(device->gpu, inner(module));
}

enum heddle_status heddle_module_variable(struct heddle_device *device, struct heddle_module *module, const char *name,
                                          uint64_t *address, uint64_t *bytes) {
    if (gpu_module_global(inner(module), name, address, bytes))
        return HEDDLE_OK;
    return fail(device, HEDDLE_NOT_FOUND, "the module has no variable '%s'", name);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* Returns the parameter block of a kernel, for the caller to free, or NULL after a failure. */
static unsigned char *pack_arguments(struct heddle_device *device, const struct ptx_function *function,
                                     const struct heddle_launch *launch) {
    if (launch->n_arguments != function->n_parameters) {
        fail(device, HEDDLE_INVALID, "kernel '%s' has %" PRIu32 " parameters, and %" PRIu32 " arguments were given",
             function->name, function->n_parameters, launch->n_arguments);
        return NULL;
    }
    unsigned char *block = calloc(1, function->parameter_bytes ? function->parameter_bytes : 1);
    if (!block) {
        fail(device, HEDDLE_NO_MEMORY, "%s", out_of_memory);
        return NULL;
    }
    for (uint32_t i = 0; i < function->n_parameters; i++)
        memcpy(block + function->parameter[i].offset, launch->arguments[i], function->parameter[i].size);
    return block;
}

static enum heddle_status run(struct heddle_device *device, struct gpu_kernel *kernel,
                              const struct heddle_launch *launch) {
    const struct ptx_function *function = gpu_kernel_function(kernel);
    unsigned char *parameters = pack_arguments(device, function, launch);
    if (!parameters)
        return launch->n_arguments != function->n_parameters ? HEDDLE_INVALID : HEDDLE_NO_MEMORY;
    struct gpu_launch request = {
        .kernel = kernel,
        .shape = {.grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                  .block = {launch->block[0], launch->block[1], launch->block[2]},
                  .dynamic_shared_bytes = launch->shared_bytes},
        .parameters = parameters,
        .parameter_bytes = (uint32_t)function->parameter_bytes,
    };
    struct gpu_error error = {.status = GPU_OK};
    bool is_done = gpu_launch(device->gpu, &request, &error);
    free(parameters);
    return is_done ? HEDDLE_OK : fail(device, status_of(error.status), "%s", error.message);
}

enum heddle_status heddle_launch(struct heddle_device *device, struct heddle_module *module, const char *kernel,
                                 const struct heddle_launch *launch) {
    struct ptx_messages messages = {0};
    struct gpu_kernel *found = gpu_module_kernel(inner(module), kernel, &messages);
    if (!found && messages.text)
        return fail_with(device, HEDDLE_BAD_PTX, &messages);
    ptx_messages_free(&messages);
    return found ? run(device, found, launch) : fail(device, HEDDLE_NOT_FOUND, "the module has no kernel '%s'", kernel);
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

static void copy_counters(const struct stats_counters *from, uint64_t launches, struct heddle_counters *to,
                          size_t size) {
    struct heddle_counters all = {
        .launches = launches,
        .blocks = from->blocks,
        .threads = from->threads,
        .warp_instructions = from->warp_instructions,
        .thread_instructions = from->thread_instructions,
        .branches = from->branches,
        .divergent_branches = from->divergent_branches,
        .memory_instructions = from->memory_instructions,
        .barriers = from->barriers,
    };
    memset(to, 0, size);
    memcpy(to, &all, size < sizeof all ? size : sizeof all);
}

void heddle_counters(const struct heddle_device *device, struct heddle_counters *counters, size_t size) {
    uint32_t count;
    gpu_launches(device->gpu, &count);
    struct stats_counters totals = gpu_totals(device->gpu);
    copy_counters(&totals, count, counters, size);
}

void heddle_last_counters(const struct heddle_device *device, struct heddle_counters *counters, size_t size) {
    uint32_t count;
    const struct gpu_launch_record *launches = gpu_launches(device->gpu, &count);
    struct stats_counters none = {0};
    copy_counters(count ? &launches[count - 1].counters : &none, count ? 1 : 0, counters, size);
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

uint32_t heddle_launch_count(const struct heddle_device *device) {
    uint32_t count;
    gpu_launches(device->gpu, &count);
    return count;
}

/* Statistics are the counters, then those derived from them. */
const char *heddle_statistic_name(uint32_t index) {
    if (index < STATS_N_COUNTERS)
        return stats_list[index].name;
    index -= STATS_N_COUNTERS;
    return index < report_n_derived ? report_derived[index].name : NULL;
}

static bool is_timed_only(uint32_t index) {
    return index < STATS_N_COUNTERS ? stats_list[index].when != STATS_ALWAYS
                                    : report_derived[index - STATS_N_COUNTERS].is_timed;
}

/* Finds the index of a statistic. Returns false, with the reason in the device, if there is none. */
static bool find_statistic(struct heddle_device *device, const char *name, uint32_t *index) {
    struct base_nearest nearest = base_nearest_to(name);
    const char *offer;
    for (*index = 0; (offer = heddle_statistic_name(*index)); ++*index) {
        if (strcmp(offer, name) == 0)
            return true;
        base_nearest_offer(&nearest, offer);
    }
    fail(device, HEDDLE_NOT_FOUND, "no statistic is called '%s'%s%s%s", name, nearest.best ? "; did you mean '" : "",
         nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
    return false;
}

enum heddle_status heddle_statistic(struct heddle_device *device, uint32_t launch, const char *name, double *value) {
    uint32_t index, count;
    const struct gpu_launch_record *launches = gpu_launches(device->gpu, &count);
    if (!find_statistic(device, name, &index))
        return HEDDLE_NOT_FOUND;
    if (launch > count)
        return fail(device, HEDDLE_INVALID, "launch %" PRIu32 " of %" PRIu32 " has no statistics", launch, count);
    if (is_timed_only(index) && !device->machine)
        return fail(device, HEDDLE_INVALID, "'%s' needs a timed device: the settings name no machine", name);
    struct stats_counters counters = launch ? launches[launch - 1].counters : gpu_totals(device->gpu);
    *value = index < STATS_N_COUNTERS
                 ? (double)counters.value[index]
                 : report_derived[index - STATS_N_COUNTERS].value(&counters, device->machine ? &device->target : NULL);
    return HEDDLE_OK;
}
