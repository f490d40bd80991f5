/* Modules on a device: variables get addresses and initial values, texture references get handles, kernels are linked
 * at first use. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "config/machine.h"
#include "exec/check/check.h"
#include "gpu/internal.h"
#include "isa/isa.h"
#include "sm/timing.h"

struct symbol {
    const struct ptx_variable *variable;
    uint64_t address; /* of a texture reference: its handle */
};

struct gpu_module {
    struct gpu *gpu;
    struct ptx_module *ptx;
    struct symbol *symbol; /* sorted by variable */
    uint32_t n_symbols;
    struct gpu_kernel *kernel; /* by ptx_function.index; function is NULL if it is not a kernel */
    struct gpu_module *next;
};

static int compare_symbols(const void *a, const void *b) {
    uintptr_t left = (uintptr_t)((const struct symbol *)a)->variable,
              right = (uintptr_t)((const struct symbol *)b)->variable;
    return left < right ? -1 : left > right;
}

static uint64_t symbol_address(void *user, const struct ptx_variable *variable) {
    const struct gpu_module *module = user;
    struct symbol key = {variable, 0};
    const struct symbol *found = bsearch(&key, module->symbol, module->n_symbols, sizeof key, compare_symbols);
    return found ? found->address : 0;
}

static bool has_storage(const struct ptx_variable *variable) {
    return variable->object != PTX_OBJECT_DATA || variable->space == PTX_SPACE_GLOBAL ||
           variable->space == PTX_SPACE_CONST;
}

static void for_each_variable(const struct ptx_module *ptx,
                              void (*visit)(void *user, const struct ptx_variable *variable), void *user) {
    for (uint32_t i = 0; i < ptx->n_variables; i++)
        visit(user, ptx->variable[i]);
    for (uint32_t f = 0; f < ptx->n_functions; f++)
        for (uint32_t i = 0; i < ptx->function[f]->n_variables; i++)
            visit(user, ptx->function[f]->variable[i]);
}

struct loading {
    struct gpu_module *module;
    struct ptx_messages *messages;
    uint32_t capacity;
};

static void count_variable(void *user, const struct ptx_variable *variable) {
    ((struct loading *)user)->capacity += has_storage(variable);
}

static void place_variable(void *user, const struct ptx_variable *variable) {
    struct loading *loading = user;
    struct gpu_module *module = loading->module;
    if (!has_storage(variable))
        return;
    uint64_t address = 0;
    if (variable->linkage == PTX_LINK_EXTERN) {
        ptx_error_at(loading->messages, variable->owner ? variable->owner->home : variable->home, variable->at,
                     "extern variable '%s' is defined nowhere", variable->name);
    } else if (variable->object != PTX_OBJECT_DATA) {
        struct exec_texture empty = {.width = 0};
        address = gpu_texture_new(module->gpu, &empty);
    } else {
        uint64_t bytes = variable->size ? variable->size : 1;
        address = gpu_memory_alloc(&module->gpu->memory, bytes, variable->alignment);
        if (!address)
            ptx_error_at(loading->messages, variable->owner ? variable->owner->home : variable->home, variable->at,
                         "no device memory left for '%s' (%llu bytes)", variable->name, (unsigned long long)bytes);
        else if (variable->data)
            memcpy(gpu_host(module->gpu, address, bytes), variable->data, variable->size);
    }
    module->symbol[module->n_symbols++] = (struct symbol){variable, address};
}

static void relocate_variable(void *user, const struct ptx_variable *variable) {
    struct loading *loading = user;
    struct gpu_module *module = loading->module;
    uint64_t home = symbol_address(module, variable);
    for (uint32_t i = 0; i < variable->n_relocations && home; i++) {
        const struct ptx_relocation *relocation = &variable->relocation[i];
        uint64_t value = relocation->variable   ? symbol_address(module, relocation->variable)
                         : relocation->function ? exec_function_address(relocation->function)
                                                : 0;
        value = (value + (uint64_t)relocation->addend) >> relocation->mask_shift;
        memcpy(gpu_host(module->gpu, home + relocation->offset, relocation->bytes), &value,
               relocation->bytes < sizeof value ? relocation->bytes : sizeof value);
    }
}

/* Puts a parsed module on the device. Takes ownership of it. */
static struct gpu_module *place_module(struct gpu *gpu, struct ptx_module *ptx, struct ptx_messages *messages) {
    if (exec_find_unsupported(ptx, messages)) {
        ptx_module_free(ptx);
        return NULL;
    }
    for (uint32_t f = 0; gpu->config.machine && f < ptx->n_functions; f++)
        isa_rewrite(isa_target_of(gpu->config.machine), ptx->function[f], ptx->arena);
    struct gpu_module *module = calloc(1, sizeof *module);
    struct loading loading = {module, messages, 0};
    for_each_variable(ptx, count_variable, &loading);
    *module = (struct gpu_module){.gpu = gpu, .ptx = ptx, .next = gpu->modules};
    module->symbol = calloc(loading.capacity + 1, sizeof *module->symbol);
    module->kernel = calloc(ptx->n_functions + 1, sizeof *module->kernel);
    gpu->modules = module;
    unsigned n_errors = messages->n_errors;
    for_each_variable(ptx, place_variable, &loading);
    qsort(module->symbol, module->n_symbols, sizeof *module->symbol, compare_symbols);
    for_each_variable(ptx, relocate_variable, &loading);
    for (uint32_t i = 0; i < ptx->n_functions; i++)
        if (ptx->function[i]->is_entry)
            module->kernel[i] = (struct gpu_kernel){
                .module = module, .function = ptx->function[i], .most_dynamic_shared_bytes = UINT32_MAX};
    if (messages->n_errors > n_errors) {
        gpu_module_unload(gpu, module);
        return NULL;
    }
    return module;
}

static void note_text(struct gpu *gpu, const char *text, size_t length) {
    if (gpu->checkpoint)
        gpu->code_hash = base_hash(text, length, gpu->code_hash);
}

struct gpu_module *gpu_module_load(struct gpu *gpu, const char *name, const char *text, size_t length,
                                   struct ptx_messages *messages) {
    note_text(gpu, text, length);
    struct ptx_module *ptx = ptx_parse(name, text, length, messages);
    return ptx ? place_module(gpu, ptx, messages) : NULL;
}

/* Returns whether this is the vendor's device runtime, with which programs with dynamic parallelism are linked. We
 * implement its calls (exec/builtin/device_runtime.c). */
static bool is_device_runtime(const struct ptx_module *ptx) {
    static const char *const names[] = {"__cudaCDP2LaunchDeviceV2", "cudaLaunchDeviceV2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct ptx_function *function = ptx_find_function(ptx, names[i]);
        if (function && function->has_body)
            return true;
    }
    return false;
}

struct gpu_module *gpu_module_load_linked(struct gpu *gpu, const char *name, const struct gpu_text *part,
                                          uint32_t n_parts, struct ptx_messages *messages) {
    struct ptx_module **parsed = base_allocate(n_parts, sizeof(struct ptx_module *)), *linked = NULL;
    uint32_t n = 0, n_read = 0;
    *messages = (struct ptx_messages){0};
    for (; n_read < n_parts; n_read++) {
        note_text(gpu, part[n_read].text, part[n_read].length);
        parsed[n] = ptx_parse(part[n_read].name, part[n_read].text, part[n_read].length, messages);
        if (!parsed[n])
            break;
        if (is_device_runtime(parsed[n]))
            ptx_module_free(parsed[n]);
        else
            n++;
    }
    if (n_read == n_parts && n)
        linked = ptx_link(name, parsed, n, messages);
    else
        while (n)
            ptx_module_free(parsed[--n]);
    free(parsed);
    return linked ? place_module(gpu, linked, messages) : NULL;
}

void gpu_module_unload(struct gpu *gpu, struct gpu_module *module) {
    for (struct gpu_module **link = &gpu->modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            break;
        }
    for (uint32_t i = 0; i < module->n_symbols; i++) {
        if (!module->symbol[i].address)
            continue;
        if (module->symbol[i].variable->object == PTX_OBJECT_DATA)
            gpu_memory_release(&gpu->memory, module->symbol[i].address);
        else
            gpu_texture_free(gpu, module->symbol[i].address);
    }
    for (uint32_t i = 0; i < module->ptx->n_functions; i++) {
        sm_program_free(module->kernel[i].costs);
        exec_program_free(module->kernel[i].program);
    }
    ptx_module_free(module->ptx);
    free(module->symbol);
    free(module->kernel);
    free(module);
}

void gpu_module_set_registers(struct gpu_module *module, const char *kernel, uint32_t registers) {
    const struct ptx_function *function = ptx_find_function(module->ptx, kernel);
    if (function)
        module->kernel[function->index].registers_per_thread = registers;
}

struct gpu_kernel *gpu_module_kernel(struct gpu_module *module, const char *name, struct ptx_messages *messages) {
    const struct ptx_function *function = ptx_find_function(module->ptx, name);
    if (!function || !function->is_entry)
        return NULL;
    struct gpu_kernel *kernel = &module->kernel[function->index];
    if (!kernel->program) {
        enum { CODE_ALIGNMENT = 4096 };
        kernel->program = exec_link(module->ptx, function, symbol_address, module, messages);
        if (kernel->program && kernel->registers_per_thread)
            kernel->program->registers_per_thread = kernel->registers_per_thread;
        if (kernel->program && module->gpu->written)
            exec_check_program(kernel->program);
        if (kernel->program) { /* programs do not share I-cache lines */
            kernel->program->code_address = GPU_CODE_ADDRESS + module->gpu->next_code_address;
            module->gpu->next_code_address +=
                (kernel->program->n_insns * GPU_INSTRUCTION_BYTES / CODE_ALIGNMENT + 1) * CODE_ALIGNMENT;
        }
    }
    return kernel->program ? kernel : NULL;
}

bool gpu_module_global(struct gpu_module *module, const char *name, uint64_t *address, uint64_t *bytes) {
    const struct ptx_variable *variable = ptx_find_variable(module->ptx, name);
    if (!variable || variable->object != PTX_OBJECT_DATA || !has_storage(variable))
        return false;
    *address = symbol_address(module, variable);
    *bytes = variable->size;
    return true;
}

uint64_t gpu_module_texture(struct gpu_module *module, const char *name) {
    const struct ptx_variable *variable = ptx_find_variable(module->ptx, name);
    return variable && variable->object != PTX_OBJECT_DATA ? symbol_address(module, variable) : 0;
}

struct gpu_module *gpu_module_next(const struct gpu_module *module) {
    return module->next;
}
const struct ptx_module *gpu_module_ptx(const struct gpu_module *module) { return module->ptx; }
const char *gpu_kernel_name(const struct gpu_kernel *kernel) { return kernel->function->name; }
const struct ptx_function *gpu_kernel_function(const struct gpu_kernel *kernel) { return kernel->function; }
const struct exec_program *gpu_kernel_program(const struct gpu_kernel *kernel) { return kernel->program; }

bool gpu_kernel_allows_any_cluster(const struct gpu_kernel *kernel) { return kernel->allows_any_cluster; }

void gpu_kernel_allow_any_cluster(struct gpu_kernel *kernel, bool is_allowed) {
    kernel->allows_any_cluster = is_allowed;
}

uint32_t gpu_kernel_most_dynamic_shared(const struct gpu_kernel *kernel) { return kernel->most_dynamic_shared_bytes; }

void gpu_kernel_set_most_dynamic_shared(struct gpu_kernel *kernel, uint32_t bytes) {
    kernel->most_dynamic_shared_bytes = bytes;
}
