// Streams, events and callbacks: work of one stream in order, others waiting for it.
#include "../check.cuh"

__global__ void add(int *data, int what, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += what;
}

static std::vector<int> calls;

static void CUDART_CB note(cudaStream_t, cudaError_t status, void *number) {
    EXPECT(status == cudaSuccess);
    calls.push_back(static_cast<int>(reinterpret_cast<size_t>(number)));
}

static void CUDART_CB note_host(void *number) { note(nullptr, cudaSuccess, number); }

int main() {
    const int n = 4096, n_streams = 4;
    int *host, *device;
    cudaStream_t streams[n_streams];
    cudaEvent_t start, stop, done[n_streams];
    CUDA(cudaMallocHost(&host, n * sizeof(int)));
    CUDA(cudaMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        host[i] = i;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CUDA(cudaEventRecord(start));
    const int part = n / n_streams;
    for (int s = 0; s < n_streams; s++) {
        CUDA(s % 2 ? cudaStreamCreate(&streams[s]) : cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CUDA(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
        int *in = host + s * part, *on = device + s * part;
        CUDA(cudaMemcpyAsync(on, in, part * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
        if (s)
            CUDA(cudaStreamWaitEvent(streams[s], done[s - 1], 0));
        add<<<blocks_of(part, 128), 128, 0, streams[s]>>>(on, s + 1, part);
        CUDA(cudaMemcpyAsync(in, on, part * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
        CUDA(cudaStreamAddCallback(streams[s], note, reinterpret_cast<void *>(size_t(s)), 0));
        CUDA(cudaEventRecord(done[s], streams[s]));
    }
    CUDA(cudaStreamSynchronize(streams[n_streams - 1]));
    CUDA(cudaLaunchHostFunc(streams[0], note_host, reinterpret_cast<void *>(size_t(9))));
    CUDA(cudaEventRecord(stop));
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == i + i / part + 1);
    expect_equal(calls, {0, 1, 2, 3, 9});
    float milliseconds;
    CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0 && milliseconds < 1000);
    EXPECT(cudaEventElapsedTime(&milliseconds, start, done[0]) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CUDA(cudaStreamQuery(streams[0]));
    CUDA(cudaEventQuery(stop));
    int least, greatest, priority;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least);
    cudaStream_t urgent;
    CUDA(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    CUDA(cudaStreamGetPriority(urgent, &priority));
    EXPECT(priority == greatest);
    for (int s = 0; s < n_streams; s++)
        CUDA(cudaStreamDestroy(streams[s]));
    CUDA(cudaEventDestroy(start));
    CUDA(cudaFreeHost(host));
}
