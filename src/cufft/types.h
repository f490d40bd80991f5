/* The types of the cuFFT interface. Source: NVIDIA's cuFFT manual, version 12; names and values are those of the binary
 * interface. With HEDDLE_TOOLKIT_HEADERS they come from the toolkit's header (tests/cuda/signatures.sh). */
#pragma once

#include <stdint.h>

#include "cuda.h"

#ifdef HEDDLE_TOOLKIT_HEADERS
#include <cufft.h>
#include <cufftXt.h>
#else
#include <stddef.h>

typedef CUstream cudaStream_t;
typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

typedef enum cufftResult_t {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_NOT_SUPPORTED = 16,
} cufftResult;

typedef enum cufftType_t {
    CUFFT_C2C = 0x29,
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_Z2Z = 0x69,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
} cufftType;

typedef enum cufftProperty_t {
    NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT = 1,
    NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS = 2,
} cufftProperty;

typedef enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4, CUDA_C_64F = 5 } cudaDataType;

typedef float cufftReal;
typedef double cufftDoubleReal;
typedef struct {
    float x, y;
} cufftComplex;
typedef struct {
    double x, y;
} cufftDoubleComplex;

typedef int cufftHandle;
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1
#endif

/* A function of the interface: its declaration and the head of its definition. */
#define CUFFT_API(name, ...)                                                                                           \
    __attribute__((visibility("default"))) cufftResult name(__VA_ARGS__);                                              \
    cufftResult name(__VA_ARGS__)
