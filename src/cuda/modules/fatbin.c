/* Reads fat binaries; fatbin.h describes the format. */
#include "cuda/modules/fatbin.h"

#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

enum {
    CONTAINER_HEADER_BYTES = 16,
    ENTRY_HEADER_BYTES = 64,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    LZ4_LARGEST_RATIO = 255, /* of a block's output to its input: the format's maximum */
    LEAST_GROWTH = 1 << 16,
};

static uint16_t read_u16(const unsigned char *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }
static uint32_t read_u32(const unsigned char *bytes) { return read_u16(bytes) | (uint32_t)read_u16(bytes + 2) << 16; }
static uint64_t read_u64(const unsigned char *bytes) { return read_u32(bytes) | (uint64_t)read_u32(bytes + 4) << 32; }

/* ---- The container ---------------------------------------------------------------------------------------------- */

bool cuda_fatbin_starts(const void *image) {
    const unsigned char *bytes = image;
    for (int i = 0; i < 4; i++)
        if (bytes[i] != (unsigned char)(CUDA_FATBIN_MAGIC >> 8 * i))
            return false;
    return true;
}

/* Reads the entry at the start of `bytes`. Returns its length; 0 if it is cut short. */
static size_t read_entry(const unsigned char *bytes, size_t length, struct cuda_fatbin_entry *entry) {
    if (length < ENTRY_HEADER_BYTES)
        return 0;
    size_t header = read_u32(bytes + 4);
    uint64_t payload = read_u64(bytes + 8);
    uint32_t compressed = read_u32(bytes + 16);
    if (header < ENTRY_HEADER_BYTES || header > length || payload > length - header)
        return 0;
    *entry = (struct cuda_fatbin_entry){
        .kind = read_u16(bytes),
        .architecture = read_u32(bytes + 28),
        .flags = read_u64(bytes + 40),
        .payload = bytes + header,
        .payload_bytes = (size_t)payload,
    };
    if (entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) {
        entry->text_bytes = read_u64(bytes + 56);
        if (compressed > payload)
            return 0;
        entry->payload_bytes = compressed;
    }
    return header + (size_t)payload;
}

static size_t count_entries(const unsigned char *bytes, size_t length, struct cuda_fatbin_entry *entry,
                            unsigned *n_entries) {
    size_t at = 0;
    struct cuda_fatbin_entry ignored;
    for (*n_entries = 0; at < length; ++*n_entries) {
        size_t own = read_entry(bytes + at, length - at, entry ? &entry[*n_entries] : &ignored);
        if (!own)
            break;
        at += own;
    }
    return at;
}

/* Entries with a smaller rank are tried earlier. */
static uint64_t rank(const struct cuda_fatbin_entry *entry, uint32_t architecture) {
    uint64_t kind = entry->kind != CUDA_FATBIN_PTX, is_above = entry->architecture > architecture;
    return kind << 33 | is_above << 32 | (is_above ? entry->architecture : architecture - entry->architecture);
}

static int compare_entries(const void *a, const void *b) {
    const struct cuda_fatbin_entry *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return left->payload < right->payload ? -1 : left->payload > right->payload;
}

const char *cuda_fatbin_open(struct cuda_fatbin *fatbin, const void *image, size_t length, uint32_t architecture) {
    const unsigned char *bytes = image;
    *fatbin = (struct cuda_fatbin){.entry = NULL};
    if (length != CUDA_FATBIN_UNKNOWN_LENGTH && length < CONTAINER_HEADER_BYTES)
        return "is cut short";
    size_t header = read_u16(bytes + 6);
    uint64_t content = read_u64(bytes + 8);
    if (read_u32(bytes) != CUDA_FATBIN_MAGIC || read_u16(bytes + 4) != 1 || header < CONTAINER_HEADER_BYTES)
        return "is not a fat binary of a known version";
    if (content > CUDA_FATBIN_LARGEST_BYTES)
        return "says it is larger than a fat binary can be";
    if (length != CUDA_FATBIN_UNKNOWN_LENGTH && (header > length || content > length - header))
        return "is cut short";
    fatbin->bytes = header + (size_t)content;
    if (count_entries(bytes + header, (size_t)content, NULL, &fatbin->n_entries) != content)
        return "is corrupt";
    fatbin->entry = calloc(fatbin->n_entries + 1u, sizeof *fatbin->entry);
    if (!fatbin->entry)
        return "is too large for the host's memory";
    count_entries(bytes + header, (size_t)content, fatbin->entry, &fatbin->n_entries);
    for (unsigned i = 0; i < fatbin->n_entries; i++)
        fatbin->entry[i].rank = rank(&fatbin->entry[i], architecture);
    qsort(fatbin->entry, fatbin->n_entries, sizeof *fatbin->entry, compare_entries);
    while (fatbin->n_ptx < fatbin->n_entries && fatbin->entry[fatbin->n_ptx].kind == CUDA_FATBIN_PTX)
        fatbin->n_ptx++;
    return NULL;
}

void cuda_fatbin_close(struct cuda_fatbin *fatbin) {
    free(fatbin->entry);
    *fatbin = (struct cuda_fatbin){.entry = NULL};
}

/* ---- Text ------------------------------------------------------------------------------------------------------- */

static char *expand_lz4(const struct cuda_fatbin_entry *entry) {
    if (entry->payload_bytes > INT32_MAX || entry->text_bytes / LZ4_LARGEST_RATIO > entry->payload_bytes)
        return NULL;
    char *text = malloc((size_t)entry->text_bytes + 1);
    if (!text)
        return NULL;
    int length =
        LZ4_decompress_safe((const char *)entry->payload, text, (int)entry->payload_bytes, (int)entry->text_bytes);
    if (length == (int)entry->text_bytes)
        return text;
    free(text);
    return NULL;
}

/* A frame's header may claim more than it holds, so memory grows with the output. */
static char *expand_zstd(const struct cuda_fatbin_entry *entry) {
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {entry->payload, entry->payload_bytes, 0};
    size_t limit = (size_t)entry->text_bytes, capacity = limit < LEAST_GROWTH ? limit : LEAST_GROWTH, left = 1;
    ZSTD_outBuffer out = {malloc(capacity + 1), capacity, 0};
    while (stream && out.dst) {
        size_t before = in.pos + out.pos;
        left = ZSTD_decompressStream(stream, &out, &in);
        if (left == 0 || ZSTD_isError(left) || (in.pos + out.pos == before && out.size == limit))
            break;
        if (out.pos < out.size) {
            if (in.pos == in.size)
                break; /* the frame is cut short */
            continue;
        }
        if (out.size == limit)
            continue; /* what remains is the frame's end */
        out.size = out.size > limit / 2 ? limit : 2 * out.size;
        char *larger = realloc(out.dst, out.size + 1);
        if (!larger)
            break;
        out.dst = larger;
    }
    ZSTD_freeDStream(stream);
    if (left == 0 && out.pos == limit)
        return out.dst;
    free(out.dst);
    return NULL;
}

char *cuda_fatbin_text(const struct cuda_fatbin_entry *entry, size_t *length, const char **problem) {
    char *text;
    *problem = "holds PTX that cannot be decompressed";
    if (entry->payload_bytes > CUDA_FATBIN_LARGEST_TEXT || entry->text_bytes > CUDA_FATBIN_LARGEST_TEXT) {
        *problem = "says it holds more PTX than a fat binary can";
        return NULL;
    }
    if (entry->flags & FLAG_ZSTD) {
        text = expand_zstd(entry);
        *length = (size_t)entry->text_bytes;
    } else if (entry->flags & FLAG_LZ4) {
        text = expand_lz4(entry);
        *length = (size_t)entry->text_bytes;
    } else {
        *length = entry->payload_bytes;
        text = malloc(*length + 1);
        if (text && *length)
            memcpy(text, entry->payload, *length);
    }
    if (!text)
        return NULL;
    while (*length && !text[*length - 1]) /* payloads are padded with zeros */
        --*length;
    text[*length] = 0;
    return text;
}
