#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void attention(const __half *q, const __half *k, const __half *v, float *o, int n) {
    __shared__ __half p[16 * 16];
    __shared__ float s[16 * 16];
    float best = -INFINITY, sum = 0;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.f);
    for (int j = 0; j < n; j += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.f);
        wmma::load_matrix_sync(a, q, 16);
        wmma::load_matrix_sync(b, k + j * 16, 16);
        wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);
        __syncwarp();
        int r = threadIdx.x & 15;
        float m = best;
        for (int i = 0; i < 16; i++)
            m = fmaxf(m, s[r * 16 + i]);
        float z = __expf(best - m);
        sum *= z;
        for (int i = 0; i < 16; i++) {
            float e = __expf(s[r * 16 + i] - m);
            sum += e;
            p[r * 16 + i] = __float2half(e);
        }
        best = m;
        __syncwarp();
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> w;
        wmma::load_matrix_sync(a, p, 16);
        wmma::load_matrix_sync(w, v + j * 16, 16);
        for (int i = 0; i < acc.num_elements; i++)
            acc.x[i] *= z;
        wmma::mma_sync(acc, a, w, acc);
    }
    wmma::store_matrix_sync(o, acc, 16, wmma::mem_row_major);
    o[256 + threadIdx.x] = sum;
}
