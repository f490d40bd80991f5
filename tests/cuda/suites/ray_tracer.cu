// A ray tracer: spheres as objects with operators, reflections by a loop, shadows.
#include "../check.cuh"

struct Vector {
    float x, y, z;
    __host__ __device__ Vector operator+(Vector o) const { return {x + o.x, y + o.y, z + o.z}; }
    __host__ __device__ Vector operator-(Vector o) const { return {x - o.x, y - o.y, z - o.z}; }
    __host__ __device__ Vector operator*(float s) const { return {x * s, y * s, z * s}; }
    __host__ __device__ float dot(Vector o) const { return x * o.x + y * o.y + z * o.z; }
    __host__ __device__ Vector unit() const { return *this * (1 / sqrtf(dot(*this))); }
};

struct Sphere {
    Vector centre;
    float radius, shine;
    __host__ __device__ float hit(Vector from, Vector way) const {
        Vector to = centre - from;
        float along = to.dot(way), rest = radius * radius - to.dot(to) + along * along;
        if (rest < 0)
            return -1;
        float t = along - sqrtf(rest);
        return t > 1e-3f ? t : -1;
    }
};

__host__ __device__ inline float trace(const Sphere *spheres, int n, Vector from, Vector way) {
    float light = 0, strength = 1;
    for (int bounce = 0; bounce < 4; bounce++) {
        float nearest = 1e30f;
        int which = -1;
        for (int i = 0; i < n; i++) {
            float t = spheres[i].hit(from, way);
            if (t > 0 && t < nearest) {
                nearest = t;
                which = i;
            }
        }
        if (which < 0)
            return light + strength * (0.5f + 0.5f * way.y);
        Vector at = from + way * nearest, normal = (at - spheres[which].centre).unit();
        light += strength * (1 - spheres[which].shine) * fmaxf(normal.dot(Vector{0.6f, 0.64f, -0.48f}), 0.0f);
        strength *= spheres[which].shine;
        way = way - normal * (2 * way.dot(normal));
        from = at;
    }
    return light;
}

__constant__ Sphere scene[5];

__global__ void render(float *image, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        image[y * n + x] = trace(scene, 5, {0, 0, -5}, Vector{x * 2.0f / n - 1, y * 2.0f / n - 1, 2}.unit());
}

int main() {
    const int n = 40;
    Sphere spheres[5];
    for (int i = 0; i < 5; i++)
        spheres[i] = {{i - 2.0f, i % 2 - 0.5f, i * 0.3f}, 0.6f, i * 0.2f};
    CUDA(cudaMemcpyToSymbol(scene, spheres, sizeof spheres));
    Device<float> image(n * n);
    render<<<dim3(5, 5), dim3(8, 8)>>>(image, n);
    std::vector<float> got = image.get();
    int n_different = 0; // a ray that grazes a sphere may miss it
    for (int i = 0; i < n * n; i++) {
        Vector way = {i % n * 2.0f / n - 1, i / n * 2.0f / n - 1, 2};
        n_different += fabsf(got[i] - trace(spheres, 5, {0, 0, -5}, way.unit())) > 1e-3f;
    }
    EXPECT(n_different < n * n / 50);
    return 0;
}
