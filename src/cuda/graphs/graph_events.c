/* Event nodes, attributes of kernel nodes, and graphs as text: the parts of a graph other than its work. */
#include "cuda/graphs/graph.h"

#include <stdio.h>

/* ---- Events of nodes --------------------------------------------------------------------------------------------- */

static CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent *event) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *node = cuda_object_find(&call, handle, CUDA_KIND_GRAPH_NODE);
    if (!node || node->type != type || !event)
        return CUDA_ERROR_INVALID_VALUE;
    *event = node->event;
    return CUDA_SUCCESS;
}

/* Sets the event in the graph itself if there is no executable. */
static CUresult set_event(CUgraphExec executable, bool has_executable, CUgraphNode handle, CUgraphNodeType type,
                          CUevent event) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = cuda_object_find(&call, handle, CUDA_KIND_GRAPH_NODE);
    const struct CUgraphExec_st *found = cuda_object_find(&call, executable, CUDA_KIND_GRAPH_EXEC);
    if (has_executable)
        node = node && found ? cuda_graph_find_clone(found->graph, node) : NULL;
    if (!node || node->type != type || !cuda_object_find(&call, event, CUDA_KIND_EVENT))
        return CUDA_ERROR_INVALID_VALUE;
    node->event = event;
    return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
    return get_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
    return get_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
    return set_event(NULL, false, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
    return set_event(NULL, false, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
    return set_event(executable, true, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
    return set_event(executable, true, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

/* ---- Attributes of kernel nodes: one counts, the others are hints ------------------------------------------------ */

static struct CUgraphNode_st *find_kernel(const struct cuda_call *call, CUgraphNode handle) {
    struct CUgraphNode_st *node = cuda_object_find(call, handle, CUDA_KIND_GRAPH_NODE);
    return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL ? node : NULL;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue *value) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *node = find_kernel(&call, handle);
    if (!node || !value || (unsigned)attribute >= CUDA_STREAM_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        node->kernel.launch.shape.is_cooperative = value->cooperative != 0;
    if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        node->kernel.launch.shape.cluster[0] = value->clusterDim.x;
        node->kernel.launch.shape.cluster[1] = value->clusterDim.y;
        node->kernel.launch.shape.cluster[2] = value->clusterDim.z;
    }
    node->attribute[attribute] = *value;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       CUlaunchAttributeValue *value) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *node = find_kernel(&call, handle);
    if (!node || !value || (unsigned)attribute >= CUDA_STREAM_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    *value = node->attribute[attribute];
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value->cooperative = node->kernel.launch.shape.is_cooperative;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *destination = find_kernel(&call, to);
    const struct CUgraphNode_st *source = find_kernel(&call, from);
    if (!destination || !source)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < CUDA_STREAM_ATTRIBUTES; i++)
        destination->attribute[i] = source->attribute[i];
    destination->kernel.launch.shape.is_cooperative = source->kernel.launch.shape.is_cooperative;
    for (int i = 0; i < 3; i++)
        destination->kernel.launch.shape.cluster[i] = source->kernel.launch.shape.cluster[i];
    return CUDA_SUCCESS;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const char *describe(const struct CUgraphNode_st *node) {
    static const char *const types[] = {"kernel", "copy", "memset", "host", "graph", "empty", "wait", "record"};
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return gpu_kernel_name(node->kernel.function->kernel);
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? "allocation" : "free";
    return (size_t)node->type < sizeof(types) / sizeof(types[0]) ? types[node->type] : "node";
}

/* Writes the graph for Graphviz. Child graphs are not drawn. */
CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned flags) {
    CUDA_ENTER(call, cuda_enter());
    (void)flags; /* how much detail */
    const struct CUgraph_st *graph = cuda_object_find(&call, handle, CUDA_KIND_GRAPH);
    FILE *file = graph && path ? fopen(path, "w") : NULL;
    if (!file)
        return graph && path ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_VALUE;
    fprintf(file, "digraph graph_of_work {\n");
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *node = graph->node[i];
        fprintf(file, "    \"%p\" [label=\"%zu: %s\"];\n", (const void *)node, i, describe(node));
        for (size_t k = 0; k < node->n_dependencies; k++)
            fprintf(file, "    \"%p\" -> \"%p\";\n", (const void *)node->dependency[k], (const void *)node);
    }
    fprintf(file, "}\n");
    return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
