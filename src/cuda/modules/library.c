/* Libraries: modules that belong to the process instead of a context, and their kernels.
 *
 * On a real device a library is loaded into each context that uses it. Here all contexts share one device, so a library
 * is one module, its variables exist once, and a CUkernel is the CUfunction of that module. */
#include "cuda/internal.h"

#include <stdio.h>

static struct CUfunc_st *find_kernel(const struct cuda_call *call, CUkernel kernel) {
    return cuda_find_function(call, (CUfunction)(void *)kernel);
}

static CUresult make(struct cuda_call *call, CUlibrary *library, struct CUmod_st *module) {
    module->library = cuda_object_new(call, CUDA_KIND_LIBRARY, sizeof(*module->library));
    module->library->module = module;
    *library = module->library;
    return CUDA_SUCCESS;
}

/* The options say how the image is kept, which does not matter to a module that has its own copy. */
CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit_options, void **jit_values,
                           unsigned n_jit_options, CUlibraryOption *options, void **values, unsigned n_options) {
    CUDA_ENTER(call, cuda_enter());
    if (!library || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUmod_st *module;
    CUresult result = cuda_module_load(&call, &module, NULL, image, 0, n_jit_options, jit_options, jit_values);
    return result != CUDA_SUCCESS ? result : make(&call, library, module);
}

/* Not part of CUDA: Heddle's runtime library loads the images that an object of the program registered. Kind and name
 * are those of the user, for the message about an image without PTX. */
CUresult cuHeddleLoadRegistered(CUlibrary *library, const void *image, const char *kind, const char *name);

CUresult cuHeddleLoadRegistered(CUlibrary *library, const void *image, const char *kind, const char *name) {
    CUDA_ENTER(call, cuda_enter());
    char user[512];
    snprintf(user, sizeof(user), "%s '%s' of %s", kind, name, cuda_object_file(image));
    struct CUmod_st *module;
    call.is_registering = true;
    CUresult result = cuda_module_check(&call, image, user);
    if (result == CUDA_SUCCESS)
        result = cuda_module_load(&call, &module, NULL, image, 0, 0, NULL, NULL);
    return result != CUDA_SUCCESS ? result : make(&call, library, module);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options, void **jit_values,
                               unsigned n_jit_options, CUlibraryOption *options, void **values, unsigned n_options) {
    CUDA_ENTER(call, cuda_enter());
    if (!library || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUmod_st *module;
    CUresult result = cuda_module_load_file(&call, &module, path, n_jit_options, jit_options, jit_values);
    return result != CUDA_SUCCESS ? result : make(&call, library, module);
}

CUresult cuLibraryUnload(CUlibrary library) {
    CUDA_ENTER(call, cuda_enter_settled());
    CUDA_FIND(struct CUlib_st, found, cuda_object_find(&call, library, CUDA_KIND_LIBRARY));
    cuda_module_destroy(call.state, found->module);
    cuda_object_delete(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUlib_st, found, cuda_object_find(&call, library, CUDA_KIND_LIBRARY));
    if (!kernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUfunc_st *function;
    CUresult result = cuda_module_function(&call, found->module, name, &function);
    if (result == CUDA_SUCCESS)
        *kernel = (CUkernel)(void *)function;
    return result;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUlib_st, found, cuda_object_find(&call, library, CUDA_KIND_LIBRARY));
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = cuda_module_kernel_count(found->module);
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned size, CUlibrary library) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUlib_st, found, cuda_object_find(&call, library, CUDA_KIND_LIBRARY));
    return kernels ? cuda_module_kernels(&call, found->module, (struct CUfunc_st **)(void *)kernels, size)
                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(const struct CUlib_st, found, cuda_object_find(&call, library, CUDA_KIND_LIBRARY));
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    *module = found->module;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    const struct CUlib_st *found = cuda_object_find(&call, library, CUDA_KIND_LIBRARY);
    return found ? cuda_module_global(found->module, name, address, bytes) : CUDA_ERROR_INVALID_HANDLE;
}

/* Parsed modules do not record the attribute that marks a variable as managed, so any variable is accepted. */
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    return cuLibraryGetGlobal(address, bytes, library, name);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(struct CUfunc_st, found, find_kernel(&call, kernel));
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    *function = found;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUfunc_st, found, find_kernel(&call, kernel));
    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    *library = found->module->library;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) { return cuFuncGetName(name, (CUfunction)(void *)kernel); }

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes) {
    return cuFuncGetParamInfo((CUfunction)(void *)kernel, index, offset, bytes);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    CUDA_FIND(const struct CUfunc_st, found, find_kernel(&call, kernel));
    return value ? cuda_function_attribute(&call, found, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    struct CUfunc_st *found = find_kernel(&call, kernel);
    return found ? cuda_function_set_attribute(&call, found, attribute, value) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!find_kernel(&call, kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    return config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
