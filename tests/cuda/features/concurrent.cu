/* Kernels of different streams at the same time: they wait for each other, share SMs and memory, and take their places
 * by priority. On a timed machine that runs several kernels, the times of events must show it. */
#include "../check.cuh"

__global__ void await(volatile int *flag, int *out) {
    while (*flag == 0)
        ;
    *out += 7;
}

__global__ void raise(volatile int *flag) { *flag = 1; }

__global__ void compute(float *out, int steps) {
    float x = threadIdx.x;
    for (int i = 0; i < steps; i++)
        x = x * 1.0001f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void stamp(long long *start) {
    if (threadIdx.x == 0)
        start[blockIdx.x] = clock64();
    float x = threadIdx.x;
    for (int i = 0; i < 100; i++)
        x = x * 1.0001f + 0.5f;
    if (x == 0)
        start[blockIdx.x] = 0;
}

/* Returns the microseconds that work in two streams takes, from the begin of both to the end of both. */
template <class Work> static float microseconds(cudaStream_t a, cudaStream_t b, Work work) {
    cudaEvent_t begin, middle, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&middle));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaEventRecord(begin, a));
    CUDA(cudaStreamWaitEvent(b, begin, 0));
    work();
    CUDA(cudaEventRecord(middle, b));
    CUDA(cudaStreamWaitEvent(a, middle, 0));
    CUDA(cudaEventRecord(end, a));
    CUDA(cudaEventSynchronize(end));
    float ms;
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    return 1000 * ms;
}

int main(int argc, char **argv) {
    bool is_concurrent = argc > 1 && argv[1][0] == 'c', is_serial = argc > 1 && argv[1][0] == 's';
    cudaStream_t a, b, high;
    int least, greatest, sms, most_threads;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CUDA(cudaStreamCreate(&a));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    Device<int> flag(2);
    Device<float> out(2 * sms * 256);
    CUDA(cudaMemset(flag.data, 0, 2 * sizeof(int)));
    if (!is_serial) { /* one kernel at a time would wait for ever */
        await<<<1, 32, 0, a>>>(flag.data, flag.data + 1);
        raise<<<1, 1, 0, b>>>(flag.data);
        int word;
        CUDA(cudaMemcpy(&word, flag.data + 1, sizeof word, cudaMemcpyDeviceToHost));
        EXPECT(word == 7);
    }
    compute<<<sms, 64, 0, a>>>(out.data, 1000); /* the first launch fetches the code */
    float one = microseconds(a, b, [&] { compute<<<sms, 64, 0, a>>>(out.data, 1000); });
    float two = microseconds(a, b, [&] {
        compute<<<sms, 64, 0, a>>>(out.data, 1000);
        compute<<<sms, 64, 0, b>>>(out.data + sms * 256, 1000);
    });
    EXPECT(one > 0 && two > 0);
    if (is_concurrent)
        EXPECT(two >= one && two < 1.3f * one);
    if (is_serial)
        EXPECT(two > 1.9f * one);
    unsigned blocks = sms * (most_threads / 256) * 2;
    Device<long long> low_start(blocks), high_start(sms);
    stamp<<<blocks, 256, 0, a>>>(low_start.data);
    stamp<<<sms, 256, 0, high>>>(high_start.data);
    CUDA(cudaDeviceSynchronize());
    std::vector<long long> low = low_start.get(), first = high_start.get();
    if (is_concurrent) { /* the second kernel's blocks start before the last ones of the first */
        long long last_low = 0, last_high = 0;
        for (long long start : low)
            last_low = start > last_low ? start : last_low;
        for (long long start : first)
            last_high = start > last_high ? start : last_high;
        EXPECT(last_high < last_low);
    }
    return 0;
}
