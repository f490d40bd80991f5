__global__ void all(float *f, int n) {
    float s = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++)
        s += f[i];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (f[i] < 0)
            break;
        if (f[i] > 4)
            continue;
        s *= f[i];
    }
    switch (n) {
    case 0:
        s = 1;
        break;
    case 1:
        s *= 2;
        break;
    case 2:
        s -= 3;
        break;
    case 3:
        s /= 4;
        break;
    case 4:
        s = sqrtf(s);
        break;
    case 5:
        s += 5;
        break;
    case 6:
        goto end;
    default:
        s = 9;
    }
end:
    f[0] = s;
    do {
        n >>= 1;
        f[n]++;
    } while (n);
    while (f[1] > 0)
        f[1] -= 1;
}
