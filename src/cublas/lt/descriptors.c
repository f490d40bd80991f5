/* cublasLt: descriptors. Their attributes are rows of a table. */
#include "cublas/lt/light.h"

#include <stdlib.h>
#include <string.h>

struct attribute {
    int number;
    size_t offset, bytes;
};

#define ATTRIBUTE(number, structure, member)                                                                           \
    { number, offsetof(struct structure, member), sizeof(((struct structure *)0)->member) }

static const struct attribute layout_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, light_layout, type),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, light_layout, order),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, light_layout, rows),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, light_layout, cols),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, light_layout, ld),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, light_layout, n_batches),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, light_layout, batch_offset),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, light_layout, plane_offset),
    {-1, 0, 0},
};

static const struct attribute matmul_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, light_matmul, compute),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, light_matmul, scale),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, light_matmul, pointer_mode),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, light_matmul, op_a),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, light_matmul, op_b),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, light_matmul, op_c),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, light_matmul, fill),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, light_matmul, epilogue),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, light_matmul, bias),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, light_matmul, bias_batch),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, light_matmul, aux),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, light_matmul, aux_ld),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, light_matmul, aux_batch),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, light_matmul, aux_type),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, light_matmul, bias_type),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, light_matmul, sm_count),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, light_matmul, fast_sums),
    {-1, 0, 0},
};

static const struct attribute transform_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, light_transform, scale),
    ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, light_transform, pointer_mode),
    ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, light_transform, op_a),
    ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, light_transform, op_b),
    {-1, 0, 0},
};

static const struct attribute preference_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, light_preference, search_mode),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, light_preference, workspace_bytes),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, light_preference, reductions),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, light_preference, alignment[0]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, light_preference, alignment[1]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, light_preference, alignment[2]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, light_preference, alignment[3]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, light_preference, waves),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, light_preference, implementations),
    {-1, 0, 0},
};

static const struct attribute algorithm_attributes[] = {
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_ID, light_algorithm, id),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_TILE_ID, light_algorithm, tile),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, light_algorithm, split_k),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, light_algorithm, reduction),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, light_algorithm, swizzling),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, light_algorithm, custom),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_STAGES_ID, light_algorithm, stages),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, light_algorithm, inner_shape),
    ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, light_algorithm, cluster_shape),
    {-1, 0, 0},
};

static const struct attribute *find(const struct attribute *attributes, int number) {
    while (attributes->number >= 0 && attributes->number != number)
        attributes++;
    return attributes->number >= 0 ? attributes : NULL;
}

static cublasStatus_t set(const char *name, const struct attribute *attributes, void *descriptor, int number,
                          const void *from, size_t bytes) {
    const struct attribute *attribute = find(attributes, number);
    if (!descriptor || !from)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!attribute)
        return CUBLAS_REFUSE(name, "attribute %d is not supported", number);
    if (bytes != attribute->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)descriptor + attribute->offset, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* With no bytes it only tells how many there are. */
static cublasStatus_t get(const char *name, const struct attribute *attributes, const void *descriptor, int number,
                          void *to, size_t bytes, size_t *written) {
    const struct attribute *attribute = find(attributes, number);
    if (!descriptor || (!to && bytes) || (!bytes && !written))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!attribute)
        return CUBLAS_REFUSE(name, "attribute %d is not supported", number);
    if (bytes && bytes < attribute->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes)
        memcpy(to, (const char *)descriptor + attribute->offset, attribute->bytes);
    if (written)
        *written = attribute->bytes;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t initialize(void *descriptor, size_t room, const void *contents, size_t bytes) {
    if (!descriptor || room < bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(descriptor, 0, room);
    memcpy(descriptor, contents, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* Init, Create, Destroy, SetAttribute and GetAttribute of one kind. */
#define DESCRIPTOR(Name, handle, Number, structure, attributes, parameters, arguments, ...)                            \
    CUBLAS_API(cublasLt##Name##Init_internal, handle descriptor, size_t room PASS parameters) {                        \
        const struct structure contents = __VA_ARGS__;                                                                 \
        return initialize(descriptor, room, &contents, sizeof(contents));                                              \
    }                                                                                                                  \
    CUBLAS_API(cublasLt##Name##Create, handle *descriptor PASS parameters) {                                           \
        if (!descriptor)                                                                                               \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        *descriptor = malloc(sizeof(**descriptor));                                                                    \
        return *descriptor ? cublasLt##Name##Init_internal(*descriptor, sizeof(**descriptor) PASS arguments)           \
                           : CUBLAS_STATUS_ALLOC_FAILED;                                                               \
    }                                                                                                                  \
    CUBLAS_API(cublasLt##Name##Destroy, handle descriptor) {                                                           \
        free(descriptor);                                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    CUBLAS_API(cublasLt##Name##SetAttribute, handle descriptor, Number number, const void *from, size_t bytes) {       \
        return set(__func__, attributes, descriptor, (int)number, from, bytes);                                        \
    }                                                                                                                  \
    CUBLAS_API(cublasLt##Name##GetAttribute, handle descriptor, Number number, void *to, size_t bytes,                 \
               size_t *written) {                                                                                      \
        return get(__func__, attributes, descriptor, (int)number, to, bytes, written);                                 \
    }
#define PASS(...) __VA_OPT__(, ) __VA_ARGS__

DESCRIPTOR(MatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, light_layout, layout_attributes,
           (cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld), (type, rows, cols, ld),
           {.type = (uint32_t)type, .rows = rows, .cols = cols, .ld = ld, .n_batches = 1})
DESCRIPTOR(MatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, light_matmul, matmul_attributes,
           (cublasComputeType_t compute, cudaDataType_t scale), (compute, scale),
           {.compute = (int)compute,
            .scale = (int)scale,
            .fill = CUBLAS_FILL_MODE_FULL,
            .epilogue = LIGHT_DEFAULT,
            .aux_type = -1,
            .bias_type = -1})
DESCRIPTOR(MatrixTransformDesc, cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t, light_transform,
           transform_attributes, (cudaDataType scale), (scale), {.scale = (int)scale})
DESCRIPTOR(MatmulPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, light_preference,
           preference_attributes, (), (), {.alignment = {256, 256, 256, 256}, .implementations = UINT64_MAX})

CUBLAS_API(cublasLtMatmulAlgoConfigSetAttribute, cublasLtMatmulAlgo_t *algorithm,
           cublasLtMatmulAlgoConfigAttributes_t number, const void *from, size_t bytes) {
    return set(__func__, algorithm_attributes, algorithm, (int)number, from, bytes);
}
CUBLAS_API(cublasLtMatmulAlgoConfigGetAttribute, const cublasLtMatmulAlgo_t *algorithm,
           cublasLtMatmulAlgoConfigAttributes_t number, void *to, size_t bytes, size_t *written) {
    return get(__func__, algorithm_attributes, algorithm, (int)number, to, bytes, written);
}
