/* User objects: resources of the program that graphs hold on to. Each has a reference count. Graphs, their clones and
 * executables hold references. The destructor runs when the last reference is released. It must not call CUDA, so it
 * may run inside a call. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>
#include <string.h>

struct CUuserObject_st {
    struct cuda_object object;
    void *resource;
    CUhostFn destroy;
    unsigned n_references;
};

static struct CUuserObject_st *find(const struct cuda_call *call, CUuserObject handle) {
    return cuda_object_find(call, handle, CUDA_KIND_USER_OBJECT);
}

static void release(struct cuda_state *state, struct CUuserObject_st *object, unsigned count) {
    object->n_references -= count < object->n_references ? count : object->n_references;
    if (object->n_references)
        return;
    object->destroy(object->resource);
    cuda_object_delete(state, object);
}

/* ---- Graphs ----------------------------------------------------------------------------------------------------- */

static struct cuda_graph_held *held_by(struct CUgraph_st *graph, const struct CUuserObject_st *object) {
    for (size_t i = 0; i < graph->n_held; i++)
        if (graph->held[i].object == object)
            return &graph->held[i];
    return NULL;
}

static void hold(struct CUgraph_st *graph, struct CUuserObject_st *object, unsigned count) {
    struct cuda_graph_held *held = held_by(graph, object);
    if (!held) {
        struct cuda_graph_held *larger = cuda_allocate((graph->n_held + 1) * sizeof(*larger));
        if (graph->n_held)
            memcpy(larger, graph->held, graph->n_held * sizeof(*larger));
        free(graph->held);
        graph->held = larger;
        held = &larger[graph->n_held++];
        *held = (struct cuda_graph_held){object, 0};
    }
    held->count += count;
}

void cuda_graph_hold_like(struct CUgraph_st *to, const struct CUgraph_st *from) {
    for (size_t i = 0; i < from->n_held; i++) {
        from->held[i].object->n_references += from->held[i].count;
        hold(to, from->held[i].object, from->held[i].count);
    }
}

void cuda_graph_let_go(struct cuda_state *state, struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->n_held; i++)
        release(state, graph->held[i].object, graph->held[i].count);
    free(graph->held);
}

/* ---- The API ---------------------------------------------------------------------------------------------------- */

CUresult cuUserObjectCreate(CUuserObject *object, void *resource, CUhostFn destroy, unsigned count, unsigned flags) {
    CUDA_ENTER(call, cuda_enter());
    if (!object || !destroy || !count || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUuserObject_st *made = cuda_object_new(&call, CUDA_KIND_USER_OBJECT, sizeof(*made));
    made->object.context = NULL;
    made->resource = resource;
    made->destroy = destroy;
    made->n_references = count;
    *object = made;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
    CUDA_ENTER(call, cuda_enter());
    struct CUuserObject_st *object = find(&call, handle);
    if (!object || !count)
        return CUDA_ERROR_INVALID_VALUE;
    object->n_references += count;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
    CUDA_ENTER(call, cuda_enter());
    struct CUuserObject_st *object = find(&call, handle);
    if (!object || !count || count > object->n_references)
        return CUDA_ERROR_INVALID_VALUE;
    release(call.state, object, count);
    return CUDA_SUCCESS;
}

/* With CU_GRAPH_USER_OBJECT_MOVE the caller's references become the graph's. */
CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject user, unsigned count, unsigned flags) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraph_st *graph = cuda_object_find(&call, handle, CUDA_KIND_GRAPH);
    struct CUuserObject_st *object = find(&call, user);
    if (!graph || !object || !count || flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
        object->n_references += count;
    hold(graph, object, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject user, unsigned count) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraph_st *graph = cuda_object_find(&call, handle, CUDA_KIND_GRAPH);
    struct CUuserObject_st *object = find(&call, user);
    struct cuda_graph_held *held = graph && object ? held_by(graph, object) : NULL;
    if (!held || !count || count > held->count)
        return CUDA_ERROR_INVALID_VALUE;
    held->count -= count;
    if (!held->count)
        *held = graph->held[--graph->n_held];
    release(call.state, object, count);
    return CUDA_SUCCESS;
}
