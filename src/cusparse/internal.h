/* Inside libcusparse: handles and descriptors. */
#pragma once

#include <stdbool.h>

#include "cusparse/types.h"

struct cusparseContext {
    CUstream stream;
    cusparsePointerMode_t pointer_mode;
};

/* Rows or columns one after the other (CSR, CSC), or elements with their rows in order (COO). */
struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, n_elements;
    void *line, *place, *value; /* line: offsets, or in COO the row of each element */
    cusparseIndexType_t line_type, place_type;
    cusparseIndexBase_t first;
    cudaDataType type;
    int attribute[2];
};

struct cusparseDnMatDescr {
    int64_t rows, columns, leading;
    void *value;
    cudaDataType type;
    cusparseOrder_t order;
};

struct cusparseDnVecDescr {
    int64_t size;
    void *value;
    cudaDataType type;
};
