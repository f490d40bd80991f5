// Objects with virtual functions, made and used on the device, and memory from the device's heap.
#include "../check.cuh"

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ virtual ~Shape() {}
};

struct Circle : Shape {
    float r;
    __device__ explicit Circle(float radius) : r(radius) {}
    __device__ float area() const override { return 3.0f * r * r; }
};

struct Box : Shape {
    float a, b;
    __device__ Box(float x, float y) : a(x), b(y) {}
    __device__ float area() const override { return a * b; }
    __device__ int corners() const override { return 4; }
};

__global__ void make(Shape **shapes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        shapes[i] = i % 3 ? static_cast<Shape *>(new Box(i, 2)) : new Circle(i);
}

__global__ void measure(Shape **shapes, float *areas, int *corners, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    areas[i] = shapes[i]->area();
    corners[i] = shapes[i]->corners();
    delete shapes[i];
}

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[2] = {plus, times};

__global__ void apply(int *out) { out[threadIdx.x] = operations[threadIdx.x % 2](threadIdx.x, 5); }

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recurse(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

int main() {
    const int n = 70;
    Device<Shape *> shapes(n);
    Device<float> areas(n);
    Device<int> corners(n), out(16);
    make<<<2, 64>>>(shapes, n);
    measure<<<2, 64>>>(shapes, areas, corners, n);
    std::vector<float> area(n);
    std::vector<int> corner(n), applied(16), numbers(16);
    for (int i = 0; i < n; i++) {
        area[i] = i % 3 ? i * 2.0f : 3.0f * i * i;
        corner[i] = i % 3 ? 4 : 0;
    }
    expect_equal(areas.get(), area);
    expect_equal(corners.get(), corner);
    apply<<<1, 16>>>(out);
    for (int i = 0; i < 16; i++)
        applied[i] = i % 2 ? i * 5 : i + 5;
    expect_equal(out.get(), applied);
    recurse<<<1, 16>>>(out);
    for (int i = 0; i < 16; i++)
        numbers[i] = i < 2 ? i : numbers[i - 1] + numbers[i - 2];
    expect_equal(out.get(), numbers);
    return 0;
}
