#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const float *c, float *d) {
#if __CUDA_ARCH__ >= 800
    wmma::fragment<wmma::matrix_a, 8, 32, 16, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, __nv_bfloat16, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 8, 32, 16, float> z;
    wmma::load_matrix_sync(x, a, 32);
    wmma::load_matrix_sync(y, b, 32);
    wmma::load_matrix_sync(z, c, 32, wmma::mem_row_major);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++)
        z.x[i] = z.x[i] + z.x[0];
    wmma::store_matrix_sync(d, z, 32, wmma::mem_col_major);
#endif
}
