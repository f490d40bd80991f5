// Graphs of the later kind: memory nodes from a captured cudaMallocAsync and made by hand, instantiation with
// parameters, updates, several launches.
#include <cstdio>
#include <vector>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_) {                                                                                                      \
            printf("%d: %s -> %s\n", __LINE__, #x, cudaGetErrorName(e_));                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
__global__ void iota(int *p, int n, int from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = from + i;
}
__global__ void square(const int *p, int *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        q[i] = p[i] * p[i];
}
__global__ void put(int *p) { p[threadIdx.x] = threadIdx.x * 2; }
// A graph allocates, the stream uses and frees.
static int memory_outlives_its_launch() {
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    cudaGraph_t g;
    cudaGraphExec_t x;
    int *t, h[32];
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    CK(cudaMallocAsync(&t, 128, s));
    put<<<1, 32, 0, s>>>(t);
    CK(cudaStreamEndCapture(s, &g));
    CK(cudaGraphInstantiate(&x, g, 0));
    for (int r = 0; r < 2; r++) {
        CK(cudaGraphLaunch(x, s));
        CK(cudaMemcpyAsync(h, t, 128, cudaMemcpyDeviceToHost, s));
        CK(cudaFreeAsync(t, s));
        CK(cudaStreamSynchronize(s));
        for (int i = 0; i < 32; i++)
            if (h[i] != 2 * i)
                return 1;
    }
    CK(cudaGraphExecDestroy(x));
    CK(cudaGraphDestroy(g));
    return 0;
}

int main() {
    const int n = 1000;
    int *out;
    CK(cudaMalloc(&out, n * 4));
    cudaStream_t s;
    CK(cudaStreamCreate(&s));
    cudaGraph_t g;
    cudaGraphExec_t x;
    std::vector<int> h(n);
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    int *t;
    CK(cudaMallocAsync(&t, n * 4, s));
    iota<<<8, 128, 0, s>>>(t, n, 5);
    square<<<8, 128, 0, s>>>(t, out, n);
    CK(cudaFreeAsync(t, s));
    CK(cudaStreamEndCapture(s, &g));
    cudaGraphInstantiateParams ip = {};
    ip.flags = cudaGraphInstantiateFlagAutoFreeOnLaunch;
    CK(cudaGraphInstantiateWithParams(&x, g, &ip));
    if (ip.result_out != cudaGraphInstantiateSuccess)
        return 1;
    for (int r = 0; r < 3; r++) {
        CK(cudaMemsetAsync(out, 0, n * 4, s));
        CK(cudaGraphLaunch(x, s));
        CK(cudaStreamSynchronize(s));
        CK(cudaMemcpy(h.data(), out, n * 4, cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            if (h[i] != (i + 5) * (i + 5)) {
                printf("%d %d\n", i, h[i]);
                return 1;
            }
    }
    CK(cudaGraphExecDestroy(x));
    CK(cudaGraphDestroy(g));
    CK(cudaGraphCreate(&g, 0));
    cudaGraphNode_t alloc, k1, k2, fr;
    cudaMemAllocNodeParams mp = {};
    mp.poolProps.allocType = cudaMemAllocationTypePinned;
    mp.poolProps.location.type = cudaMemLocationTypeDevice;
    mp.bytesize = n * 4;
    CK(cudaGraphAddMemAllocNode(&alloc, g, nullptr, 0, &mp));
    if (!mp.dptr)
        return 1;
    int from = 9, nn = n;
    cudaKernelNodeParams kp = {};
    void *a1[] = {&mp.dptr, &nn, &from}, *a2[] = {&mp.dptr, &out, &nn};
    kp.func = (void *)iota;
    kp.gridDim = 8;
    kp.blockDim = 128;
    kp.kernelParams = a1;
    CK(cudaGraphAddKernelNode(&k1, g, &alloc, 1, &kp));
    kp.func = (void *)square;
    kp.kernelParams = a2;
    CK(cudaGraphAddKernelNode(&k2, g, &k1, 1, &kp));
    CK(cudaGraphAddMemFreeNode(&fr, g, &k2, 1, mp.dptr));
    cudaMemAllocNodeParams back;
    CK(cudaGraphMemAllocNodeGetParams(alloc, &back));
    if (back.dptr != mp.dptr || back.bytesize != n * 4)
        return 1;
    void *fp;
    CK(cudaGraphMemFreeNodeGetParams(fr, &fp));
    if (fp != mp.dptr)
        return 1;
    cudaGraphNodeType ty;
    CK(cudaGraphNodeGetType(alloc, &ty));
    if (ty != cudaGraphNodeTypeMemAlloc)
        return 1;
    CK(cudaGraphInstantiate(&x, g, 0));
    unsigned long long fl = 1;
    CK(cudaGraphExecGetFlags(x, &fl));
    if (fl)
        return 1;
    CK(cudaGraphUpload(x, s));
    CK(cudaGraphLaunch(x, s));
    CK(cudaGraphLaunch(x, s));
    CK(cudaStreamSynchronize(s));
    CK(cudaMemcpy(h.data(), out, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        if (h[i] != (i + 9) * (i + 9))
            return 1;
    size_t used;
    CK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    CK(cudaDeviceGraphMemTrim(0));
    CK(cudaGraphExecDestroy(x));
    CK(cudaGraphDestroy(g));
    puts("ok");
    return memory_outlives_its_launch();
}
