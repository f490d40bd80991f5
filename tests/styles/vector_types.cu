struct __align__(16) v3 {
    float x, y, z;
};
__global__ void all(char4 *c, uchar2 *u, short4 *s, int3 *i, float3 *f, float4 *g, double2 *d, long2 *l, v3 *v,
                    ushort4 *w, dim3 *x) {
    c[0] = c[1];
    u[0] = u[1];
    s[0] = s[1];
    i[0] = i[1];
    f[0] = f[1];
    g[0] = g[1];
    d[0] = d[1];
    l[0] = l[1];
    v[0] = v[1];
    w[0] = make_ushort4(w[1].x, w[2].y, 3, 4);
    x[0] = blockDim;
    x[1] = gridDim;
    g[2] = make_float4(f[2].x, f[3].y, f[4].z, 1);
}
