__global__ void all(int *i, unsigned *u, bool *p) {
    int a = i[0], b = i[1], c = i[2];
    unsigned x = u[0], y = u[1], z = u[2];
    bool q, r;
    int k = 3, j = 3;
    i[k++] = __vimax3_s32(a, b, c);
    u[j++] = __vimax3_s16x2(x, y, z);
    u[j++] = __vimax3_u32(x, y, z);
    u[j++] = __vimin3_u16x2(x, y, z);
    i[k++] = __vimax3_s32_relu(a, b, c);
    u[j++] = __vimin3_s16x2_relu(x, y, z);
    i[k++] = __vimax_s32_relu(a, b);
    u[j++] = __vimin_s16x2_relu(x, y);
    i[k++] = __vibmax_s32(a, b, &q);
    p[0] = q;
    u[j++] = __vibmin_u16x2(x, y, &q, &r);
    p[1] = q;
    p[2] = r;
    i[k++] = __viaddmax_s32(a, b, c);
    u[j++] = __viaddmin_u16x2(x, y, z);
    i[k++] = __viaddmax_s32_relu(a, b, c);
    u[j++] = __viaddmax_s16x2_relu(x, y, z);
    u[j++] = __vibmax_s16x2(x, y, &q, &r);
    p[3] = q & r;
}
