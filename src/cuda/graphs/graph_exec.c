/* Executable graphs: instantiation, update, launch. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Orders the nodes: those without dependencies come first, in the order in which they were added. Returns NULL if the
 * graph has a cycle. */
static struct CUgraphNode_st **put_in_order(struct CUgraph_st *graph) {
    struct CUgraphNode_st **order = cuda_allocate((graph->n_nodes + 1) * sizeof(*order));
    size_t n = 0, before;
    for (size_t i = 0; i < graph->n_nodes; i++)
        graph->node[i]->is_placed = false;
    do {
        before = n;
        for (size_t i = 0; i < graph->n_nodes; i++) {
            struct CUgraphNode_st *node = graph->node[i];
            bool can_run = !node->is_placed;
            for (size_t k = 0; k < node->n_dependencies && can_run; k++)
                can_run = node->dependency[k]->is_placed;
            if (can_run) {
                node->is_placed = true;
                order[n++] = node;
            }
        }
    } while (n > before);
    if (n == graph->n_nodes)
        return order;
    free(order);
    return NULL;
}

/* ---- Instantiation ----------------------------------------------------------------------------------------------- */

void cuda_graph_exec_delete(struct cuda_state *state, struct CUgraphExec_st *executable) {
    cuda_graph_delete(state, executable->graph);
    free(executable->order);
    cuda_object_delete(state, executable);
}

CUresult cuGraphInstantiate(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraph_st *found = cuda_object_find(&call, graph, CUDA_KIND_GRAPH);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED,
                           "cuGraphInstantiate: a graph that kernels launch is not supported");
    if (!found || !executable)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraph_st *clone = cuda_graph_clone(&call, found);
    struct CUgraphNode_st **order = put_in_order(clone);
    if (!order) {
        cuda_graph_delete(call.state, clone);
        return cuda_refuse(&call, CUDA_ERROR_INVALID_VALUE, "cuGraphInstantiate: the graph has a cycle");
    }
    struct CUgraphExec_st *made = cuda_object_new(&call, CUDA_KIND_GRAPH_EXEC, sizeof(*made));
    made->object.context = NULL;
    made->graph = clone;
    made->order = order;
    made->flags = flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD; /* uploading does nothing */
    *executable = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
    if (!parameters)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuGraphInstantiate(executable, graph, parameters->flags);
    parameters->hErrNode_out = NULL;
    parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t *flags) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphExec_st *found = cuda_object_find(&call, executable, CUDA_KIND_GRAPH_EXEC);
    if (!found || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = found->flags;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphExec_st *found = cuda_object_find(&call, executable, CUDA_KIND_GRAPH_EXEC);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    cuda_graph_exec_delete(call.state, found);
    return CUDA_SUCCESS;
}

/* ---- Update ------------------------------------------------------------------------------------------------------ */

/* Nodes are compared in the order they were added. */
static CUgraphExecUpdateResult compare(const struct CUgraph_st *old, const struct CUgraph_st *new_graph,
                                       struct CUgraphNode_st **different) {
    *different = NULL;
    if (old->n_nodes != new_graph->n_nodes)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < old->n_nodes; i++) {
        *different = new_graph->node[i];
        if (old->node[i]->type != new_graph->node[i]->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (old->node[i]->n_dependencies != new_graph->node[i]->n_dependencies)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    *different = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* A graph of the same shape replaces the old one. Its nodes keep the old handles. */
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    CUDA_ENTER(call, cuda_enter());
    struct CUgraphExec_st *found = cuda_object_find(&call, executable, CUDA_KIND_GRAPH_EXEC);
    const struct CUgraph_st *source = cuda_object_find(&call, graph, CUDA_KIND_GRAPH);
    if (!found || !source || !info)
        return CUDA_ERROR_INVALID_VALUE;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    info->result = compare(found->graph, source, &info->errorNode);
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    struct CUgraph_st *clone = cuda_graph_clone(&call, source);
    struct CUgraphNode_st **order = put_in_order(clone);
    if (!order) {
        cuda_graph_delete(call.state, clone);
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    for (size_t i = 0; i < clone->n_nodes; i++)
        clone->node[i]->original = found->graph->node[i]->original;
    cuda_graph_delete(call.state, found->graph);
    free(found->order);
    found->graph = clone;
    found->order = order;
    return CUDA_SUCCESS;
}

/* The same for the graph of one node. */
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode handle, CUgraph graph) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphExec_st *found = cuda_object_find(&call, executable, CUDA_KIND_GRAPH_EXEC);
    const struct CUgraph_st *source = cuda_object_find(&call, graph, CUDA_KIND_GRAPH);
    struct CUgraphNode_st *node = found && handle ? cuda_graph_find_clone(found->graph, handle) : NULL, *different;
    if (!node || node->type != CU_GRAPH_NODE_TYPE_GRAPH || !source ||
        compare(node->child, source, &different) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUgraph_st *clone = cuda_graph_clone(&call, source);
    for (size_t i = 0; i < clone->n_nodes; i++)
        clone->node[i]->original = node->child->node[i]->original;
    clone->is_child = true;
    cuda_graph_delete(call.state, node->child);
    node->child = clone;
    return CUDA_SUCCESS;
}

/* ---- Launch ------------------------------------------------------------------------------------------------------ */

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static CUresult run_graph(struct CUgraph_st *graph, struct CUgraphNode_st *const *order, CUstream stream,
                          uint64_t ready);

static CUresult run_child(struct CUgraphNode_st *node, CUstream stream, uint64_t ready) {
    struct CUgraph_st *child = node->child;
    struct CUgraphNode_st **order = put_in_order(child);
    CUresult result = order ? run_graph(child, order, stream, ready) : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < child->n_nodes; i++)
        node->end = later(node->end, child->node[i]->end);
    free(order);
    return result;
}

/* Does the node's work. On the timeline it may start in cycle call->ready, and ends in cycle call->end. */
static CUresult do_work(struct cuda_call *call, struct CUgraphNode_st *node) {
    struct CUevent_st *event;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuda_find_function(call, node->kernel.function)
                   ? cuda_kernel_run(call, &node->kernel)
                   : CUDA_ERROR_INVALID_HANDLE; /* its module has been unloaded */
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuda_copy(call, &node->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuda_fill(call, &node->fill);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cuda_graph_run_allocation(call, node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuda_graph_run_free(call, node);
    case CU_GRAPH_NODE_TYPE_HOST:
        cuda_unlock(call);
        node->host.fn(node->host.userData);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        event = cuda_object_find(call, node->event, CUDA_KIND_EVENT);
        if (!event)
            return CUDA_ERROR_INVALID_HANDLE;
        cuda_event_record(call, event);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        event = cuda_object_find(call, node->event, CUDA_KIND_EVENT);
        call->end = event ? later(call->ready, event->cycle) : call->ready;
        cuda_stream_ends(call, call->stream, call->end);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}

/* The node's work may start in cycle `ready` of the timeline. */
static CUresult run_node(struct CUgraphNode_st *node, CUstream stream, uint64_t ready) {
    node->end = ready;
    if (node->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return run_child(node, stream, ready);
    CUDA_CALL call = cuda_enter_stream(stream);
    if (call.result != CUDA_SUCCESS || node->is_disabled)
        return call.result;
    call.ready = call.end = ready;
    CUresult result = do_work(&call, node);
    node->end = call.end;
    return result;
}

/* Host functions run without the lock. A program that destroys a graph while it runs has undefined behaviour with any
 * driver. */
static CUresult run_graph(struct CUgraph_st *graph, struct CUgraphNode_st *const *order, CUstream stream,
                          uint64_t ready) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        uint64_t start = ready;
        for (size_t k = 0; k < order[i]->n_dependencies; k++)
            start = later(start, order[i]->dependency[k]->end);
        CUresult result = run_node(order[i], stream, start);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* ---- Nodes at the same time ---------------------------------------------------------------------------------------
 */

static bool has_branches(const struct CUgraph_st *graph) {
    size_t n_first = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        n_first += graph->node[i]->n_dependencies != 1;
        for (size_t k = 0; k < i; k++)
            if (graph->node[i]->n_dependencies && graph->node[k]->n_dependencies &&
                graph->node[i]->dependency[0] == graph->node[k]->dependency[0])
                return true;
    }
    return n_first > 1;
}

/* Returns whether the graph has branches, and consists of kernels that can run beside others and of copies and fills.
 * *has_memory: some are copies or fills. */
static bool runs_together(struct cuda_call *call, const struct CUgraph_st *graph, bool *has_memory) {
    struct gpu_error error;
    size_t n_kernels = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *node = graph->node[i];
        struct gpu_launch launch = {0};
        bool is_kernel = node->type == CU_GRAPH_NODE_TYPE_KERNEL;
        bool is_memory = node->type == CU_GRAPH_NODE_TYPE_MEMCPY || node->type == CU_GRAPH_NODE_TYPE_MEMSET;
        if (is_kernel && cuda_find_function(call, node->kernel.function)) {
            launch = node->kernel.launch;
            cuda_choose_timing(call, node->kernel.function, (uint32_t)n_kernels, &launch);
        }
        n_kernels += is_kernel;
        *has_memory |= is_memory;
        if (!is_kernel && !is_memory && node->type != CU_GRAPH_NODE_TYPE_EMPTY)
            return false;
        if (is_kernel &&
            (!launch.kernel || !cuda_may_share(call, &launch) || !gpu_check_launch(call->gpu, &launch, &error)))
            return false;
    }
    return n_kernels > 1 && has_branches(graph);
}

/* A copy or fill of a node, and where its result goes. */
struct memory_work {
    struct CUgraphNode_st *node;
    CUresult *result;
};

static CUresult do_memory_work(struct cuda_call *call, const void *argument) {
    struct memory_work work;
    memcpy(&work, argument, sizeof(work));
    CUresult result = do_work(call, work.node);
    if (*work.result == CUDA_SUCCESS)
        *work.result = result;
    return result;
}

static uint32_t add_node(struct cuda_call *call, struct CUgraphNode_st *node, CUresult *result) {
    uint32_t task, n = (uint32_t)node->n_dependencies, *after = cuda_allocate((n + 1) * sizeof(*after));
    for (uint32_t k = 0; k < n; k++)
        after[k] = node->dependency[k]->task;
    if (node->is_disabled || node->type == CU_GRAPH_NODE_TYPE_EMPTY) {
        task = cuda_add_work(call, NULL, NULL, 0, after, n);
    } else if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        struct gpu_launch launch = node->kernel.launch;
        task = cuda_add_launch(call, &launch, after, n);
    } else {
        const struct memory_work work = {node, result};
        task = cuda_add_work(call, do_memory_work, &work, sizeof(work), after, n);
    }
    free(after);
    return task;
}

/* Leaves the nodes to the device, each after those it depends on. */
static CUresult run_together(struct cuda_call *call, struct CUgraph_st *graph, struct CUgraphNode_st *const *order,
                             bool has_memory) {
    CUresult result = CUDA_SUCCESS;
    uint32_t *task = cuda_allocate((graph->n_nodes + 1) * sizeof(*task));
    for (size_t i = 0; i < graph->n_nodes; i++)
        task[i] = order[i]->task = add_node(call, order[i], &result);
    cuda_wait_for_all(call, task, (uint32_t)graph->n_nodes);
    free(task);
    if (has_memory || !cuda_may_meet(call)) {
        cuda_settle(call);
        result = result == CUDA_SUCCESS && call->state->is_launch_blocking ? call->context->error : result;
    }
    return result;
}

static CUresult check(CUgraphExec executable, CUstream stream) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    return cuda_object_find(&call, executable, CUDA_KIND_GRAPH_EXEC) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Launches a graph whose nodes run together. In a captured stream the graph becomes a child of the one that is
 * recorded. Then *is_over; otherwise its nodes run one after the other, from cycle *ready on. */
static CUresult prepare_launch(const struct CUgraphExec_st *executable, CUstream stream, bool *is_over,
                               uint64_t *ready) {
    CUDA_CALL call = cuda_enter_waiting(stream);
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    bool has_memory = false;
    if (!capture && call.result == CUDA_SUCCESS && runs_together(&call, executable->graph, &has_memory)) {
        *is_over = true;
        return run_together(&call, executable->graph, executable->order, has_memory);
    }
    if (!capture && call.result == CUDA_SUCCESS && cuda_why_apart(call.state) && has_branches(executable->graph))
        call.state->apart.has_several = true;
    *is_over = capture || call.result != CUDA_SUCCESS || cuda_settle_stream(&call) != CUDA_SUCCESS;
    *ready = call.ready;
    if (*is_over && !capture)
        return call.result != CUDA_SUCCESS ? call.result : call.context->error;
    if (!capture && executable->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
        cuda_graph_free_left(&call, executable->graph);
    return capture ? cuda_capture_graph(&call, capture, executable->graph) : call.result;
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) { return check(executable, stream); }

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    CUresult result = check(executable, stream);
    if (result != CUDA_SUCCESS)
        return result;
    bool is_over;
    uint64_t ready;
    result = prepare_launch(executable, stream, &is_over, &ready);
    return is_over ? result : run_graph(executable->graph, executable->order, stream, ready);
}

CUDA_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch);
CUDA_ALIAS(cuGraphUpload_ptsz, cuGraphUpload);
CUDA_ALIAS(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams);
