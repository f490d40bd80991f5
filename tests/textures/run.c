/* Makes the array and the object of a case, runs its kernel and collects the results. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "text.h"

enum { THREADS = 64, PITCH_BYTES = 512 };

/* What holds the texels: one of these. */
struct holder {
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
};

struct packed {
    size_t line, height, depth; /* bytes of a line, lines of a slice, slices */
};

static struct packed packed_of(const struct texture_case *c, unsigned level) {
    struct extent e = case_extent(c, level);
    return (struct packed){(size_t)e.size[0] * case_texel_bytes(c), e.size[1], (size_t)e.size[2] * e.layers};
}

static unsigned char *texels_of(const struct texture_case *c, unsigned level, size_t *bytes) {
    struct packed p = packed_of(c, level);
    unsigned char *texels = text_resize(NULL, *bytes = p.line * p.height * p.depth);
    case_texels(c, level, texels);
    return texels;
}

static void copy_level(const struct texture_case *c, unsigned level, CUarray array, unsigned char *texels,
                       bool is_read) {
    struct packed p = packed_of(c, level);
    CUDA_MEMCPY3D copy = {.WidthInBytes = p.line, .Height = p.height, .Depth = p.depth};
    if (is_read) {
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = array;
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = texels;
        copy.dstPitch = p.line;
        copy.dstHeight = p.height;
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = texels;
        copy.srcPitch = p.line;
        copy.srcHeight = p.height;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
    }
    DRIVER_REQUIRE(cuMemcpy3D(&copy));
}

static CUDA_ARRAY3D_DESCRIPTOR descriptor_of(const struct texture_case *c) {
    struct extent e = case_extent(c, 0);
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = e.size[0], .Format = c->format, .NumChannels = c->channels};
    bool is_surface = c->operation == LOAD || c->operation == STORE;
    d.Height = c->geometry == D1 || c->geometry == A1D ? 0 : e.size[1];
    d.Depth = c->geometry == D3 ? e.size[2] : case_has_layers(c) || case_is_cube(c) ? e.layers : 0;
    d.Flags = (case_has_layers(c) ? CUDA_ARRAY3D_LAYERED : 0u) | (case_is_cube(c) ? CUDA_ARRAY3D_CUBEMAP : 0u) |
              (c->operation == GATHER ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u) |
              (is_surface ? CUDA_ARRAY3D_SURFACE_LDST : 0u);
    return d;
}

/* Memory for lines with or without a pitch. */
static CUresult hold_in_memory(const struct texture_case *c, struct holder *holder) {
    size_t bytes;
    struct packed p = packed_of(c, 0);
    unsigned char *texels = texels_of(c, 0, &bytes);
    size_t pitch = c->geometry == PITCH ? PITCH_BYTES : p.line;
    CUresult result = cuMemAlloc(&holder->memory, pitch * p.height);
    for (size_t y = 0; y < p.height && result == CUDA_SUCCESS; y++)
        result = cuMemcpyHtoD(holder->memory + y * pitch, texels + y * p.line, p.line);
    free(texels);
    return result;
}

static CUresult hold(const struct texture_case *c, struct holder *holder) {
    CUDA_ARRAY3D_DESCRIPTOR d = descriptor_of(c);
    *holder = (struct holder){0};
    if (c->geometry == LINEAR || c->geometry == PITCH)
        return hold_in_memory(c, holder);
    CUresult result = c->is_mipmapped ? cuMipmappedArrayCreate(&holder->mipmap, &d, CASE_LEVELS)
                                      : cuArray3DCreate(&holder->array, &d);
    for (unsigned level = 0; level < case_levels(c) && result == CUDA_SUCCESS; level++) {
        CUarray array = holder->array;
        size_t bytes;
        if (c->is_mipmapped)
            DRIVER_REQUIRE(cuMipmappedArrayGetLevel(&array, holder->mipmap, level));
        unsigned char *texels = texels_of(c, level, &bytes);
        copy_level(c, level, array, texels, false);
        free(texels);
    }
    return result;
}

static void let_go(const struct holder *holder) {
    if (holder->array)
        DRIVER_REQUIRE(cuArrayDestroy(holder->array));
    if (holder->mipmap)
        DRIVER_REQUIRE(cuMipmappedArrayDestroy(holder->mipmap));
    if (holder->memory)
        DRIVER_REQUIRE(cuMemFree(holder->memory));
}

static CUDA_RESOURCE_DESC resource_of(const struct texture_case *c, const struct holder *holder) {
    struct packed p = packed_of(c, 0);
    CUDA_RESOURCE_DESC resource = {0};
    if (c->geometry == LINEAR) {
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = holder->memory;
        resource.res.linear.format = c->format;
        resource.res.linear.numChannels = c->channels;
        resource.res.linear.sizeInBytes = p.line;
    } else if (c->geometry == PITCH) {
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D.devPtr = holder->memory;
        resource.res.pitch2D.format = c->format;
        resource.res.pitch2D.numChannels = c->channels;
        resource.res.pitch2D.width = case_extent(c, 0).size[0];
        resource.res.pitch2D.height = p.height;
        resource.res.pitch2D.pitchInBytes = PITCH_BYTES;
    } else if (c->is_mipmapped) {
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = holder->mipmap;
    } else {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = holder->array;
    }
    return resource;
}

static CUresult make_object(const struct texture_case *c, const struct holder *holder, CUtexObject *object) {
    CUDA_RESOURCE_DESC resource = resource_of(c, holder);
    CUDA_TEXTURE_DESC texture = {.addressMode = {c->wrap, c->wrap, c->wrap},
                                 .filterMode = c->filter,
                                 .mipmapFilterMode = c->mip_filter,
                                 .mipmapLevelBias = c->bias,
                                 .minMipmapLevelClamp = c->min_level,
                                 .maxMipmapLevelClamp = c->max_level,
                                 .borderColor = {0.25f, -0.5f, 2.0f, 0.75f}};
    if (c->normalized)
        texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (!case_reads_float(c))
        texture.flags |= CU_TRSF_READ_AS_INTEGER;
    if (c->is_seamless)
        texture.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    if (c->is_srgb)
        texture.flags |= CU_TRSF_SRGB;
    if (c->operation == LOAD || c->operation == STORE)
        return cuSurfObjectCreate(object, &resource);
    return cuTexObjectCreate(object, &resource, &texture, NULL);
}

static CUdeviceptr upload_inputs(const struct texture_case *c, unsigned n) {
    size_t bytes = (size_t)n * CASE_IN_WORDS * 4;
    uint32_t *in = text_resize(NULL, bytes);
    CUdeviceptr pointer;
    for (unsigned i = 0; i < n; i++)
        case_inputs(c, i, in + (size_t)i * CASE_IN_WORDS);
    DRIVER_REQUIRE(cuMemAlloc(&pointer, bytes));
    DRIVER_REQUIRE(cuMemcpyHtoD(pointer, in, bytes));
    free(in);
    return pointer;
}

static size_t run_kernel(const struct texture_case *c, CUmodule module, const struct holder *holder,
                         unsigned long long object, unsigned n, unsigned char **results) {
    CUfunction function;
    size_t bytes = (size_t)n * CASE_OUT_WORDS * 4;
    CUdeviceptr in = upload_inputs(c, n), out;
    DRIVER_REQUIRE(cuMemAlloc(&out, bytes));
    DRIVER_REQUIRE(cuMemsetD8(out, 0, bytes));
    DRIVER_REQUIRE(cuModuleGetFunction(&function, module, "run"));
    void *arguments[] = {&object, &in, &out, &n};
    DRIVER_REQUIRE(
        cuLaunchKernel(function, (n + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    DRIVER_REQUIRE(cuCtxSynchronize());
    if (c->operation == STORE) {
        *results = texels_of(c, 0, &bytes);
        copy_level(c, 0, holder->array, *results, true);
    } else {
        *results = text_resize(NULL, bytes);
        DRIVER_REQUIRE(cuMemcpyDtoH(*results, out, bytes));
    }
    DRIVER_REQUIRE(cuMemFree(in));
    DRIVER_REQUIRE(cuMemFree(out));
    return bytes;
}

size_t run_case(const struct texture_case *c, unsigned n_samples, unsigned char **results, const char **problem) {
    static char log[DRIVER_LOG];
    struct holder holder;
    CUtexObject object = 0;
    CUmodule module;
    size_t bytes = 0;
    char *ptx = case_ptx(c);
    if (driver_load(ptx, &module, log) != CUDA_SUCCESS) {
        *problem = log;
        free(ptx);
        return 0;
    }
    free(ptx);
    CUresult result = hold(c, &holder);
    *problem = result == CUDA_SUCCESS ? NULL : driver_error_name(result);
    if (!*problem && (result = make_object(c, &holder, &object)) != CUDA_SUCCESS)
        *problem = driver_error_name(result);
    if (!*problem)
        bytes = run_kernel(c, module, &holder, object, n_samples, results);
    if (object && (c->operation == LOAD || c->operation == STORE))
        DRIVER_REQUIRE(cuSurfObjectDestroy(object));
    else if (object)
        DRIVER_REQUIRE(cuTexObjectDestroy(object));
    let_go(&holder);
    DRIVER_REQUIRE(cuModuleUnload(module));
    return bytes;
}
