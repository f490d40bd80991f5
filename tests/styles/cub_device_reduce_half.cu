#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
cudaError_t run(void *d, size_t &b, const __half *i, __half *o, int n) { return cub::DeviceReduce::Sum(d, b, i, o, n); }
cudaError_t run2(void *d, size_t &b, const __nv_bfloat16 *i, __nv_bfloat16 *o, int n) {
    return cub::DeviceReduce::Max(d, b, i, o, n);
}
