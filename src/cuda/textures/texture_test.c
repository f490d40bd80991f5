/* Tests of textures and surfaces: the values that kernels read through them. Filtering is tested with the
 * instructions. */
#include "cuda/fixture.h"

#define HEAD ".version 6.3\n.target sm_70\n.address_size 64\n"

/* out[i] = the texel at index i of a texture object over linear memory. */
static const char fetch_ptx[] =
    HEAD ".visible .entry fetch(.param .u64 out, .param .u64 texture) {\n"
         "  .reg .b32 %r<8>; .reg .b64 %d<5>;\n"
         "  ld.param.u64 %d1, [out];\n  ld.param.u64 %d2, [texture];\n  mov.u32 %r1, %tid.x;\n"
         "  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d2, {%r1}];\n"
         "  mul.wide.u32 %d3, %r1, 4;\n  add.u64 %d4, %d1, %d3;\n  st.global.u32 [%d4], %r2;\n  ret;\n}\n";

/* out[i] = the texel at column i, line 1 of the module's reference. */
static const char reference_ptx[] =
    HEAD ".visible .global .texref picture;\n"
         ".visible .entry look(.param .u64 out) {\n"
         "  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %d<5>;\n"
         "  ld.param.u64 %d1, [out];\n  mov.u32 %r1, %tid.x;\n  cvt.rn.f32.u32 %f1, %r1;\n  mov.f32 %f2, 0f3F800000;\n"
         "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [picture, {%f1, %f2}];\n"
         "  mul.wide.u32 %d3, %r1, 4;\n  add.u64 %d4, %d1, %d3;\n  st.global.f32 [%d4], %f3;\n  ret;\n}\n";

/* Writes i + 1 into the i-th 32-bit texel of line 0 of a surface. */
static const char surface_ptx[] =
    HEAD ".visible .entry paint(.param .u64 surface) {\n"
         "  .reg .b32 %r<5>; .reg .b64 %d<2>;\n"
         "  ld.param.u64 %d1, [surface];\n  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 2;\n  add.u32 %r3, %r1, 1;\n"
         "  mov.u32 %r4, 0;\n  sust.b.2d.b32.trap [%d1, {%r2, %r4}], {%r3};\n  ret;\n}\n";

static void a_texture_object_reads_linear_memory(void **state) {
    (void)state;
    CUfunction fetch = load_kernel(fetch_ptx, "fetch", NULL);
    CUdeviceptr memory, out;
    unsigned values[4] = {10, 20, 30, 40}, back[4];
    assert_cuda(cuMemAlloc(&memory, 16));
    assert_cuda(cuMemAlloc(&out, 16));
    assert_cuda(cuMemcpyHtoD(memory, values, 16));
    CUDA_RESOURCE_DESC resource = {
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {.devPtr = memory, .format = CU_AD_FORMAT_UNSIGNED_INT32, .numChannels = 1, .sizeInBytes = 16}};
    const CUDA_TEXTURE_DESC reading = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject object = 0;
    assert_cuda(cuTexObjectCreate(&object, &resource, &reading, NULL));
    assert_true(object != 0);
    void *parameters[] = {&out, &object};
    assert_cuda(cuLaunchKernel(fetch, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(back, out, 16));
    assert_memory_equal(back, values, 16);
    CUDA_RESOURCE_DESC told;
    assert_cuda(cuTexObjectGetResourceDesc(&told, object));
    assert_int_equal(told.res.linear.devPtr, memory);
    assert_int_equal(cuSurfObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuTexObjectDestroy(object));
    assert_int_equal(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
    resource.res.linear.sizeInBytes = 20;
    assert_int_equal(cuTexObjectCreate(&object, &resource, &reading, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void a_reference_reads_what_it_is_bound_to(void **state) {
    (void)state;
    CUmodule module;
    CUfunction look = load_kernel(reference_ptx, "look", &module);
    CUtexref reference, again;
    CUsurfref surface;
    CUarray array, bound = NULL;
    CUdeviceptr out;
    static const unsigned char picture[2][4] = {{0, 0, 0, 0}, {0, 51, 102, 255}};
    float back[4];
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 4, .Height = 2, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = picture,
                                .srcPitch = 4,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .WidthInBytes = 4,
                                .Height = 2};
    CUDA_MEMCPY2D to_array = copy;
    assert_cuda(cuArrayCreate(&array, &shape));
    to_array.dstArray = array;
    assert_cuda(cuMemcpy2D(&to_array));
    assert_cuda(cuMemAlloc(&out, 16));
    assert_cuda(cuModuleGetTexRef(&reference, module, "picture"));
    assert_cuda(cuModuleGetTexRef(&again, module, "picture"));
    assert_ptr_equal(reference, again);
    assert_int_equal(cuModuleGetTexRef(&again, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cuModuleGetSurfRef(&surface, module, "picture"), CUDA_ERROR_NOT_FOUND);
    assert_cuda(cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
    assert_cuda(cuTexRefGetArray(&bound, reference));
    assert_ptr_equal(bound, array);
    void *parameters[] = {&out};
    assert_cuda(cuLaunchKernel(look, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(back, out, 16));
    for (int i = 0; i < 4; i++) /* bytes read as fractions of 255 */
        assert_true(back[i] == (float)picture[1][i] / 255.0f);
    CUaddress_mode mode;
    assert_cuda(cuTexRefSetAddressMode(reference, 1, CU_TR_ADDRESS_MODE_BORDER));
    assert_cuda(cuTexRefGetAddressMode(&mode, reference, 1));
    assert_int_equal(mode, CU_TR_ADDRESS_MODE_BORDER);
    assert_cuda(cuTexRefSetFlags(reference, CU_TRSF_SEAMLESS_CUBEMAP));
    unsigned flags;
    int anisotropy;
    float bias, least, most;
    CUmipmappedArray mipmap;
    assert_cuda(cuTexRefGetFlags(&flags, reference));
    assert_int_equal(flags, CU_TRSF_SEAMLESS_CUBEMAP);
    assert_cuda(cuTexRefSetMaxAnisotropy(reference, 4));
    assert_cuda(cuTexRefGetMaxAnisotropy(&anisotropy, reference));
    assert_int_equal(anisotropy, 4);
    assert_cuda(cuTexRefSetMipmapLevelBias(reference, 0.5f));
    assert_cuda(cuTexRefSetMipmapLevelClamp(reference, 1, 2));
    assert_cuda(cuTexRefGetMipmapLevelBias(&bias, reference));
    assert_cuda(cuTexRefGetMipmapLevelClamp(&least, &most, reference));
    assert_true(bias == 0.5f && least == 1 && most == 2);
    assert_int_equal(cuTexRefGetMipmappedArray(&mipmap, reference), CUDA_ERROR_INVALID_VALUE); /* it has an array */
    assert_int_equal(cuTexRefSetMipmappedArray(reference, NULL, CU_TRSA_OVERRIDE_FORMAT), CUDA_ERROR_INVALID_HANDLE);
    assert_cuda(cuTexRefGetArray(&bound, reference)); /* and keeps it */
}

/* As recorded on an H200: settings take effect at once, and a size beyond the memory is not an error. */
static void a_reference_over_memory_ends_with_it(void **state) {
    (void)state;
    CUmodule module;
    CUfunction look = load_kernel(reference_ptx, "look", &module);
    CUtexref reference;
    CUdeviceptr memory, out;
    static const float texels[2][8] = {{1, 2, 4, 8}, {0, 2, 4, 8}};
    float back[4];
    size_t offset = 1;
    assert_cuda(cuMemAlloc(&memory, sizeof texels));
    assert_cuda(cuMemcpyHtoD(memory, texels, sizeof texels));
    assert_cuda(cuMemAlloc(&out, sizeof back));
    assert_cuda(cuModuleGetTexRef(&reference, module, "picture"));
    assert_cuda(cuTexRefSetAddress(&offset, reference, memory, UINT32_MAX));
    assert_int_equal(offset, 0);
    const CUDA_ARRAY_DESCRIPTOR shape = {.Width = 4, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    assert_cuda(cuTexRefSetAddress2D(reference, &shape, memory, sizeof texels[0]));
    for (int is_linear = 0; is_linear < 2; is_linear++) {
        static const float expected[2][4] = {{0, 2, 4, 8}, {0.5, 1.25, 3, 6}};
        void *parameters[] = {&out};
        assert_cuda(cuTexRefSetFilterMode(reference, is_linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT));
        assert_cuda(cuLaunchKernel(look, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, NULL));
        assert_cuda(cuMemcpyDtoH(back, out, sizeof back));
        assert_memory_equal(back, expected[is_linear], sizeof back);
    }
}

static void a_surface_object_writes_an_array(void **state) {
    (void)state;
    CUfunction paint = load_kernel(surface_ptx, "paint", NULL);
    CUarray array, deep;
    CUsurfObject object = 0;
    unsigned back[4];
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 4,
                                           .Height = 2,
                                           .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                           .NumChannels = 1,
                                           .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    assert_cuda(cuArray3DCreate(&array, &shape));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    assert_cuda(cuSurfObjectCreate(&object, &resource));
    void *parameters[] = {&object};
    assert_cuda(cuLaunchKernel(paint, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyAtoH(back, array, 0, 16));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(back[i], i + 1);
    assert_cuda(cuSurfObjectDestroy(object));
    CUDA_ARRAY3D_DESCRIPTOR volume = shape;
    volume.Depth = 2;
    assert_cuda(cuArray3DCreate(&deep, &volume));
    resource.res.array.hArray = deep;
    assert_cuda(cuSurfObjectCreate(&object, &resource));
    assert_cuda(cuSurfObjectDestroy(object));
}

/* 6 by 5 texels have levels of 6 x 5, 3 x 2 and 1 x 1. The number of layers stays the same. */
static void a_mipmapped_array_has_an_array_for_each_level(void **state) {
    (void)state;
    CUmipmappedArray mipmap;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 6,
                                     .Height = 5,
                                     .Depth = 3,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1,
                                     .Flags = CUDA_ARRAY3D_LAYERED};
    assert_cuda(cuMipmappedArrayCreate(&mipmap, &shape, 9));
    CUDA_ARRAY3D_DESCRIPTOR found;
    assert_cuda(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    assert_cuda(cuArray3DGetDescriptor(&found, level));
    assert_int_equal(found.Width, 3);
    assert_int_equal(found.Height, 2);
    assert_int_equal(found.Depth, 3);
    assert_cuda(cuMipmappedArrayGetLevel(&level, mipmap, 2));
    assert_int_equal(cuMipmappedArrayGetLevel(&level, mipmap, 3), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE); /* it ends with the others */
    assert_cuda(cuMipmappedArrayDestroy(mipmap));
    assert_int_equal(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuArray3DGetDescriptor(&found, level), CUDA_ERROR_INVALID_HANDLE);
}

static void cubes_have_six_square_faces(void **state) {
    (void)state;
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 4,
                                     .Height = 4,
                                     .Depth = 6,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1,
                                     .Flags = CUDA_ARRAY3D_CUBEMAP};
    assert_cuda(cuArray3DCreate(&array, &shape));
    assert_cuda(cuArrayDestroy(array));
    shape.Height = 2;
    assert_int_equal(cuArray3DCreate(&array, &shape), CUDA_ERROR_INVALID_VALUE);
    shape.Height = 4;
    shape.Depth = 12;
    assert_int_equal(cuArray3DCreate(&array, &shape), CUDA_ERROR_INVALID_VALUE);
    shape.Flags |= CUDA_ARRAY3D_LAYERED;
    assert_cuda(cuArray3DCreate(&array, &shape));
    assert_cuda(cuArrayDestroy(array));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(a_texture_object_reads_linear_memory),
        context_test(a_reference_reads_what_it_is_bound_to),
        context_test(a_reference_over_memory_ends_with_it),
        context_test(a_surface_object_writes_an_array),
        context_test(a_mipmapped_array_has_an_array_for_each_level),
        context_test(cubes_have_six_square_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
