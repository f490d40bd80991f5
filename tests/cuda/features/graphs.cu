// Graphs: captured from a stream, and made node by node.
#include "../check.cuh"

__global__ void add(int *data, int what, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += what;
}

static int host_calls = 0;
static void CUDART_CB count_call(void *step) { host_calls += *static_cast<int *>(step); }

static void captured() {
    const int n = 256;
    Device<int> data(n);
    cudaStream_t stream, other;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t fork, join;
    cudaStreamCaptureStatus status;
    std::vector<int> out(n, -1);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamCreate(&other));
    CUDA(cudaEventCreate(&fork));
    CUDA(cudaEventCreate(&join));
    CUDA(cudaMemset(data, 0, n * sizeof(int)));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, n / 2, 0, stream>>>(data, 1, n / 2);
    CUDA(cudaEventRecord(fork, stream));
    CUDA(cudaStreamWaitEvent(other, fork, 0));
    add<<<1, n / 2, 0, other>>>(data.data + n / 2, 2, n / 2);
    CUDA(cudaEventRecord(join, other));
    CUDA(cudaStreamWaitEvent(stream, join, 0));
    CUDA(cudaMemcpyAsync(out.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT(out[0] == -1); // nothing has run
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 1; round <= 3; round++) {
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        EXPECT(out[0] == round && out[n - 1] == 2 * round);
    }
    size_t n_nodes = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &n_nodes));
    EXPECT(n_nodes == 3);
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
}

static void node_by_node() {
    int n = 128, what = 5, step = 1;
    Device<int> data(n);
    std::vector<int> out(n);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t set, kernel, copy, host;
    CUDA(cudaGraphCreate(&graph, 0));
    cudaMemsetParams zero = {};
    zero.dst = data.data;
    zero.elementSize = 4;
    zero.value = 7;
    zero.width = n;
    zero.height = 1;
    CUDA(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
    void *arguments[] = {&data.data, &what, &n};
    cudaKernelNodeParams launch = {};
    launch.func = reinterpret_cast<void *>(add);
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(n);
    launch.kernelParams = arguments;
    CUDA(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, out.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count_call, &step};
    CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphLaunch(executable, nullptr));
    CUDA(cudaDeviceSynchronize());
    expect_equal(out, std::vector<int>(n, 12));
    what = 20;
    CUDA(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
    CUDA(cudaGraphLaunch(executable, nullptr));
    CUDA(cudaDeviceSynchronize());
    expect_equal(out, std::vector<int>(n, 27));
    EXPECT(host_calls == 2);
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
}

int main() {
    captured();
    node_by_node();
    return 0;
}
