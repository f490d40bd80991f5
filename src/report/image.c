/* Pictures of a launch: one grey 8-bit pixel per thread, as PNG (W3C, second edition; pixels in stored deflate blocks,
 * RFC 1950 and 1951, so without compression) or PGM (netpbm, raw). */
#include <string.h>

#include "report/report.h"

/* ---- Position of a thread in the picture
 * ---------------------------------------------------------------------------- */

/* Returns the width of the picture of a one-dimensional launch: a power of two of at least a warp that makes it about
 * square. */
static uint32_t line_width(uint64_t n_threads) {
    uint32_t width = 32;
    while ((uint64_t)width * width < n_threads && width < 1u << 15)
        width *= 2;
    return n_threads < width ? (uint32_t)n_threads : width;
}

static void place_threads(const struct report_profile *profile, const uint32_t *value, uint32_t most,
                          struct report_image *image, bool is_line) {
    const uint32_t *block = profile->block, *grid = profile->grid;
    uint64_t per_block = (uint64_t)block[0] * block[1] * block[2];
    uint32_t height = grid[1] * block[1]; /* of one layer; layers are below each other */
    for (uint64_t i = 0; i < profile->n_threads; i++) {
        uint64_t b = i / per_block, t = i % per_block, at = i;
        if (!is_line) {
            uint64_t x = b % grid[0] * block[0] + t % block[0];
            uint64_t y = b / grid[0] % grid[1] * block[1] + t / block[0] % block[1];
            uint64_t z = b / grid[0] / grid[1] * block[2] + t / block[0] / block[1];
            at = (z * height + y) * image->width + x;
        }
        image->pixel[at] = (uint8_t)((uint64_t)value[i] * 255 / (most ? most : 1));
    }
}

struct report_image report_thread_image(const struct report_profile *profile, const uint32_t *value, uint32_t *most,
                                        struct base_arena *arena) {
    const uint32_t *block = profile->block, *grid = profile->grid;
    bool is_line = grid[1] * block[1] * grid[2] * block[2] == 1;
    struct report_image image = {.width = is_line ? line_width(profile->n_threads) : grid[0] * block[0]};
    image.height = (uint32_t)((profile->n_threads + image.width - 1) / image.width);
    image.pixel = BASE_ARENA_ARRAY(arena, uint8_t, (size_t)image.width * image.height);
    *most = 0;
    for (uint64_t i = 0; i < profile->n_threads; i++)
        *most = value[i] > *most ? value[i] : *most;
    place_threads(profile, value, *most, &image, is_line);
    return image;
}

/* ---- PNG --------------------------------------------------------------------------------------------------------- */

enum { MOST_STORED = 65535 };

/* A file being written, with the checksums of the current chunk and of all pixels. */
struct png {
    FILE *file;
    uint32_t crc, adler_low, adler_high;
};

static void put(struct png *png, const void *data, size_t n) {
    const uint8_t *byte = data;
    fwrite(data, 1, n, png->file);
    for (size_t i = 0; i < n; i++) { /* the reflected polynomial, bit by bit */
        png->crc ^= byte[i];
        for (int bit = 0; bit < 8; bit++)
            png->crc = png->crc >> 1 ^ (png->crc & 1 ? 0xedb88320u : 0);
    }
}

static void put_number(struct png *png, uint32_t value) {
    uint8_t byte[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    put(png, byte, sizeof byte);
}

static void start_chunk(struct png *png, const char *type, uint32_t bytes) {
    put_number(png, bytes);
    png->crc = ~0u;
    put(png, type, 4);
}

static void end_chunk(struct png *png) { put_number(png, ~png->crc); }

/* Writes a line, its filter (none) and pixels, as one stored block and one chunk. */
static void put_line(struct png *png, const uint8_t *pixel, uint32_t width, bool is_first, bool is_last) {
    uint8_t head[] = {0x78, 0x01, is_last, (uint8_t)(width + 1), (uint8_t)((width + 1) >> 8), 0, 0, 0};
    head[5] = (uint8_t)~head[3];
    head[6] = (uint8_t)~head[4];
    start_chunk(png, "IDAT", (uint32_t)sizeof head - (is_first ? 0 : 2) + width + (is_last ? 4 : 0));
    put(png, head + (is_first ? 0 : 2), sizeof head - (is_first ? 0 : 2));
    put(png, pixel, width);
    png->adler_high = (png->adler_high + png->adler_low) % 65521; /* the filter byte */
    for (uint32_t i = 0; i < width; i++) {
        png->adler_low = (png->adler_low + pixel[i]) % 65521;
        png->adler_high = (png->adler_high + png->adler_low) % 65521;
    }
    if (is_last)
        put_number(png, png->adler_high << 16 | png->adler_low);
    end_chunk(png);
}

bool report_write_png(FILE *file, const struct report_image *image) {
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t grey[] = {8, 0, 0, 0, 0}; /* bits, colour type, compression, filter, interlace */
    struct png png = {.file = file, .adler_low = 1};
    if (image->width >= MOST_STORED)
        return false;
    put(&png, signature, sizeof signature);
    start_chunk(&png, "IHDR", 13);
    put_number(&png, image->width);
    put_number(&png, image->height);
    put(&png, grey, sizeof grey);
    end_chunk(&png);
    for (uint32_t y = 0; y < image->height; y++)
        put_line(&png, image->pixel + (size_t)y * image->width, image->width, y == 0, y + 1 == image->height);
    start_chunk(&png, "IEND", 0);
    end_chunk(&png);
    return fflush(file) == 0 && !ferror(file);
}

bool report_write_pgm(FILE *file, const struct report_image *image) {
    fprintf(file, "P5\n%u %u\n255\n", image->width, image->height);
    fwrite(image->pixel, 1, (size_t)image->width * image->height, file);
    return fflush(file) == 0 && !ferror(file);
}
