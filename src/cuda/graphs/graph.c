/* Graphs and their nodes: creation, edges, queries. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>
#include <string.h>

static void *grow(void *list, size_t count, size_t bytes) {
    void *larger = cuda_allocate((count + 1) * bytes);
    if (count)
        memcpy(larger, list, count * bytes);
    free(list);
    return larger;
}

static struct CUgraph_st *find_graph(const struct cuda_call *call, CUgraph graph) {
    return cuda_object_find(call, graph, CUDA_KIND_GRAPH);
}

static struct CUgraphNode_st *find_node(const struct cuda_call *call, CUgraphNode node) {
    return cuda_object_find(call, node, CUDA_KIND_GRAPH_NODE);
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

struct CUgraph_st *cuda_graph_new(struct cuda_call *call) {
    struct CUgraph_st *graph = cuda_object_new(call, CUDA_KIND_GRAPH, sizeof(*graph));
    graph->object.context = NULL; /* graphs outlive contexts */
    return graph;
}

static void delete_node(struct cuda_state *state, struct CUgraphNode_st *node) {
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
        free(node->kernel.launch.parameters);
    if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->child)
        cuda_graph_delete(state, node->child);
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        cuda_graph_leave_block(state, node->memory);
    free(node->pointer);
    free(node->dependency);
    cuda_object_delete(state, node);
}

void cuda_graph_delete(struct cuda_state *state, struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->n_nodes; i++)
        delete_node(state, graph->node[i]);
    cuda_graph_let_go(state, graph);
    free(graph->node);
    cuda_object_delete(state, graph);
}

static void depend(struct CUgraphNode_st *node, struct CUgraphNode_st *on) {
    node->dependency = grow(node->dependency, node->n_dependencies, sizeof(*node->dependency));
    node->dependency[node->n_dependencies++] = on;
}

struct CUgraphNode_st *cuda_graph_add(struct cuda_call *call, struct CUgraph_st *graph, CUgraphNodeType type,
                                      struct CUgraphNode_st *const *dependency, size_t n_dependencies,
                                      CUresult *result) {
    *result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n_dependencies; i++)
        if (!dependency || !find_node(call, dependency[i]) || dependency[i]->graph != graph)
            return NULL;
    struct CUgraphNode_st *node = cuda_object_new(call, CUDA_KIND_GRAPH_NODE, sizeof(*node));
    node->object.context = NULL;
    node->graph = graph;
    node->type = type;
    for (size_t i = 0; i < n_dependencies; i++)
        depend(node, dependency[i]);
    graph->node = grow(graph->node, graph->n_nodes, sizeof(*graph->node));
    graph->node[graph->n_nodes++] = node;
    *result = CUDA_SUCCESS;
    return node;
}

struct CUgraphNode_st *cuda_graph_find_clone(const struct CUgraph_st *graph, const struct CUgraphNode_st *original) {
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->node[i]->original == original)
            return graph->node[i];
    return NULL;
}

static void copy_work(struct cuda_call *call, struct CUgraphNode_st *to, const struct CUgraphNode_st *from) {
    to->is_disabled = from->is_disabled;
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        to->kernel = from->kernel;
        memcpy(to->attribute, from->attribute, sizeof(to->attribute));
        to->kernel.launch.parameters = cuda_allocate(from->kernel.launch.parameter_bytes);
        memcpy(to->kernel.launch.parameters, from->kernel.launch.parameters, from->kernel.launch.parameter_bytes);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        to->copy = from->copy;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        to->fill = from->fill;
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        to->host = from->host;
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        to->child = cuda_graph_clone(call, from->child);
        to->child->is_child = true;
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        to->memory = from->memory;
        cuda_graph_keep_block(call->state, to->memory);
        break;
    default:
        to->event = from->event;
    }
}

struct CUgraph_st *cuda_graph_clone(struct cuda_call *call, const struct CUgraph_st *graph) {
    struct CUgraph_st *clone = cuda_graph_new(call);
    CUresult result;
    cuda_graph_hold_like(clone, graph);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        struct CUgraphNode_st *node = cuda_graph_add(call, clone, graph->node[i]->type, NULL, 0, &result);
        copy_work(call, node, graph->node[i]);
        node->original = graph->node[i];
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->node[i]->n_dependencies; k++)
            depend(clone->node[i], cuda_graph_find_clone(clone, graph->node[i]->dependency[k]));
    return clone;
}

CUresult cuda_graph_set_kernel(struct cuda_call *call, struct CUgraphNode_st *node, const CUDA_KERNEL_NODE_PARAMS *p) {
    const struct exec_shape shape = {
        .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
        .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
        .dynamic_shared_bytes = p->sharedMemBytes,
    };
    struct cuda_kernel_work work;
    CUfunction function = p->func ? p->func : (CUfunction)(void *)p->kern;
    CUresult result = cuda_kernel_prepare(call, &work, function, &shape, p->kernelParams, p->extra);
    if (result != CUDA_SUCCESS) /* no node has an invalid handle */
        return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
    free(node->kernel.launch.parameters);
    free(node->pointer);
    node->pointer = NULL;
    node->kernel = work;
    return CUDA_SUCCESS;
}

/* ---- The API: graphs and nodes ----------------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    CUDA_ENTER(call, cuda_enter());
    if (!graph || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = cuda_graph_new(&call);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraph_st *found = find_graph(&call, graph);
    if (!found || found->is_child)
        return CUDA_ERROR_INVALID_VALUE;
    cuda_graph_delete(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraph_st *found = find_graph(&call, graph);
    if (!found || !clone)
        return CUDA_ERROR_INVALID_VALUE;
    *clone = cuda_graph_clone(&call, found);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraph_st *found = find_graph(&call, clone);
    if (!found || !node || !original)
        return CUDA_ERROR_INVALID_VALUE;
    *node = cuda_graph_find_clone(found, original);
    return *node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Adds a node and calls `set` to define its work. Removes the node if that fails. */
static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                    CUgraphNodeType type, const void *parameters,
                    CUresult (*set)(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters)) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraph_st *found = find_graph(&call, graph);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (!found || !node || (set && !parameters))
        return result;
    struct CUgraphNode_st *added = cuda_graph_add(&call, found, type, dependencies, n_dependencies, &result);
    if (!added)
        return result;
    if (set)
        result = set(&call, added, parameters);
    if (result == CUDA_SUCCESS) {
        *node = added;
        return result;
    }
    added->type = CU_GRAPH_NODE_TYPE_EMPTY;
    found->n_nodes--;
    delete_node(call.state, added);
    return result;
}

static CUresult set_kernel(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    return cuda_graph_set_kernel(call, node, parameters);
}

static CUresult set_copy(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    (void)call;
    node->copy = *(const CUDA_MEMCPY3D *)parameters;
    return CUDA_SUCCESS;
}

static CUresult set_fill(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    (void)call;
    node->fill = *(const CUDA_MEMSET_NODE_PARAMS *)parameters;
    unsigned bytes = node->fill.elementSize;
    return bytes == 1 || bytes == 2 || bytes == 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_host(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    (void)call;
    node->host = *(const CUDA_HOST_NODE_PARAMS *)parameters;
    return node->host.fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_child(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    const struct CUgraph_st *child = find_graph(call, (CUgraph)(uintptr_t)parameters);
    if (!child || child == node->graph)
        return CUDA_ERROR_INVALID_VALUE;
    node->child = cuda_graph_clone(call, child);
    node->child->is_child = true;
    return CUDA_SUCCESS;
}

static CUresult set_event(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    node->event = (CUevent)(uintptr_t)parameters;
    return cuda_object_find(call, parameters, CUDA_KIND_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                              const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_KERNEL, parameters, set_kernel);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                              const CUDA_MEMCPY3D *copy, CUcontext context) {
    (void)context;
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_MEMCPY, copy, set_copy);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context) {
    (void)context;
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_MEMSET, parameters, set_fill);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                            const CUDA_HOST_NODE_PARAMS *parameters) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_HOST, parameters, set_host);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_EMPTY, NULL, NULL);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t n_dependencies, CUgraph child) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_GRAPH, child, set_child);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t n_dependencies, CUevent event) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, set_event);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t n_dependencies, CUevent event) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, set_event);
}

static CUresult set_allocation(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    const CUDA_MEM_ALLOC_NODE_PARAMS *p = parameters;
    if (p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || p->poolProps.location.id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return cuda_graph_reserve(call, node, p->bytesize);
}

static CUresult set_free(struct cuda_call *call, struct CUgraphNode_st *node, const void *parameters) {
    node->memory = *(const CUdeviceptr *)parameters;
    if (!cuda_graph_is_block(call, node->memory))
        return CUDA_ERROR_INVALID_VALUE;
    cuda_graph_keep_block(call->state, node->memory);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t n_dependencies, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    CUresult result =
        add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_MEM_ALLOC, parameters, set_allocation);
    if (result == CUDA_SUCCESS)
        parameters->dptr = ((const struct CUgraphNode_st *)*node)->memory;
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n_dependencies,
                               CUdeviceptr address) {
    return add(node, graph, dependencies, n_dependencies, CU_GRAPH_NODE_TYPE_MEM_FREE, &address, set_free);
}

static void forget(struct CUgraphNode_st *node, const struct CUgraphNode_st *on) {
    size_t n = 0;
    for (size_t i = 0; i < node->n_dependencies; i++)
        if (node->dependency[i] != on)
            node->dependency[n++] = node->dependency[i];
    node->n_dependencies = n;
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphNode_st *found = find_node(&call, node);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraph_st *graph = found->graph;
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        forget(graph->node[i], found);
        if (graph->node[i] != found)
            graph->node[n++] = graph->node[i];
    }
    graph->n_nodes = n;
    delete_node(call.state, found);
    return CUDA_SUCCESS;
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* Edge data asks for launches that overlap, which never happens here. */
static CUresult change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count, bool adds) {
    CUDA_ENTER(call, cuda_enter());
    if (!find_graph(&call, graph) || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        const struct CUgraphNode_st *before = find_node(&call, from[i]), *after = find_node(&call, to[i]);
        if (!before || !after || before->graph != graph || after->graph != graph || before == after)
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; i++) {
        forget(to[i], from[i]);
        if (adds)
            depend(to[i], from[i]);
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                const CUgraphEdgeData *data, size_t count) {
    (void)data;
    return change_edges(graph, from, to, count, true);
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count) {
    (void)data;
    return change_edges(graph, from, to, count, false);
}

/* A list for the caller. *count is its capacity, and becomes the number of items if there is no list or it has room for
 * more. */
struct list {
    CUgraphNode *node, *other;
    CUgraphEdgeData *data;
    size_t room, n;
};

static void put(struct list *list, struct CUgraphNode_st *node, struct CUgraphNode_st *other) {
    if (list->n < list->room) {
        if (list->node)
            list->node[list->n] = node;
        if (list->other)
            list->other[list->n] = other;
        if (list->data)
            memset(&list->data[list->n], 0, sizeof(*list->data));
    }
    list->n++;
}

static void end_list(const struct list *list, size_t *count) {
    for (size_t i = list->n; i < list->room && list->node; i++)
        list->node[i] = NULL;
    *count = list->node && list->n > list->room ? list->room : list->n;
}

static CUresult list_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count, bool only_roots) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraph_st *found = find_graph(&call, graph);
    if (!found || !count)
        return CUDA_ERROR_INVALID_VALUE;
    struct list list = {.node = nodes, .room = nodes ? *count : 0};
    for (size_t i = 0; i < found->n_nodes; i++)
        if (!only_roots || !found->node[i]->n_dependencies)
            put(&list, found->node[i], NULL);
    end_list(&list, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    return list_nodes(graph, nodes, count, false);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    return list_nodes(graph, nodes, count, true);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraph_st *found = find_graph(&call, graph);
    if (!found || !count || !from != !to)
        return CUDA_ERROR_INVALID_VALUE;
    struct list list = {.node = from, .other = to, .data = data, .room = from ? *count : 0};
    for (size_t i = 0; i < found->n_nodes; i++)
        for (size_t k = 0; k < found->node[i]->n_dependencies; k++)
            put(&list, found->node[i]->dependency[k], found->node[i]);
    end_list(&list, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *found = find_node(&call, node);
    if (!found || !count)
        return CUDA_ERROR_INVALID_VALUE;
    struct list list = {.node = nodes, .data = data, .room = nodes ? *count : 0};
    for (size_t i = 0; i < found->n_dependencies; i++)
        put(&list, found->dependency[i], NULL);
    end_list(&list, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *found = find_node(&call, node);
    if (!found || !count)
        return CUDA_ERROR_INVALID_VALUE;
    struct list list = {.node = nodes, .data = data, .room = nodes ? *count : 0};
    for (size_t i = 0; i < found->graph->n_nodes; i++)
        for (size_t k = 0; k < found->graph->node[i]->n_dependencies; k++)
            if (found->graph->node[i]->dependency[k] == found)
                put(&list, found->graph->node[i], NULL);
    end_list(&list, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *found = find_node(&call, node);
    if (!found || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = found->type;
    return CUDA_SUCCESS;
}
