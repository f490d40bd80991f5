__global__ void all(const int *__restrict__ a, int4 *b, double *d) {
    int v = __ldg(a) + __ldcg(a + 1) + __ldca(a + 2) + __ldcs(a + 3) + __ldlu(a + 4) + __ldcv(a + 5);
    __stwb(&b->x, v);
    __stcg(&b->y, v);
    __stcs(&b->z, v);
    __stwt(&b->w, v);
    b[1] = __ldg(b + 2);
    b[3] = __ldcs(b + 4);
    d[0] = __ldg(d + 1);
}
