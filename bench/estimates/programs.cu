// Small programs with many launches or many blocks, for `tools/tables estimates`: programs NAME runs one of them and
// prints a checksum.
//
//     nvcc -O2 -gencode arch=compute_80,code=compute_80 programs.cu -o programs
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static const int THREADS = 128;

__host__ __device__ static inline uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

template <typename T> struct buffer {
    T *at;
    size_t n;
    explicit buffer(size_t n) : n(n) {
        cudaMalloc(&at, n * sizeof(T));
        cudaMemset(at, 0, n * sizeof(T));
    }
    void fill(const std::vector<T> &from) { cudaMemcpy(at, from.data(), n * sizeof(T), cudaMemcpyHostToDevice); }
    void print(const char *name) const {
        std::vector<T> all(n);
        cudaMemcpy(all.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost);
        uint32_t sum = 0, bits;
        for (const T &value : all) {
            memcpy(&bits, &value, 4);
            sum = mix(sum ^ bits);
        }
        printf("%s: checksum %08x\n", name, sum);
    }
};

static std::vector<uint32_t> random_numbers(size_t n, uint32_t below) {
    std::vector<uint32_t> all(n);
    for (size_t i = 0; i < n; i++)
        all[i] = mix((uint32_t)i + 1) % below;
    return all;
}

// ---- Many launches ------------------------------------------------------------------------------------------------

__global__ void jacobi_step(const float *a, float *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        b[y * n + x] = 0.25f * (a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x]);
}
static void jacobi() {
    const int n = 256, steps = 400;
    buffer<float> a(n * n), b(n * n);
    std::vector<float> start(n * n, 0.0f);
    for (int i = 0; i < n; i++)
        start[i] = 1.0f;
    a.fill(start);
    b.fill(start);
    for (int i = 0; i < steps; i++)
        jacobi_step<<<dim3(n / THREADS, n), THREADS>>>(i % 2 ? b.at : a.at, i % 2 ? a.at : b.at, n);
    a.print("jacobi");
}

__global__ void life_step(const uint32_t *a, uint32_t *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            count += (dx || dy) && a[(y + dy + n) % n * n + (x + dx + n) % n];
    b[y * n + x] = count == 3 || (count == 2 && a[y * n + x]);
}
static void life() {
    const int n = 256, steps = 200;
    buffer<uint32_t> a(n * n), b(n * n);
    a.fill(random_numbers(n * n, 2));
    for (int i = 0; i < steps; i++)
        life_step<<<dim3(n / THREADS, n), THREADS>>>(i % 2 ? b.at : a.at, i % 2 ? a.at : b.at, n);
    a.print("life");
}

__global__ void bitonic_step(uint32_t *key, uint32_t j, uint32_t k) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i && (key[i] > key[other]) == !(i & k)) {
        uint32_t swapped = key[i];
        key[i] = key[other];
        key[other] = swapped;
    }
}
static void bitonic() {
    const uint32_t n = 1 << 17;
    buffer<uint32_t> key(n);
    key.fill(random_numbers(n, UINT32_MAX));
    for (uint32_t k = 2; k <= n; k *= 2)
        for (uint32_t j = k / 2; j > 0; j /= 2)
            bitonic_step<<<n / THREADS, THREADS>>>(key.at, j, k);
    key.print("bitonic");
}

// A graph in rows: node i has edges first[i] to first[i + 1]. `far`: how far away its neighbours are at most.
struct graph {
    std::vector<uint32_t> first, to, weight;
};
static graph make_graph(uint32_t n, uint32_t far) {
    graph all;
    for (uint32_t i = 0; i < n; i++) {
        all.first.push_back((uint32_t)all.to.size());
        uint32_t degree = 2 + mix(3 * i) % 7;
        degree = mix(5 * i) % 64 == 0 ? degree * 8 : degree;
        for (uint32_t k = 0; k < degree; k++) {
            uint32_t number = mix(64 * i + k);
            all.to.push_back((i + n + number % (2 * far + 1) - far) % n);
            all.weight.push_back(1 + number % 97);
        }
    }
    all.first.push_back((uint32_t)all.to.size());
    return all;
}

__global__ void visit(const uint32_t *first, const uint32_t *to, uint32_t *level, uint32_t now, uint32_t n, int *more) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || level[i] != now)
        return;
    for (uint32_t k = first[i]; k < first[i + 1]; k++)
        if (level[to[k]] == UINT32_MAX) {
            level[to[k]] = now + 1;
            *more = 1;
        }
}
static void far_bfs() {
    const uint32_t n = 1 << 16;
    graph all = make_graph(n, 200);
    buffer<uint32_t> first(n + 1), to(all.to.size()), level(n);
    buffer<int> more(1);
    first.fill(all.first);
    to.fill(all.to);
    std::vector<uint32_t> start(n, UINT32_MAX);
    start[0] = 0;
    level.fill(start);
    int has_more = 1;
    for (uint32_t now = 0; has_more; now++) {
        cudaMemset(more.at, 0, sizeof(int));
        visit<<<n / THREADS, THREADS>>>(first.at, to.at, level.at, now, n, more.at);
        cudaMemcpy(&has_more, more.at, sizeof has_more, cudaMemcpyDeviceToHost);
    }
    level.print("far_bfs");
}

// Reads the distances of the last step, so that its work does not depend on the order of threads.
__global__ void relax(const uint32_t *first, const uint32_t *to, const uint32_t *weight, const uint32_t *old,
                      uint32_t *distance, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || old[i] == 0x3fffffff)
        return;
    for (uint32_t k = first[i]; k < first[i + 1]; k++)
        atomicMin(&distance[to[k]], old[i] + weight[k]);
}
static void far_paths() {
    const uint32_t n = 1 << 15;
    graph all = make_graph(n, 150);
    buffer<uint32_t> first(n + 1), to(all.to.size()), weight(all.to.size()), distance(n), old(n);
    first.fill(all.first);
    to.fill(all.to);
    weight.fill(all.weight);
    std::vector<uint32_t> start(n, 0x3fffffff);
    start[0] = 0;
    distance.fill(start);
    for (int step = 0; step < 200; step++) {
        cudaMemcpy(old.at, distance.at, n * sizeof(uint32_t), cudaMemcpyDeviceToDevice);
        relax<<<n / THREADS, THREADS>>>(first.at, to.at, weight.at, old.at, distance.at, n);
    }
    distance.print("far_paths");
}

__global__ void eliminate(float *a, int n, int column) {
    int row = column + 1 + blockIdx.y, x = column + blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float factor;
    if (threadIdx.x == 0)
        factor = a[row * n + column] / a[column * n + column];
    __syncthreads();
    if (x < n && x > column)
        a[row * n + x] -= factor * a[column * n + x];
}
static void gauss() {
    const int n = 192;
    buffer<float> a(n * n);
    std::vector<float> start(n * n);
    for (int i = 0; i < n * n; i++)
        start[i] = (float)(mix(i) % 1000) * 0.001f + (i % (n + 1) == 0 ? n : 0);
    a.fill(start);
    for (int column = 0; column < n - 1; column++)
        eliminate<<<dim3((n - column + THREADS - 1) / THREADS, n - 1 - column), THREADS>>>(a.at, n, column);
    a.print("gauss");
}

__global__ void move(float4 *body, float4 *speed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i], v = speed[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k++) {
        float dx = body[k].x - me.x, dy = body[k].y - me.y, dz = body[k].z - me.z;
        float near = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), pull = body[k].w * near * near * near;
        x += pull * dx;
        y += pull * dy;
        z += pull * dz;
    }
    v.x += 0.01f * x;
    v.y += 0.01f * y;
    v.z += 0.01f * z;
    speed[i] = v;
}
__global__ void drift(float4 *body, const float4 *speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    body[i].x += 0.01f * speed[i].x;
    body[i].y += 0.01f * speed[i].y;
    body[i].z += 0.01f * speed[i].z;
}
static void bodies() {
    const int n = 1024, steps = 100;
    buffer<float4> body(n), speed(n);
    std::vector<float4> start(n);
    for (int i = 0; i < n; i++)
        start[i] = make_float4(mix(3 * i) % 1000, mix(3 * i + 1) % 1000, mix(3 * i + 2) % 1000, 1.0f);
    body.fill(start);
    for (int i = 0; i < steps; i++) {
        move<<<n / THREADS, THREADS>>>(body.at, speed.at, n);
        drift<<<n / THREADS, THREADS>>>(body.at, speed.at);
    }
    body.print("bodies");
}

// ---- Many blocks --------------------------------------------------------------------------------------------------

__global__ void triad(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + 3.0f * b[i];
}
static void stream() {
    const int n = 1 << 23;
    buffer<float> a(n), b(n), c(n);
    triad<<<n / 64, 64>>>(a.at, b.at, c.at, n);
    printf("stream: done\n");
}

__global__ void escape(uint32_t *count, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x0 = (float)(i % side) / side * 3.0f - 2.0f, y0 = (float)(i / side) / side * 2.4f - 1.2f, x = 0, y = 0;
    uint32_t n = 0;
    for (; n < 64 && x * x + y * y < 4.0f; n++) {
        float next = x * x - y * y + x0;
        y = 2.0f * x * y + y0;
        x = next;
    }
    count[i] = n;
}
static void mandelbrot() {
    const int side = 2048;
    buffer<uint32_t> count((size_t)side * side);
    escape<<<side * side / 32, 32>>>(count.at, side);
    printf("mandelbrot: done\n");
}

__global__ void gather(const uint32_t *index, const uint32_t *value, uint32_t *sum) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = value[index[i] & 0xfffff] + value[index[i] >> 12];
}
static void random_reads() {
    const uint32_t n = 1 << 22;
    buffer<uint32_t> index(n), value(1 << 20), sum(n);
    index.fill(random_numbers(n, UINT32_MAX));
    gather<<<n / 32, 32>>>(index.at, value.at, sum.at);
    printf("random_reads: done\n");
}

__global__ void search(const uint32_t *key, uint32_t n_keys, uint32_t *found) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, wanted = mix(i), low = 0, high = n_keys;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (key[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low;
}
static void searches() {
    const uint32_t n = 100000 * 32, n_keys = 1 << 16;
    std::vector<uint32_t> keys(n_keys);
    for (uint32_t i = 0; i < n_keys; i++)
        keys[i] = i << 16;
    buffer<uint32_t> key(n_keys), found(n);
    key.fill(keys);
    search<<<n / 32, 32>>>(key.at, n_keys, found.at);
    printf("searches: done\n");
}

__global__ void count_steps(uint32_t *steps) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    for (uint64_t x = i + 1; x != 1 && n < 64; n++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    steps[i] = n;
}
static void collatz() {
    const uint32_t n = 100000 * 32;
    buffer<uint32_t> steps(n);
    count_steps<<<n / 32, 32>>>(steps.at);
    printf("collatz: done\n");
}

__global__ void add_counts(const uint32_t *value, uint32_t *count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&count[value[i] % 4096], 1);
}
static void counts() {
    const uint32_t n = 100000 * 32;
    buffer<uint32_t> value(n), count(4096);
    value.fill(random_numbers(n, UINT32_MAX));
    add_counts<<<n / 32, 32>>>(value.at, count.at);
    count.print("counts");
}

__global__ void transpose_tile(const float *a, float *b, int n) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 4)
        tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    for (int k = 0; k < 16; k += 4)
        b[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
static void transpose() {
    const int n = 16 * 320;
    buffer<float> a((size_t)n * n), b((size_t)n * n);
    transpose_tile<<<dim3(n / 16, n / 16), dim3(16, 4)>>>(a.at, b.at, n);
    printf("transpose: done\n");
}

__global__ void multiply(const uint32_t *first, const uint32_t *to, const uint32_t *weight, const float *x, float *y,
                         uint32_t n) {
    uint32_t row = blockIdx.x, lane = threadIdx.x;
    float sum = 0;
    for (uint32_t k = first[row] + lane; k < first[row + 1]; k += 32)
        sum += (float)weight[k] * x[to[k]];
    for (int k = 16; k; k /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (lane == 0)
        y[row] = sum;
}
static void sparse_rows() {
    const uint32_t n = 1 << 17;
    graph all = make_graph(n, n / 2 - 1);
    buffer<uint32_t> first(n + 1), to(all.to.size()), weight(all.to.size());
    buffer<float> x(n), y(n);
    first.fill(all.first);
    to.fill(all.to);
    weight.fill(all.weight);
    x.fill(std::vector<float>(n, 1.0f));
    multiply<<<n, 32>>>(first.at, to.at, weight.at, x.at, y.at, n);
    y.print("sparse_rows");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } programs[] = {{"jacobi", jacobi},     {"life", life},           {"bitonic", bitonic},
                    {"far_bfs", far_bfs},   {"far_paths", far_paths}, {"gauss", gauss},
                    {"bodies", bodies},     {"stream", stream},       {"mandelbrot", mandelbrot},
                    {"searches", searches}, {"collatz", collatz},     {"random_reads", random_reads},
                    {"counts", counts},     {"transpose", transpose}, {"sparse_rows", sparse_rows}};
    for (const auto &program : programs)
        if (argc == 2 && strcmp(argv[1], program.name) == 0) {
            program.run();
            cudaError_t error = cudaDeviceSynchronize();
            if (error != cudaSuccess)
                printf("%s\n", cudaGetErrorString(error));
            return error != cudaSuccess;
        }
    printf("programs NAME, one of:");
    for (const auto &program : programs)
        printf(" %s", program.name);
    printf("\n");
    return 2;
}
