/* Graphs: the functions that need more than one call of the driver (the others are in forward.def).
 *
 * The runtime describes kernels by their functions in the program and copies by cudaMemcpy3DParms. The driver has its
 * own descriptions. The descriptions of memsets and host functions are the same in both. */
#include "cudart/internal.h"

_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "the same structure");
_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "the same structure");

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

static cudaError_t describe_kernel(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to) {
    CUfunction kernel;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    cudaError_t error = from ? cudart_find_kernel(from->func, &kernel) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *to = (CUDA_KERNEL_NODE_PARAMS){
            .func = kernel,
            .gridDimX = from->gridDim.x,
            .gridDimY = from->gridDim.y,
            .gridDimZ = from->gridDim.z,
            .blockDimX = from->blockDim.x,
            .blockDimY = from->blockDim.y,
            .blockDimZ = from->blockDim.z,
            .sharedMemBytes = from->sharedMemBytes,
            .kernelParams = from->kernelParams,
            .extra = from->extra,
        };
    return error;
}

static cudaError_t describe_copy(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to) {
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    return from ? cudart_describe_copy(from, to) : cudaErrorInvalidValue;
}

/* Consecutive bytes, as a box one line high. */
static struct cudaMemcpy3DParms line(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
        .dstPtr = {to, bytes, bytes, 1},
        .extent = {bytes, 1, 1},
        .kind = kind,
    };
}

/* The same with a part of a variable on one side. */
static cudaError_t find_part(const void *symbol, size_t offset, size_t bytes, void **memory) {
    CUdeviceptr address;
    size_t all;
    CUresult result = cudart_start();
    cudaError_t error = result != CUDA_SUCCESS ? (cudaError_t)result : cudart_find_variable(symbol, &address, &all);
    if (error == cudaSuccess && (offset > all || bytes > all - offset))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *memory = (void *)(uintptr_t)(address + offset);
    return error;
}

CUcontext cudart_context(void) {
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t n_dependencies, const struct cudaKernelNodeParams *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    cudaError_t error = describe_kernel(parameters, &kernel);
    if (error == cudaSuccess)
        error = (cudaError_t)cuGraphAddKernelNode(node, graph, dependencies, n_dependencies, &kernel);
    return cudart_note(error);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    cudaError_t error = describe_kernel(parameters, &kernel);
    return cudart_note(error == cudaSuccess ? (cudaError_t)cuGraphKernelNodeSetParams(node, &kernel) : error);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    cudaError_t error = describe_kernel(parameters, &kernel);
    if (error == cudaSuccess)
        error = (cudaError_t)cuGraphExecKernelNodeSetParams(executable, node, &kernel);
    return cudart_note(error);
}

/* The function is the kernel's handle, which is accepted in its place everywhere. */
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *parameters) {
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = parameters ? cuGraphKernelNodeGetParams(node, &kernel) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *parameters = (struct cudaKernelNodeParams){
            .func = kernel.func ? (void *)kernel.func : (void *)kernel.kern,
            .gridDim = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
            .blockDim = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
            .sharedMemBytes = kernel.sharedMemBytes,
            .kernelParams = kernel.kernelParams,
            .extra = kernel.extra,
        };
    return cudart_end(result);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t n_dependencies, const struct cudaMemcpy3DParms *parameters) {
    CUDA_MEMCPY3D copy;
    cudaError_t error = describe_copy(parameters, &copy);
    if (error == cudaSuccess)
        error = (cudaError_t)cuGraphAddMemcpyNode(node, graph, dependencies, n_dependencies, &copy, cudart_context());
    return cudart_note(error);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *parameters) {
    CUDA_MEMCPY3D copy;
    cudaError_t error = describe_copy(parameters, &copy);
    return cudart_note(error == cudaSuccess ? (cudaError_t)cuGraphMemcpyNodeSetParams(node, &copy) : error);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *parameters) {
    CUDA_MEMCPY3D copy;
    cudaError_t error = describe_copy(parameters, &copy);
    if (error == cudaSuccess)
        error = (cudaError_t)cuGraphExecMemcpyNodeSetParams(executable, node, &copy, cudart_context());
    return cudart_note(error);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t n_dependencies, void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind) {
    const struct cudaMemcpy3DParms copy = line(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(node, graph, dependencies, n_dependencies, &copy);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind) {
    const struct cudaMemcpy3DParms copy = line(to, from, bytes, kind);
    return cudaGraphMemcpyNodeSetParams(node, &copy);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    const struct cudaMemcpy3DParms copy = line(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(executable, node, &copy);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t n_dependencies,
                                           const void *symbol, const void *from, size_t bytes, size_t offset,
                                           enum cudaMemcpyKind kind) {
    void *to;
    cudaError_t error = find_part(symbol, offset, bytes, &to);
    if (error != cudaSuccess)
        return cudart_note(error);
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, n_dependencies, to, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t n_dependencies, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind) {
    void *from;
    cudaError_t error = find_part(symbol, offset, bytes, &from);
    if (error != cudaSuccess)
        return cudart_note(error);
    return cudaGraphAddMemcpyNode1D(node, graph, dependencies, n_dependencies, to, from, bytes, kind);
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* Version 13 put the edges' data before the count. */
static void take_count(CUgraphEdgeData **data, size_t **count) {
    if (cudart_major >= 13)
        return;
    *count = (size_t *)(void *)*data;
    *data = NULL;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
                              size_t *count) {
    take_count(&data, &count);
    CUresult result = cudart_start();
    return cudart_end(result == CUDA_SUCCESS ? cuGraphGetEdges(graph, from, to, data, count) : result);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                                         size_t *count) {
    take_count(&data, &count);
    CUresult result = cudart_start();
    return cudart_end(result == CUDA_SUCCESS ? cuGraphNodeGetDependencies(node, nodes, data, count) : result);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                                           size_t *count) {
    take_count(&data, &count);
    CUresult result = cudart_start();
    return cudart_end(result == CUDA_SUCCESS ? cuGraphNodeGetDependentNodes(node, nodes, data, count) : result);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *data, size_t count) {
    CUresult result = cudart_start();
    if (cudart_major < 13) {
        count = (uintptr_t)data;
        data = NULL;
    }
    return cudart_end(result == CUDA_SUCCESS ? cuGraphAddDependencies(graph, from, to, data, count) : result);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *data, size_t count) {
    CUresult result = cudart_start();
    if (cudart_major < 13) {
        count = (uintptr_t)data;
        data = NULL;
    }
    return cudart_end(result == CUDA_SUCCESS ? cuGraphRemoveDependencies(graph, from, to, data, count) : result);
}

/* ---- Executable graphs ------------------------------------------------------------------------------------------- */

/* Version 11 had a node, a text and its size instead of flags. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuGraphInstantiate(executable, graph, cudart_major < 12 ? 0 : flags);
    return cudart_end(result);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    cudaGraphExecUpdateResultInfo own;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS && cudart_major >= 12)
        result = cuGraphExecUpdate(executable, graph, info);
    else if (result == CUDA_SUCCESS) /* version 11 passed the node and the result separately */
        result = cuGraphExecUpdate(executable, graph, &own);
    return cudart_end(result);
}

/* ---- Capture ----------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t n_dependencies, int mode) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result =
            cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, n_dependencies, (CUstreamCaptureMode)mode);
    return cudart_end(result);
}
CUDART_PTSZ(cudaStreamBeginCaptureToGraph,
            (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
             const cudaGraphEdgeData *edges, size_t n_dependencies, int mode),
            (stream, graph, dependencies, edges, n_dependencies, mode))

static cudaError_t update_dependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                       const cudaGraphEdgeData *edges, size_t n_dependencies, unsigned flags) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuStreamUpdateCaptureDependencies(stream, dependencies, edges, n_dependencies, flags);
    return cudart_end(result);
}

/* Up to version 12 there was no parameter for edges; 12 calls this _v2. */
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *edges, size_t n_dependencies, unsigned flags) {
    if (cudart_major < 13)
        return update_dependencies(stream, dependencies, NULL, (size_t)(uintptr_t)edges, (unsigned)n_dependencies);
    return update_dependencies(stream, dependencies, edges, n_dependencies, flags);
}
CUDART_PTSZ(cudaStreamUpdateCaptureDependencies,
            (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t n_dependencies,
             unsigned flags),
            (stream, dependencies, edges, n_dependencies, flags))

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *edges, size_t n_dependencies,
                                                   unsigned flags);

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *edges, size_t n_dependencies,
                                                   unsigned flags) {
    return update_dependencies(stream, dependencies, edges, n_dependencies, flags);
}

static cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                const cudaGraphEdgeData **edges, size_t *n_dependencies) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph, dependencies,
                                        edges, n_dependencies);
    return cudart_end(result);
}

/* Version 11 had only the first three parameters; 12 calls this _v3. */
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *n_dependencies) {
    if (cudart_major < 13)
        return capture_info(stream, status, id, NULL, NULL, NULL, NULL);
    return capture_info(stream, status, id, graph, dependencies, edges, n_dependencies);
}
CUDART_PTSZ(cudaStreamGetCaptureInfo,
            (cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
             const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *n_dependencies),
            (stream, status, id, graph, dependencies, edges, n_dependencies))

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                        size_t *n_dependencies);

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                        size_t *n_dependencies) {
    return capture_info(stream, status, id, graph, dependencies, NULL, n_dependencies);
}
