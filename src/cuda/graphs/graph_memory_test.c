/* Memory nodes: a launch allocates and frees at the address that the node returned, as often as it runs. */
#include "cuda/fixture.h"

static CUgraph make_graph(CUdeviceptr *memory, CUgraphNode node[3]) {
    CUgraph graph;
    CUDA_MEM_ALLOC_NODE_PARAMS allocation = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 4096,
    };
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphAddMemAllocNode(&node[0], graph, NULL, 0, &allocation));
    *memory = allocation.dptr;
    const CUDA_MEMSET_NODE_PARAMS fill = {*memory, 0, 7, 4, 1024, 1};
    assert_cuda(cuGraphAddMemsetNode(&node[1], graph, &node[0], 1, &fill, NULL));
    return graph;
}

static uint64_t bytes_held(void) {
    uint64_t bytes;
    assert_cuda(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

/* Only allocated memory remains after a trim. */
static uint64_t bytes_in_use(void) {
    assert_cuda(cuDeviceGraphMemTrim(0));
    return bytes_held();
}

static void a_graph_frees_what_it_allocates(void **state) {
    (void)state;
    CUdeviceptr memory, freed;
    CUgraphNode node[3];
    CUgraphExec executable;
    CUDA_MEM_ALLOC_NODE_PARAMS allocation;
    CUgraph graph = make_graph(&memory, node);
    assert_int_equal(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE); /* not allocated yet */
    assert_int_equal(cuGraphAddMemFreeNode(&node[2], graph, &node[1], 1, memory + 8), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuGraphAddMemFreeNode(&node[2], graph, &node[1], 1, memory));
    assert_cuda(cuGraphMemAllocNodeGetParams(node[0], &allocation));
    assert_cuda(cuGraphMemFreeNodeGetParams(node[2], &freed));
    assert_int_equal(allocation.dptr, memory);
    assert_int_equal(allocation.bytesize, 4096);
    assert_int_equal(freed, memory);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    for (unsigned i = 0; i < 3; i++)
        assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(bytes_in_use(), 0);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void memory_can_outlive_a_launch(void **state) {
    (void)state;
    CUdeviceptr memory;
    CUgraphNode node[3];
    CUgraphExec executable;
    unsigned value = 0;
    size_t before, after, total;
    assert_cuda(cuMemGetInfo(&before, &total));
    CUgraph graph = make_graph(&memory, node);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(bytes_in_use(), 4096);
    assert_cuda(cuMemcpyDtoH(&value, memory + 4092, 4));
    assert_int_equal(value, 7);
    assert_int_equal(cuGraphLaunch(executable, NULL), CUDA_ERROR_INVALID_VALUE); /* still allocated */
    assert_cuda(cuMemFreeAsync(memory, NULL));
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
    assert_cuda(cuMemcpyDtoH(&value, memory, 4)); /* longer than the graph itself */
    assert_cuda(cuMemFree(memory));
    assert_cuda(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void what_a_launch_left_can_be_freed_by_the_next(void **state) {
    (void)state;
    CUdeviceptr memory;
    CUgraphNode node[3];
    CUgraphExec executable;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
                                                .result_out = CUDA_GRAPH_INSTANTIATE_ERROR};
    uint64_t flags = 0;
    CUgraph graph = make_graph(&memory, node);
    assert_cuda(cuGraphInstantiateWithParams(&executable, graph, &parameters));
    assert_int_equal(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    assert_cuda(cuGraphExecGetFlags(executable, &flags));
    assert_int_equal(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    for (unsigned i = 0; i < 3; i++)
        assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(bytes_in_use(), 4096);
    assert_cuda(cuMemFree(memory));
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static CUdeviceptr allocate_after(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS allocation = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = bytes,
    };
    assert_cuda(cuGraphAddMemAllocNode(node, graph, before, before != NULL, &allocation));
    return allocation.dptr;
}

static void an_allocation_takes_an_address_that_is_free_before(void **state) {
    (void)state;
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode first, freed, second, other, again;
    assert_cuda(cuGraphCreate(&graph, 0));
    CUdeviceptr a = allocate_after(&first, graph, NULL, 4096);
    assert_cuda(cuGraphAddMemFreeNode(&freed, graph, &first, 1, a));
    assert_int_not_equal(allocate_after(&other, graph, &first, 4096), a); /* perhaps before it is free */
    assert_int_not_equal(allocate_after(&other, graph, &freed, 8192), a);
    assert_int_equal(allocate_after(&second, graph, &freed, 4096), a);
    assert_int_not_equal(allocate_after(&other, graph, &second, 4096), a); /* it has been taken */
    assert_cuda(cuGraphAddMemFreeNode(&again, graph, &second, 1, a));
    assert_int_not_equal(allocate_after(&other, graph, &freed, 4096), a); /* perhaps before it is free again */
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(bytes_in_use(), 4096 + 8192 + 4096 + 4096);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void freed_memory_is_held_until_a_trim(void **state) {
    (void)state;
    CUdeviceptr memory[2];
    CUgraphNode node[3];
    CUgraph graph[2];
    CUgraphExec executable[2];
    assert_int_equal(bytes_in_use(), 0);
    for (unsigned i = 0; i < 2; i++) {
        graph[i] = make_graph(&memory[i], node);
        assert_cuda(cuGraphInstantiate(&executable[i], graph[i], 0));
    }
    assert_int_not_equal(memory[0], memory[1]);
    assert_cuda(cuGraphLaunch(executable[0], NULL));
    assert_cuda(cuMemFree(memory[0]));
    assert_int_equal(bytes_held(), 4096);
    assert_cuda(cuGraphLaunch(executable[1], NULL)); /* takes the memory that the other has freed */
    assert_int_equal(bytes_held(), 4096);
    assert_cuda(cuGraphLaunch(executable[0], NULL));
    assert_int_equal(bytes_held(), 8192);
    assert_cuda(cuMemFree(memory[0]));
    assert_int_equal(bytes_held(), 8192);
    assert_int_equal(bytes_in_use(), 4096);
    assert_cuda(cuMemFree(memory[1]));
    assert_int_equal(bytes_in_use(), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_cuda(cuGraphExecDestroy(executable[i]));
        assert_cuda(cuGraphDestroy(graph[i]));
    }
}

static void a_captured_allocation_is_made_at_launch(void **state) {
    (void)state;
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr memory, other, again;
    unsigned value = 0;
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuMemAlloc(&other, 4096));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_cuda(cuMemAllocAsync(&memory, 4096, stream));
    assert_cuda(cuMemsetD32Async(memory, 3, 1024, stream));
    assert_cuda(cuMemcpyDtoHAsync(&value, memory + 2048, 4, stream));
    assert_int_equal(cuMemFreeAsync(other, stream), CUDA_ERROR_INVALID_VALUE); /* not of a graph */
    assert_cuda(cuMemFreeAsync(memory, stream));
    assert_cuda(cuMemAllocAsync(&again, 4096, stream));
    assert_int_equal(again, memory);
    assert_cuda(cuMemFreeAsync(again, stream));
    assert_cuda(cuStreamEndCapture(stream, &graph));
    assert_int_equal(bytes_in_use(), 0);
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    assert_cuda(cuGraphLaunch(executable, stream));
    assert_int_equal(value, 3);
    assert_int_equal(bytes_in_use(), 0);
    assert_cuda(cuGraphExecDestroy(executable));
    assert_cuda(cuGraphDestroy(graph));
}

static void a_graph_for_kernels_to_launch_is_refused_by_name(void **state) {
    (void)state;
    CUdeviceptr memory;
    CUgraphNode node[3];
    CUgraphExec executable;
    char text[256];
    CUgraph graph = make_graph(&memory, node);
    struct capture capture = capture_stderr();
    CUresult result = cuGraphInstantiate(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    read_stderr(&capture, text, sizeof(text));
    assert_int_equal(result, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(text, "heddle: cuGraphInstantiate: a graph that kernels launch is not supported\n");
    assert_cuda(cuGraphDestroy(graph));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(a_graph_frees_what_it_allocates),
        context_test(memory_can_outlive_a_launch),
        context_test(what_a_launch_left_can_be_freed_by_the_next),
        context_test(an_allocation_takes_an_address_that_is_free_before),
        context_test(freed_memory_is_held_until_a_trim),
        context_test(a_captured_allocation_is_made_at_launch),
        context_test(a_graph_for_kernels_to_launch_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
