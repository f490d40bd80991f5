/* The one device: its name, attributes and capabilities.
 *
 * The machine file describes the device (its options device.*, sm.*, shared.*). Without a machine, and on the machines
 * of papers, it reports compute capability 8.0: most current programs need at least 7.5, and CUDA 13 supports nothing
 * lower. */
#include "cuda/internal.h"

#include <stdio.h>
#include <string.h>

#include "config/machine.h"

static const char device_bus_id[] = "0000:01:00.0";
static const CUuuid device_uuid = {{'H', 'e', 'd', 'd', 'l', 'e', '-', 'd', 'e', 'v', 'i', 'c', 'e', '-', '0', '0'}};

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    CUDA_ENTER(call, cuda_enter());
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    CUDA_ENTER(call, cuda_enter());
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
}

/* Copies the text, cut to size bytes including its end. */
static CUresult copy_text(char *to, int size, const char *text) {
    if (!to || size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(to, (size_t)size, "%s", text);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    return copy_text(name, size, gpu_config(call.gpu)->device.name);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    *uuid = device_uuid;
    return CUDA_SUCCESS;
}

/* Only Windows assigns this number. */
CUresult cuDeviceGetLuid(char *luid, unsigned *node_mask, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    return luid && node_mask ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = gpu_config(call.gpu)->memory_bytes;
    return CUDA_SUCCESS;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static CUresult attribute_value(const struct cuda_call *call, CUdevice_attribute attribute, int *value) {
    const struct gpu_config *c = gpu_config(call->gpu);
    int is_unified = gpu_is_unified(call->gpu);
    switch (attribute) {
#define CUDA_ATTRIBUTE(id, expression)                                                                                 \
    case CU_DEVICE_ATTRIBUTE_##id:                                                                                     \
        *value = (int)(expression);                                                                                    \
        return CUDA_SUCCESS;
#include "cuda/devices/attributes.def"
#undef CUDA_ATTRIBUTE
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    return value ? attribute_value(&call, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!properties)
        return CUDA_ERROR_INVALID_VALUE;
    const struct gpu_config *c = gpu_config(call.gpu);
    *properties = (CUdevprop){
        .maxThreadsPerBlock = (int)c->threads_per_block,
        .maxThreadsDim = {GPU_MAX_BLOCK_X, GPU_MAX_BLOCK_Y, GPU_MAX_BLOCK_Z},
        .maxGridSize = {GPU_MAX_GRID_X, GPU_MAX_GRID_Y, GPU_MAX_GRID_Z},
        .sharedMemPerBlock = (int)c->shared_bytes_per_block,
        .totalConstantMemory = 65536,
        .SIMDWidth = 32,
        .memPitch = INT32_MAX,
        .regsPerBlock = (int)c->registers_per_block,
        .clockRate = (int)c->clock_khz,
        .textureAlign = CUDA_PITCH_ALIGNMENT,
    };
    return CUDA_SUCCESS;
}

uint32_t cuda_capability(const struct cuda_call *call) {
    const struct gpu_identity *device = &gpu_config(call->gpu)->device;
    return 10 * device->major + device->minor;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = (int)gpu_config(call.gpu)->device.major;
    *minor = (int)gpu_config(call.gpu)->device.minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *elements, CUarray_format format, unsigned channels,
                                            CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!elements || !cuda_format_bytes(format) || (channels != 1 && channels != 2 && channels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    *elements = CUDA_MAX_LINEAR_TEXELS;
    return CUDA_SUCCESS;
}

/* ---- Its place on the bus --------------------------------------------------------------------------------------- */

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    return copy_text(id, size, device_bus_id);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    CUDA_ENTER(call, cuda_enter());
    unsigned domain = 0, bus, slot, function = 0;
    if (!device || !id)
        return CUDA_ERROR_INVALID_VALUE;
    /* [domain]:[bus]:[device].[function], [domain]:[bus]:[device] or [bus]:[device].[function] */
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 &&
        (domain = 0, sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 3))
        return CUDA_ERROR_INVALID_VALUE;
    if (domain != 0 || bus != 1 || slot != 0 || function != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!can_access)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *can_access = 0;
    return CUDA_SUCCESS;
}

/* The query is about two different devices, but there is only one. */
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
    CUDA_ENTER(call, cuda_enter());
    (void)attribute;
    (void)from;
    (void)to;
    return value ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!supported || type >= CU_EXEC_AFFINITY_TYPE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
}

#undef cuDeviceGetUuid
CUDA_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);
