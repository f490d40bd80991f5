/* Modules: PTX text that a program hands over, its kernels and variables.
 *
 * An image is recognised by its first bytes. Device binaries (cubin files, which are ELF) and fat binaries are refused
 * with CUDA_ERROR_NO_BINARY_FOR_GPU: there is no hardware here that they would be for. Every message about PTX goes to
 * standard error and into the caller's error log when there is one. */
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options of the compiler ------------------------------------------------------------------------------------ */

/* Where the caller wants messages; all of it optional. */
struct log {
    char *text;
    size_t size;
    void **size_value; /* gets the number of bytes written */
};

static void collect_logs(unsigned n_options, const CUjit_option *options, void **values, struct log *error,
                         struct log *info) {
    for (unsigned i = 0; i < n_options; i++)
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            error->text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error->size = (uintptr_t)values[i];
            error->size_value = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            info->text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info->size = (uintptr_t)values[i];
            info->size_value = &values[i];
            break;
        default: /* the others ask for optimisations, which change no result */
            break;
        }
}

/* A size of 0 or no buffer means that the caller wants no text; text that does not fit is cut. */
static void write_log(const struct log *log, const char *text) {
    size_t written = 0;
    if (log->text && log->size) {
        snprintf(log->text, log->size, "%s", text);
        written = strlen(log->text);
    }
    if (log->size_value)
        *log->size_value = (void *)(uintptr_t)written;
}

/* ---- Images ----------------------------------------------------------------------------------------------------- */

/* Why an image cannot be loaded at all; NULL for text. The first byte tells, so that a short text is not read beyond
 * its end. */
static const char *binary_refusal(const unsigned char *image) {
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
    static const unsigned char fat[4] = {0x50, 0xed, 0x55, 0xba};     /* the container itself */
    static const unsigned char wrapper[4] = {0xb1, 0x43, 0x62, 0x46}; /* the structure that compilers put around it */
    if (image[0] != elf[0] && image[0] != fat[0] && image[0] != wrapper[0])
        return NULL;
    if (memcmp(image, elf, 4) == 0)
        return "is a device binary and holds no PTX; compile to PTX (nvcc -ptx) and load that";
    if (memcmp(image, fat, 4) == 0 || memcmp(image, wrapper, 4) == 0)
        return "is a fat binary, whose contents are not read; compile to PTX (nvcc -ptx) and load that";
    return NULL;
}

/* The results keep the first line, which says what and where. */
static CUresult report_errors(struct cuda_state *state, const char *text, const struct log *error) {
    char first[1024];
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, "\n"), text);
    fputs(text, stderr);
    write_log(error, text);
    cuda_results_add_error(state, CUDA_ERROR_INVALID_PTX, NULL, first);
    return CUDA_ERROR_INVALID_PTX;
}

CUresult cuda_module_load(struct cuda_call *call, struct CUmod_st **module, const char *name, const void *image,
                          unsigned n_options, const CUjit_option *options, void **values) {
    if (!image || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    struct log error = {0}, info = {0};
    collect_logs(n_options, options, values, &error, &info);
    write_log(&info, "");
    char own_name[32];
    call->state->n_modules++;
    if (!name) {
        snprintf(own_name, sizeof(own_name), "<module %u>", call->state->n_modules);
        name = own_name;
    }
    const char *refusal = binary_refusal(image);
    if (refusal) {
        cuda_print("%s %s", name, refusal);
        write_log(&error, refusal);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    const char *text = image;
    struct ptx_messages messages = {0};
    struct gpu_module *loaded = gpu_module_load(call->gpu, name, text, strlen(text), &messages);
    CUresult result = CUDA_SUCCESS;
    if (!loaded) {
        result = report_errors(call->state, messages.text ? messages.text : "not PTX\n", &error);
    } else {
        write_log(&error, "");
        *module = cuda_object_new(call, CUDA_KIND_MODULE, sizeof(**module));
        (*module)->gpu = loaded;
        cuda_note_memory(call->state);
    }
    ptx_messages_free(&messages);
    return result;
}

/* The file's bytes and a 0 after them, or NULL. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t length = 0, capacity = 1 << 16;
    char *text = cuda_allocate(capacity);
    for (size_t n; (n = fread(text + length, 1, capacity - length - 1, file)) > 0;) {
        length += n;
        if (capacity - length > 1)
            continue;
        char *larger = cuda_allocate(capacity * 2);
        memcpy(larger, text, length);
        free(text);
        text = larger;
        capacity *= 2;
    }
    bool is_bad = ferror(file);
    fclose(file);
    if (is_bad) {
        free(text);
        return NULL;
    }
    text[length] = 0;
    return text;
}

CUresult cuda_module_load_file(struct cuda_call *call, struct CUmod_st **module, const char *path, unsigned n_options,
                               const CUjit_option *options, void **values) {
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    char *text = read_file(path);
    if (!text)
        return cuda_refuse(call, CUDA_ERROR_FILE_NOT_FOUND, "cannot read %s", path);
    CUresult result = cuda_module_load(call, module, path, text, n_options, options, values);
    free(text);
    return result;
}

void cuda_module_destroy(struct cuda_state *state, struct CUmod_st *module) {
    for (unsigned i = 0; i < module->n_functions; i++) {
        free(module->function[i]->parameter);
        cuda_object_delete(state, module->function[i]);
    }
    for (unsigned i = 0; i < module->n_references; i++)
        cuda_object_delete(state, module->reference[i]);
    gpu_module_unload(state->gpu, module->gpu);
    free(module->function);
    free(module->reference);
    cuda_object_delete(state, module);
}

/* ---- Kernels and variables -------------------------------------------------------------------------------------- */

struct CUfunc_st *cuda_find_function(const struct cuda_call *call, CUfunction handle) {
    return cuda_object_find(call, handle, CUDA_KIND_FUNCTION);
}

static struct CUfunc_st *new_function(struct cuda_call *call, struct CUmod_st *module, struct gpu_kernel *kernel) {
    struct CUfunc_st *function = cuda_object_new(call, CUDA_KIND_FUNCTION, sizeof(*function));
    function->object.context = module->object.context;
    function->module = module;
    function->kernel = kernel;
    function->carveout = CU_SHAREDMEM_CARVEOUT_DEFAULT;
    uint32_t limit = gpu_config(call->gpu)->shared_bytes_per_block, used = gpu_kernel_program(kernel)->shared_bytes;
    function->max_dynamic_shared = used < limit ? limit - used : 0;
    if (!module->function)
        module->function = cuda_allocate(gpu_module_ptx(module->gpu)->n_functions * sizeof(*module->function));
    module->function[module->n_functions++] = function;
    return function;
}

CUresult cuda_module_function(struct cuda_call *call, struct CUmod_st *module, const char *name,
                              struct CUfunc_st **function) {
    struct ptx_messages messages = {0};
    struct gpu_kernel *kernel = gpu_module_kernel(module->gpu, name, &messages);
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (messages.text)
        result = report_errors(call->state, messages.text, &(struct log){0});
    ptx_messages_free(&messages);
    if (!kernel)
        return result;
    *function = NULL;
    for (unsigned i = 0; i < module->n_functions; i++)
        if (module->function[i]->kernel == kernel)
            *function = module->function[i];
    if (!*function)
        *function = new_function(call, module, kernel);
    return CUDA_SUCCESS;
}

CUresult cuda_module_global(struct CUmod_st *module, const char *name, CUdeviceptr *address, size_t *bytes) {
    uint64_t found_address, found_bytes;
    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu_module_global(module->gpu, name, &found_address, &found_bytes))
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = found_address;
    if (bytes)
        *bytes = found_bytes;
    return CUDA_SUCCESS;
}

static bool is_kernel(const struct ptx_function *function) { return function->is_entry && function->has_body; }

unsigned cuda_module_kernel_count(const struct CUmod_st *module) {
    const struct ptx_module *ptx = gpu_module_ptx(module->gpu);
    unsigned count = 0;
    for (uint32_t i = 0; i < ptx->n_functions; i++)
        count += is_kernel(ptx->function[i]);
    return count;
}

CUresult cuda_module_kernels(struct cuda_call *call, struct CUmod_st *module, struct CUfunc_st **function,
                             unsigned size) {
    const struct ptx_module *ptx = gpu_module_ptx(module->gpu);
    unsigned n = 0;
    for (uint32_t i = 0; i < ptx->n_functions && n < size; i++) {
        if (!is_kernel(ptx->function[i]))
            continue;
        CUresult result = cuda_module_function(call, module, ptx->function[i]->name, &function[n++]);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* ---- The API ---------------------------------------------------------------------------------------------------- */

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n_options, CUjit_option *options,
                            void **values) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    return module ? cuda_module_load(&call, module, NULL, image, n_options, options, values) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    return module ? cuda_module_load_file(&call, module, path, 0, NULL, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleUnload(CUmodule module) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    struct CUmod_st *found = cuda_object_find(&call, module, CUDA_KIND_MODULE);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (found->library)
        return CUDA_ERROR_NOT_PERMITTED; /* it goes with cuLibraryUnload */
    cuda_module_destroy(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    CUDA_CALL call = cuda_enter();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    struct CUmod_st *found = cuda_object_find(&call, module, CUDA_KIND_MODULE);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    return function && name ? cuda_module_function(&call, found, name, function) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    const struct CUmod_st *found = cuda_object_find(&call, module, CUDA_KIND_MODULE);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = cuda_module_kernel_count(found);
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned size, CUmodule module) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    struct CUmod_st *found = cuda_object_find(&call, module, CUDA_KIND_MODULE);
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    return functions ? cuda_module_kernels(&call, found, functions, size) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    CUDA_CALL call = cuda_enter_context();
    if (call.result != CUDA_SUCCESS)
        return call.result;
    struct CUmod_st *found = cuda_object_find(&call, module, CUDA_KIND_MODULE);
    return found ? cuda_module_global(found, name, address, bytes) : CUDA_ERROR_INVALID_HANDLE;
}
