/* Stream capture: calls become nodes of a graph instead of being executed.
 *
 * A stream starts to capture with cuStreamBeginCapture(). Another stream joins when it waits for an event that was
 * recorded in the capture. Ending the capture on the stream where it began ends it for all its streams. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>

struct cuda_capture *cuda_capture_of(const struct cuda_call *call, CUstream stream) {
    const struct CUstream_st *found = cuda_object_find(call, stream, CUDA_KIND_STREAM);
    return found ? found->capture : NULL;
}

/* Every node depends on the one before it. */
static struct CUgraphNode_st *record(struct cuda_call *call, struct cuda_capture *capture, CUgraphNodeType type) {
    struct CUgraph_st *graph = capture->graph;
    struct CUgraphNode_st *last = graph->n_nodes ? graph->node[graph->n_nodes - 1] : NULL;
    CUresult result;
    return cuda_graph_add(call, graph, type, &last, last != NULL, &result);
}

CUresult cuda_capture_kernel(struct cuda_call *call, struct cuda_capture *capture, struct cuda_kernel_work *work) {
    record(call, capture, CU_GRAPH_NODE_TYPE_KERNEL)->kernel = *work;
    work->launch.parameters = NULL; /* the node owns them now */
    return CUDA_SUCCESS;
}

CUresult cuda_capture_copy(struct cuda_call *call, struct cuda_capture *capture, const CUDA_MEMCPY3D *copy) {
    record(call, capture, CU_GRAPH_NODE_TYPE_MEMCPY)->copy = *copy;
    return CUDA_SUCCESS;
}

CUresult cuda_capture_fill(struct cuda_call *call, struct cuda_capture *capture, const CUDA_MEMSET_NODE_PARAMS *fill) {
    record(call, capture, CU_GRAPH_NODE_TYPE_MEMSET)->fill = *fill;
    return CUDA_SUCCESS;
}

CUresult cuda_capture_host(struct cuda_call *call, struct cuda_capture *capture, CUhostFn function, void *user) {
    record(call, capture, CU_GRAPH_NODE_TYPE_HOST)->host = (CUDA_HOST_NODE_PARAMS){function, user};
    return CUDA_SUCCESS;
}

CUresult cuda_capture_allocation(struct cuda_call *call, struct cuda_capture *capture, CUdeviceptr *address,
                                 uint64_t bytes) {
    struct CUgraph_st *graph = capture->graph;
    struct CUgraphNode_st reserved = {.graph = graph};
    if (graph->n_nodes) { /* as in record() */
        reserved.dependency = &graph->node[graph->n_nodes - 1];
        reserved.n_dependencies = 1;
    }
    CUresult result = address ? cuda_graph_reserve(call, &reserved, bytes) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    record(call, capture, CU_GRAPH_NODE_TYPE_MEM_ALLOC)->memory = *address = reserved.memory;
    return CUDA_SUCCESS;
}

CUresult cuda_capture_free(struct cuda_call *call, struct cuda_capture *capture, CUdeviceptr address) {
    if (!cuda_graph_is_block(call, address))
        return CUDA_ERROR_INVALID_VALUE;
    cuda_graph_keep_block(call->state, address);
    record(call, capture, CU_GRAPH_NODE_TYPE_MEM_FREE)->memory = address;
    return CUDA_SUCCESS;
}

CUresult cuda_capture_graph(struct cuda_call *call, struct cuda_capture *capture, const struct CUgraph_st *graph) {
    struct CUgraph_st *child = cuda_graph_clone(call, graph);
    child->is_child = true;
    record(call, capture, CU_GRAPH_NODE_TYPE_GRAPH)->child = child;
    return CUDA_SUCCESS;
}

/* ---- The API ----------------------------------------------------------------------------------------------------- */

/* Begins a capture into the program's graph, or into a new one. The default stream cannot be captured. */
static CUresult begin(CUstream stream, CUgraph graph, bool has_graph, CUstreamCaptureMode mode) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct CUgraph_st *given = cuda_object_find(&call, graph, CUDA_KIND_GRAPH);
    if (has_graph && !given)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUstream_st *found = cuda_object_find(&call, stream, CUDA_KIND_STREAM);
    if (!found)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (found->capture || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return found->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
    struct cuda_capture *capture = cuda_allocate(sizeof(*capture));
    *capture = (struct cuda_capture){has_graph ? given : cuda_graph_new(&call), stream, ++call.state->next_id};
    found->capture = capture;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) { return begin(stream, NULL, false, mode); }

/* Recorded nodes come after all nodes of the graph, and so after the dependencies too. */
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *edges, size_t n_dependencies, CUstreamCaptureMode mode) {
    (void)edges; /* plain ones */
    return n_dependencies && !dependencies ? CUDA_ERROR_INVALID_VALUE : begin(stream, graph, true, mode);
}

static void leave_capture(struct cuda_call *call, const struct cuda_capture *capture) {
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call->state->objects, &at));) {
        struct cuda_object *object = entry->value;
        if (object->kind == CUDA_KIND_STREAM && ((struct CUstream_st *)object)->capture == capture)
            ((struct CUstream_st *)object)->capture = NULL;
        if (object->kind == CUDA_KIND_EVENT && ((struct CUevent_st *)object)->capture == capture)
            ((struct CUevent_st *)object)->capture = NULL;
    }
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    if (!capture || !graph)
        return capture ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    *graph = capture->graph;
    leave_capture(&call, capture);
    free(capture);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
                                size_t *n_dependencies) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cuda_capture *capture = cuda_capture_of(&call, stream);
    *status = capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    if (!capture)
        return CUDA_SUCCESS;
    const struct CUgraph_st *found = capture->graph;
    if (id)
        *id = capture->id;
    if (graph)
        *graph = capture->graph;
    if (dependencies)
        *dependencies = found->n_nodes ? &found->node[found->n_nodes - 1] : NULL;
    if (edges)
        *edges = NULL;
    if (n_dependencies)
        *n_dependencies = found->n_nodes != 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return status ? cuStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL) : CUDA_ERROR_INVALID_VALUE;
}

/* The next node depends on the last one of the graph, and so on all of these. */
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                                           size_t n_dependencies, unsigned flags) {
    (void)edges; /* plain ones */
    CUDA_ENTER(call, cuda_enter_stream(stream));
    const struct cuda_capture *capture = cuda_capture_of(&call, stream);
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if ((n_dependencies && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n_dependencies; i++) {
        const struct CUgraphNode_st *node = cuda_object_find(&call, dependencies[i], CUDA_KIND_GRAPH_NODE);
        if (!node || node->graph != capture->graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUDA_ALIAS(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2);
CUDA_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2);
CUDA_ALIAS(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph);
CUDA_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture);
CUDA_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
CUDA_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3);
