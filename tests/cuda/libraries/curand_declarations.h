/* What random.c uses of cuRAND: from the toolkit's header where nvcc compiles it, otherwise our declarations. */
#pragma once

#ifdef __NVCC__
#include <curand.h>
#else
#include "curand/types.h"

#define FUNCTION(name, ...) curandStatus_t name(__VA_ARGS__);
FUNCTION(curandCreateGenerator, curandGenerator_t *, curandRngType_t)
FUNCTION(curandCreateGeneratorHost, curandGenerator_t *, curandRngType_t)
FUNCTION(curandDestroyGenerator, curandGenerator_t)
FUNCTION(curandSetPseudoRandomGeneratorSeed, curandGenerator_t, unsigned long long)
FUNCTION(curandSetGeneratorOffset, curandGenerator_t, unsigned long long)
FUNCTION(curandSetGeneratorOrdering, curandGenerator_t, curandOrdering_t)
FUNCTION(curandSetQuasiRandomGeneratorDimensions, curandGenerator_t, unsigned)
FUNCTION(curandGenerateSeeds, curandGenerator_t)
FUNCTION(curandGenerate, curandGenerator_t, unsigned *, size_t)
FUNCTION(curandGenerateLongLong, curandGenerator_t, unsigned long long *, size_t)
FUNCTION(curandGenerateUniform, curandGenerator_t, float *, size_t)
FUNCTION(curandGenerateUniformDouble, curandGenerator_t, double *, size_t)
FUNCTION(curandGenerateNormal, curandGenerator_t, float *, size_t, float, float)
FUNCTION(curandGenerateNormalDouble, curandGenerator_t, double *, size_t, double, double)
FUNCTION(curandGenerateLogNormal, curandGenerator_t, float *, size_t, float, float)
FUNCTION(curandGenerateLogNormalDouble, curandGenerator_t, double *, size_t, double, double)
FUNCTION(curandGeneratePoisson, curandGenerator_t, unsigned *, size_t, double)
FUNCTION(curandGetVersion, int *)
FUNCTION(curandSetStream, curandGenerator_t, cudaStream_t)
#endif
