// Asynchronous copies and barriers of libcu++: a pipeline of two stages, one with a warp that only copies, barriers
// that count copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "../check.cuh"

namespace cg = cooperative_groups;
enum { THREADS = 128, BATCHES = 6 };

__global__ void two_stages(const int *in, int *out) {
    __shared__ int stage[2][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int batch = 0, fetched = 0; batch < BATCHES; batch++) {
        for (; fetched < BATCHES && fetched < batch + 2; fetched++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % 2], in + fetched * THREADS, sizeof stage[0], pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        out[batch * THREADS + threadIdx.x] = 2 * stage[batch % 2][THREADS - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
}

__global__ void one_warp_copies(const int *in, int *sum) {
    __shared__ int stage[2][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    bool copies = threadIdx.x < 32;
    auto pipeline =
        cuda::make_pipeline(block, &state, copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int batch = 0; batch < BATCHES; batch++) {
        if (copies) {
            pipeline.producer_acquire();
            for (int i = threadIdx.x; i < THREADS; i += 32)
                cuda::memcpy_async(&stage[batch % 2][i], &in[batch * THREADS + i], sizeof(int), pipeline);
            pipeline.producer_commit();
        } else {
            pipeline.consumer_wait();
            atomicAdd(sum, stage[batch % 2][threadIdx.x - 32]);
            pipeline.consumer_release();
        }
    }
}

__global__ void barriers(const int *in, int *out) {
    __shared__ int copied[2 * THREADS];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0)
        init(&barrier, THREADS);
    block.sync();
    cuda::memcpy_async(block, copied, in, sizeof copied, barrier);
    barrier.arrive_and_wait();
    int value = copied[threadIdx.x] + copied[THREADS + threadIdx.x];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    copied[threadIdx.x] = value;
    if (threadIdx.x % 2) {
        (void)barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    out[threadIdx.x] = copied[threadIdx.x] + copied[threadIdx.x + 1];
    barrier.arrive_and_wait();
}

int main() {
    const int n = THREADS * BATCHES;
    std::vector<int> numbers(n), results(n);
    for (int i = 0; i < n; i++)
        numbers[i] = i * 7 % 1000;
    int *in, *out, *sum, total = 0, expected = 0;
    CUDA(cudaMalloc(&in, n * sizeof(int)));
    CUDA(cudaMalloc(&out, n * sizeof(int)));
    CUDA(cudaMalloc(&sum, sizeof(int)));
    CUDA(cudaMemset(sum, 0, sizeof(int)));
    CUDA(cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    two_stages<<<1, THREADS>>>(in, out);
    CUDA(cudaMemcpy(results.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(results[i] == 2 * numbers[i / THREADS * THREADS + THREADS - 1 - i % THREADS]);

    one_warp_copies<<<1, THREADS + 32>>>(in, sum);
    CUDA(cudaMemcpy(&total, sum, sizeof(int), cudaMemcpyDeviceToHost));
    for (int number : numbers)
        expected += number;
    EXPECT(total == expected);

    barriers<<<1, THREADS>>>(in, out);
    CUDA(cudaMemcpy(results.data(), out, THREADS * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i += 2)
        EXPECT(results[i] == numbers[i] + numbers[THREADS + i] + numbers[i + 1] + numbers[THREADS + i + 1]);
}
