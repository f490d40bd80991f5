/* Modules: images that a program passes, their kernels and variables.
 *
 * image.h lists the kinds of images. Every message about an image goes to standard error and into the caller's error
 * log if there is one. */
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/modules/image.h"

/* ---- Loading ---------------------------------------------------------------------------------------------------- */

/* The results keep the first line, which names the mistake and its place. */
static CUresult report_errors(const struct cuda_call *call, const struct ptx_messages *messages,
                              const struct cuda_log *error) {
    char first[1024];
    const char *text = messages->text ? messages->text : "not PTX\n";
    struct cuda_state *state = call->state;
    unsigned before = state->n_errors;
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, "\n"), text);
    fputs(text, stderr);
    cuda_write_log(error, text);
    cuda_results_add_error(state, CUDA_ERROR_INVALID_PTX, NULL, first);
    if (state->n_errors > before)
        state->error[before].is_wrong = !messages->has_lack && !call->is_registering;
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult report_image(struct cuda_state *state, CUresult result, const char *name, const char *problem,
                             const struct cuda_log *error) {
    char line[1024];
    snprintf(line, sizeof(line), "%s %s", name, problem);
    cuda_print("%s", line);
    cuda_write_log(error, line);
    cuda_results_add_error(state, result, NULL, line);
    return result;
}

/* A fat binary may hold PTX for several architectures: the first that loads is taken; errors are those of the best
 * one. */
static CUresult load_parts(struct cuda_call *call, const struct cuda_image *image, const char *name,
                           const struct cuda_log *error, struct gpu_module **loaded) {
    struct ptx_messages first = {0};
    const char *problem = NULL;
    *loaded = NULL;
    for (unsigned choice = 0; choice < image->n_choices && !*loaded; choice++) {
        struct ptx_messages messages = {0};
        struct gpu_text *text = cuda_image_texts(image, name, choice, &problem);
        if (!text)
            return report_image(call->state, CUDA_ERROR_INVALID_IMAGE, name, problem, error);
        *loaded = image->n_parts == 1 ? gpu_module_load(call->gpu, text->name, text->text, text->length, &messages)
                                      : gpu_module_load_linked(call->gpu, name, text, image->n_parts, &messages);
        cuda_image_texts_free(text, image->n_parts);
        if (choice == 0)
            first = messages;
        else
            ptx_messages_free(&messages);
    }
    CUresult result = CUDA_SUCCESS;
    if (!*loaded)
        result = report_errors(call, &first, error);
    ptx_messages_free(&first);
    return result;
}

CUresult cuda_module_check(struct cuda_call *call, const void *image, const char *user) {
    struct cuda_image opened;
    const char *problem;
    CUresult result = cuda_image_open(&opened, cuda_capability(call), image, CUDA_FATBIN_UNKNOWN_LENGTH, &problem);
    if (result != CUDA_SUCCESS)
        return report_image(call->state, result, user, problem, &(struct cuda_log){0});
    cuda_image_close(&opened);
    return CUDA_SUCCESS;
}

static void note_registers(void *module, const char *kernel, uint32_t registers) {
    gpu_module_set_registers(module, kernel, registers);
}

CUresult cuda_module_load(struct cuda_call *call, struct CUmod_st **module, const char *name, const void *image,
                          size_t length, unsigned n_options, const CUjit_option *options, void **values) {
    if (!image || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_log error = {0}, info = {0};
    cuda_collect_logs(n_options, options, values, &error, &info);
    cuda_write_log(&info, "");
    char own_name[32];
    call->state->n_modules++;
    if (!name) {
        snprintf(own_name, sizeof(own_name), "<module %u>", call->state->n_modules);
        name = own_name;
    }
    struct cuda_image opened;
    const char *problem;
    CUresult result = cuda_image_open(&opened, cuda_capability(call), image, length, &problem);
    if (result != CUDA_SUCCESS)
        return report_image(call->state, result, name, problem, &error);
    struct gpu_module *loaded;
    result = load_parts(call, &opened, name, &error, &loaded);
    if (result == CUDA_SUCCESS)
        cuda_image_registers(&opened, note_registers, loaded);
    cuda_image_close(&opened);
    if (result != CUDA_SUCCESS)
        return result;
    cuda_write_log(&error, "");
    *module = cuda_object_new(call, CUDA_KIND_MODULE, sizeof(**module));
    (*module)->gpu = loaded;
    cuda_note_memory(call->state);
    return CUDA_SUCCESS;
}

char *cuda_read_file(const char *path, size_t *bytes) {
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
    *bytes = length;
    return text;
}

CUresult cuda_module_load_file(struct cuda_call *call, struct CUmod_st **module, const char *path, unsigned n_options,
                               const CUjit_option *options, void **values) {
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    size_t length;
    char *text = cuda_read_file(path, &length);
    if (!text)
        return cuda_refuse(call, CUDA_ERROR_FILE_NOT_FOUND, "cannot read %s", path);
    CUresult result = cuda_module_load(call, module, path, text, length ? length : 1, n_options, options, values);
    free(text);
    return result;
}

void cuda_module_destroy(struct cuda_state *state, struct CUmod_st *module) {
    for (unsigned i = 0; i < module->n_functions; i++) {
        free(module->function[i]->next.parameters);
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
    gpu_kernel_set_most_dynamic_shared(kernel, used < limit ? limit - used : 0);
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
    messages.has_lack = true; /* the module has been checked */
    if (messages.text)
        result = report_errors(call, &messages, &(struct cuda_log){0});
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
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    return module ? cuda_module_load(&call, module, NULL, image, 0, n_options, options, values)
                  : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    return module ? cuda_module_load_file(&call, module, path, 0, NULL, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleUnload(CUmodule module) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUmod_st, found, cuda_object_find(&call, module, CUDA_KIND_MODULE));
    if (found->library)
        return CUDA_ERROR_NOT_PERMITTED; /* cuLibraryUnload unloads it */
    cuda_module_destroy(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    CUDA_ENTER(call, cuda_enter());
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(struct CUmod_st, found, cuda_object_find(&call, module, CUDA_KIND_MODULE));
    return function && name ? cuda_module_function(&call, found, name, function) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(const struct CUmod_st, found, cuda_object_find(&call, module, CUDA_KIND_MODULE));
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = cuda_module_kernel_count(found);
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned size, CUmodule module) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(struct CUmod_st, found, cuda_object_find(&call, module, CUDA_KIND_MODULE));
    return functions ? cuda_module_kernels(&call, found, functions, size) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    struct CUmod_st *found = cuda_object_find(&call, module, CUDA_KIND_MODULE);
    return found ? cuda_module_global(found, name, address, bytes) : CUDA_ERROR_INVALID_HANDLE;
}
