/* Graphs: nodes run after their dependencies, updates reach executables, captures record instead of executing. */
#include <stdbool.h>

#include "cuda/fixture.h"

enum { N = 64 };

struct fixture {
    CUmodule module;
    CUfunction add;
    CUdeviceptr a, out;
    uint8_t b;
    uint32_t scale;
    uint64_t n;
    void *parameters[5];
    unsigned result[N];
};

static void prepare(struct fixture *f) {
    *f = (struct fixture){.b = 0, .scale = 10, .n = N};
    f->add = load_kernel(add_ptx, "add3", &f->module);
    assert_cuda(cuMemAlloc(&f->a, 4 * N));
    assert_cuda(cuMemAlloc(&f->out, 4 * N));
    void *parameters[] = {&f->out, &f->a, &f->b, &f->scale, &f->n};
    memcpy(f->parameters, parameters, sizeof(parameters));
}

static void expect_all(struct fixture *f, unsigned value) {
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(f->result[i], value);
    memset(f->result, 0, sizeof(f->result));
}

static CUDA_KERNEL_NODE_PARAMS kernel_node(struct fixture *f) {
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = f->add,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = N,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = f->parameters,
    };
}

static CUDA_MEMCPY3D copy_back(struct fixture *f) {
    return (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = f->out,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = f->result,
        .WidthInBytes = 4 * N,
        .Height = 1,
        .Depth = 1,
    };
}

static void count_call(void *user) { ++*(unsigned *)user; }

/* memset of a -> kernel -> copy -> host function, the nodes added from the last to the first. */
static CUgraph make_chain(struct fixture *f, CUgraphNode node[4], unsigned *n_calls) {
    CUgraph graph;
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(f);
    CUDA_MEMCPY3D copy = copy_back(f);
    const CUDA_MEMSET_NODE_PARAMS fill = {f->a, 0, 5, 4, N, 1};
    const CUDA_HOST_NODE_PARAMS host = {count_call, n_calls};
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphAddHostNode(&node[3], graph, NULL, 0, &host));
    assert_cuda(cuGraphAddMemcpyNode(&node[2], graph, NULL, 0, &copy, NULL));
    assert_cuda(cuGraphAddKernelNode(&node[1], graph, NULL, 0, &kernel));
    assert_cuda(cuGraphAddMemsetNode(&node[0], graph, NULL, 0, &fill, NULL));
    assert_cuda(cuGraphAddDependencies(graph, node, node + 1, NULL, 3));
    return graph;
}

static void nodes_run_after_what_they_depend_on(void **state) {
    (void)state;
    struct fixture f;
    CUgraphNode node[4], found[4], from[4], to[4];
    CUgraphExec executable;
    CUgraphNodeType type;
    unsigned n_calls = 0;
    size_t count = 0;
    prepare(&f);
    CUgraph graph = make_chain(&f, node, &n_calls);
    assert_cuda(cuGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 4);
    assert_cuda(cuGraphGetRootNodes(graph, found, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(found[0], node[0]);
    count = 4;
    assert_cuda(cuGraphGetEdges(graph, from, to, NULL, &count));
    assert_int_equal(count, 3);
    count = 4;
    assert_cuda(cuGraphNodeGetDependencies(node[2], found, NULL, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(found[0], node[1]);
    count = 4;
    assert_cuda(cuGraphNodeGetDependentNodes(node[2], found, NULL, &count));
    assert_ptr_equal(found[0], node[3]);
    assert_cuda(cuGraphNodeGetType(node[2], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphDestroy(graph)); /* the executable has its own copy */
    f.scale = 77;                       /* and of the parameters */
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 15);
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 15);
    assert_int_equal(n_calls, 2);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_int_equal(cuGraphLaunch(executable, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void a_cycle_cannot_be_instantiated(void **state) {
    (void)state;
    struct fixture f;
    CUgraphNode node[4];
    CUgraphExec executable;
    unsigned n_calls = 0;
    prepare(&f);
    CUgraph graph = make_chain(&f, node, &n_calls);
    assert_cuda(cuGraphAddDependencies(graph, &node[3], &node[0], NULL, 1));
    assert_int_equal(cuGraphInstantiate(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphRemoveDependencies(graph, &node[3], &node[0], NULL, 1));
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void executables_can_be_changed(void **state) {
    (void)state;
    struct fixture f;
    CUgraphNode node[4];
    CUgraphExec executable;
    CUgraphExecUpdateResultInfo info;
    CUDA_KERNEL_NODE_PARAMS kernel;
    unsigned n_calls = 0, is_enabled = 9;
    prepare(&f);
    CUgraph graph = make_chain(&f, node, &n_calls);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    f.scale = 20;
    kernel = kernel_node(&f);
    assert_cuda(cuGraphExecKernelNodeSetParams(executable, node[1], &kernel));
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 25);
    assert_cuda(cuGraphKernelNodeGetParams(node[1], &kernel)); /* the graph has not changed */
    assert_int_equal(*(uint32_t *)kernel.kernelParams[3], 10);
    *(uint32_t *)kernel.kernelParams[3] = 30;
    CUDA_KERNEL_NODE_PARAMS same = kernel;
    f.scale = 30;
    same.kernelParams = f.parameters;
    assert_cuda(cuGraphKernelNodeSetParams(node[1], &same));
    assert_cuda(cuGraphExecUpdate(executable, graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 35);
    assert_cuda(cuGraphNodeSetEnabled(executable, node[0], 0));
    assert_cuda(cuGraphNodeGetEnabled(executable, node[0], &is_enabled));
    assert_int_equal(is_enabled, 0);
    assert_cuda(cuMemsetD32(f.a, 1, N));
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 31);
    assert_cuda(cuGraphDestroyNode(node[3]));
    assert_int_equal(cuGraphExecUpdate(executable, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void a_graph_can_be_part_of_another(void **state) {
    (void)state;
    struct fixture f;
    CUgraphNode node[4], twice[2], empty;
    CUgraph whole, child = NULL;
    CUgraphExec executable;
    unsigned n_calls = 0;
    prepare(&f);
    CUgraph graph = make_chain(&f, node, &n_calls);
    assert_cuda(cuGraphCreate(&whole, 0));
    assert_cuda(cuGraphAddChildGraphNode(&twice[0], whole, NULL, 0, graph));
    assert_cuda(cuGraphAddEmptyNode(&empty, whole, &twice[0], 1));
    assert_cuda(cuGraphAddChildGraphNode(&twice[1], whole, &empty, 1, graph));
    assert_cuda(cuGraphChildGraphNodeGetGraph(twice[1], &child));
    assert_int_equal(cuGraphDestroy(child), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphInstantiate(&executable, whole, 0));
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 15);
    assert_int_equal(n_calls, 2);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(whole));
}

static unsigned first_of(const struct fixture *f) {
    unsigned value = 0;
    assert_cuda(cuMemcpyDtoH(&value, f->a, sizeof(value)));
    return value;
}

static void the_graph_of_a_node_can_be_replaced_by_one_of_its_shape(void **state) {
    (void)state;
    struct fixture f;
    CUgraphNode node, part, other_part;
    CUgraph whole, graph, other, empty;
    CUgraphExec executable;
    prepare(&f);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = f.a, .value = 3, .elementSize = 4, .width = N, .height = 1};
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphCreate(&other, 0));
    assert_cuda(cuGraphCreate(&empty, 0));
    assert_cuda(cuGraphCreate(&whole, 0));
    assert_cuda(cuGraphAddMemsetNode(&part, graph, NULL, 0, &fill, NULL));
    fill.value = 9;
    assert_cuda(cuGraphAddMemsetNode(&other_part, other, NULL, 0, &fill, NULL));
    assert_cuda(cuGraphAddChildGraphNode(&node, whole, NULL, 0, graph));
    assert_cuda(cuGraphInstantiate(&executable, whole, 0));
    assert_int_equal(cuGraphExecChildGraphNodeSetParams(executable, node, empty), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphExecChildGraphNodeSetParams(executable, part, other), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(first_of(&f), 3);
    assert_cuda(cuGraphExecChildGraphNodeSetParams(executable, node, other));
    assert_cuda(cuGraphDestroy(other));
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(first_of(&f), 9);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(whole));
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphDestroy(empty));
}

static void a_captured_stream_records_and_does_nothing(void **state) {
    (void)state;
    struct fixture f;
    CUstream stream, other;
    CUevent forked, joined;
    CUgraph graph;
    CUgraphExec executable;
    CUstreamCaptureStatus status;
    unsigned n_calls = 0;
    size_t count = 0;
    prepare(&f);
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    assert_cuda(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
    assert_int_equal(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuStreamIsCapturing(stream, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_cuda(cuMemsetD32Async(f.a, 7, N, stream));
    assert_cuda(cuEventRecord(forked, stream));
    assert_cuda(cuStreamWaitEvent(other, forked, 0));
    assert_cuda(cuLaunchKernel(f.add, 1, 1, 1, N, 1, 1, 0, other, f.parameters, NULL));
    assert_cuda(cuEventRecord(joined, other));
    assert_int_equal(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    assert_cuda(cuStreamWaitEvent(stream, joined, 0));
    assert_cuda(cuMemcpyDtoHAsync(f.result, f.out, 4 * N, stream));
    assert_cuda(cuLaunchHostFunc(stream, count_call, &n_calls));
    expect_all(&f, 0);
    assert_int_equal(n_calls, 0);
    assert_cuda(cuStreamEndCapture(stream, &graph));
    assert_cuda(cuStreamIsCapturing(other, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_cuda(cuGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 4);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, stream));
    expect_all(&f, 17);
    assert_int_equal(n_calls, 1);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

/* Returns whether the graph has an edge between these nodes. */
static bool has_edge(CUgraph graph, CUgraphNode from, CUgraphNode to) {
    CUgraphNode first[16], second[16];
    size_t n = 16;
    assert_cuda(cuGraphGetEdges(graph, first, second, NULL, &n));
    for (size_t i = 0; i < n; i++)
        if (first[i] == from && second[i] == to)
            return true;
    return false;
}

/* Two branches after the first node, one of them with two nodes, and a node after both. */
static void captured_streams_become_branches(void **state) {
    (void)state;
    struct fixture f;
    CUstream stream, other, third;
    CUevent forked, joined;
    CUgraph graph;
    CUgraphNode node[5];
    size_t n = 5, n_edges = 0;
    prepare(&f);
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    assert_cuda(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuMemsetD32Async(f.a, 7, N, stream)); /* 0 */
    assert_cuda(cuEventRecord(forked, stream));
    assert_cuda(cuMemsetD32Async(f.out, 1, N, stream)); /* 1 */
    assert_cuda(cuStreamWaitEvent(other, forked, 0));
    assert_cuda(cuMemsetD32Async(f.a, 2, N, other)); /* 2 */
    assert_cuda(cuMemsetD32Async(f.a, 3, N, other)); /* 3 */
    assert_cuda(cuEventRecord(joined, other));
    assert_cuda(cuStreamWaitEvent(stream, joined, 0));
    assert_cuda(cuStreamWaitEvent(stream, forked, 0));
    assert_cuda(cuMemsetD32Async(f.out, 4, N, stream)); /* 4: after 1, 3 and, as the program says, 0 */
    assert_cuda(cuStreamWaitEvent(third, joined, 0));   /* no node of its own */
    assert_int_equal(cuStreamBeginCapture(third, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
    assert_cuda(cuStreamEndCapture(stream, &graph));
    assert_cuda(cuGraphGetNodes(graph, node, &n));
    assert_int_equal(n, 5);
    assert_cuda(cuGraphGetEdges(graph, NULL, NULL, NULL, &n_edges));
    assert_int_equal(n_edges, 6);
    assert_true(has_edge(graph, node[0], node[1]) && has_edge(graph, node[0], node[2]));
    assert_true(has_edge(graph, node[2], node[3]) && has_edge(graph, node[1], node[4]));
    assert_true(has_edge(graph, node[3], node[4]) && has_edge(graph, node[0], node[4]));
    assert_cuda(cuGraphDestroy(graph));
}

static void a_branch_that_is_not_joined_ends_the_capture_with_an_error(void **state) {
    (void)state;
    struct fixture f;
    CUstream stream, other, apart;
    CUevent forked, foreign;
    CUgraph graph;
    CUstreamCaptureStatus status;
    prepare(&f);
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    assert_cuda(cuEventCreate(&foreign, CU_EVENT_DISABLE_TIMING));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuMemsetD32Async(f.a, 7, N, stream));
    assert_cuda(cuEventRecord(forked, stream));
    assert_cuda(cuStreamWaitEvent(other, forked, 0));
    assert_cuda(cuMemsetD32Async(f.a, 2, N, other));
    assert_cuda(cuStreamBeginCapture(apart, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuEventRecord(foreign, apart));
    assert_int_equal(cuStreamWaitEvent(stream, foreign, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert_null(graph);
    assert_cuda(cuStreamIsCapturing(other, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_cuda(cuStreamEndCapture(apart, &graph));
    assert_cuda(cuGraphDestroy(graph));
}

static void count_destroyed(void *user) { ++*(unsigned *)user; }

static void a_user_object_goes_with_the_last_graph_that_holds_it(void **state) {
    (void)state;
    unsigned n_destroyed = 0;
    CUuserObject object;
    CUgraph graph, clone;
    CUgraphExec executable;
    assert_int_equal(cuUserObjectCreate(&object, &n_destroyed, count_destroyed, 1, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuUserObjectCreate(&object, &n_destroyed, count_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    assert_cuda(cuGraphRetainUserObject(graph, object, 2, 0));
    assert_cuda(cuGraphClone(&clone, graph));
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_int_equal(cuGraphReleaseUserObject(graph, object, 4), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphReleaseUserObject(graph, object, 3));
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphDestroy(clone));
    assert_int_equal(n_destroyed, 0);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_int_equal(n_destroyed, 1);
    assert_int_equal(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
}

static void nodes_keep_events_and_attributes(void **state) {
    (void)state;
    struct fixture f;
    unsigned n_calls = 0;
    CUgraphNode node[4], record, kernel;
    CUevent first, second, got;
    CUgraphExec executable;
    CUlaunchAttributeValue value = {.priority = 3}, back = {.priority = 0};
    prepare(&f);
    CUgraph graph = make_chain(&f, node, &n_calls);
    assert_cuda(cuEventCreate(&first, 0));
    assert_cuda(cuEventCreate(&second, 0));
    assert_cuda(cuGraphAddEventRecordNode(&record, graph, &node[3], 1, first));
    assert_cuda(cuGraphEventRecordNodeSetEvent(record, second));
    assert_cuda(cuGraphEventRecordNodeGetEvent(record, &got));
    assert_ptr_equal(got, second);
    assert_int_equal(cuGraphEventWaitNodeGetEvent(record, &got), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphKernelNodeSetAttribute(node[1], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CUDA_KERNEL_NODE_PARAMS parameters = kernel_node(&f);
    assert_cuda(cuGraphAddKernelNode(&kernel, graph, NULL, 0, &parameters));
    assert_cuda(cuGraphKernelNodeCopyAttributes(kernel, node[1]));
    assert_cuda(cuGraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
    assert_int_equal(back.priority, 3);
    assert_int_equal(cuGraphKernelNodeGetAttribute(node[0], CU_LAUNCH_ATTRIBUTE_PRIORITY, &back),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphExecEventRecordNodeSetEvent(executable, record, first));
    assert_cuda(cuGraphLaunch(executable, NULL));
    float ms;
    assert_cuda(cuEventElapsedTime(&ms, first, first));
    assert_int_equal(cuEventElapsedTime(&ms, second, second), CUDA_ERROR_INVALID_HANDLE); /* not recorded */
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void a_node_of_the_program_can_join_a_capture(void **state) {
    (void)state;
    CUstream stream;
    CUgraph graph, other;
    CUgraphNode empty, foreign;
    const CUgraphNode *dependencies;
    CUstreamCaptureStatus status;
    CUdeviceptr memory;
    size_t n = 0, n_edges = 0;
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    assert_cuda(cuMemAlloc(&memory, 4));
    assert_cuda(cuGraphCreate(&other, 0));
    assert_cuda(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    assert_int_equal(cuStreamUpdateCaptureDependencies(stream, &foreign, NULL, 1, 0), CUDA_ERROR_ILLEGAL_STATE);
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuMemsetD32Async(memory, 1, 1, stream));
    assert_cuda(cuStreamGetCaptureInfo(stream, &status, NULL, &graph, &dependencies, NULL, &n));
    assert_cuda(cuGraphAddEmptyNode(&empty, graph, dependencies, n));
    assert_int_equal(cuStreamUpdateCaptureDependencies(stream, &foreign, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamUpdateCaptureDependencies(stream, &empty, NULL, 1, 2), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuStreamUpdateCaptureDependencies(stream, &empty, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    assert_cuda(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &dependencies, NULL, &n));
    assert_int_equal(n, 1);
    assert_ptr_equal(dependencies[0], empty);
    assert_cuda(cuMemsetD32Async(memory, 2, 1, stream));
    assert_cuda(cuStreamEndCapture(stream, &graph));
    assert_cuda(cuGraphGetEdges(graph, NULL, NULL, NULL, &n_edges));
    assert_int_equal(n_edges, 2);
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuGraphDestroy(other));
    assert_cuda(cuMemFree(memory));
    assert_cuda(cuStreamDestroy(stream));
}

static void a_stream_can_be_captured_to_a_graph(void **state) {
    (void)state;
    struct fixture f;
    unsigned n_calls = 0;
    CUgraphNode node[4];
    CUstream stream;
    CUgraph same;
    CUgraphExec executable;
    prepare(&f);
    CUgraph graph = make_chain(&f, node, &n_calls);
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_int_equal(cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuStreamBeginCaptureToGraph(stream, graph, &node[3], NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_cuda(cuLaunchHostFunc(stream, count_call, &n_calls));
    assert_cuda(cuStreamEndCapture(stream, &same));
    assert_ptr_equal(same, graph);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(n_calls, 2);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void one_function_adds_nodes_of_every_kind(void **state) {
    (void)state;
    struct fixture f;
    unsigned n_calls = 0;
    CUgraph graph, child;
    CUgraphExec executable;
    CUgraphNode node[8];
    prepare(&f);
    CUgraphNodeParams fill = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .memset = {f.a, 0, 5, 4, N, 1}};
    CUgraphNodeParams kernel = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = kernel_node(&f)};
    CUgraphNodeParams copy = {.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy.copyParams = copy_back(&f)};
    CUgraphNodeParams host = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {count_call, &n_calls}};
    CUgraphNodeParams allocate = {
        .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                  .bytesize = 4096},
    };
    assert_cuda(cuGraphCreate(&child, 0));
    assert_cuda(cuGraphAddNode(&node[0], child, NULL, NULL, 0, &host));
    CUgraphNodeParams whole = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = child};
    CUgraphNodeParams other = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphAddNode(&node[0], graph, NULL, NULL, 0, &fill));
    assert_cuda(cuGraphAddNode(&node[1], graph, &node[0], NULL, 1, &kernel));
    assert_cuda(cuGraphAddNode(&node[2], graph, &node[1], NULL, 1, &copy));
    assert_cuda(cuGraphAddNode(&node[3], graph, &node[2], NULL, 1, &host));
    assert_cuda(cuGraphAddNode(&node[4], graph, &node[3], NULL, 1, &whole));
    assert_cuda(cuGraphAddNode(&node[5], graph, &node[4], NULL, 1, &allocate));
    CUgraphNodeParams release = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = allocate.alloc.dptr};
    assert_cuda(cuGraphAddNode(&node[6], graph, &node[5], NULL, 1, &release));
    char text[256];
    struct capture capture = capture_stderr();
    CUresult result = cuGraphAddNode(&node[7], graph, NULL, NULL, 0, &other);
    read_stderr(&capture, text, sizeof(text));
    assert_int_equal(result, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(text, "heddle: cuGraphAddNode: nodes of type 13 are not supported\n");
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 15);
    assert_int_equal(n_calls, 2);
    fill.memset.value = 6;
    assert_cuda(cuGraphExecNodeSetParams(executable, node[0], &fill));
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 16);
    assert_cuda(cuGraphExecDestroy(executable));
    fill.memset.value = 7;
    assert_cuda(cuGraphNodeSetParams(node[0], &fill));
    assert_int_equal(cuGraphNodeSetParams(node[6], &release), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, NULL));
    expect_all(&f, 17);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(child));
    assert_cuda(cuGraphDestroy(graph));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(one_function_adds_nodes_of_every_kind),
        context_test(nodes_run_after_what_they_depend_on),
        context_test(a_cycle_cannot_be_instantiated),
        context_test(executables_can_be_changed),
        context_test(a_graph_can_be_part_of_another),
        context_test(the_graph_of_a_node_can_be_replaced_by_one_of_its_shape),
        context_test(a_captured_stream_records_and_does_nothing),
        context_test(captured_streams_become_branches),
        context_test(a_branch_that_is_not_joined_ends_the_capture_with_an_error),
        context_test(a_user_object_goes_with_the_last_graph_that_holds_it),
        context_test(nodes_keep_events_and_attributes),
        context_test(a_node_of_the_program_can_join_a_capture),
        context_test(a_stream_can_be_captured_to_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
