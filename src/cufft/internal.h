/* Inside libcufft: plans. */
#pragma once

#include <stdbool.h>

#include "cufft/kernels/transform.h"
#include "cufft/types.h"

#pragma GCC visibility push(hidden)

enum { CUFFT_MAX_RANK = 3 };

/* The arguments of a plan, as cufftMakePlanMany64 takes them. `embed` is NULL for packed arrays. */
struct cufft_request {
    int rank;
    const long long *n;
    const long long *embed[2]; /* of the input, of the output */
    long long stride[2], distance[2];
    cufftType type;
    long long batch;
};

struct cufft_plan {
    bool is_made;
    cufftType type;
    uint32_t n[3]; /* dimensions that the transform lacks have length 1 */
    uint32_t n_elements;
    bool is_packed[2]; /* the input, the output: as the default layout has it */
    struct transform_layout layout[2];
    CUdeviceptr roots[3]; /* of each dimension */
    CUdeviceptr work[2];
    CUstream stream;
};

bool cufft_is_double(cufftType type);
/* Bytes of the work areas of a plan. */
size_t cufft_work_bytes(const struct cufft_plan *plan);
/* Fills in a plan, without memory. */
cufftResult cufft_lay_out(struct cufft_plan *plan, const struct cufft_request *request);
/* Allocates the plan's memory, and fills the tables of roots. */
cufftResult cufft_prepare(struct cufft_plan *plan);
void cufft_release(struct cufft_plan *plan);
cufftResult cufft_execute(const struct cufft_plan *plan, void *input, void *output, bool is_inverse);

#pragma GCC visibility pop
