/* Parameters of graph nodes: reading and replacing them. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>
#include <string.h>

static struct CUgraphNode_st *find(const struct cuda_call *call, CUgraphNode handle, CUgraphNodeType type) {
    struct CUgraphNode_st *node = cuda_object_find(call, handle, CUDA_KIND_GRAPH_NODE);
    return node && node->type == type ? node : NULL;
}

/* The pointers refer to the node's own copies of the parameters. */
static void describe_kernel(struct CUgraphNode_st *node, CUDA_KERNEL_NODE_PARAMS *parameters) {
    const struct gpu_launch *launch = &node->kernel.launch;
    const struct ptx_function *kernel = gpu_kernel_function(launch->kernel);
    if (!node->pointer) {
        node->pointer = cuda_allocate((kernel->n_parameters + 1) * sizeof(*node->pointer));
        for (uint32_t i = 0; i < kernel->n_parameters; i++)
            node->pointer[i] = (unsigned char *)launch->parameters + kernel->parameter[i].offset;
    }
    *parameters = (CUDA_KERNEL_NODE_PARAMS){
        .func = (CUfunction)(uintptr_t)node->kernel.function,
        .gridDimX = launch->shape.grid[0],
        .gridDimY = launch->shape.grid[1],
        .gridDimZ = launch->shape.grid[2],
        .blockDimX = launch->shape.block[0],
        .blockDimY = launch->shape.block[1],
        .blockDimZ = launch->shape.block[2],
        .sharedMemBytes = launch->shape.dynamic_shared_bytes,
        .kernelParams = node->pointer,
    };
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *parameters) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find(&call, handle, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!node || !parameters)
        return CUDA_ERROR_INVALID_VALUE;
    describe_kernel(node, parameters);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find(&call, handle, CU_GRAPH_NODE_TYPE_KERNEL);
    return node && parameters ? cuda_graph_set_kernel(&call, node, parameters) : CUDA_ERROR_INVALID_VALUE;
}

/* Work that is one member of the node. */
#define GET(name, node_type, type, member)                                                                             \
    CUresult name(CUgraphNode handle, type *value) {                                                                   \
        CUDA_ENTER(call, cuda_enter());                                                                                \
        const struct CUgraphNode_st *node = find(&call, handle, node_type);                                            \
        if (!node || !value)                                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
        *value = node->member;                                                                                         \
        return CUDA_SUCCESS;                                                                                           \
    }
#define SET(name, node_type, type, member)                                                                             \
    CUresult name(CUgraphNode handle, const type *value) {                                                             \
        CUDA_ENTER(call, cuda_enter());                                                                                \
        struct CUgraphNode_st *node = find(&call, handle, node_type);                                                  \
        if (!node || !value)                                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
        node->member = *value;                                                                                         \
        return CUDA_SUCCESS;                                                                                           \
    }
GET(cuGraphMemcpyNodeGetParams, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D, copy)
SET(cuGraphMemcpyNodeSetParams, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D, copy)
GET(cuGraphMemsetNodeGetParams, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS, fill)
SET(cuGraphMemsetNodeSetParams, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS, fill)
GET(cuGraphHostNodeGetParams, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS, host)
#undef GET
#undef SET

CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *parameters) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find(&call, handle, CU_GRAPH_NODE_TYPE_HOST);
    if (!node || !parameters || !parameters->fn)
        return CUDA_ERROR_INVALID_VALUE;
    node->host = *parameters;
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *child) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *node = find(&call, handle, CU_GRAPH_NODE_TYPE_GRAPH);
    if (!node || !child)
        return CUDA_ERROR_INVALID_VALUE;
    *child = node->child;
    return CUDA_SUCCESS;
}

/* ---- In executables: the clone of a node ------------------------------------------------------------------------- */

static struct CUgraphNode_st *find_in(const struct cuda_call *call, CUgraphExec handle, CUgraphNode node) {
    const struct CUgraphExec_st *executable = cuda_object_find(call, handle, CUDA_KIND_GRAPH_EXEC);
    return executable && node ? cuda_graph_find_clone(executable->graph, node) : NULL;
}

static struct CUgraphNode_st *find_typed(const struct cuda_call *call, CUgraphExec handle, CUgraphNode node,
                                         CUgraphNodeType type) {
    struct CUgraphNode_st *found = find_in(call, handle, node);
    return found && found->type == type ? found : NULL;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode handle,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find_typed(&call, executable, handle, CU_GRAPH_NODE_TYPE_KERNEL);
    return node && parameters ? cuda_graph_set_kernel(&call, node, parameters) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode handle, const CUDA_MEMCPY3D *copy,
                                        CUcontext context) {
    CUDA_ENTER(call, cuda_enter());
    (void)context;
    struct CUgraphNode_st *node = find_typed(&call, executable, handle, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (!node || !copy)
        return CUDA_ERROR_INVALID_VALUE;
    node->copy = *copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode handle,
                                        const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context) {
    CUDA_ENTER(call, cuda_enter());
    (void)context;
    struct CUgraphNode_st *node = find_typed(&call, executable, handle, CU_GRAPH_NODE_TYPE_MEMSET);
    if (!node || !parameters)
        return CUDA_ERROR_INVALID_VALUE;
    node->fill = *parameters;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode handle,
                                      const CUDA_HOST_NODE_PARAMS *parameters) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find_typed(&call, executable, handle, CU_GRAPH_NODE_TYPE_HOST);
    if (!node || !parameters || !parameters->fn)
        return CUDA_ERROR_INVALID_VALUE;
    node->host = *parameters;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode handle, unsigned is_enabled) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find_in(&call, executable, handle);
    bool can_be = node && (node->type == CU_GRAPH_NODE_TYPE_KERNEL || node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                           node->type == CU_GRAPH_NODE_TYPE_MEMSET);
    if (!can_be)
        return CUDA_ERROR_INVALID_VALUE;
    node->is_disabled = !is_enabled;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode handle, unsigned *is_enabled) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *node = find_in(&call, executable, handle);
    if (!node || !is_enabled)
        return CUDA_ERROR_INVALID_VALUE;
    *is_enabled = !node->is_disabled;
    return CUDA_SUCCESS;
}
