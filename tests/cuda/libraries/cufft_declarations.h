/* What fourier.c uses of cuFFT: from the toolkit's headers where nvcc compiles it, otherwise our declarations. */
#pragma once

#ifdef __NVCC__
#include <cufft.h>
#include <cufftXt.h>
#else
#include "cufft/types.h"

#define FUNCTION(name, ...) cufftResult name(__VA_ARGS__);
FUNCTION(cufftCreate, cufftHandle *)
FUNCTION(cufftDestroy, cufftHandle)
FUNCTION(cufftPlan1d, cufftHandle *, int, cufftType, int)
FUNCTION(cufftPlan2d, cufftHandle *, int, int, cufftType)
FUNCTION(cufftPlan3d, cufftHandle *, int, int, int, cufftType)
FUNCTION(cufftPlanMany, cufftHandle *, int, int *, int *, int, int, int *, int, int, cufftType, int)
FUNCTION(cufftMakePlan1d, cufftHandle, int, cufftType, int, size_t *)
FUNCTION(cufftXtMakePlanMany, cufftHandle, int, long long *, long long *, long long, long long, cudaDataType,
         long long *, long long, long long, cudaDataType, long long, size_t *, cudaDataType)
FUNCTION(cufftGetSize, cufftHandle, size_t *)
FUNCTION(cufftEstimate1d, int, cufftType, int, size_t *)
FUNCTION(cufftSetStream, cufftHandle, cudaStream_t)
FUNCTION(cufftExecC2C, cufftHandle, cufftComplex *, cufftComplex *, int)
FUNCTION(cufftExecR2C, cufftHandle, cufftReal *, cufftComplex *)
FUNCTION(cufftExecC2R, cufftHandle, cufftComplex *, cufftReal *)
FUNCTION(cufftExecZ2Z, cufftHandle, cufftDoubleComplex *, cufftDoubleComplex *, int)
FUNCTION(cufftExecD2Z, cufftHandle, cufftDoubleReal *, cufftDoubleComplex *)
FUNCTION(cufftExecZ2D, cufftHandle, cufftDoubleComplex *, cufftDoubleReal *)
FUNCTION(cufftXtExec, cufftHandle, void *, void *, int)
FUNCTION(cufftGetVersion, int *)
#endif
