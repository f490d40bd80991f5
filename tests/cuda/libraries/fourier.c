/* cuFFT: transforms of every type, of one to three dimensions, in batches and other layouts, in place and not, compared
 * with the definition in double precision. */
#include "check.h"
#include "cufft_declarations.h"

enum { MOST = 4096 };

static double in[MOST][2], out[MOST][2]; /* one transform, and its spectrum by definition */

/* The transform of in[] by definition, with dimensions n. */
static void define(const int n[3], int sign) {
    int total = n[0] * n[1] * n[2];
    for (int to = 0; to < total; to++) {
        double sum[2] = {0, 0};
        for (int from = 0; from < total; from++) {
            double turn = (double)((long long)(from / n[2] / n[1]) * (to / n[2] / n[1]) % n[0]) / n[0] +
                          (double)((long long)(from / n[2] % n[1]) * (to / n[2] % n[1]) % n[1]) / n[1] +
                          (double)((long long)(from % n[2]) * (to % n[2]) % n[2]) / n[2];
            double c = cos(2 * 3.14159265358979323846 * turn), s = sign * sin(2 * 3.14159265358979323846 * turn);
            sum[0] += in[from][0] * c - in[from][1] * s;
            sum[1] += in[from][0] * s + in[from][1] * c;
        }
        out[to][0] = sum[0];
        out[to][1] = sum[1];
    }
}

static double at(const void *array, size_t i, int is_double) {
    return is_double ? ((const double *)array)[i] : (double)((const float *)array)[i];
}
static void put(void *array, size_t i, int is_double, double value) {
    if (is_double)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

/* Whether the numbers of an array are those of out[], up to rounding: the error of a transform grows with its size. */
static int is_near(double a, double b, int total, int is_double) {
    return fabs(a - b) <= (is_double ? 1e-14 : 1e-6) * (8 + total);
}

static const int shapes[][3] = {{1, 1, 1},  {1, 1, 2},   {1, 1, 3},   {1, 1, 8},   {1, 1, 12},  {1, 1, 35},
                                {1, 1, 97}, {1, 1, 121}, {1, 1, 143}, {1, 1, 128}, {1, 1, 360}, {1, 1, 1024},
                                {1, 4, 4},  {1, 6, 10},  {1, 16, 11}, {2, 3, 5},   {4, 8, 2},   {7, 3, 9}};

static int is_kind(cufftType type, cufftType single, cufftType wide) { return type == single || type == wide; }

/* A plan for two transforms of the shape, with n[0] of them if it has one dimension. */
static cufftHandle plan_for(const int n[3], cufftType type, int n_transforms) {
    cufftHandle plan;
    if (n[0] > 1)
        NEED(cufftPlan3d(&plan, n[0], n[1], n[2], type));
    else if (n[1] > 1)
        NEED(cufftPlan2d(&plan, n[1], n[2], type));
    else
        NEED(cufftPlan1d(&plan, n[2], type, n_transforms));
    return plan;
}

static void execute(cufftHandle plan, cufftType type, void *from, void *to, int sign) {
    switch (type) {
    case CUFFT_C2C:
        NEED(cufftExecC2C(plan, (cufftComplex *)from, (cufftComplex *)to, sign));
        break;
    case CUFFT_R2C:
        NEED(cufftExecR2C(plan, (cufftReal *)from, (cufftComplex *)to));
        break;
    case CUFFT_C2R:
        NEED(cufftExecC2R(plan, (cufftComplex *)from, (cufftReal *)to));
        break;
    case CUFFT_Z2Z:
        NEED(cufftExecZ2Z(plan, (cufftDoubleComplex *)from, (cufftDoubleComplex *)to, sign));
        break;
    case CUFFT_D2Z:
        NEED(cufftExecD2Z(plan, (cufftDoubleReal *)from, (cufftDoubleComplex *)to));
        break;
    default:
        NEED(cufftExecZ2D(plan, (cufftDoubleComplex *)from, (cufftDoubleReal *)to));
    }
}

/* One shape and type; the input of real numbers, or of a spectrum that belongs to real numbers. */
static void try_shape(const int n[3], cufftType type, int sign, int is_in_place) {
    int is_double = type >= CUFFT_Z2Z, total = n[0] * n[1] * n[2], half = n[2] / 2 + 1;
    int from_real = is_kind(type, CUFFT_R2C, CUFFT_D2Z), to_real = is_kind(type, CUFFT_C2R, CUFFT_Z2D);
    int n_transforms = n[0] * n[1] == 1 ? 2 : 1, row = is_in_place ? 2 * half : n[2];
    size_t bytes = (size_t)n_transforms * (size_t)(n[0] * n[1]) * (size_t)(n[2] + 2) * 2 * (is_double ? 8 : 4);
    void *host = calloc(1, bytes), *first, *second;
    for (int i = 0; i < total; i++) {
        in[i][0] = next_number();
        in[i][1] = from_real || to_real ? 0 : next_number();
    }
    if (to_real) { /* the spectrum of in[], which comes back times its size */
        define(n, -1);
        memcpy(in, out, sizeof in);
    }
    for (int b = 0; b < n_transforms; b++)
        for (int i = 0; i < total; i++) {
            int line = b * n[0] * n[1] + i / n[2], k = i % n[2];
            if (from_real)
                put(host, (size_t)(line * row + k), is_double, in[i][0]);
            else if (!to_real || k < half)
                for (int part = 0; part < 2; part++)
                    put(host, 2 * (size_t)(line * (to_real ? half : n[2]) + k) + (size_t)part, is_double, in[i][part]);
        }
    first = to_device(host, bytes);
    second = is_in_place ? first : to_device(host, bytes);
    cufftHandle plan = plan_for(n, type, n_transforms);
    execute(plan, type, first, second, sign);
    from_device(host, second, bytes);
    define(n, to_real ? 1 : from_real ? -1 : sign);
    int is_right = 1;
    for (int b = 0; b < n_transforms; b++)
        for (int i = 0; i < total; i++) {
            int line = b * n[0] * n[1] + i / n[2], k = i % n[2];
            double scale = to_real ? total : 1;
            if (to_real)
                is_right &=
                    is_near(at(host, (size_t)(line * row + k), is_double) / scale, out[i][0] / scale, total, is_double);
            else if (!from_real || k < half)
                for (int part = 0; part < 2; part++)
                    is_right &=
                        is_near(at(host, 2 * (size_t)(line * (from_real ? half : n[2]) + k) + (size_t)part, is_double),
                                out[i][part], total, is_double);
        }
    if (!is_right)
        fprintf(stderr, "%d x %d x %d, type %x, %s\n", n[0], n[1], n[2], (unsigned)type,
                is_in_place ? "in place" : "to another array");
    EXPECT(is_right);
    NEED(cufftDestroy(plan));
    cudaFree(first);
    if (!is_in_place)
        cudaFree(second);
    free(host);
}

/* Columns of a matrix with padded rows: stride and distance of the input differ from those of the output. */
static void try_columns(void) {
    enum { N = 12, COLUMNS = 5, ROW = 7 };
    static float host[N * ROW][2], result[COLUMNS * N][2];
    int n[1] = {N}, inembed[1] = {N}, onembed[1] = {N}, shape[3] = {1, 1, N}, is_right = 1;
    long long wide[1] = {N};
    for (int i = 0; i < N * ROW; i++) {
        host[i][0] = (float)next_number();
        host[i][1] = (float)next_number();
    }
    float *from = (float *)to_device(host, sizeof host), *to = (float *)to_device(result, sizeof result);
    cufftHandle plan, other;
    size_t bytes = 0;
    NEED(cufftPlanMany(&plan, 1, n, inembed, ROW, 1, onembed, 1, N, CUFFT_C2C, COLUMNS));
    NEED(cufftCreate(&other));
    NEED(cufftXtMakePlanMany(other, 1, wide, wide, ROW, 1, CUDA_C_32F, wide, 1, N, CUDA_C_32F, COLUMNS, &bytes,
                             CUDA_C_32F));
    for (int which = 0; which < 2; which++) {
        if (which)
            NEED(cufftXtExec(other, from, to, CUFFT_INVERSE));
        else
            NEED(cufftExecC2C(plan, (cufftComplex *)from, (cufftComplex *)to, CUFFT_FORWARD));
        from_device(result, to, sizeof result);
        for (int c = 0; c < COLUMNS; c++) {
            for (int i = 0; i < N; i++)
                for (int part = 0; part < 2; part++)
                    in[i][part] = host[i * ROW + c][part];
            define(shape, which ? 1 : -1);
            for (int i = 0; i < 2 * N; i++)
                is_right &= is_near(result[c * N + i / 2][i % 2], out[i / 2][i % 2], N, 0);
        }
    }
    EXPECT(is_right);
    NEED(cufftDestroy(plan));
    NEED(cufftDestroy(other));
    cudaFree(from);
    cudaFree(to);
}

static void try_errors(void) {
    cufftHandle plan;
    size_t bytes = 0;
    int version = 0;
    cufftComplex *memory = (cufftComplex *)to_device(in, 64 * sizeof *memory);
    EXPECT(cufftPlan1d(&plan, -3, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
    EXPECT(cufftDestroy(4000) == CUFFT_INVALID_PLAN);
    NEED(cufftCreate(&plan));
    EXPECT(cufftExecC2C(plan, memory, memory, CUFFT_FORWARD) == CUFFT_INVALID_PLAN); /* not made yet */
    NEED(cufftMakePlan1d(plan, 64, CUFFT_C2C, 1, &bytes));
    EXPECT(cufftMakePlan1d(plan, 64, CUFFT_C2C, 1, &bytes) == CUFFT_INVALID_PLAN);
    NEED(cufftSetStream(plan, 0));
    NEED(cufftGetSize(plan, &bytes));
    NEED(cufftEstimate1d(64, CUFFT_C2C, 1, &bytes));
    NEED(cufftExecC2C(plan, memory, memory, CUFFT_INVERSE));
    NEED(cufftDestroy(plan));
    EXPECT(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
    NEED(cufftGetVersion(&version));
    EXPECT(version >= 10000);
    cudaFree(memory);
}

int main(void) {
    static const cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int t = 0; t < 6; t++)
            for (int way = 0; way < 2; way++)
                try_shape(shapes[s], types[t], way ? 1 : -1, way);
    try_columns();
    try_errors();
    return finish("fourier");
}
