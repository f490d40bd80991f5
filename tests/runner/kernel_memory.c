/* A kernel test's arguments on the device: buffers, texture and surface objects with their arrays, and plain values. */
#include "kernel_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "text.h"

static size_t value_bytes(const struct kernel_argument *argument) { return argument->type->bits / 8; }

static size_t total_bytes(const struct kernel_argument *argument) { return argument->count * value_bytes(argument); }

static void fill(struct kernel_memory *memory, const struct kernel_argument *argument) {
    size_t bytes = value_bytes(argument);
    memory->bytes = text_resize(NULL, total_bytes(argument));
    memset(memory->bytes, 0, total_bytes(argument));
    for (size_t i = 0; i < argument->values.length; i++)
        memcpy(memory->bytes + i * bytes, &argument->values.value[i].bits, bytes);
}

static void make_buffer(struct kernel_memory *memory, const struct kernel_argument *argument) {
    DRIVER_REQUIRE(cuMemAlloc(&memory->buffer, total_bytes(argument)));
    DRIVER_REQUIRE(cuMemcpyHtoD(memory->buffer, memory->bytes, total_bytes(argument)));
    memory->word = memory->buffer;
}

static CUarray_format array_format(const struct kernel_argument *argument) {
    const struct value_type *type = argument->type;
    if (type->kind == VALUE_FLOAT)
        return type->bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    if (type->kind == VALUE_SIGNED)
        return type->bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
               : type->bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
                                  : CU_AD_FORMAT_SIGNED_INT32;
    return type->bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
           : type->bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                              : CU_AD_FORMAT_UNSIGNED_INT32;
}

/* Copies between bytes and the array: from the array when is_read. */
static void copy_array(const struct kernel_memory *memory, const struct kernel_argument *argument, bool is_read) {
    size_t line = argument->width * argument->channels * value_bytes(argument);
    CUDA_MEMCPY2D copy = {.WidthInBytes = line, .Height = argument->height ? argument->height : 1};
    copy.srcMemoryType = is_read ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = is_read ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    if (is_read) {
        copy.srcArray = memory->array;
        copy.dstHost = memory->bytes;
        copy.dstPitch = line;
    } else {
        copy.srcHost = memory->bytes;
        copy.srcPitch = line;
        copy.dstArray = memory->array;
    }
    DRIVER_REQUIRE(cuMemcpy2D(&copy));
}

static void make_array(struct kernel_memory *memory, const struct kernel_argument *argument) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = argument->width,
                                          .Height = argument->height,
                                          .Format = array_format(argument),
                                          .NumChannels = argument->channels,
                                          .Flags = argument->kind == ARGUMENT_SURFACE ? CUDA_ARRAY3D_SURFACE_LDST
                                                   : argument->height                 ? CUDA_ARRAY3D_TEXTURE_GATHER
                                                                                      : 0};
    DRIVER_REQUIRE(cuArray3DCreate(&memory->array, &descriptor));
    copy_array(memory, argument, false);
}

static CUaddress_mode address_mode(enum texture_wrap wrap) {
    static const CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR,
                                           CU_TR_ADDRESS_MODE_BORDER};
    return modes[wrap];
}

static void make_texture(struct kernel_memory *memory, const struct kernel_argument *argument) {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUtexObject object;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    if (argument->is_buffer) {
        make_buffer(memory, argument);
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = memory->buffer;
        resource.res.linear.format = array_format(argument);
        resource.res.linear.numChannels = argument->channels;
        resource.res.linear.sizeInBytes = total_bytes(argument);
    } else {
        make_array(memory, argument);
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = memory->array;
    }
    for (unsigned i = 0; i < 3; i++)
        texture.addressMode[i] = address_mode(argument->wrap);
    texture.filterMode = argument->is_linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    texture.flags = (argument->is_normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                    (argument->reads_normalized ? 0u : CU_TRSF_READ_AS_INTEGER);
    DRIVER_REQUIRE(cuTexObjectCreate(&object, &resource, &texture, NULL));
    memory->word = object;
}

static void make_surface(struct kernel_memory *memory, const struct kernel_argument *argument) {
    CUDA_RESOURCE_DESC resource;
    CUsurfObject object;
    memset(&resource, 0, sizeof resource);
    make_array(memory, argument);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = memory->array;
    DRIVER_REQUIRE(cuSurfObjectCreate(&object, &resource));
    memory->word = object;
}

void kernel_memory_make(struct kernel_memory *memory, const struct kernel_argument *argument) {
    *memory = (struct kernel_memory){0};
    fill(memory, argument);
    switch (argument->kind) {
    case ARGUMENT_SCALAR:
        memcpy(&memory->word, memory->bytes, value_bytes(argument));
        break;
    case ARGUMENT_BUFFER:
        make_buffer(memory, argument);
        break;
    case ARGUMENT_TEXTURE:
        make_texture(memory, argument);
        break;
    case ARGUMENT_SURFACE:
        make_surface(memory, argument);
        break;
    case ARGUMENT_STRUCT:
        break;
    }
}

void *kernel_memory_parameter(struct kernel_memory *memory, const struct kernel_argument *argument) {
    return argument->kind == ARGUMENT_STRUCT ? (void *)memory->bytes : &memory->word;
}

void kernel_memory_read(struct kernel_memory *memory, const struct kernel_argument *argument) {
    if (argument->kind == ARGUMENT_SURFACE)
        copy_array(memory, argument, true);
    else
        DRIVER_REQUIRE(cuMemcpyDtoH(memory->bytes, memory->buffer, total_bytes(argument)));
}

uint64_t kernel_memory_value(const struct kernel_memory *memory, const struct kernel_argument *argument, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, memory->bytes + i * value_bytes(argument), value_bytes(argument));
    return bits;
}
