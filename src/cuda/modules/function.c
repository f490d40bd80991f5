/* Handles of kernels: their requirements, their settings, and the number of their blocks that fit. */
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static int least(uint64_t a, uint64_t b) { return (int)(a < b ? a : b); }

/* Returns the least of the device's limit, the registers' limit, and the limit that the kernel was compiled for. */
static int max_threads(const struct gpu_config *config, const struct CUfunc_st *function) {
    const struct ptx_function *ptx = gpu_kernel_function(function->kernel);
    uint32_t registers = gpu_kernel_program(function->kernel)->registers_per_thread;
    uint32_t threads = config->threads_per_block, warp = config->sm.warp_size;
    while (threads > warp && config_registers(&config->sm, threads, registers) > config->registers_per_block)
        threads = (threads - 1) / warp * warp;
    const uint32_t *bound = ptx->required_threads[0] ? ptx->required_threads : ptx->max_threads;
    if (!bound[0])
        return (int)threads;
    uint64_t product = 1;
    for (int i = 0; i < 3; i++)
        product *= bound[i] ? bound[i] : 1;
    return least(threads, product);
}

static int const_bytes(const struct ptx_module *ptx) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ptx->n_variables; i++)
        if (ptx->variable[i]->space == PTX_SPACE_CONST)
            bytes += ptx->variable[i]->size;
    return least(bytes, INT32_MAX);
}

/* "sm_70" and "compute_70" are 70. */
static int target_version(const char *target) {
    const char *number = target ? strchr(target, '_') : NULL;
    return number ? atoi(number + 1) : 0;
}

CUresult cuda_function_attribute(const struct cuda_call *call, const struct CUfunc_st *function,
                                 CUfunction_attribute attribute, int *value) {
    const struct exec_program *program = gpu_kernel_program(function->kernel);
    const struct ptx_module *ptx = gpu_module_ptx(function->module->gpu);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = max_threads(gpu_config(call->gpu), function);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)program->shared_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = const_bytes(ptx);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)program->local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)program->registers_per_thread;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = target_version(ptx->target);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)cuda_capability(call);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)gpu_kernel_most_dynamic_shared(function->kernel);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = function->carveout;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value =
            (int)gpu_kernel_function(function->kernel)->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = gpu_kernel_allows_any_cluster(function->kernel);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuda_function_set_attribute(const struct cuda_call *call, struct CUfunc_st *function,
                                     CUfunction_attribute attribute, int value) {
    uint32_t limit = gpu_config(call->gpu)->shared_bytes_per_block_optin;
    uint32_t used = gpu_kernel_program(function->kernel)->shared_bytes;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || used > limit || (uint32_t)value > limit - used)
            return cuda_refuse(
                call, CUDA_ERROR_INVALID_VALUE,
                "kernel '%s': %d bytes of dynamic and %u of static shared memory are more than the %u of a block",
                gpu_kernel_name(function->kernel), value, used, limit);
        gpu_kernel_set_most_dynamic_shared(function->kernel, (uint32_t)value);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < CU_SHAREDMEM_CARVEOUT_DEFAULT || value > CU_SHAREDMEM_CARVEOUT_MAX_SHARED)
            return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        gpu_kernel_allow_any_cluster(function->kernel, value != 0);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: /* a hint */
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return CUDA_ERROR_NOT_SUPPORTED; /* only a kernel's own directive requires a cluster here */
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    return value ? cuda_function_attribute(&call, found, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    CUDA_ENTER(call, cuda_enter_context());
    struct CUfunc_st *found = cuda_find_function(&call, function);
    return found ? cuda_function_set_attribute(&call, found, attribute, value) : CUDA_ERROR_INVALID_HANDLE;
}

/* Preferences between L1 cache and shared memory, and of bank sizes, are accepted and have no effect. */
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!cuda_find_function(&call, function))
        return CUDA_ERROR_INVALID_HANDLE;
    return config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!cuda_find_function(&call, function))
        return CUDA_ERROR_INVALID_HANDLE;
    return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    *module = found->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = gpu_kernel_name(found->kernel);
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    const struct ptx_function *ptx = gpu_kernel_function(found->kernel);
    if (!offset || index >= ptx->n_parameters)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = ptx->parameter[index].offset;
    if (bytes)
        *bytes = ptx->parameter[index].size;
    return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    CUDA_ENTER(call, cuda_enter());
    if (!cuda_find_function(&call, function))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function) {
    CUDA_ENTER(call, cuda_enter());
    return cuda_find_function(&call, function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
