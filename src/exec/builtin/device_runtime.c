/* Dynamic parallelism: the functions of the CUDA device runtime with which a kernel launches other kernels, as nvcc
 * declares them. A kernel asks for memory for the parameters, fills it, and hands it over with the launch. The device
 * runs the launched kernel later (gpu/children.c).
 *
 * From the CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", and the declarations that nvcc 11 to 13 emit
 * (without the prefix before CUDA 12). Supported: launches, copies, streams, the last error, the device's number. Left
 * out, and so refused by name: cudaDeviceSynchronize, which CUDA 12 removed, events, attributes. */
#include "exec/internal.h"

enum { ERROR_INVALID_VALUE = 1, STREAM_HANDLE = 0x100 };

/* Copies an argument of any size. Returns false if it has fewer bytes. */
static bool read_bytes(const struct exec_context *cx, uint32_t k, unsigned lane, void *to, uint32_t bytes) {
    const struct exec_call_site *site = &cx->grid->program->call_site[cx->insn->call_site];
    if (k >= site->n_arguments || !site->argument[k].from_frame || site->argument[k].bytes < bytes)
        return false;
    const struct exec_row *row = exec_row_at(cx, lane);
    unsigned home = exec_lane_at(cx, lane);
    memcpy(to, row->local + (size_t)home * cx->grid->local_bytes + row->frame[home] + site->argument[k].from_offset,
           bytes);
    return true;
}

/* (function, grid, block, shared bytes): returns the address of the parameters, or 0 if that cannot be launched. */
static void get_parameter_buffer(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_memory *memory = cx->grid->memory;
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct exec_child child = {.function = exec_call_argument(cx, 0, l),
                                   .shape.dynamic_shared_bytes = (uint32_t)exec_call_argument(cx, 3, l)};
        bool is_right = read_bytes(cx, 1, l, child.shape.grid, sizeof(child.shape.grid)) &&
                        read_bytes(cx, 2, l, child.shape.block, sizeof(child.shape.block));
        bool is_served = is_right && memory->new_child;
        exec_call_result(cx, is_served ? memory->new_child(memory->user, cx->grid->program, &child) : 0, l);
    }
    exec_forget_allocations(cx); /* there is a new allocation */
}

/* (parameters, stream): returns an error code. */
static void launch_device(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_memory *memory = cx->grid->memory;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t parameters = exec_call_argument(cx, 0, l), stream = exec_call_argument(cx, 1, l);
        uint32_t block = exec_row_at(cx, l)->block->index;
        bool is_done = memory->launch_child && memory->launch_child(memory->user, block, parameters, stream);
        exec_call_result(cx, is_done ? 0 : ERROR_INVALID_VALUE, l);
    }
}

/* Queues a copy among the launches. */
static void copy_later(struct exec_context *cx, unsigned lane, const struct exec_child_copy *copy) {
    const struct exec_memory *memory = cx->grid->memory;
    if (memory->copy_child)
        memory->copy_child(memory->user, exec_row_at(cx, lane)->block->index, copy);
    exec_call_result(cx, memory->copy_child ? 0 : ERROR_INVALID_VALUE, lane);
}

/* (to, from, bytes, kind, stream) */
static void copy_async(struct exec_context *cx, const struct exec_operands *o) {
    EXEC_FOR_ACTIVE(l, o->mask)
    copy_later(cx, l,
               &(struct exec_child_copy){.to = exec_call_argument(cx, 0, l),
                                         .from = exec_call_argument(cx, 1, l),
                                         .bytes = exec_call_argument(cx, 2, l),
                                         .stream = exec_call_argument(cx, 4, l)});
}

/* (to, value, bytes, stream) */
static void fill_async(struct exec_context *cx, const struct exec_operands *o) {
    EXEC_FOR_ACTIVE(l, o->mask)
    copy_later(cx, l,
               &(struct exec_child_copy){.to = exec_call_argument(cx, 0, l),
                                         .value = (uint8_t)exec_call_argument(cx, 1, l),
                                         .bytes = exec_call_argument(cx, 2, l),
                                         .stream = exec_call_argument(cx, 3, l),
                                         .is_fill = true});
}

/* (address of the handle, flags). All streams of a block are one here. */
static void create_stream(struct exec_context *cx, const struct exec_operands *o) {
    const uint64_t handle = STREAM_HANDLE;
    EXEC_FOR_ACTIVE(l, o->mask) {
        unsigned char *to = exec_host_at(cx, l, PTX_SPACE_GENERIC, exec_call_argument(cx, 0, l), sizeof(handle), true);
        if (!to)
            return;
        memcpy(to, &handle, sizeof(handle));
        exec_call_result(cx, 0, l);
    }
}

/* (address of the number) */
static void get_device(struct exec_context *cx, const struct exec_operands *o) {
    EXEC_FOR_ACTIVE(l, o->mask) {
        unsigned char *to = exec_host_at(cx, l, PTX_SPACE_GENERIC, exec_call_argument(cx, 0, l), 4, true);
        if (!to)
            return;
        memset(to, 0, 4);
        exec_call_result(cx, 0, l);
    }
}

/* cudaStreamDestroy, cudaGetLastError, cudaPeekAtLastError. There is never an error, because a failing launch ends the
 * program. */
static void return_success(struct exec_context *cx, const struct exec_operands *o) {
    EXEC_FOR_ACTIVE(l, o->mask) exec_call_result(cx, 0, l);
}

exec_act_fn *exec_select_device_runtime(const char *name) {
    static const char prefix[] = "__cudaCDP2", old_prefix[] = "cuda";
    static const struct {
        const char *name; /* after the prefix */
        exec_act_fn *act;
    } calls[] = {
        {"GetParameterBufferV2", get_parameter_buffer},
        {"LaunchDeviceV2", launch_device},
        {"MemcpyAsync", copy_async},
        {"MemsetAsync", fill_async},
        {"StreamCreateWithFlags", create_stream},
        {"StreamDestroy", return_success},
        {"GetLastError", return_success},
        {"PeekAtLastError", return_success},
        {"GetDevice", get_device},
    };
    size_t length = strncmp(name, prefix, strlen(prefix)) == 0           ? strlen(prefix)
                    : strncmp(name, old_prefix, strlen(old_prefix)) == 0 ? strlen(old_prefix)
                                                                         : 0;
    for (size_t k = 0; length && k < sizeof(calls) / sizeof(calls[0]); k++)
        if (strcmp(name + length, calls[k].name) == 0)
            return calls[k].act;
    return NULL;
}
