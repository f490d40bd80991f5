// Kernels that no figure of a machine was taken from: they show how far a machine file holds. Compiled by nvcc into
// samples.ptx (nvcc -arch=sm_90 -ptx samples.cu), which is kept beside it because users have no nvcc. Every kernel has
// the same parameters: two arrays of floats, one of integers, and a size.
#define KERNEL extern "C" __global__ void

KERNEL stencil(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < gridDim.y - 1) {
        const float *p = a + y * n + x;
        b[y * n + x] = 0.2f * (p[0] + p[-1] + p[1] + p[-n] + p[n]);
    }
}

KERNEL transpose(const float *a, float *b, int *c, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.x / 32 + i][threadIdx.x % 32] = a[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x % 32, y = blockIdx.x * 32 + threadIdx.x / 32;
    for (int i = 0; i < 32; i += 8)
        b[(y + i) * n + x] = tile[threadIdx.x % 32][threadIdx.x / 32 + i];
}

KERNEL scan_block(const float *a, float *b, int *c, int n) {
    __shared__ float part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float x = a[i];
    for (int d = 1; d < 32; d *= 2) {
        float y = __shfl_up_sync(~0u, x, d);
        if (lane >= d)
            x += y;
    }
    if (lane == 31)
        part[warp] = x;
    __syncthreads();
    if (warp == 0) {
        float s = lane < blockDim.x / 32 ? part[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            float y = __shfl_up_sync(~0u, s, d);
            if (lane >= d)
                s += y;
        }
        part[lane] = s;
    }
    __syncthreads();
    b[i] = x + (warp ? part[warp - 1] : 0);
}

KERNEL count_bytes(const float *a, float *b, int *c, int n) {
    __shared__ int bin[256];
    bin[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = __float_as_uint(a[i]);
        atomicAdd(&bin[v >> 16 & 255], 1);
        atomicAdd(&bin[v >> 8 & 255], 1);
    }
    __syncthreads();
    atomicAdd(&c[threadIdx.x], bin[threadIdx.x]);
}

KERNEL product(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += a[y * n + k] * a[k * n + x];
    b[y * n + x] = s;
}

KERNEL softmax(const float *a, float *b, int *c, int n) {
    __shared__ float part[32];
    const float *row = a + blockIdx.x * n;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        most = fmaxf(most, row[i]);
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++)
        most = fmaxf(most, part[w]);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += __expf(row[i] - most);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += part[w];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        b[blockIdx.x * n + i] = __expf(row[i] - most) / sum;
}

KERNEL mandelbrot(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, i = 0;
    float cr = 3.0f * x / n - 2.0f, ci = 2.0f * y / gridDim.y - 1.0f, zr = 0, zi = 0;
    while (i < 256 && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        i++;
    }
    c[y * n + x] = i;
}

KERNEL mix_bits(const float *a, float *b, int *c, int n) {
    unsigned h = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64u;
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = h;
}

KERNEL find_sorted(const float *a, float *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
    int key = (int)(i * 2654435761u % (unsigned)(2 * n));
    while (low < high) {
        int middle = (low + high) / 2;
        if (2 * middle < key) /* a sorted array of even numbers, read from c + n */
            low = middle + (c[n + middle] >= 0);
        else
            high = middle;
    }
    c[i % n] = low;
}

KERNEL gather(const float *a, float *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned k = i * 2654435761u;
    float s = 0;
    for (int j = 0; j < 8; j++) {
        k = k * 1664525u + 1013904223u;
        s += a[k % (unsigned)n];
    }
    b[i] = s;
}

KERNEL dot_double(const float *a, float *b, int *c, int n) {
    double s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += (double)a[i] * a[i] + sqrt((double)a[i] + 1.0);
    b[blockIdx.x * blockDim.x + threadIdx.x] = (float)s;
}

KERNEL sort_shared(const float *a, float *b, int *c, int n) {
    __shared__ float s[512];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 512 + t];
    s[t + 256] = a[blockIdx.x * 512 + t + 256];
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (j - 1)), o = i + j;
            bool is_up = !(i & k);
            float x = s[i], y = s[o];
            if ((x > y) == is_up) {
                s[i] = y;
                s[o] = x;
            }
        }
    __syncthreads();
    b[blockIdx.x * 512 + t] = s[t];
    b[blockIdx.x * 512 + t + 256] = s[t + 256];
}

KERNEL copy_strided(const float *a, float *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[(i * 16) % n];
}

KERNEL random_points(const float *a, float *b, int *c, int n) {
    unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 2891336453u;
    int hits = 0;
    for (int i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        float x = (s >> 8) * (1.0f / 16777216.0f);
        s = s * 1664525u + 1013904223u;
        float y = (s >> 8) * (1.0f / 16777216.0f);
        hits += x * x + y * y < 1.0f;
    }
    atomicAdd(&c[0], hits);
}
