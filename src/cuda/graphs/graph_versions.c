/* Symbols of earlier versions for graphs and captures: like their successors, with fewer parameters. */
#include <string.h>

#include "cuda/graphs/graph.h"

#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphInstantiate
#undef cuGraphExecUpdate
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies

/* CUDA_KERNEL_NODE_PARAMS ended before the last two members. */
enum { OLD_PARAMS_BYTES = offsetof(CUDA_KERNEL_NODE_PARAMS, kern) };

static CUDA_KERNEL_NODE_PARAMS widen(const void *parameters) {
    CUDA_KERNEL_NODE_PARAMS wide = {.func = NULL};
    memcpy(&wide, parameters, OLD_PARAMS_BYTES);
    return wide;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                              const void *parameters);
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, void *parameters);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const void *parameters);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const void *parameters);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count);
CUresult cuGraphInstantiate(CUgraphExec *executable, CUgraph graph, CUgraphNode *bad_node, char *log, size_t log_bytes);
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode *bad_node,
                           CUgraphExecUpdateResult *update);
CUresult cuStreamBeginCapture(CUstream stream);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *n_dependencies);
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t n_dependencies,
                                           unsigned flags);

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                              const void *parameters) {
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
    return cuGraphAddKernelNode_v2(node, graph, dependencies, n_dependencies, &wide);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, void *parameters) {
    CUDA_KERNEL_NODE_PARAMS wide;
    CUresult result = parameters ? cuGraphKernelNodeGetParams_v2(node, &wide) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        memcpy(parameters, &wide, OLD_PARAMS_BYTES);
    return result;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const void *parameters) {
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
    return cuGraphKernelNodeSetParams_v2(node, &wide);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const void *parameters) {
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
    return cuGraphExecKernelNodeSetParams_v2(executable, node, &wide);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

CUresult cuGraphInstantiate(CUgraphExec *executable, CUgraph graph, CUgraphNode *bad_node, char *log,
                            size_t log_bytes) {
    if (bad_node)
        *bad_node = NULL;
    if (log && log_bytes)
        *log = 0;
    return cuGraphInstantiateWithFlags(executable, graph, 0);
}

CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode *bad_node,
                           CUgraphExecUpdateResult *update) {
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult result = cuGraphExecUpdate_v2(executable, graph, &info);
    if (bad_node)
        *bad_node = info.errorNode;
    if (update)
        *update = info.result;
    return result;
}

CUresult cuStreamBeginCapture(CUstream stream) {
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *n_dependencies) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, n_dependencies);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t n_dependencies,
                                           unsigned flags) {
    return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, n_dependencies, flags);
}

CUDA_ALIAS(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies);
CUDA_ALIAS(cuGraphInstantiate_v2, cuGraphInstantiate);
CUDA_ALIAS(cuStreamBeginCapture_ptsz, cuStreamBeginCapture);
CUDA_ALIAS(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo);
CUDA_ALIAS(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2);
