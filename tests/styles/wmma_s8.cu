
#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const signed char *a, const signed char *b, const int *c, int *d) {
#if __CUDA_ARCH__ >= 720
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> z;
    wmma::load_matrix_sync(x, a, 32);
    wmma::load_matrix_sync(y, b, 32);
    wmma::load_matrix_sync(z, c, 32, wmma::mem_row_major);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++)
        z.x[i] = z.x[i] + z.x[0];
    wmma::store_matrix_sync(d, z, 32, wmma::mem_col_major);
#endif
}
