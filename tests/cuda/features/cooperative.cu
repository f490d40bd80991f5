// Cooperative groups: tiles of a warp, blocks, and a grid that waits for itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../check.cuh"

namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int sum = in[block.thread_rank()];
    for (int step = 4; step; step /= 2)
        sum += tile.shfl_down(sum, step);
    if (tile.thread_rank() == 0)
        out[block.thread_rank() / 8] = sum;
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int total = cg::reduce(warp, in[block.thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0)
        out[16 + warp.meta_group_rank()] = total;
    cg::coalesced_group active = cg::coalesced_threads();
    block.sync();
    if (block.thread_rank() == 0)
        out[20] = active.size();
}

// Each step reads what all other blocks wrote in the one before.
__global__ void steps(int *a, int *b, int n, int n_steps) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int step = 0; step < n_steps; step++) {
        if (i < n)
            b[i] = a[i] + a[(i + 257) % n] % 1000;
        grid.sync();
        int *other = a;
        a = b;
        b = other;
    }
}

int main() {
    std::vector<int> in(128), expected(21);
    for (int i = 0; i < 128; i++) {
        in[i] = i * 3;
        expected[i / 8] += in[i];
        expected[16 + i / 32] += in[i];
    }
    expected[20] = 32;
    Device<int> input(in), output(21);
    tiles<<<1, 128>>>(input, output);
    expect_equal(output.get(), expected);

    int n = 1024, n_steps = 5, can = 0;
    CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(can);
    std::vector<int> x(n), y(n);
    for (int i = 0; i < n; i++)
        x[i] = i;
    Device<int> a(x), b(n);
    void *arguments[] = {&a.data, &b.data, &n, &n_steps};
    CUDA(cudaLaunchCooperativeKernel(steps, dim3(8), dim3(128), arguments, 0, nullptr));
    for (int step = 0; step < n_steps; step++) {
        for (int i = 0; i < n; i++)
            y[i] = x[i] + x[(i + 257) % n] % 1000;
        x.swap(y);
    }
    expect_equal(b.get(), x);
    int blocks = 0, sms = 0;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, steps, 128, 0));
    CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(cudaLaunchCooperativeKernel(steps, dim3(blocks * sms + 1), dim3(128), arguments, 0, nullptr) ==
           cudaErrorCooperativeLaunchTooLarge);
}
