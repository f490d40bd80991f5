__global__ void all(__int128 *a, unsigned __int128 *b, double *d) {
    a[0] = a[1] + a[2];
    a[3] = a[1] * a[2];
    a[4] = a[1] / a[2];
    b[0] = b[1] % b[2];
    b[3] = b[1] << 5 | b[2] >> 70;
    d[0] = (double)a[1];
    a[5] = (__int128)d[1];
    d[2] = a[1] < a[2];
}
