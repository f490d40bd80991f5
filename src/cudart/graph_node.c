/* cudaGraphAddNode: one function for nodes of every kind. A structure with a union describes the node. */
#include "cudart/internal.h"

_Static_assert(sizeof(struct cudaGraphNodeParams) == 256, "version 13");

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                            size_t n_dependencies, struct cudaGraphNodeParams *parameters) {
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cudaGraphAddKernelNode(node, graph, dependencies, n_dependencies, &parameters->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cudaGraphAddMemcpyNode(node, graph, dependencies, n_dependencies, &parameters->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cudaGraphAddMemsetNode(node, graph, dependencies, n_dependencies, &parameters->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cudaGraphAddHostNode(node, graph, dependencies, n_dependencies, &parameters->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cudaGraphAddChildGraphNode(node, graph, dependencies, n_dependencies, parameters->graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cudaGraphAddEmptyNode(node, graph, dependencies, n_dependencies);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphAddEventWaitNode(node, graph, dependencies, n_dependencies, parameters->event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphAddEventRecordNode(node, graph, dependencies, n_dependencies, parameters->event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cudaGraphAddMemAllocNode(node, graph, dependencies, n_dependencies, &parameters->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cudaGraphAddMemFreeNode(node, graph, dependencies, n_dependencies, parameters->freed);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return cudart_refuse("cudaGraphAddNode with a conditional node");
    default:
        return cudart_refuse("cudaGraphAddNode with a node of this type");
    }
}

/* Version 12 has no data of edges; it calls this _v2. */
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                             const cudaGraphEdgeData *data, size_t n_dependencies,
                             struct cudaGraphNodeParams *parameters) {
    if (cudart_major < 13) {
        parameters = (struct cudaGraphNodeParams *)n_dependencies;
        n_dependencies = (uintptr_t)data;
    }
    if (!parameters)
        return cudart_note(cudaErrorInvalidValue);
    return add_node(node, graph, dependencies, n_dependencies, parameters);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                const cudaGraphEdgeData *data, size_t n_dependencies,
                                struct cudaGraphNodeParams *parameters);

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                const cudaGraphEdgeData *data, size_t n_dependencies,
                                struct cudaGraphNodeParams *parameters) {
    (void)data; /* edges are plain ones */
    return parameters ? add_node(node, graph, dependencies, n_dependencies, parameters)
                      : cudart_note(cudaErrorInvalidValue);
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *parameters) {
    if (!parameters)
        return cudart_note(cudaErrorInvalidValue);
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cudaGraphKernelNodeSetParams(node, &parameters->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cudaGraphMemcpyNodeSetParams(node, &parameters->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cudaGraphMemsetNodeSetParams(node, &parameters->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cudaGraphHostNodeSetParams(node, &parameters->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphEventWaitNodeSetEvent(node, parameters->event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphEventRecordNodeSetEvent(node, parameters->event);
    default: /* nodes of memory cannot be changed */
        return cudart_note(cudaErrorInvalidValue);
    }
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *parameters) {
    if (!parameters)
        return cudart_note(cudaErrorInvalidValue);
    switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cudaGraphExecKernelNodeSetParams(executable, node, &parameters->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cudaGraphExecMemcpyNodeSetParams(executable, node, &parameters->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cudaGraphExecMemsetNodeSetParams(executable, node, &parameters->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cudaGraphExecHostNodeSetParams(executable, node, &parameters->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cudaGraphExecEventWaitNodeSetEvent(executable, node, parameters->event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cudaGraphExecEventRecordNodeSetEvent(executable, node, parameters->event);
    default:
        return cudart_note(cudaErrorInvalidValue);
    }
}
