
#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const float *a, const float *b, const float *c, float *d) {
#if __CUDA_ARCH__ >= 800
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> z;
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::load_matrix_sync(z, c, 32, wmma::mem_row_major);
    for (int i = 0; i < x.num_elements; i++)
        x.x[i] = wmma::__float_to_tf32(x.x[i]);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++)
        z.x[i] = z.x[i] + z.x[0];
    wmma::store_matrix_sync(d, z, 32, wmma::mem_col_major);
#endif
}
