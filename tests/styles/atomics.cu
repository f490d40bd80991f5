__global__ void all(int *i, unsigned *u, unsigned long long *l, float *f, double *d, unsigned short *s, float2 *f2,
                    float4 *f4, long long *sl) {
    atomicAdd(i, 1);
    atomicSub(i, 2);
    atomicExch(i, 3);
    atomicMin(i, 4);
    atomicMax(i, 5);
    atomicInc(u, 7);
    atomicDec(u, 7);
    i[1] = atomicCAS(i, 1, 2);
    atomicAnd(i, 3);
    atomicOr(i, 4);
    atomicXor(i, 5);
    atomicAdd(l, 1ull);
    l[1] = atomicCAS(l, 1ull, 2ull);
    atomicMax(l, 5ull);
    atomicMin(sl, 5ll);
    atomicAnd(l, 3ull);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    atomicExch(f, 2.0f);
    s[1] = atomicCAS(s, (unsigned short)1, (unsigned short)2);
    atomicAdd_block(i, 1);
    atomicAdd_system(u, 1u);
    i[2] = atomicAdd(i + 3, 1);
    atomicMax(sl, 3ll);
    __shared__ int sh;
    __shared__ float sf;
    atomicAdd(&sh, 1);
    atomicAdd(&sf, 1.f);
    i[4] = sh + (int)sf;
#if __CUDA_ARCH__ >= 900
    atomicAdd(f2, make_float2(1, 2));
    f4[1] = atomicAdd(f4, make_float4(1, 2, 3, 4));
#endif
}
