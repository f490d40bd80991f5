/* Tests of graphs: captured from a stream, and made node by node. */
#include "cudart/fixture.h"

static char unregistered; /* neither a function nor a variable of the program */

static void a_captured_launch_runs_when_its_graph_does(void **state) {
    (void)state;
    uint32_t values[4] = {1, 2, 3, 4}, factor = 10;
    void *data, *arguments[] = {&data, &factor};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCaptureStatus status;
    size_t n_nodes = 0;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMalloc(&data, sizeof values));
    assert_ok(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
    assert_ok(cudaStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_ok(cudaLaunchKernel(&scale, (dim3){1, 1, 1}, (dim3){4, 1, 1}, arguments, 0, stream));
    assert_ok(cudaMemcpyAsync(values, data, sizeof values, cudaMemcpyDeviceToHost, stream));
    assert_ok(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(values[0], 1);
    assert_ok(cudaGraphGetNodes(graph, NULL, &n_nodes));
    assert_int_equal(n_nodes, 2);
    assert_ok(cudaGraphInstantiate(&executable, graph, 0));
    assert_ok(cudaGraphLaunch(executable, stream));
    assert_int_equal(values[3], 47);
    assert_ok(cudaGraphLaunch(executable, stream));
    assert_int_equal(values[0], 177);
    assert_ok(cudaGraphExecDestroy(executable));
    assert_ok(cudaGraphDestroy(graph));
}

static void count(void *calls) { ++*(int *)calls; }

static void nodes_run_in_the_order_of_their_dependencies(void **state) {
    (void)state;
    uint32_t values[4] = {0}, factor = 2;
    int calls = 0;
    void *data, *arguments[] = {&data, &factor};
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t set, kernel, copy, host;
    assert_ok(cudaMalloc(&data, sizeof values));
    const struct cudaMemsetParams three = {.dst = data, .value = 3, .elementSize = 4, .width = 4, .height = 1};
    const struct cudaHostNodeParams call = {count, &calls};
    struct cudaKernelNodeParams launch_scale = {
        .func = &scale, .gridDim = {1, 1, 1}, .blockDim = {4, 1, 1}, .kernelParams = arguments};
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, values, data, sizeof values, cudaMemcpyDeviceToHost));
    assert_ok(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &launch_scale));
    assert_ok(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &three));
    assert_ok(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    assert_ok(cudaGraphAddDependencies(graph, &set, &kernel, NULL, 1));
    assert_ok(cudaGraphAddDependencies(graph, &kernel, &copy, NULL, 1));
    assert_ok(cudaGraphInstantiate(&executable, graph, 0));
    assert_ok(cudaGraphLaunch(executable, NULL));
    assert_int_equal(values[2], 3 * 2 + 7);
    factor = 5;
    assert_ok(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch_scale));
    assert_ok(cudaGraphLaunch(executable, NULL));
    assert_int_equal(values[2], 3 * 5 + 7);
    assert_int_equal(calls, 2);
    launch_scale.func = &unregistered;
    assert_error(cudaErrorInvalidDeviceFunction, cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &launch_scale));
}

static void one_function_adds_nodes_of_every_kind(void **state) {
    (void)state;
    uint32_t values[4] = {0}, factor = 4;
    int calls = 0;
    void *data, *arguments[] = {&data, &factor};
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t node[4];
    assert_ok(cudaMalloc(&data, sizeof values));
    struct cudaGraphNodeParams set = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
                                      .memset = {.dst = data, .value = 1, .elementSize = 4, .width = 4, .height = 1}};
    struct cudaGraphNodeParams kernel = {
        .type = CU_GRAPH_NODE_TYPE_KERNEL,
        .kernel = {.func = &scale, .gridDim = {1, 1, 1}, .blockDim = {4, 1, 1}, .kernelParams = arguments}};
    struct cudaGraphNodeParams copy = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                       .memcpy.copyParams = {.srcPtr = {data, 16, 16, 1},
                                                             .dstPtr = {values, 16, 16, 1},
                                                             .extent = {16, 1, 1},
                                                             .kind = cudaMemcpyDeviceToHost}};
    struct cudaGraphNodeParams host = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {count, &calls}};
    struct cudaGraphNodeParams other = {.type = 13};
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphAddNode(&node[0], graph, NULL, NULL, 0, &set));
    assert_ok(cudaGraphAddNode(&node[1], graph, &node[0], NULL, 1, &kernel));
    assert_ok(cudaGraphAddNode(&node[2], graph, &node[1], NULL, 1, &copy));
    assert_ok(cudaGraphAddNode(&node[3], graph, &node[2], NULL, 1, &host));
    assert_error(cudaErrorNotSupported, cudaGraphAddNode(&node[0], graph, NULL, NULL, 0, &other));
    assert_ok(cudaGraphInstantiate(&executable, graph, 0));
    assert_ok(cudaGraphLaunch(executable, NULL));
    assert_int_equal(values[3], 4 + 7);
    assert_int_equal(calls, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        runtime_test(a_captured_launch_runs_when_its_graph_does),
        runtime_test(nodes_run_in_the_order_of_their_dependencies),
        runtime_test(one_function_adds_nodes_of_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
