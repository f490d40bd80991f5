// A PNG writer without compression, after the PNG specification (W3C, second edition), RFC 1950 (zlib) and RFC 1951
// (deflate): 8-bit true colour, no filter, and the pixels in stored deflate blocks, so a file is slightly longer than
// its pixels. No palettes, transparency, interlacing or compression.
#include "png.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RGB_BYTES = 3, MOST_STORED = 65535, STORED_HEAD = 5, ZLIB_HEAD = 2, ZLIB_TAIL = 4 };

static void put_big_endian(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

// CRC-32 with the reflected polynomial 0xedb88320, bit by bit; starts with ~0, and the result is inverted.
static uint32_t crc32_over(uint32_t crc, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc;
}

static uint32_t adler32(const uint8_t *bytes, size_t n) {
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

static bool write_chunk(FILE *file, const char *type, const uint8_t *data, uint32_t n) {
    uint8_t head[8], tail[4];
    put_big_endian(head, n);
    memcpy(head + 4, type, 4);
    put_big_endian(tail, ~crc32_over(crc32_over(~0u, head + 4, 4), data, n));
    return fwrite(head, 1, sizeof head, file) == sizeof head && fwrite(data, 1, n, file) == n &&
           fwrite(tail, 1, sizeof tail, file) == sizeof tail;
}

// Returns the rows, each after a byte 0: no filter.
static uint8_t *filtered_rows(const uint8_t *rgb, size_t row_bytes, size_t height) {
    uint8_t *rows = malloc((row_bytes + 1) * height);
    for (size_t y = 0; rows && y < height; y++) {
        rows[y * (row_bytes + 1)] = 0;
        memcpy(rows + y * (row_bytes + 1) + 1, rgb + y * row_bytes, row_bytes);
    }
    return rows;
}

static size_t zlib_bytes(size_t n) {
    return ZLIB_HEAD + (n + MOST_STORED - 1) / MOST_STORED * STORED_HEAD + n + ZLIB_TAIL;
}

// Writes a zlib stream of stored blocks: each a byte (1 for the last), its length and the length's complement, low byte
// first.
static void store(uint8_t *out, const uint8_t *bytes, size_t n) {
    *out++ = 0x78; // deflate, window of 32 KB
    *out++ = 0x01; // no dictionary, fastest; makes the pair a multiple of 31
    for (size_t at = 0; at < n; at += MOST_STORED) {
        size_t length = n - at < MOST_STORED ? n - at : MOST_STORED;
        *out++ = at + length == n;
        *out++ = (uint8_t)length;
        *out++ = (uint8_t)(length >> 8);
        *out++ = (uint8_t)~length;
        *out++ = (uint8_t)(~length >> 8);
        memcpy(out, bytes + at, length);
        out += length;
    }
    put_big_endian(out, adler32(bytes, n));
}

static bool write_picture(FILE *file, const uint8_t *stream, size_t n, unsigned width, unsigned height) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t header[13] = {[8] = 8, [9] = 2}; // 8 bits per sample, true colour; deflate, filters, no interlace are all 0
    put_big_endian(header, width);
    put_big_endian(header + 4, height);
    return fwrite(signature, 1, sizeof signature, file) == sizeof signature &&
           write_chunk(file, "IHDR", header, sizeof header) && write_chunk(file, "IDAT", stream, (uint32_t)n) &&
           write_chunk(file, "IEND", header, 0);
}

// Writes the file; returns false with errno set on failure.
static bool write_file(const char *path, const uint8_t *stream, size_t n, unsigned width, unsigned height) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = write_picture(file, stream, n, width, height);
    int reason = errno;
    if (fclose(file)) {
        reason = written ? errno : reason;
        written = false;
    }
    if (!written)
        remove(path);
    errno = reason;
    return written;
}

bool workload_write_png(const char *path, const uint8_t *rgb, unsigned width, unsigned height) {
    size_t row_bytes = (size_t)width * RGB_BYTES, n = (row_bytes + 1) * height;
    if (zlib_bytes(n) > INT32_MAX) { // the longest chunk
        errno = EFBIG;
        return false;
    }
    uint8_t *rows = filtered_rows(rgb, row_bytes, height), *stream = malloc(zlib_bytes(n));
    bool written = false;
    if (rows && stream) {
        store(stream, rows, n);
        written = write_file(path, stream, zlib_bytes(n), width, height);
    } else {
        errno = ENOMEM;
    }
    int reason = errno;
    free(rows);
    free(stream);
    errno = reason;
    return written;
}
