// A ray tracer, one pixel per thread: spheres over a chequered floor, one light with shadows, and up to five
// reflections. How long a thread works depends on what its ray hits. The scene is the same for all threads and is in
// constant memory.
#include <heddle/device.h>

enum { N_SPHERES = 6, MOST_REFLECTIONS = 5 };

struct sphere {
    float3 centre;
    float radius;
    float3 colour;
    float mirror; // the share of light that is reflected, 0 to 1
};

struct scene {
    sphere spheres[N_SPHERES];
    float3 eye, to_light; // to_light has length 1: the light is far away
    float floor_mirror;
};

__constant__ scene the_scene;

static __device__ __forceinline__ float3 operator+(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static __device__ __forceinline__ float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static __device__ __forceinline__ float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }
static __device__ __forceinline__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static const float nearest_hit = 1e-3f, no_hit = 1e30f; // a ray does not hit the surface that it leaves

// Returns the distance at which a ray of direction d (length 1) hits the sphere, or no_hit: the smaller root of a
// quadratic equation. Spheres are closed, so a ray never starts inside one.
static __device__ __forceinline__ float hit_sphere(const sphere &s, float3 from, float3 d) {
    float3 o = from - s.centre;
    float b = dot(o, d), discriminant = b * b - dot(o, o) + s.radius * s.radius;
    if (discriminant < 0.0f)
        return no_hit;
    float t = -b - sqrtf(discriminant);
    return t > nearest_hit ? t : no_hit;
}

struct surface {
    float3 point, normal, colour;
    float mirror;
};

// Finds the nearest surface that the ray hits; returns false for the sky.
static __device__ __forceinline__ bool trace(float3 from, float3 d, surface &s) {
    float t = no_hit;
    int hit = -1;
#pragma unroll 1
    for (int i = 0; i < N_SPHERES; i++) {
        float t_sphere = hit_sphere(the_scene.spheres[i], from, d);
        if (t_sphere < t) {
            t = t_sphere;
            hit = i;
        }
    }
    if (d.y < 0.0f && -from.y / d.y < t) {
        t = -from.y / d.y;
        s.point = from + t * d;
        s.normal = make_float3(0.0f, 1.0f, 0.0f);
        bool is_dark = ((int)floorf(s.point.x) ^ (int)floorf(s.point.z)) & 1;
        s.colour = is_dark ? make_float3(0.15f, 0.15f, 0.2f) : make_float3(0.9f, 0.9f, 0.85f);
        s.mirror = the_scene.floor_mirror;
        return true;
    }
    if (hit < 0)
        return false;
    const sphere &ball = the_scene.spheres[hit];
    s.point = from + t * d;
    s.normal = 1.0f / ball.radius * (s.point - ball.centre);
    s.colour = ball.colour;
    s.mirror = ball.mirror;
    return true;
}

static __device__ __forceinline__ bool is_in_shadow(float3 point) {
#pragma unroll 1
    for (int i = 0; i < N_SPHERES; i++)
        if (hit_sphere(the_scene.spheres[i], point, the_scene.to_light) < no_hit)
            return true;
    return false;
}

static __device__ __forceinline__ float3 colour_of_ray(float3 from, float3 d) {
    float3 colour = make_float3(0.0f, 0.0f, 0.0f);
    float weight = 1.0f;
#pragma unroll 1
    for (int reflections = 0;; reflections++) {
        surface s;
        if (!trace(from, d, s)) {
            float height = fmaxf(d.y, 0.0f);
            return colour + weight * make_float3(0.7f - 0.4f * height, 0.8f - 0.3f * height, 0.95f);
        }
        float light = 0.15f, facing = dot(s.normal, the_scene.to_light);
        if (facing > 0.0f && !is_in_shadow(s.point))
            light += 0.85f * facing;
        bool is_last = reflections == MOST_REFLECTIONS || s.mirror == 0.0f;
        colour = colour + weight * light * (is_last ? 1.0f : 1.0f - s.mirror) * s.colour;
        if (is_last)
            return colour;
        weight *= s.mirror;
        from = s.point;
        d = d - 2.0f * dot(s.normal, d) * s.normal;
    }
}

static __device__ __forceinline__ unsigned level(float x) { return (unsigned)(fminf(x, 1.0f) * 255.0f + 0.5f); }

// Red in the low byte, then green and blue. The picture plane is 2 x 2 at distance 2; row 0 is the top.
static __device__ __forceinline__ unsigned pixel(int x, int y, int side) {
    float scale = 2.0f / (float)side;
    float3 d = make_float3(((float)x + 0.5f) * scale - 1.0f, 1.0f - ((float)y + 0.5f) * scale, 2.0f);
    float3 c = colour_of_ray(the_scene.eye, 1.0f / sqrtf(dot(d, d)) * d);
    return level(c.x) | level(c.y) << 8 | level(c.z) << 16;
}

// A block draws a tile and stores it when all its pixels are done: Malits 2012, table 1, says that the kernel has
// barriers, though no shared memory.
extern "C" __global__ void ray(unsigned *picture, int side) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    bool is_inside = x < side && y < side;
    unsigned colour = 0;
    if (is_inside)
        colour = pixel(x, y, side);
    __syncthreads();
    if (is_inside)
        picture[y * side + x] = colour;
}

extern "C" __global__ void ray_strided(unsigned *picture, int side) {
    int n = side * side;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        picture[i] = pixel(i % side, i / side, side);
}
