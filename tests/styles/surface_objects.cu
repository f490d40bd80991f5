__global__ void all(cudaSurfaceObject_t t, float4 *o, int *n, short2 *s) {
    int x = threadIdx.x, k = 0;
    surf1Dread(&n[k++], t, x * 4);
    surf2Dread(&o[0], t, x * 16, 3);
    surf3Dread(&s[0], t, x * 4, 1, 2, cudaBoundaryModeClamp);
    surf1DLayeredread(&n[k++], t, x * 4, 1, cudaBoundaryModeZero);
    surf2DLayeredread(&o[1], t, x * 16, 3, 1);
    n[k++] = surfCubemapread<int>(t, x * 4, 1, 2);
    n[k++] = surfCubemapLayeredread<uchar1>(t, x, 1, 2).x;
    surf1Dwrite(n[5], t, x * 4);
    surf2Dwrite(o[2], t, x * 16, 3);
    surf3Dwrite(s[1], t, x * 4, 1, 2, cudaBoundaryModeClamp);
    surf1DLayeredwrite((unsigned char)n[6], t, x, 1, cudaBoundaryModeZero);
    surf2DLayeredwrite(o[3], t, x * 16, 3, 1);
    surfCubemapwrite(n[7], t, x * 4, 1, 2);
    surfCubemapLayeredwrite(make_short4(1, 2, 3, 4), t, x * 8, 1, 2);
}
