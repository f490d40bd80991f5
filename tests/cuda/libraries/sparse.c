/* cuSPARSE: products of a sparse matrix in each format with vectors and matrices, and conversions, compared with the
 * dense matrix on the CPU. Values are multiples of 1/64, so every sum is exact, whatever its order. */
#include "check.h"
#include "cusparse_declarations.h"

enum { ROWS = 37, COLUMNS = 29, MOST = ROWS * COLUMNS, WIDTH = 5 };

static double dense[ROWS][COLUMNS];
static int n_elements;

static void make_matrix(void) {
    n_elements = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int is_there = i != 11 && (i == 7 || next_random() % 6 == 0); /* an empty row and a full one */
            dense[i][j] = is_there ? next_number() : 0;
            n_elements += dense[i][j] != 0;
        }
}

static void put(void *array, int i, int is_wide, double value, int is_integer) {
    if (is_integer && is_wide)
        ((int64_t *)array)[i] = (int64_t)value;
    else if (is_integer)
        ((int *)array)[i] = (int)value;
    else if (is_wide)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}
static double number(const void *array, int i, int is_double) {
    return is_double ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

enum format { CSR, CSC, COO };

/* The matrix on the device; arrays[] has to be freed. */
static cusparseSpMatDescr_t describe(enum format format, int is_double, int is_wide, int first, void *arrays[3]) {
    static int64_t line[MOST + 1], place[MOST];
    static double value[MOST];
    int n_lines = format == CSC ? COLUMNS : ROWS, n_places = format == CSC ? ROWS : COLUMNS, n = 0;
    for (int i = 0; i < n_lines; i++) {
        if (format != COO)
            put(line, i, is_wide, n + first, 1);
        for (int j = 0; j < n_places; j++) {
            double x = format == CSC ? dense[j][i] : dense[i][j];
            if (x == 0)
                continue;
            if (format == COO)
                put(line, n, is_wide, i + first, 1);
            put(place, n, is_wide, j + first, 1);
            put(value, n++, is_double, x, 0);
        }
    }
    if (format != COO)
        put(line, n_lines, is_wide, n + first, 1);
    arrays[0] = to_device(line, sizeof line);
    arrays[1] = to_device(place, sizeof place);
    arrays[2] = to_device(value, sizeof value);
    cusparseSpMatDescr_t matrix;
    cusparseIndexType_t index = is_wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    cusparseIndexBase_t base = first ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
    cudaDataType type = is_double ? CUDA_R_64F : CUDA_R_32F;
    cusparseConstSpMatDescr_t *constant = (cusparseConstSpMatDescr_t *)(void *)&matrix; /* wide ones are made by it */
    if (format == CSR && is_wide)
        NEED(cusparseCreateConstCsr(constant, ROWS, COLUMNS, n, arrays[0], arrays[1], arrays[2], index, index, base,
                                    type));
    else if (format == CSC && is_wide)
        NEED(cusparseCreateConstCsc(constant, ROWS, COLUMNS, n, arrays[0], arrays[1], arrays[2], index, index, base,
                                    type));
    else if (is_wide)
        NEED(cusparseCreateConstCoo(constant, ROWS, COLUMNS, n, arrays[0], arrays[1], arrays[2], index, base, type));
    else if (format == CSR)
        NEED(cusparseCreateCsr(&matrix, ROWS, COLUMNS, n, arrays[0], arrays[1], arrays[2], index, index, base, type));
    else if (format == CSC)
        NEED(cusparseCreateCsc(&matrix, ROWS, COLUMNS, n, arrays[0], arrays[1], arrays[2], index, index, base, type));
    else
        NEED(cusparseCreateCoo(&matrix, ROWS, COLUMNS, n, arrays[0], arrays[1], arrays[2], index, base, type));
    return matrix;
}

static void release(cusparseSpMatDescr_t matrix, void *arrays[3]) {
    NEED(cusparseDestroySpMat(matrix));
    for (int i = 0; i < 3; i++)
        cudaFree(arrays[i]);
}

/* Element (i, j) of a dense matrix with leading dimension `leading`. */
static int place_of(int i, int j, int leading, int is_by_rows) {
    return is_by_rows ? i * leading + j : j * leading + i;
}

/* C = alpha op(A) op(B) + beta C; with one column also as a product with a vector. */
static void try_product(cusparseHandle_t handle, enum format format, int is_double, int variant) {
    int is_transposed = variant & 1, is_wide = variant >> 1 & 1, is_by_rows = variant >> 2 & 1,
        first = variant >> 3 & 1;
    int is_b_transposed = variant >> 4 & 1, is_on_device = variant >> 5 & 1, has_beta = variant >> 6 & 1;
    int is_vector = variant >> 7 & 1, width = is_vector ? 1 : WIDTH;
    int n = is_transposed ? COLUMNS : ROWS, k = is_transposed ? ROWS : COLUMNS;
    int b_rows = is_b_transposed ? width : k, b_columns = is_b_transposed ? k : width;
    int b_leading = (is_by_rows ? b_columns : b_rows) + 2, c_leading = (is_by_rows ? width : n) + 1;
    static double b[MOST], c[MOST];
    void *arrays[3];
    double before[MOST];
    for (int i = 0; i < MOST; i++) {
        put(b, i, is_double, next_number(), 0);
        put(c, i, is_double, next_number(), 0);
        before[i] = number(c, i, is_double);
    }
    float alpha32 = 1.5f, beta32 = has_beta ? -0.5f : 0;
    double alpha64 = 1.5, beta64 = beta32;
    const void *alpha = is_double ? (void *)&alpha64 : (void *)&alpha32;
    const void *beta = is_double ? (void *)&beta64 : (void *)&beta32;
    void *device_alpha = to_device(alpha, is_double ? 8 : 4), *device_beta = to_device(beta, is_double ? 8 : 4);
    NEED(cusparseSetPointerMode(handle, is_on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST));
    if (is_on_device) {
        alpha = device_alpha;
        beta = device_beta;
    }
    cusparseSpMatDescr_t matrix = describe(format, is_double, is_wide, first, arrays);
    void *device_b = to_device(b, sizeof b), *device_c = to_device(c, sizeof c), *buffer = NULL;
    cusparseOperation_t op = is_transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseOperation_t op_b = is_b_transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    cudaDataType type = is_double ? CUDA_R_64F : CUDA_R_32F;
    size_t bytes = 0;
    if (is_vector) {
        cusparseConstDnVecDescr_t x;
        cusparseDnVecDescr_t y;
        NEED(cusparseCreateConstDnVec(&x, k, device_b, type));
        NEED(cusparseCreateDnVec(&y, n, device_c, type));
        NEED(cusparseSpMV_bufferSize(handle, op, alpha, matrix, x, beta, y, type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
        NEED(cudaMalloc(&buffer, bytes));
        EXPECT(bytes > 0);
        NEED(cusparseSpMV(handle, op, alpha, matrix, x, beta, y, type, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
        NEED(cusparseDestroyDnVec(x));
        NEED(cusparseDestroyDnVec(y));
    } else {
        cusparseOrder_t order = is_by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
        cusparseConstDnMatDescr_t x;
        cusparseDnMatDescr_t y;
        NEED(cusparseCreateConstDnMat(&x, b_rows, b_columns, b_leading, device_b, type, order));
        NEED(cusparseCreateDnMat(&y, n, width, c_leading, device_c, type, order));
        NEED(cusparseSpMM_bufferSize(handle, op, op_b, alpha, matrix, x, beta, y, type, CUSPARSE_SPMM_ALG_DEFAULT,
                                     &bytes));
        NEED(cudaMalloc(&buffer, bytes));
        NEED(cusparseSpMM(handle, op, op_b, alpha, matrix, x, beta, y, type, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
        NEED(cusparseDestroyDnMat(x));
        NEED(cusparseDestroyDnMat(y));
    }
    from_device(c, device_c, sizeof c);
    int is_right = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++) {
                int at = is_vector         ? l
                         : is_b_transposed ? place_of(j, l, b_leading, is_by_rows)
                                           : place_of(l, j, b_leading, is_by_rows);
                sum += (is_transposed ? dense[l][i] : dense[i][l]) * number(b, at, is_double);
            }
            int at = is_vector ? i : place_of(i, j, c_leading, is_by_rows);
            is_right &= number(c, at, is_double) == 1.5 * sum + beta64 * before[at];
        }
    if (!is_right)
        fprintf(stderr, "format %d, %s, variant %x\n", (int)format, is_double ? "double" : "float", (unsigned)variant);
    EXPECT(is_right);
    release(matrix, arrays);
    cudaFree(device_b);
    cudaFree(device_c);
    cudaFree(buffer);
    cudaFree(device_alpha);
    cudaFree(device_beta);
}

static void try_conversions(cusparseHandle_t handle, enum format format) {
    static float all[MOST], back[MOST], values[MOST];
    static int places[MOST], lines[MOST + 1];
    void *arrays[3], *memory[3], *device = to_device(all, sizeof all), *buffer = NULL;
    cusparseSpMatDescr_t matrix = describe(format, 0, 0, 0, arrays), made;
    cusparseDnMatDescr_t whole;
    size_t bytes = 0;
    int64_t rows, columns, n;
    int is_right = 1, at;
    NEED(cusparseCreateDnMat(&whole, ROWS, COLUMNS, COLUMNS, device, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    NEED(cusparseSparseToDense_bufferSize(handle, matrix, whole, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes));
    NEED(cudaMalloc(&buffer, bytes));
    NEED(cusparseSparseToDense(handle, matrix, whole, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
    from_device(back, device, sizeof back);
    for (int i = 0; i < MOST; i++)
        is_right &= back[i] == (float)dense[i / COLUMNS][i % COLUMNS];
    EXPECT(is_right);
    cudaFree(buffer);
    if (format != CSR)
        goto end;
    for (int i = 0; i < 3; i++)
        memory[i] = to_device(all, sizeof all);
    NEED(cusparseCreateCsr(&made, ROWS, COLUMNS, 0, memory[0], NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    NEED(cusparseDenseToSparse_bufferSize(handle, whole, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    NEED(cudaMalloc(&buffer, bytes));
    NEED(cusparseDenseToSparse_analysis(handle, whole, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    NEED(cusparseSpMatGetSize(made, &rows, &columns, &n));
    EXPECT(rows == ROWS && columns == COLUMNS && n == n_elements);
    NEED(cusparseCsrSetPointers(made, memory[0], memory[1], memory[2]));
    NEED(cusparseDenseToSparse_convert(handle, whole, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    from_device(lines, memory[0], sizeof(int) * (ROWS + 1));
    from_device(places, memory[1], sizeof(int) * (size_t)n_elements);
    from_device(values, memory[2], sizeof(float) * (size_t)n_elements);
    at = 0;
    for (int i = 0; i < ROWS; i++) {
        is_right &= lines[i] == at + 1;
        for (int j = 0; j < COLUMNS; j++)
            if (dense[i][j] != 0) {
                is_right &= places[at] == j + 1 && values[at] == (float)dense[i][j];
                at++;
            }
    }
    EXPECT(is_right && lines[ROWS] == at + 1);
    /* rows of the elements, and offsets from them */
    NEED(cusparseXcsr2coo(handle, (int *)memory[0], n_elements, ROWS, (int *)memory[1], CUSPARSE_INDEX_BASE_ONE));
    NEED(cusparseXcoo2csr(handle, (int *)memory[1], n_elements, ROWS, (int *)memory[2], CUSPARSE_INDEX_BASE_ONE));
    from_device(places, memory[1], sizeof(int) * (size_t)n_elements);
    from_device(back, memory[2], sizeof(int) * (ROWS + 1));
    EXPECT(memcmp(back, lines, sizeof(int) * (ROWS + 1)) == 0);
    for (int i = 0; i < ROWS; i++)
        for (int k = lines[i]; k < lines[i + 1]; k++)
            is_right &= places[k - 1] == i + 1;
    EXPECT(is_right);
    NEED(cusparseDestroySpMat(made));
    for (int i = 0; i < 3; i++)
        cudaFree(memory[i]);
    cudaFree(buffer);
end:
    NEED(cusparseDestroyDnMat(whole));
    cudaFree(device);
    release(matrix, arrays);
}

int main(void) {
    static const enum format formats[] = {CSR, CSC, COO};
    cusparseHandle_t handle;
    NEED(cusparseCreate(&handle));
    for (int f = 0; f < 3; f++) {
        make_matrix();
        for (int variant = 0; variant < 256; variant += 7)
            for (int is_double = 0; is_double < 2; is_double++)
                try_product(handle, formats[f], is_double, variant);
        try_conversions(handle, formats[f]);
    }
    NEED(cusparseDestroy(handle));
    return finish("sparse");
}
