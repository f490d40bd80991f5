__global__ void __launch_bounds__(256, 4) a(float *f) { f[threadIdx.x] *= 2; }
__global__ void __launch_bounds__(128, 2, 1) b(float *f) { f[threadIdx.x] *= 3; }
__global__ void __maxnreg__(64) c(float *f) { f[threadIdx.x] *= 4; }
__global__ void __block_size__((64, 1, 1)) d(float *f) { f[threadIdx.x] *= 5; }
