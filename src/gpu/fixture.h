/* For the tests of this folder: machines made of settings, devices, and the kernel `k` of a text. Whatever a test does
 * not expect to fail ends the test with the message. */
#pragma once

#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

/* Changes the machine by settings such as "sm.count=6". The list ends with NULL. */
static inline void fixture_set(struct config_machine *machine, const char *const *settings) {
    char message[CONFIG_ERROR_BYTES] = "";
    for (; *settings; settings++)
        if (!config_set(machine, *settings, message, sizeof message))
            fail_msg("%s", message);
}

static inline struct gpu *fixture_open(const struct gpu_config *config) {
    struct gpu_error error = {.status = GPU_OK};
    struct gpu *gpu = gpu_new(config, &error);
    if (!gpu)
        fail_msg("%s", error.message);
    return gpu;
}

static inline struct gpu_module *fixture_load(struct gpu *gpu, const char *text) {
    struct ptx_messages messages = {0};
    struct gpu_module *module = gpu_module_load(gpu, "k.ptx", text, strlen(text), &messages);
    if (!module)
        fail_msg("%s", messages.text);
    return module;
}

/* Returns a launch of the text's kernel `k`. If `buffer` is not NULL, the address in it is the parameter. */
static inline struct gpu_launch fixture_launch(struct gpu *gpu, const char *text, uint32_t n_blocks, uint32_t n_threads,
                                               uint64_t *buffer) {
    struct ptx_messages messages = {0};
    return (struct gpu_launch){.kernel = gpu_module_kernel(fixture_load(gpu, text), "k", &messages),
                               .shape.grid = {n_blocks, 1, 1},
                               .shape.block = {n_threads, 1, 1},
                               .parameters = buffer,
                               .parameter_bytes = buffer ? sizeof *buffer : 0};
}
