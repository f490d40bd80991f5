// Dynamic parallelism: a quicksort whose kernel launches itself, and a kernel that launches into the tail of its own
// grid.
#include "../check.cuh"

__global__ void quicksort(int *data, int low, int high, int depth) {
    if (depth > 8 || high - low < 8) {
        for (int i = low + 1; i <= high; i++) {
            int value = data[i], at = i;
            for (; at > low && data[at - 1] > value; at--)
                data[at] = data[at - 1];
            data[at] = value;
        }
        return;
    }
    int pivot = data[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (data[i] < pivot)
            i++;
        while (data[j] > pivot)
            j--;
        if (i <= j) {
            int swapped = data[i];
            data[i++] = data[j];
            data[j--] = swapped;
        }
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (low < j)
        quicksort<<<1, 1, 0, stream>>>(data, low, j, depth + 1);
    if (i < high)
        quicksort<<<1, 1>>>(data, i, high, depth + 1);
    cudaStreamDestroy(stream);
}

__global__ void add(int *sum, int value) { atomicAdd(sum, value); }

__global__ void keep(const int *sum, int *copy) { *copy = *sum; }

__global__ void parent(int *sum, int *copy) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        keep<<<1, 1, 0, cudaStreamTailLaunch>>>(sum, copy);
    add<<<dim3(2, 2), 16>>>(sum, threadIdx.x);
}

int main() {
    const int n = 256;
    std::vector<int> numbers(n);
    Random random(5);
    for (int &number : numbers)
        number = (int)(random.next() % 1000);
    int *data;
    CUDA(cudaMalloc(&data, n * sizeof(int)));
    CUDA(cudaMemcpy(data, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(data, 0, n - 1, 0);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(numbers.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 1; i < n; i++)
        EXPECT(numbers[i - 1] <= numbers[i]);

    int sums[2] = {0, 0};
    CUDA(cudaMemset(data, 0, sizeof sums));
    parent<<<2, 8>>>(data, data + 1);
    CUDA(cudaMemcpy(sums, data, sizeof sums, cudaMemcpyDeviceToHost));
    EXPECT(sums[0] == 2 * 28 * 64 && sums[1] == sums[0]);
}
