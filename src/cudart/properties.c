/* cudaDeviceProp in the layouts of CUDA 11, 12 and 13.
 *
 * Version 13 removed eight fields. Version 12 had added fields at the end of version 11's layout, under the symbol
 * cudaGetDeviceProperties_v2; its plain symbol still means version 11's layout. */
#include "cudart/internal.h"

#include <string.h>

struct properties_12 {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int maxTexture1D;
    int maxTexture1DMipmap;
    int maxTexture1DLinear;
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    /* version 11 ends here */
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int reserved[63];
};

_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "version 13");
_Static_assert(sizeof(struct properties_12) == 1032, "version 12");
_Static_assert(offsetof(struct properties_12, hostRegisterSupported) == 728, "version 11");

static int attribute(CUdevice_attribute attribute) {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, 0);
    return value;
}

/* The fields that all versions have; the types differ, the names do not. */
#define CUDART_PROPERTY(field, id) properties->field = (__typeof__(properties->field))attribute(id);
#define FILL_COMMON                                                                                                    \
    cuDeviceGetName(properties->name, sizeof(properties->name), 0);                                                    \
    cuDeviceTotalMem(&properties->totalGlobalMem, 0);                                                                  \
    cuDeviceGetUuid(&properties->uuid, 0);

static void fill_13(struct cudaDeviceProp *properties) {
    memset(properties, 0, sizeof(*properties));
    FILL_COMMON
#define CUDART_OLD_PROPERTY(field, id)
#include "cudart/properties.def"
#undef CUDART_OLD_PROPERTY
    properties->deviceNumaConfig = attribute(CU_DEVICE_ATTRIBUTE_NUMA_CONFIG);
    properties->deviceNumaId = attribute(CU_DEVICE_ATTRIBUTE_NUMA_ID);
    properties->mpsEnabled = attribute(CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
    properties->hostNumaId = attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
}

static void fill_12(struct properties_12 *properties) {
    memset(properties, 0, sizeof(*properties));
    FILL_COMMON
#define CUDART_OLD_PROPERTY(field, id) properties->field = attribute(id);
#include "cudart/properties.def"
#undef CUDART_OLD_PROPERTY
}

static cudaError_t check(const void *properties, int device) {
    CUresult result = cudart_start_driver();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    return device != 0 ? cudaErrorInvalidDevice : properties ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    cudaError_t error = check(properties, device);
    if (error != cudaSuccess)
        return cudart_note(error);
    if (cudart_major >= 13) {
        fill_13(properties);
        return cudaSuccess;
    }
    struct properties_12 all;
    fill_12(&all);
    memcpy(properties, &all, offsetof(struct properties_12, hostRegisterSupported));
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties_v2(struct properties_12 *properties, int device);

cudaError_t cudaGetDeviceProperties_v2(struct properties_12 *properties, int device) {
    cudaError_t error = check(properties, device);
    if (error == cudaSuccess)
        fill_12(properties);
    return cudart_note(error);
}
