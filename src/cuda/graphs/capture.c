/* Stream capture: calls become nodes of a graph instead of being executed.
 *
 * A stream starts to capture with cuStreamBeginCapture(). Another stream joins when it waits for an event that was
 * recorded in the capture. A node depends on the node before it in its stream, and on those at which the events were
 * recorded for which the stream has waited since. So streams become branches of the graph. Ending the capture on the
 * stream where it began ends it for all its streams. By then that stream must have waited for all others. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>

struct cuda_capture *cuda_capture_of(const struct cuda_call *call, CUstream stream) {
    const struct CUstream_st *found = cuda_object_find(call, stream, CUDA_KIND_STREAM);
    return found ? found->capture : NULL;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

/* Returns the mark of a stream or event. A new one has no nodes. It is valid until the next call. */
static struct cuda_mark *mark_of(struct cuda_capture *capture, const void *of) {
    for (size_t i = 0; i < capture->n_marks; i++)
        if (capture->mark[i].of == of)
            return &capture->mark[i];
    capture->mark = realloc(capture->mark, (capture->n_marks + 1) * sizeof(*capture->mark));
    if (!capture->mark)
        abort();
    capture->mark[capture->n_marks] = (struct cuda_mark){.of = of};
    return &capture->mark[capture->n_marks++];
}

static void add_to(struct cuda_mark *mark, struct CUgraphNode_st *node) {
    for (size_t i = 0; i < mark->n; i++)
        if (mark->node[i] == node)
            return;
    mark->node = realloc(mark->node, (mark->n + 1) * sizeof(*mark->node));
    if (!mark->node)
        abort();
    mark->node[mark->n++] = node;
}

/* Adds the nodes of one mark to those of another. */
static void join(struct cuda_capture *capture, const void *to, const void *from) {
    mark_of(capture, to);
    const struct cuda_mark *source = mark_of(capture, from);
    struct cuda_mark *target = mark_of(capture, to);
    for (size_t i = 0; i < source->n; i++)
        add_to(target, source->node[i]);
}

void cuda_capture_event(struct cuda_capture *capture, const struct CUstream_st *stream,
                        const struct CUevent_st *event) {
    mark_of(capture, event)->n = 0;
    join(capture, event, stream);
}

CUresult cuda_capture_wait(struct cuda_capture *capture, struct CUstream_st *stream, const struct CUevent_st *event) {
    if (stream->capture && stream->capture != capture)
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (!stream->capture)
        mark_of(capture, stream)->n = 0; /* of a stream that has been deleted */
    stream->capture = capture;
    join(capture, stream, event);
    return CUDA_SUCCESS;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* Adds a node of the call's stream. */
static struct CUgraphNode_st *record(struct cuda_call *call, struct cuda_capture *capture, CUgraphNodeType type) {
    struct cuda_mark *mark = mark_of(capture, cuda_object_find(call, call->stream, CUDA_KIND_STREAM));
    CUresult result;
    struct CUgraphNode_st *node = cuda_graph_add(call, capture->graph, type, mark->node, mark->n, &result);
    mark->n = 0;
    add_to(mark, node);
    return node;
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
    const struct cuda_mark *mark = mark_of(capture, cuda_object_find(call, call->stream, CUDA_KIND_STREAM));
    struct CUgraphNode_st reserved = {.graph = capture->graph, .dependency = mark->node, .n_dependencies = mark->n};
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

/* Begins a capture into the program's graph, after these of its nodes, or into a new one. The default stream cannot be
 * captured. */
static CUresult begin(CUstream stream, CUgraph graph, bool has_graph, const CUgraphNode *after, size_t n,
                      CUstreamCaptureMode mode) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct CUgraph_st *given = cuda_object_find(&call, graph, CUDA_KIND_GRAPH);
    if (has_graph && !given)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUstream_st *found = cuda_object_find(&call, stream, CUDA_KIND_STREAM);
    if (!found)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (found->capture || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return found->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++) {
        const struct CUgraphNode_st *node = cuda_object_find(&call, after[i], CUDA_KIND_GRAPH_NODE);
        if (!node || node->graph != given)
            return CUDA_ERROR_INVALID_VALUE;
    }
    struct cuda_capture *capture = cuda_allocate(sizeof(*capture));
    *capture = (struct cuda_capture){.graph = has_graph ? given : cuda_graph_new(&call),
                                     .origin = stream,
                                     .id = ++call.state->next_id,
                                     .owns_graph = !has_graph};
    for (size_t i = 0; i < n; i++)
        add_to(mark_of(capture, found), after[i]);
    found->capture = capture;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    return begin(stream, NULL, false, NULL, 0, mode);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *edges, size_t n_dependencies, CUstreamCaptureMode mode) {
    (void)edges; /* plain ones */
    return n_dependencies && !dependencies ? CUDA_ERROR_INVALID_VALUE
                                           : begin(stream, graph, true, dependencies, n_dependencies, mode);
}

/* Sets is_placed of the nodes in the mark and of all before them. */
static void place_all_before(const struct CUgraph_st *graph, const struct cuda_mark *mark) {
    bool has_changed = mark->n > 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        graph->node[i]->is_placed = false;
    for (size_t i = 0; i < mark->n; i++)
        mark->node[i]->is_placed = true;
    while (has_changed) {
        has_changed = false;
        for (size_t i = graph->n_nodes; i-- > 0;)
            for (size_t k = 0; graph->node[i]->is_placed && k < graph->node[i]->n_dependencies; k++) {
                has_changed |= !graph->node[i]->dependency[k]->is_placed;
                graph->node[i]->dependency[k]->is_placed = true;
            }
    }
}

/* Returns whether the stream where the capture began has waited for all others. */
static bool is_joined(const struct cuda_call *call, struct cuda_capture *capture) {
    place_all_before(capture->graph, mark_of(capture, capture->origin));
    for (size_t i = 0; i < capture->n_marks; i++) {
        const struct cuda_mark *mark = &capture->mark[i];
        const struct CUstream_st *stream = cuda_object_find(call, mark->of, CUDA_KIND_STREAM);
        for (size_t k = 0; stream && stream->capture == capture && k < mark->n; k++)
            if (!mark->node[k]->is_placed)
                return false;
    }
    return true;
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
    bool is_good = is_joined(&call, capture);
    *graph = is_good ? capture->graph : NULL;
    if (!is_good && capture->owns_graph)
        cuda_graph_delete(call.state, capture->graph);
    leave_capture(&call, capture);
    for (size_t i = 0; i < capture->n_marks; i++)
        free(capture->mark[i].node);
    free(capture->mark);
    free(capture);
    return is_good ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
                                size_t *n_dependencies) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    *status = capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    if (!capture)
        return CUDA_SUCCESS;
    const struct cuda_mark *mark = mark_of(capture, stream);
    if (id)
        *id = capture->id;
    if (graph)
        *graph = capture->graph;
    if (dependencies)
        *dependencies = mark->n ? mark->node : NULL;
    if (edges)
        *edges = NULL;
    if (n_dependencies)
        *n_dependencies = mark->n;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return status ? cuStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                                           size_t n_dependencies, unsigned flags) {
    (void)edges; /* plain ones */
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if ((n_dependencies && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n_dependencies; i++) {
        const struct CUgraphNode_st *node = cuda_object_find(&call, dependencies[i], CUDA_KIND_GRAPH_NODE);
        if (!node || node->graph != capture->graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    struct cuda_mark *mark = mark_of(capture, stream);
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        mark->n = 0;
    for (size_t i = 0; i < n_dependencies; i++)
        add_to(mark, dependencies[i]);
    return CUDA_SUCCESS;
}

CUDA_ALIAS(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2);
CUDA_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2);
CUDA_ALIAS(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph);
CUDA_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture);
CUDA_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
CUDA_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3);
