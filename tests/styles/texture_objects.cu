#include <cuda_fp16.h>
__global__ void all(cudaTextureObject_t t, float4 *o, int *n, short2 *s, float x, float y, float z) {
    int k = 0;
    o[k++] = tex1Dfetch<float4>(t, 3);
    o[k++] = tex1D<float4>(t, x);
    o[k++] = tex2D<float4>(t, x, y);
    o[k++] = tex3D<float4>(t, x, y, z);
    o[k++] = tex1DLayered<float4>(t, x, 2);
    o[k++] = tex2DLayered<float4>(t, x, y, 1);
    o[k++] = texCubemap<float4>(t, x, y, z);
    o[k++] = texCubemapLayered<float4>(t, x, y, z, 1);
    o[k++] = tex2Dgather<float4>(t, x, y, 1);
    o[k++] = tex2DLod<float4>(t, x, y, z);
    o[k++] = tex2DGrad<float4>(t, x, y, make_float2(x, y), make_float2(y, x));
    o[k++] = tex3DLod<float4>(t, x, y, z, x);
    o[k++] = tex3DGrad<float4>(t, x, y, z, o[0], o[1]);
    o[k++] = tex1DLod<float4>(t, x, y);
    o[k++] = tex1DGrad<float4>(t, x, y, z);
    o[k++] = texCubemapLod<float4>(t, x, y, z, x);
    o[k++] = tex2DLayeredLod<float4>(t, x, y, 1, z);
    o[k++] = tex1DLayeredGrad<float4>(t, x, 1, y, z);
    o[k++] = texCubemapGrad<float4>(t, x, y, z, o[0], o[1]);
    n[0] = tex2D<int>(t, x, y);
    s[0] = tex2D<short2>(t, x, y);
    uint4 u = tex2D<uint4>(t, x, y);
    n[1] = u.x + u.w;
    n[2] = tex1Dfetch<unsigned char>(t, 5);
    bool r;
    o[k++] = tex2D<float4>(t, x, y, &r);
    n[3] = r;
}
