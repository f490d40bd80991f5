__global__ void all(int *i, int n) {
    int *p = (int *)alloca(n * 4);
    for (int k = 0; k < n; k++)
        p[k] = i[k];
    i[0] = p[n / 2];
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recursive(int *i) { i[threadIdx.x] = fib(i[threadIdx.x]); }
