/* A plan's memory and its kernels.
 *
 * A transform copies the input to a packed array of complex numbers, passes over each dimension, and copies the result
 * to the output. So input and output may be the same array, in any layout. Transforms of real numbers are computed as
 * complex ones. A pass reads one work area and writes the other. */
#include "cufft/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "library/library.h"

enum { THREADS = 128, MOST_BLOCKS = 4096 };

extern const char cufft_ptx_transform[];
static struct library_module module = {.ptx = cufft_ptx_transform};

bool cufft_is_double(cufftType type) { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }

static size_t complex_bytes(const struct cufft_plan *plan) { return cufft_is_double(plan->type) ? 16 : 8; }

size_t cufft_work_bytes(const struct cufft_plan *plan) { return 2 * plan->n_elements * complex_bytes(plan); }

/* ---- Layouts ---- */

static enum transform_elements elements_of(cufftType type, bool is_output) {
    bool from_real = type == CUFFT_R2C || type == CUFFT_D2Z, to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    if (!from_real && !to_real)
        return TRANSFORM_COMPLEX;
    return from_real == is_output ? TRANSFORM_HALF : TRANSFORM_REAL;
}

/* A packed array. In place, a row of real numbers has the length of the row of half a spectrum that replaces it. */
static struct transform_layout packed(const struct cufft_plan *plan, bool is_output, bool is_in_place) {
    struct transform_layout layout = {.elements = elements_of(plan->type, is_output), .stride = 1, .rows = plan->n[1]};
    uint64_t half = plan->n[2] / 2 + 1;
    layout.columns = layout.elements == TRANSFORM_HALF                  ? half
                     : layout.elements == TRANSFORM_REAL && is_in_place ? 2 * half
                                                                        : plan->n[2];
    layout.distance = plan->n[0] * layout.rows * layout.columns;
    return layout;
}

cufftResult cufft_lay_out(struct cufft_plan *plan, const struct cufft_request *request) {
    if (request->rank < 1 || request->rank > CUFFT_MAX_RANK || !request->n)
        return CUFFT_INVALID_SIZE;
    if (elements_of(request->type, false) == TRANSFORM_COMPLEX && request->type != CUFFT_C2C &&
        request->type != CUFFT_Z2Z)
        return CUFFT_INVALID_TYPE;
    plan->type = request->type;
    uint64_t n_elements = (uint64_t)request->batch;
    for (int i = 0; i < CUFFT_MAX_RANK; i++)
        plan->n[i] = 1;
    for (int i = 0; i < request->rank; i++) {
        if (request->n[i] < 1 || request->n[i] > INT32_MAX / 4)
            return CUFFT_INVALID_SIZE;
        plan->n[CUFFT_MAX_RANK - request->rank + i] = (uint32_t)request->n[i];
        n_elements *= (uint64_t)request->n[i];
        if (n_elements > INT32_MAX)
            return CUFFT_INVALID_SIZE;
    }
    if (request->batch < 1)
        return CUFFT_INVALID_SIZE;
    plan->n_elements = (uint32_t)n_elements;
    for (int side = 0; side < 2; side++) {
        const long long *embed = request->embed[side];
        plan->is_packed[side] = !request->embed[0] || !request->embed[1];
        plan->layout[side] = packed(plan, side, false);
        if (plan->is_packed[side])
            continue;
        plan->layout[side].stride = (uint64_t)request->stride[side];
        plan->layout[side].distance = (uint64_t)request->distance[side];
        plan->layout[side].columns = request->rank > 1 ? (uint64_t)embed[request->rank - 1] : 0;
        plan->layout[side].rows = request->rank > 2 ? (uint64_t)embed[1] : 0;
    }
    return CUFFT_SUCCESS;
}

/* ---- Memory ---- */

/* exp(-2 pi i k / n) for k < n, in the plan's precision. */
static CUresult make_roots(const struct cufft_plan *plan, uint32_t n, CUdeviceptr *roots) {
    size_t bytes = n * complex_bytes(plan);
    double *wide = malloc(2 * n * sizeof *wide);
    float *narrow = malloc(2 * n * sizeof *narrow);
    CUresult result = wide && narrow ? cuMemAlloc(roots, bytes) : CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t k = 0; result == CUDA_SUCCESS && k < n; k++) {
        /* from an angle of at most an eighth of a turn, so that the roots are as symmetric as the circle */
        uint64_t eighth = 8 * (uint64_t)k / n;
        double turn = 2 * 3.14159265358979323846 / n;
        double rest = (double)((int64_t)(4 * (uint64_t)k) - (int64_t)((eighth + 1) / 2 * n)) / 4 * turn;
        double c = cos(rest), s = sin(rest);
        static const signed char signs[4][4] = {{1, 0, 0, 1}, {0, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, 0}};
        const signed char *sign = signs[(eighth + 1) / 2 % 4];
        wide[2 * k] = sign[0] * c + sign[1] * s;
        wide[2 * k + 1] = -(sign[2] * c + sign[3] * s);
        narrow[2 * k] = (float)wide[2 * k];
        narrow[2 * k + 1] = (float)wide[2 * k + 1];
    }
    if (result == CUDA_SUCCESS)
        result = cuMemcpyHtoD(*roots, cufft_is_double(plan->type) ? (void *)wide : (void *)narrow, bytes);
    free(wide);
    free(narrow);
    return result;
}

cufftResult cufft_prepare(struct cufft_plan *plan) {
    CUresult result = library_start();
    if (result != CUDA_SUCCESS)
        return CUFFT_SETUP_FAILED;
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++)
        result = cuMemAlloc(&plan->work[i], plan->n_elements * complex_bytes(plan));
    for (int i = 0; i < CUFFT_MAX_RANK && result == CUDA_SUCCESS; i++)
        if (plan->n[i] > 1)
            result = make_roots(plan, plan->n[i], &plan->roots[i]);
    if (result == CUDA_SUCCESS)
        return CUFFT_SUCCESS;
    cufft_release(plan);
    return CUFFT_ALLOC_FAILED;
}

void cufft_release(struct cufft_plan *plan) {
    for (int i = 0; i < CUFFT_MAX_RANK; i++) {
        if (plan->roots[i])
            cuMemFree(plan->roots[i]);
        plan->roots[i] = 0;
    }
    for (int i = 0; i < 2; i++) {
        if (plan->work[i])
            cuMemFree(plan->work[i]);
        plan->work[i] = 0;
    }
}

/* ---- Kernels ---- */

static CUresult launch(const struct cufft_plan *plan, const char *name, uint32_t n_threads, const void *job) {
    char full[64];
    uint32_t blocks = (n_threads + THREADS - 1) / THREADS;
    snprintf(full, sizeof full, "transform_%s_%c", name, cufft_is_double(plan->type) ? 'd' : 'f');
    return library_launch(&module, full, (unsigned[]){blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, 1, 1}, THREADS,
                          plan->stream, job);
}

static CUresult copy(const struct cufft_plan *plan, void *array, bool is_output, bool is_in_place, CUdeviceptr work) {
    struct transform_copy job = {.layout = plan->layout[is_output],
                                 .packed = (void *)(uintptr_t)work,
                                 .n = {plan->n[0], plan->n[1], plan->n[2]},
                                 .n_elements = plan->n_elements};
    if (plan->is_packed[is_output])
        job.layout = packed(plan, is_output, is_in_place);
    job.layout.base = array;
    return launch(plan, is_output ? "scatter" : "gather", plan->n_elements, &job);
}

/* Returns the radix of the next pass, by the remaining factor of the dimension: a prime, or a small power of two. */
static uint32_t radix_of(uint32_t rest) {
    static const uint32_t own[] = {8, 4, 2, 3, 5, 7};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (rest % own[i] == 0)
            return own[i];
    for (uint32_t prime = 11; prime <= rest / prime; prime += 2)
        if (rest % prime == 0)
            return prime;
    return rest;
}

/* Passes over a dimension. Returns the work area that contains the result in *area. */
static CUresult pass_over(const struct cufft_plan *plan, int dimension, bool is_inverse, int *area) {
    struct transform_pass job = {.roots = (void *)(uintptr_t)plan->roots[dimension],
                                 .n = plan->n[dimension],
                                 .done = 1,
                                 .inner = 1,
                                 .n_elements = plan->n_elements,
                                 .is_inverse = is_inverse};
    for (int i = dimension + 1; i < CUFFT_MAX_RANK; i++)
        job.inner *= plan->n[i];
    CUresult result = CUDA_SUCCESS;
    while (job.done < job.n && result == CUDA_SUCCESS) {
        char name[8] = "any";
        job.radix = radix_of(job.n / job.done);
        job.from = (void *)(uintptr_t)plan->work[*area];
        job.to = (void *)(uintptr_t)plan->work[1 - *area];
        if (job.radix <= 8)
            snprintf(name, sizeof name, "%u", job.radix);
        result = launch(plan, name, job.radix <= 8 ? plan->n_elements / job.radix : plan->n_elements, &job);
        job.done *= job.radix;
        *area = 1 - *area;
    }
    return result;
}

cufftResult cufft_execute(const struct cufft_plan *plan, void *input, void *output, bool is_inverse) {
    int area = 0;
    if (!input || !output)
        return CUFFT_INVALID_VALUE;
    CUresult result = copy(plan, input, false, input == output, plan->work[0]);
    for (int i = CUFFT_MAX_RANK - 1; i >= 0 && result == CUDA_SUCCESS; i--)
        result = pass_over(plan, i, is_inverse, &area);
    if (result == CUDA_SUCCESS)
        result = copy(plan, output, true, input == output, plan->work[area]);
    return result == CUDA_SUCCESS ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}
