// rotate: a picture rotated and shrunk through the texture unit: a mipmapped array, filtered between texels and levels.
//
// The reference blends in double precision with exact weights instead of 256ths. Tolerance: 6 of 255 levels for each
// colour. Three weights, each up to half a 256th off, move a value by at most 1.5 of 255, once for each of two levels,
// and both results are rounded.
#include "../common/png.h"
#include "../common/workload.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_LEVELS = 3, TOLERANCE = 6, OPTION_DEGREES = 0, OPTION_IMAGE = 1 };

static const struct workload_info info = {
    .name = "rotate",
    .summary = "a picture rotated and shrunk through the texture unit, one pixel per thread",
    .sizes = {"128 x 128 pixels", "512 x 512 pixels", "1024 x 1024 pixels"},
    .options = {[OPTION_DEGREES] = {"--degrees", "N", "how far the picture turns, default 30", 0, 360},
                [OPTION_IMAGE] = {"--image", "FILE.png", "write the result", 0, 0}},
};

// Four channels of a byte; the first level is the picture, each later one half as wide and high.
struct level {
    unsigned side;
    uint8_t *texel;
};

// ---- Input --------------------------------------------------------------------------------------------------------

// Rings, stripes and noise in the four channels.
static struct level make_picture(struct workload *w, unsigned side) {
    struct level picture = {side, workload_array(w, (size_t)side * side, 4)};
    for (unsigned i = 0; i < side * side; i++) {
        double x = (double)(i % side) / side - 0.5, y = (double)(i / side) / side - 0.5;
        uint8_t *texel = picture.texel + (size_t)4 * i;
        texel[0] = (uint8_t)(127.5 + 127.0 * sin(60.0 * hypot(x, y)));
        texel[1] = (uint8_t)(255.0 * (x + 0.5));
        texel[2] = (uint8_t)(i / side / 8 % 2 ? 230 : 30);
        texel[3] = (uint8_t)workload_random_below(w, 256);
    }
    return picture;
}

// The mean of 2 x 2 texels.
static struct level halve(const struct workload *w, const struct level *from) {
    struct level to = {from->side / 2, workload_array(w, (size_t)(from->side / 2) * (from->side / 2), 4)};
    for (unsigned i = 0; i < to.side * to.side; i++)
        for (unsigned k = 0; k < 4; k++) {
            const uint8_t *corner = from->texel + (size_t)4 * (2 * (i / to.side) * from->side + 2 * (i % to.side)) + k;
            unsigned sum = corner[0] + corner[4] + corner[4 * from->side] + corner[4 * from->side + 4];
            to.texel[4 * i + k] = (uint8_t)((sum + 2) / 4);
        }
    return to;
}

// ---- Where pixels come from ---------------------------------------------------------------------------------------

struct float2 {
    float x, y;
};

// As in kernel.cu.
struct path {
    struct float2 start, across, down;
    float level;
};

// Turns around the middle and shrinks to two thirds.
static struct path make_path(unsigned side, unsigned degrees) {
    double angle = degrees * 3.14159265358979323846 / 180.0, step = 1.5 / side;
    double c = step * cos(angle), s = step * sin(angle), middle = 0.5 * side - 0.5;
    struct path path = {.across = {(float)c, (float)s}, .down = {(float)-s, (float)c}, .level = (float)log2(1.5)};
    path.start = (struct float2){(float)(0.5 - middle * (c - s)), (float)(0.5 - middle * (s + c))};
    return path;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

static unsigned mirrored(long i, unsigned side) {
    long period = 2 * (long)side, at = (i % period + period) % period;
    return (unsigned)(at < (long)side ? at : period - 1 - at);
}

static double texel_at(const struct level *level, long x, long y, unsigned channel) {
    size_t i = (size_t)mirrored(y, level->side) * level->side + mirrored(x, level->side);
    return level->texel[4 * i + channel];
}

static double sample_level(const struct level *level, double u, double v, unsigned channel) {
    double x = u * level->side - 0.5, y = v * level->side - 0.5, left = floor(x), top = floor(y);
    double fx = x - left, fy = y - top;
    long i = (long)left, j = (long)top;
    double above = texel_at(level, i, j, channel) * (1 - fx) + texel_at(level, i + 1, j, channel) * fx;
    double below = texel_at(level, i, j + 1, channel) * (1 - fx) + texel_at(level, i + 1, j + 1, channel) * fx;
    return above * (1 - fy) + below * fy;
}

// Where a channel of `got` is near enough, the expected one is the same.
static struct workload_diff compare(const struct workload *w, const struct level *levels, const struct path *path,
                                    const uint32_t *got, unsigned side) {
    size_t n = (size_t)side * side;
    uint32_t *expected = workload_array(w, n, sizeof *expected);
    double share = (double)path->level;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k++) {
            double x = (double)(i % side), y = (double)(i / side);
            double u = (double)path->start.x + x * (double)path->across.x + y * (double)path->down.x;
            double v = (double)path->start.y + x * (double)path->across.y + y * (double)path->down.y;
            double exact = sample_level(&levels[0], u, v, k) * (1 - share) + sample_level(&levels[1], u, v, k) * share;
            uint32_t mine = got[i] >> 8 * k & 0xff;
            bool is_near = fabs(mine - exact) <= TOLERANCE;
            expected[i] |= (is_near ? mine : (uint32_t)exact) << 8 * k;
        }
    struct workload_diff diff = workload_diff_u32(got, expected, n);
    free(expected);
    return diff;
}

// ---- Device -------------------------------------------------------------------------------------------------------

static CUmipmappedArray upload(const struct workload *w, const struct level *levels) {
    CUmipmappedArray mipmap;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = levels[0].side, .Height = levels[0].side, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    WORKLOAD_CUDA(w, cuMipmappedArrayCreate(&mipmap, &shape, N_LEVELS));
    for (unsigned i = 0; i < N_LEVELS; i++) {
        CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = levels[i].texel,
                              .srcPitch = (size_t)4 * levels[i].side,
                              .srcHeight = levels[i].side,
                              .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                              .WidthInBytes = (size_t)4 * levels[i].side,
                              .Height = levels[i].side,
                              .Depth = 1};
        WORKLOAD_CUDA(w, cuMipmappedArrayGetLevel(&copy.dstArray, mipmap, i));
        WORKLOAD_CUDA(w, cuMemcpy3D(&copy));
    }
    return mipmap;
}

static CUtexObject make_texture(const struct workload *w, CUmipmappedArray mipmap) {
    CUtexObject texture;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    resource.res.mipmap.hMipmappedArray = mipmap;
    const CUDA_TEXTURE_DESC reading = {
        .addressMode = {CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_MIRROR},
        .filterMode = CU_TR_FILTER_MODE_LINEAR,
        .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
        .maxMipmapLevelClamp = N_LEVELS,
        .flags = CU_TRSF_NORMALIZED_COORDINATES};
    WORKLOAD_CUDA(w, cuTexObjectCreate(&texture, &resource, &reading, NULL));
    return texture;
}

static struct workload_shape turn(const struct workload *w, const struct level *levels, struct path *path,
                                  uint32_t *picture, int side) {
    size_t n = (size_t)side * (size_t)side;
    struct workload_shape shape = workload_shape(w, n, 256);
    CUmipmappedArray mipmap = upload(w, levels);
    CUtexObject texture = make_texture(w, mipmap);
    CUdeviceptr device_picture = workload_device_alloc(w, n * sizeof *picture);
    workload_launch(
        w, "rotate", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
        (void *[]){&texture, &device_picture, &side, &side, &path->start, &path->across, &path->down, &path->level});
    workload_download(w, picture, device_picture, n * sizeof *picture);
    workload_device_free(w, device_picture);
    WORKLOAD_CUDA(w, cuTexObjectDestroy(texture));
    WORKLOAD_CUDA(w, cuMipmappedArrayDestroy(mipmap));
    return shape;
}

static void write_image(const struct workload *w, const char *path, const uint32_t *picture, unsigned side) {
    size_t n = (size_t)side * side;
    uint8_t *rgb = workload_array(w, n, 3);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            rgb[3 * i + k] = (uint8_t)(picture[i] >> 8 * k);
    if (!workload_write_png(path, rgb, side, side))
        workload_fail(w, "cannot write '%s': %s", path, strerror(errno));
    free(rgb);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned side = workload_pick(&w, 128, 512, 1024);
    unsigned degrees = w.option[OPTION_DEGREES].text ? w.option[OPTION_DEGREES].number : 30;
    struct level levels[N_LEVELS] = {make_picture(&w, side)};
    for (unsigned i = 1; i < N_LEVELS; i++)
        levels[i] = halve(&w, &levels[i - 1]);
    struct path path = make_path(side, degrees);
    uint32_t *picture = workload_array(&w, (size_t)side * side, sizeof *picture);
    struct workload_shape shape = turn(&w, levels, &path, picture, (int)side);
    if (w.option[OPTION_IMAGE].text)
        write_image(&w, w.option[OPTION_IMAGE].text, picture, side);

    struct workload_diff diff = {0};
    if (w.check)
        diff = compare(&w, levels, &path, picture, side);
    for (unsigned i = 0; i < N_LEVELS; i++)
        free(levels[i].texel);
    free(picture);
    return workload_finish(&w, w.check ? &diff : NULL, "%u x %u pixels, %u degrees, %u blocks of %u threads", side,
                           side, degrees, shape.blocks, shape.threads);
}
