#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const void *a, const void *b, int *d) {
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> z;
    wmma::load_matrix_sync(x, a, 128);
    wmma::load_matrix_sync(y, b, 128);
    wmma::fill_fragment(z, 0);
    wmma::bmma_sync(z, x, y, z);
#if __CUDA_ARCH__ >= 800
    wmma::bmma_sync(z, x, y, z, wmma::experimental::bmmaBitOpAND);
#endif
    wmma::store_matrix_sync(d, z, 8, wmma::mem_row_major);
}
