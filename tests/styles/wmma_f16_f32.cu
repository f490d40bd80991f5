#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const __half *a, const __half *b, const float *c, float *d) {
#if __CUDA_ARCH__ >= 700
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::load_matrix_sync(x, a, 32);
    wmma::load_matrix_sync(y, b, 32);
    wmma::load_matrix_sync(z, c, 32, wmma::mem_row_major);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++)
        z.x[i] = z.x[i] + z.x[0];
    wmma::store_matrix_sync(d, z, 32, wmma::mem_col_major);
#endif
}
