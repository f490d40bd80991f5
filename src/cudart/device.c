/* The device: there is one, without peers. */
#include "cudart/internal.h"

static bool is_device(int device) { return device == 0; }

static cudaError_t check_device(int device) {
    CUresult result = cudart_start_driver();
    return result != CUDA_SUCCESS ? (cudaError_t)result : is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaSetDevice(int device) {
    cudaError_t error = check_device(device);
    return cudart_note(error != cudaSuccess ? error : (cudaError_t)cudart_start());
}

cudaError_t cudaGetDevice(int *device) {
    cudaError_t error = check_device(0);
    if (error == cudaSuccess && !device)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *device = 0;
    return cudart_note(error);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags; /* flags that say how the host waits */
    return cudaSetDevice(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    cudaError_t error = count < 0 || (count && !devices) ? cudaErrorInvalidValue : check_device(0);
    for (int i = 0; error == cudaSuccess && i < count; i++)
        error = check_device(devices[i]);
    return cudart_note(error);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties) {
    return properties ? cudaGetDevice(device) : cudart_note(cudaErrorInvalidValue);
}

/* ---- Flags ------------------------------------------------------------------------------------------------------- */

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    CUresult result = cudart_start_driver();
    return cudart_end(result != CUDA_SUCCESS ? result : cuDevicePrimaryCtxSetFlags(0, flags & ~CU_CTX_MAP_HOST));
}

/* Host memory can always be mapped. */
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    int is_active;
    CUresult result = cudart_start_driver();
    if (result == CUDA_SUCCESS)
        result = flags ? cuDevicePrimaryCtxGetState(0, flags, &is_active) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *flags |= CU_CTX_MAP_HOST;
    return cudart_end(result);
}

cudaError_t cudaDeviceReset(void) { return cudart_end(cudart_reset()); }
CUDART_ALIAS(cudaThreadExit, cudaDeviceReset);

/* ---- Peers ------------------------------------------------------------------------------------------------------- */

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)flags;
    (void)peer; /* there is no other device, and this one is not its own peer */
    CUresult result = cudart_start();
    return cudart_end(result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_DEVICE);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = is_device(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_DEVICE;
    return cudart_end(result);
}

/* ---- Versions and entry points ----------------------------------------------------------------------------------- */

cudaError_t cudaRuntimeGetVersion(int *version) {
    if (!version)
        return cudart_note(cudaErrorInvalidValue);
    *version = cudart_major == 11 ? 11080 : cudart_major == 12 ? 12090 : 13000;
    return cudaSuccess;
}

/* A name that the driver does not have is not an error: *status reports it. */
static cudaError_t entry_point(const char *symbol, void **function, unsigned version, unsigned long long flags,
                               int *status) {
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUresult result = cudart_start_driver();
    if (result == CUDA_SUCCESS)
        result = cuGetProcAddress(symbol, function, (int)version, flags, &found);
    if (status)
        *status = (int)found;
    return cudart_end(result == CUDA_ERROR_NOT_FOUND && status ? CUDA_SUCCESS : result);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags, int *status) {
    return entry_point(symbol, function, version, flags, status);
}
CUDART_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags, int *status) {
    int version;
    cudaError_t error = cudaRuntimeGetVersion(&version);
    return error != cudaSuccess ? error : entry_point(symbol, function, (unsigned)version, flags, status);
}
CUDART_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
