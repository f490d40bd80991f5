/* cuGraphAddNode and its relatives: one function for nodes of every kind. A structure with a union describes the node.
 */
#include "cuda/graphs/graph.h"

_Static_assert(sizeof(CUgraphNodeParams) == 256, "part of the binary interface");

static CUresult refuse(const char *function, CUgraphNodeType type) {
    CUDA_ENTER(call, cuda_enter());
    return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED, "%s: nodes of type %d are not supported", function, (int)type);
}

/* Data of edges asks for launches that overlap, which never happens here. */
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                        size_t n, CUgraphNodeParams *p) {
    (void)edges;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphAddKernelNode(node, graph, dependencies, n, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphAddMemcpyNode(node, graph, dependencies, n, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphAddMemsetNode(node, graph, dependencies, n, &p->memset, NULL);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphAddHostNode(node, graph, dependencies, n, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphAddChildGraphNode(node, graph, dependencies, n, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cuGraphAddEmptyNode(node, graph, dependencies, n);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphAddEventWaitNode(node, graph, dependencies, n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(node, graph, dependencies, n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cuGraphAddMemAllocNode(node, graph, dependencies, n, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphAddMemFreeNode(node, graph, dependencies, n, p->free.dptr);
    default:
        return refuse("cuGraphAddNode", p->type);
    }
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p) {
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphKernelNodeSetParams(node, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphMemsetNodeSetParams(node, &p->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphHostNodeSetParams(node, &p->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    default: /* nodes of memory cannot be changed */
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams *p) {
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphExecKernelNodeSetParams(executable, node, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphExecMemcpyNodeSetParams(executable, node, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphExecMemsetNodeSetParams(executable, node, &p->memset, NULL);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphExecHostNodeSetParams(executable, node, &p->host);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphExecEventWaitNodeSetEvent(executable, node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphExecEventRecordNodeSetEvent(executable, node, p->eventRecord.event);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Before CUDA 12.3: without data of edges. */
#undef cuGraphAddNode
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n,
                        CUgraphNodeParams *parameters);
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n,
                        CUgraphNodeParams *parameters) {
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, n, parameters);
}
