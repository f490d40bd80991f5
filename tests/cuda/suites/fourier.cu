// Fast Fourier transform, one block, against the sum it stands for; and the Walsh transform.
#include "../check.cuh"

const int N = 256;

__global__ void fft(float2 *data) {
    __shared__ float2 s[N];
    int t = threadIdx.x, reversed = __brev(t) >> 24;
    s[reversed] = data[t];
    __syncthreads();
    for (int half = 1; half < N; half *= 2) {
        if (t < N / 2) {
            int k = t % half, i = (t / half) * 2 * half + k;
            float sine, cosine;
            sincospif(-static_cast<float>(k) / half, &sine, &cosine);
            float2 a = s[i], b = s[i + half];
            float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
            s[i] = make_float2(a.x + turned.x, a.y + turned.y);
            s[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
        }
        __syncthreads();
    }
    data[t] = s[t];
}

__global__ void walsh(int *data, int half) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / half * 2 * half + t % half;
    int a = data[i], b = data[i + half];
    data[i] = a + b;
    data[i + half] = a - b;
}

int main() {
    std::vector<float2> in(N);
    std::vector<int> ints(N), expected(N);
    for (int i = 0; i < N; i++) {
        in[i] = make_float2(sinf(0.3f * i), i % 5);
        ints[i] = i * 17 % 23;
    }
    Device<float2> d(in);
    fft<<<1, N>>>(d);
    std::vector<float2> got = d.get();
    for (int k = 0; k < N; k += 7) {
        double re = 0, im = 0;
        for (int i = 0; i < N; i++) {
            double angle = -2 * M_PI * k * i / N;
            re += in[i].x * cos(angle) - in[i].y * sin(angle);
            im += in[i].x * sin(angle) + in[i].y * cos(angle);
        }
        EXPECT(fabs(got[k].x - re) < 1e-2 && fabs(got[k].y - im) < 1e-2);
    }
    Device<int> w(ints);
    for (int half = 1; half < N; half *= 2)
        walsh<<<1, N / 2>>>(w, half);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            expected[k] += __builtin_popcount(k & i) % 2 ? -ints[i] : ints[i];
    expect_equal(w.get(), expected);
    return 0;
}
