/* Computes how many blocks of a kernel an SM holds at once, and which block size fills the SM best. */
#include "cuda/internal.h"

#include "config/machine.h"

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_threads,
                                                              size_t shared_bytes, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    if (!blocks || block_threads <= 0 || flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = 0;
    if (shared_bytes <= gpu_kernel_most_dynamic_shared(found->kernel) &&
        (uint32_t)block_threads <= gpu_config(call.gpu)->threads_per_block)
        *blocks = (int)gpu_kernel_occupancy(call.gpu, found->kernel, (uint32_t)block_threads, (uint32_t)shared_bytes);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_threads,
                                                     size_t shared_bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared_bytes, 0);
}

/* Tries the multiples of the warp size from the largest down and keeps the first with the most threads per SM. Calls
 * the program's own function without the lock. */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid_blocks, int *block_threads, CUfunction function,
                                                   CUoccupancyB2DSize shared_of_block, size_t shared_bytes,
                                                   int block_limit, unsigned flags) {
    int largest, n_sms;
    if (!grid_blocks || !block_threads || block_limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuFuncGetAttribute(&largest, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    if (result != CUDA_SUCCESS)
        return result;
    if (block_limit && block_limit < largest)
        largest = block_limit;
    int best_threads = 0, best_block = 0, best_blocks = 0;
    for (int aligned = (largest + 31) / 32 * 32; aligned > 0; aligned -= 32) {
        int threads = aligned < largest ? aligned : largest, blocks;
        size_t shared = shared_of_block ? shared_of_block(threads) : shared_bytes;
        result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, threads, shared, flags);
        if (result != CUDA_SUCCESS)
            return result;
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            best_block = threads;
            best_blocks = blocks;
        }
    }
    *block_threads = best_block;
    *grid_blocks = best_blocks * n_sms;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid_blocks, int *block_threads, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block, size_t shared_bytes, int block_limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid_blocks, block_threads, function, shared_of_block,
                                                     shared_bytes, block_limit, 0);
}

/* Finds by bisection the largest amount with which `blocks` blocks still fit: fewer bytes never fit worse. */
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, CUfunction function, int blocks,
                                                 int block_threads) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    if (!shared_bytes || blocks <= 0 || block_threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    uint32_t threads = (uint32_t)block_threads, wanted = (uint32_t)blocks;
    if (gpu_kernel_occupancy(call.gpu, found->kernel, threads, 0) < wanted)
        return CUDA_ERROR_INVALID_VALUE;
    uint32_t low = 0, high = gpu_config(call.gpu)->shared_bytes_per_block_optin -
                             gpu_kernel_program(found->kernel)->shared_bytes;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (gpu_kernel_occupancy(call.gpu, found->kernel, threads, middle) >= wanted)
            low = middle;
        else
            high = middle - 1;
    }
    *shared_bytes = low;
    return CUDA_SUCCESS;
}

/* Finds the kernel's shape in the configuration of a launch. */
static CUresult read_config(struct cuda_call *call, CUfunction function, const CUlaunchConfig *config,
                            const struct CUfunc_st **found, struct exec_shape *shape) {
    *found = cuda_find_function(call, function);
    if (!*found || !config || (config->numAttrs && !config->attrs))
        return *found ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    const struct ptx_function *kernel = gpu_kernel_function((*found)->kernel);
    *shape = (struct exec_shape){.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                 .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                 .cluster = {kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]},
                                 .dynamic_shared_bytes = config->sharedMemBytes};
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            shape->cluster[0] = config->attrs[i].value.clusterDim.x;
            shape->cluster[1] = config->attrs[i].value.clusterDim.y;
            shape->cluster[2] = config->attrs[i].value.clusterDim.z;
        }
    return CUDA_SUCCESS;
}

static uint32_t most_blocks(const struct cuda_call *call, const struct CUfunc_st *function) {
    const struct config_machine *machine = gpu_config(call->gpu)->machine;
    uint32_t most = gpu_kernel_allows_any_cluster(function->kernel) ? EXEC_MAX_CLUSTER : 8;
    return machine && machine->cluster.size < most ? machine->cluster.size : most;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct CUfunc_st *found;
    struct exec_shape shape;
    CUresult result = read_config(&call, function, config, &found, &shape);
    if (result != CUDA_SUCCESS || !clusters)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (exec_shape_cluster(&shape) > most_blocks(&call, found))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *clusters = (int)gpu_kernel_clusters(call.gpu, found->kernel, &shape);
    return CUDA_SUCCESS;
}

/* Returns the largest cluster that fits. */
CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct CUfunc_st *found;
    struct exec_shape shape;
    CUresult result = read_config(&call, function, config, &found, &shape);
    if (result != CUDA_SUCCESS || !size)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    for (*size = (int)most_blocks(&call, found); *size > 0; --*size) {
        shape.cluster[0] = (uint32_t)*size;
        shape.cluster[1] = shape.cluster[2] = 1;
        if (gpu_kernel_clusters(call.gpu, found->kernel, &shape))
            break;
    }
    return CUDA_SUCCESS;
}
