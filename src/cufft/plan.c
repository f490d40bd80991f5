/* The interface of cuFFT: plans by number, and their execution. */
#include <pthread.h>
#include <stdlib.h>

#include "cufft/internal.h"
#include "library/library.h"

#ifndef CUFFT_MAJOR
#define CUFFT_MAJOR 12
#endif

enum { MOST_PLANS = 4096 };

static struct cufft_plan *plans[MOST_PLANS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct cufft_plan *find(cufftHandle handle) {
    pthread_mutex_lock(&mutex);
    struct cufft_plan *plan = handle >= 1 && handle <= MOST_PLANS ? plans[handle - 1] : NULL;
    pthread_mutex_unlock(&mutex);
    return plan;
}

CUFFT_API(cufftCreate, cufftHandle *handle) {
    struct cufft_plan *plan = calloc(1, sizeof *plan);
    int i = 0;
    if (!plan || !handle) {
        free(plan);
        return handle ? CUFFT_ALLOC_FAILED : CUFFT_INVALID_VALUE;
    }
    pthread_mutex_lock(&mutex);
    while (i < MOST_PLANS && plans[i])
        i++;
    if (i < MOST_PLANS)
        plans[i] = plan;
    pthread_mutex_unlock(&mutex);
    if (i == MOST_PLANS) {
        free(plan);
        return CUFFT_ALLOC_FAILED;
    }
    *handle = i + 1;
    return CUFFT_SUCCESS;
}

CUFFT_API(cufftDestroy, cufftHandle plan) {
    struct cufft_plan *found = find(plan);
    if (!found)
        return CUFFT_INVALID_PLAN;
    pthread_mutex_lock(&mutex);
    plans[plan - 1] = NULL;
    pthread_mutex_unlock(&mutex);
    cufft_release(found);
    free(found);
    return CUFFT_SUCCESS;
}

/* ---- Making plans ---- */

static cufftResult make(cufftHandle handle, const struct cufft_request *request, size_t *bytes) {
    struct cufft_plan *plan = find(handle);
    if (!plan || plan->is_made)
        return CUFFT_INVALID_PLAN;
    cufftResult result = cufft_lay_out(plan, request);
    if (result == CUFFT_SUCCESS)
        result = cufft_prepare(plan);
    plan->is_made = result == CUFFT_SUCCESS;
    if (plan->is_made && bytes)
        *bytes = cufft_work_bytes(plan);
    return result;
}

/* A new plan, which exists only if it can be made. */
static cufftResult create(cufftHandle *handle, const struct cufft_request *request) {
    cufftResult result = cufftCreate(handle);
    if (result != CUFFT_SUCCESS)
        return result;
    result = make(*handle, request, NULL);
    if (result != CUFFT_SUCCESS)
        cufftDestroy(*handle);
    return result;
}

static cufftResult estimate(const struct cufft_request *request, size_t *bytes) {
    struct cufft_plan plan = {0};
    cufftResult result = cufft_lay_out(&plan, request);
    if (result == CUFFT_SUCCESS && bytes)
        *bytes = cufft_work_bytes(&plan);
    return result;
}

/* Arrays of int as cufftPlanMany takes them, widened. */
struct widened {
    struct cufft_request request;
    long long n[CUFFT_MAX_RANK], embed[2][CUFFT_MAX_RANK];
};

static const struct cufft_request *widen(struct widened *wide, int rank, const int *n, const int *inembed, int istride,
                                         int idist, const int *onembed, int ostride, int odist, cufftType type,
                                         int batch) {
    const int *embed[2] = {inembed, onembed};
    wide->request = (struct cufft_request){.rank = rank,
                                           .n = n ? wide->n : NULL,
                                           .stride = {istride, ostride},
                                           .distance = {idist, odist},
                                           .type = type,
                                           .batch = batch};
    for (int i = 0; i < rank && i < CUFFT_MAX_RANK && n; i++)
        wide->n[i] = n[i];
    for (int side = 0; side < 2; side++) {
        wide->request.embed[side] = embed[side] ? wide->embed[side] : NULL;
        for (int i = 0; i < rank && i < CUFFT_MAX_RANK && embed[side]; i++)
            wide->embed[side][i] = embed[side][i];
    }
    return &wide->request;
}

#define PACKED(rank, batch_, ...)                                                                                      \
    &(struct cufft_request) { rank, (const long long[]){__VA_ARGS__}, {NULL, NULL}, {0, 0}, {0, 0}, type, batch_ }

CUFFT_API(cufftPlan1d, cufftHandle *plan, int nx, cufftType type, int batch) {
    return create(plan, PACKED(1, batch, nx));
}
CUFFT_API(cufftPlan2d, cufftHandle *plan, int nx, int ny, cufftType type) { return create(plan, PACKED(2, 1, nx, ny)); }
CUFFT_API(cufftPlan3d, cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
    return create(plan, PACKED(3, 1, nx, ny, nz));
}
CUFFT_API(cufftPlanMany, cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
          int ostride, int odist, cufftType type, int batch) {
    struct widened wide;
    return create(plan, widen(&wide, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
}

CUFFT_API(cufftMakePlan1d, cufftHandle plan, int nx, cufftType type, int batch, size_t *workSize) {
    return make(plan, PACKED(1, batch, nx), workSize);
}
CUFFT_API(cufftMakePlan2d, cufftHandle plan, int nx, int ny, cufftType type, size_t *workSize) {
    return make(plan, PACKED(2, 1, nx, ny), workSize);
}
CUFFT_API(cufftMakePlan3d, cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *workSize) {
    return make(plan, PACKED(3, 1, nx, ny, nz), workSize);
}
CUFFT_API(cufftMakePlanMany, cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
          int ostride, int odist, cufftType type, int batch, size_t *workSize) {
    struct widened wide;
    return make(plan, widen(&wide, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch), workSize);
}
CUFFT_API(cufftMakePlanMany64, cufftHandle plan, int rank, long long int *n, long long int *inembed,
          long long int istride, long long int idist, long long int *onembed, long long int ostride,
          long long int odist, cufftType type, long long int batch, size_t *workSize) {
    return make(plan,
                &(struct cufft_request){rank, n, {inembed, onembed}, {istride, ostride}, {idist, odist}, type, batch},
                workSize);
}

static cufftResult estimate_for(cufftHandle handle, const struct cufft_request *request, size_t *bytes) {
    return find(handle) ? estimate(request, bytes) : CUFFT_INVALID_PLAN;
}

CUFFT_API(cufftGetSize1d, cufftHandle plan, int nx, cufftType type, int batch, size_t *workSize) {
    return estimate_for(plan, PACKED(1, batch, nx), workSize);
}
CUFFT_API(cufftGetSize2d, cufftHandle plan, int nx, int ny, cufftType type, size_t *workSize) {
    return estimate_for(plan, PACKED(2, 1, nx, ny), workSize);
}
CUFFT_API(cufftGetSize3d, cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *workSize) {
    return estimate_for(plan, PACKED(3, 1, nx, ny, nz), workSize);
}
CUFFT_API(cufftGetSizeMany, cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
          int ostride, int odist, cufftType type, int batch, size_t *workSize) {
    struct widened wide;
    return estimate_for(plan, widen(&wide, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch),
                        workSize);
}
CUFFT_API(cufftGetSizeMany64, cufftHandle plan, int rank, long long int *n, long long int *inembed,
          long long int istride, long long int idist, long long int *onembed, long long int ostride,
          long long int odist, cufftType type, long long int batch, size_t *workSize) {
    return estimate_for(
        plan, &(struct cufft_request){rank, n, {inembed, onembed}, {istride, ostride}, {idist, odist}, type, batch},
        workSize);
}

CUFFT_API(cufftEstimate1d, int nx, cufftType type, int batch, size_t *workSize) {
    return estimate(PACKED(1, batch, nx), workSize);
}
CUFFT_API(cufftEstimate2d, int nx, int ny, cufftType type, size_t *workSize) {
    return estimate(PACKED(2, 1, nx, ny), workSize);
}
CUFFT_API(cufftEstimate3d, int nx, int ny, int nz, cufftType type, size_t *workSize) {
    return estimate(PACKED(3, 1, nx, ny, nz), workSize);
}
CUFFT_API(cufftEstimateMany, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
          int odist, cufftType type, int batch, size_t *workSize) {
    struct widened wide;
    return estimate(widen(&wide, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch), workSize);
}

/* The type of a plan by the types of its arrays, which cufftXt* name; 0 if it is missing here. */
static cufftType type_of(const char *name, cudaDataType input, cudaDataType output, cudaDataType execution) {
    static const struct {
        cudaDataType input, output, execution;
        cufftType type;
    } types[] = {{CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_R2C},
                 {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
                 {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_Z2D}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].input == input && types[i].output == output && types[i].execution == execution)
            return types[i].type;
    library_refuse_case(name, "only single and double precision are supported");
    return (cufftType)0;
}

CUFFT_API(cufftXtMakePlanMany, cufftHandle plan, int rank, long long int *n, long long int *inembed,
          long long int istride, long long int idist, cudaDataType inputtype, long long int *onembed,
          long long int ostride, long long int odist, cudaDataType outputtype, long long int batch, size_t *workSize,
          cudaDataType executiontype) {
    cufftType type = type_of(__func__, inputtype, outputtype, executiontype);
    return make(plan,
                &(struct cufft_request){rank, n, {inembed, onembed}, {istride, ostride}, {idist, odist}, type, batch},
                workSize);
}

CUFFT_API(cufftXtGetSizeMany, cufftHandle plan, int rank, long long int *n, long long int *inembed,
          long long int istride, long long int idist, cudaDataType inputtype, long long int *onembed,
          long long int ostride, long long int odist, cudaDataType outputtype, long long int batch, size_t *workSize,
          cudaDataType executiontype) {
    cufftType type = type_of(__func__, inputtype, outputtype, executiontype);
    return estimate_for(
        plan, &(struct cufft_request){rank, n, {inembed, onembed}, {istride, ostride}, {idist, odist}, type, batch},
        workSize);
}

/* ---- Settings. Work areas are always our own. ---- */

CUFFT_API(cufftGetSize, cufftHandle handle, size_t *workSize) {
    struct cufft_plan *plan = find(handle);
    if (!plan || !workSize)
        return CUFFT_INVALID_PLAN;
    *workSize = cufft_work_bytes(plan);
    return CUFFT_SUCCESS;
}

CUFFT_API(cufftSetWorkArea, cufftHandle plan, void *workArea) {
    (void)workArea;
    return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

CUFFT_API(cufftSetAutoAllocation, cufftHandle plan, int autoAllocate) {
    (void)autoAllocate;
    return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

CUFFT_API(cufftSetStream, cufftHandle plan, cudaStream_t stream) {
    struct cufft_plan *found = find(plan);
    if (!found)
        return CUFFT_INVALID_PLAN;
    found->stream = (CUstream)stream;
    return CUFFT_SUCCESS;
}

CUFFT_API(cufftSetPlanPropertyInt64, cufftHandle plan, cufftProperty property, const long long int inputValueInt) {
    (void)property, (void)inputValueInt; /* about the compilation of kernels */
    return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

CUFFT_API(cufftGetPlanPropertyInt64, cufftHandle plan, cufftProperty property, long long int *returnPtrValue) {
    (void)property;
    if (!find(plan) || !returnPtrValue)
        return CUFFT_INVALID_PLAN;
    *returnPtrValue = 0;
    return CUFFT_SUCCESS;
}

CUFFT_API(cufftResetPlanProperty, cufftHandle plan, cufftProperty property) {
    (void)property;
    return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

CUFFT_API(cufftGetVersion, int *version) {
    if (!version)
        return CUFFT_INVALID_VALUE;
    *version = CUFFT_MAJOR * 1000;
    return CUFFT_SUCCESS;
}

CUFFT_API(cufftGetProperty, libraryPropertyType type, int *value) {
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUFFT_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? CUFFT_MAJOR : 0;
    return CUFFT_SUCCESS;
}

/* ---- Execution ---- */

static cufftResult execute(cufftHandle handle, cufftType type, void *input, void *output, int direction) {
    const struct cufft_plan *plan = find(handle);
    if (!plan || !plan->is_made || plan->type != type)
        return CUFFT_INVALID_PLAN;
    if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)
        return CUFFT_INVALID_VALUE;
    return cufft_execute(plan, input, output, direction == CUFFT_INVERSE);
}

CUFFT_API(cufftExecC2C, cufftHandle plan, cufftComplex *idata, cufftComplex *odata, int direction) {
    return execute(plan, CUFFT_C2C, idata, odata, direction);
}

CUFFT_API(cufftExecR2C, cufftHandle plan, cufftReal *idata, cufftComplex *odata) {
    return execute(plan, CUFFT_R2C, idata, odata, CUFFT_FORWARD);
}

CUFFT_API(cufftExecC2R, cufftHandle plan, cufftComplex *idata, cufftReal *odata) {
    return execute(plan, CUFFT_C2R, idata, odata, CUFFT_INVERSE);
}

CUFFT_API(cufftExecZ2Z, cufftHandle plan, cufftDoubleComplex *idata, cufftDoubleComplex *odata, int direction) {
    return execute(plan, CUFFT_Z2Z, idata, odata, direction);
}

CUFFT_API(cufftExecD2Z, cufftHandle plan, cufftDoubleReal *idata, cufftDoubleComplex *odata) {
    return execute(plan, CUFFT_D2Z, idata, odata, CUFFT_FORWARD);
}

CUFFT_API(cufftExecZ2D, cufftHandle plan, cufftDoubleComplex *idata, cufftDoubleReal *odata) {
    return execute(plan, CUFFT_Z2D, idata, odata, CUFFT_INVERSE);
}

CUFFT_API(cufftXtExec, cufftHandle plan, void *input, void *output, int direction) {
    const struct cufft_plan *found = find(plan);
    if (!found)
        return CUFFT_INVALID_PLAN;
    if (found->type == CUFFT_R2C || found->type == CUFFT_D2Z)
        direction = CUFFT_FORWARD;
    if (found->type == CUFFT_C2R || found->type == CUFFT_Z2D)
        direction = CUFFT_INVERSE;
    return execute(plan, found->type, input, output, direction);
}
