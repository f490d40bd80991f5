/* Stands between the program and nvJitLink, the linker that programs call at run time.
 *
 * nvJitLink makes machine code. Here the cubin that it returns is an image of the PTX that went in, in the form of
 * cuLinkComplete (cuda/modules/image.h), and the driver links it. Compiler IR goes through nvJitLink itself, which can
 * turn it into PTX ("-lto -ptx"). nvJitLink links the rest too, so that its errors are the same as with a GPU. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "cudart/preload/preload.h"

/* As in nvJitLink.h. */
enum { NVJITLINK_SUCCESS = 0, NVJITLINK_ERROR_INTERNAL = 6 };
enum { INPUT_CUBIN = 1, INPUT_PTX = 2, INPUT_ANY = 10 };

/* As in cuda/modules/image.h and cuda/modules/fatbin.h. */
static const char linked_magic[] = "\xb0HEDLNK\n", fatbin_magic[] = "\x50\xed\x55\xba";
enum { MAGIC_BYTES = 8, CONTAINER_BYTES = 16, ENTRY_BYTES = 64 };

/* ---- The links of the program ------------------------------------------------------------------------------------ */

/* PTX that went into a link, as containers one after another. */
struct link {
    void *handle;
    struct link *next;
    bool makes_ptx;       /* of compiler IR */
    unsigned n_forwarded; /* inputs that nvJitLink has */
    unsigned char *bytes;
    size_t size;
};

static struct {
    pthread_mutex_t lock;
    struct link *first;
} links = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct link *find_link(const void *handle) {
    pthread_mutex_lock(&links.lock);
    struct link *link = links.first;
    while (link && link->handle != handle)
        link = link->next;
    pthread_mutex_unlock(&links.lock);
    return link;
}

static void forget_link(const void *handle) {
    pthread_mutex_lock(&links.lock);
    for (struct link **at = &links.first; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            struct link *link = *at;
            *at = link->next;
            free(link->bytes);
            free(link);
            break;
        }
    pthread_mutex_unlock(&links.lock);
}

static unsigned char *grow(struct link *link, size_t more) {
    unsigned char *larger = realloc(link->bytes, link->size + more);
    if (!larger) {
        fputs("heddle: out of memory\n", stderr);
        exit(1);
    }
    link->bytes = larger;
    memset(larger + link->size, 0, more);
    link->size += more;
    return larger + link->size - more;
}

/* A container with one PTX entry; text ends at its first 0, as in the driver. */
static void keep_text(struct link *link, const char *text, size_t length) {
    uint64_t used = strnlen(text, length), payload = (used + 8) / 8 * 8, entries = ENTRY_BYTES + payload;
    unsigned char *at = grow(link, CONTAINER_BYTES + entries);
    const uint16_t container[2] = {1, CONTAINER_BYTES}, kind[2] = {1, 0x101};
    const uint32_t header = ENTRY_BYTES;
    memcpy(at, fatbin_magic, 4);
    memcpy(at + 4, container, sizeof(container));
    memcpy(at + 8, &entries, sizeof(entries));
    at += CONTAINER_BYTES;
    memcpy(at, kind, sizeof(kind));
    memcpy(at + 4, &header, sizeof(header));
    memcpy(at + 8, &payload, sizeof(payload));
    memcpy(at + ENTRY_BYTES, text, used);
}

enum content { CONTENT_OTHER, CONTENT_TEXT, CONTENT_FATBIN, CONTENT_LINKED };

static enum content content_of(int type, const void *data, size_t bytes) {
    if (bytes > 2 * MAGIC_BYTES && memcmp(data, linked_magic, MAGIC_BYTES) == 0)
        return CONTENT_LINKED;
    if (bytes > CONTAINER_BYTES && memcmp(data, fatbin_magic, 4) == 0)
        return CONTENT_FATBIN;
    bool is_text = bytes && ((const char *)data)[0] != '\177' && (unsigned char)((const char *)data)[0] < 0x80;
    return is_text && (type == INPUT_PTX || type == INPUT_CUBIN || type == INPUT_ANY) ? CONTENT_TEXT : CONTENT_OTHER;
}

/* ---- nvJitLink's own functions ----------------------------------------------------------------------------------- */

struct linker {
    int (*create)(void **handle, uint32_t n_options, const char **options);
    int (*destroy)(void **handle);
    int (*add_data)(void *handle, int type, const void *data, size_t bytes, const char *name);
    int (*add_file)(void *handle, int type, const char *path);
    int (*complete)(void *handle);
    int (*get_cubin_size)(void *handle, size_t *bytes);
    int (*get_cubin)(void *handle, void *cubin);
    int (*get_ptx_size)(void *handle, size_t *bytes);
    int (*get_ptx)(void *handle, char *ptx);
};

static bool find_linker(struct linker *linker) {
    static const char *const names[] = {
        "nvJitLinkCreate",         "nvJitLinkDestroy",          "nvJitLinkAddData",
        "nvJitLinkAddFile",        "nvJitLinkComplete",         "nvJitLinkGetLinkedCubinSize",
        "nvJitLinkGetLinkedCubin", "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx"};
    return find_functions("nvJitLink", names, sizeof(names) / sizeof(names[0]), (void **)(void *)linker);
}

/* The names that the functions have in nvJitLink.h, which differ between versions. */
#define ALIAS(function, version)                                                                                       \
    EXPORTED extern __typeof__(function) __##function##_##version __attribute__((alias(#function)));
#define VERSIONS(function)                                                                                             \
    ALIAS(function, 12_0)                                                                                              \
    ALIAS(function, 12_1)                                                                                              \
    ALIAS(function, 12_2)                                                                                              \
    ALIAS(function, 12_3)                                                                                              \
    ALIAS(function, 12_4)                                                                                              \
    ALIAS(function, 12_5)                                                                                              \
    ALIAS(function, 12_6)                                                                                              \
    ALIAS(function, 12_7)                                                                                              \
    ALIAS(function, 12_8)                                                                                              \
    ALIAS(function, 12_9)                                                                                              \
    ALIAS(function, 13_0)                                                                                              \
    ALIAS(function, 13_1)                                                                                              \
    ALIAS(function, 13_2)                                                                                              \
    ALIAS(function, 13_3)

/* ---- In their place ---------------------------------------------------------------------------------------------- */

static bool has_option(uint32_t n, const char **options, const char *wanted) {
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(options[i], wanted) == 0)
            return true;
    return false;
}

int nvJitLinkCreate(void **handle, uint32_t n_options, const char **options) {
    struct linker linker;
    if (!find_linker(&linker))
        return NVJITLINK_ERROR_INTERNAL;
    const char **own = malloc((n_options + 1) * sizeof(*own));
    struct link *link = calloc(1, sizeof(*link));
    if (!own || !link)
        return NVJITLINK_ERROR_INTERNAL;
    bool wants_ptx = has_option(n_options, options, "-ptx");
    link->makes_ptx = has_option(n_options, options, "-lto") && !wants_ptx;
    memcpy(own, options, n_options * sizeof(*own));
    own[n_options] = "-ptx";
    int result = linker.create(handle, n_options + link->makes_ptx, own);
    free(own);
    if (result != NVJITLINK_SUCCESS || wants_ptx) { /* a program that wants PTX gets nvJitLink's */
        free(link);
        return result;
    }
    link->handle = *handle;
    pthread_mutex_lock(&links.lock);
    link->next = links.first;
    links.first = link;
    pthread_mutex_unlock(&links.lock);
    return result;
}

int nvJitLinkDestroy(void **handle) {
    struct linker linker;
    if (handle)
        forget_link(*handle);
    return find_linker(&linker) ? linker.destroy(handle) : NVJITLINK_ERROR_INTERNAL;
}

int nvJitLinkAddData(void *handle, int type, const void *data, size_t bytes, const char *name) {
    struct linker linker;
    struct link *link = find_link(handle);
    if (!find_linker(&linker))
        return NVJITLINK_ERROR_INTERNAL;
    enum content content = link && data ? content_of(type, data, bytes) : CONTENT_OTHER;
    int result = NVJITLINK_SUCCESS, true_type = content == CONTENT_TEXT ? INPUT_PTX : type;
    if (content == CONTENT_OTHER || (!link->makes_ptx && content != CONTENT_LINKED)) {
        result = linker.add_data(handle, true_type, data, bytes, name);
        if (link)
            link->n_forwarded++;
    }
    if (content == CONTENT_OTHER)
        return result;
    if (result != NVJITLINK_SUCCESS)
        return result;
    if (content == CONTENT_TEXT) {
        keep_text(link, data, bytes);
        return result;
    }
    size_t skipped = content == CONTENT_LINKED ? 2 * MAGIC_BYTES : 0;
    unsigned char *at = grow(link, bytes - skipped);
    memcpy(at, (const char *)data + skipped, bytes - skipped);
    return result;
}

int nvJitLinkAddFile(void *handle, int type, const char *path) {
    struct linker linker;
    if (!find_linker(&linker))
        return NVJITLINK_ERROR_INTERNAL;
    struct elf_file file;
    if (!find_link(handle) || !path || !file_open(&file, path))
        return linker.add_file(handle, type, path);
    int result = nvJitLinkAddData(handle, type, file.bytes, file.size, path);
    elf_close(&file);
    return result;
}

/* nvJitLink completes nothing that is empty. */
int nvJitLinkComplete(void *handle) {
    struct linker linker;
    const struct link *link = find_link(handle);
    if (!find_linker(&linker))
        return NVJITLINK_ERROR_INTERNAL;
    return link && link->size && !link->n_forwarded ? NVJITLINK_SUCCESS : linker.complete(handle);
}

/* Adds the PTX of compiler IR, once. */
static int finish(const struct linker *linker, struct link *link) {
    size_t bytes = 0;
    if (!link->makes_ptx || !link->n_forwarded)
        return NVJITLINK_SUCCESS;
    int result = linker->get_ptx_size(link->handle, &bytes);
    char *text = result == NVJITLINK_SUCCESS ? malloc(bytes + 1) : NULL;
    if (text)
        result = linker->get_ptx(link->handle, text);
    if (text && result == NVJITLINK_SUCCESS) {
        keep_text(link, text, bytes);
        link->makes_ptx = false;
    }
    free(text);
    return result;
}

int nvJitLinkGetLinkedCubinSize(void *handle, size_t *bytes) {
    struct linker linker;
    struct link *link = find_link(handle);
    if (!find_linker(&linker))
        return NVJITLINK_ERROR_INTERNAL;
    int result = link ? finish(&linker, link) : NVJITLINK_SUCCESS;
    if (result != NVJITLINK_SUCCESS || !link || !link->size || !bytes)
        return result != NVJITLINK_SUCCESS ? result : linker.get_cubin_size(handle, bytes);
    *bytes = 2 * MAGIC_BYTES + link->size;
    return result;
}

int nvJitLinkGetLinkedCubin(void *handle, void *cubin) {
    struct linker linker;
    struct link *link = find_link(handle);
    if (!find_linker(&linker))
        return NVJITLINK_ERROR_INTERNAL;
    int result = link ? finish(&linker, link) : NVJITLINK_SUCCESS;
    if (result != NVJITLINK_SUCCESS || !link || !link->size || !cubin)
        return result != NVJITLINK_SUCCESS ? result : linker.get_cubin(handle, cubin);
    const uint64_t size = link->size;
    memcpy(cubin, linked_magic, MAGIC_BYTES);
    memcpy((char *)cubin + MAGIC_BYTES, &size, sizeof(size));
    memcpy((char *)cubin + 2 * MAGIC_BYTES, link->bytes, link->size);
    return result;
}

VERSIONS(nvJitLinkCreate)
VERSIONS(nvJitLinkDestroy)
VERSIONS(nvJitLinkAddData)
VERSIONS(nvJitLinkAddFile)
VERSIONS(nvJitLinkComplete)
VERSIONS(nvJitLinkGetLinkedCubinSize)
VERSIONS(nvJitLinkGetLinkedCubin)
