/* cuLinkCreate and the calls after it: links PTX, and inputs that contain PTX, into an image that can be loaded.
 *
 * The image holds the PTX as it was given; linking happens again when it is loaded. It is self-contained: a program may
 * write it to a file. */
#define _GNU_SOURCE
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/modules/image.h"

struct CUlinkState_st {
    struct cuda_object object;
    uint32_t capability;         /* of the device */
    struct cuda_log error, info; /* the caller's */
    struct gpu_text *text;
    unsigned n_texts;
    unsigned char *image; /* after cuLinkComplete */
};

static CUresult complain(const struct CUlinkState_st *link, CUresult result, const char *text) {
    fputs(text, stderr);
    cuda_write_log(&link->error, text);
    return result;
}

/* Takes ownership of the texts. */
static void add_texts(struct CUlinkState_st *link, struct gpu_text *text, unsigned n) {
    struct gpu_text *larger = cuda_allocate((link->n_texts + n) * sizeof(*larger));
    if (link->n_texts)
        memcpy(larger, link->text, link->n_texts * sizeof(*larger));
    memcpy(larger + link->n_texts, text, n * sizeof(*larger));
    free(link->text);
    free(text);
    link->text = larger;
    link->n_texts += n;
}

/* Errors in a text are reported when it is added, as by the driver's compiler. */
static CUresult check_texts(const struct CUlinkState_st *link, const struct gpu_text *text, unsigned n) {
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < n && result == CUDA_SUCCESS; i++) {
        struct ptx_messages messages = {0};
        struct ptx_module *module = ptx_parse(text[i].name, text[i].text, text[i].length, &messages);
        if (!module)
            result = complain(link, CUDA_ERROR_INVALID_PTX, messages.text ? messages.text : "not PTX\n");
        ptx_module_free(module);
        ptx_messages_free(&messages);
    }
    return result;
}

static CUresult add_image(struct CUlinkState_st *link, const char *name, const void *bytes, size_t length) {
    struct cuda_image image;
    const char *problem;
    char line[512];
    struct gpu_text *text = NULL;
    CUresult result = cuda_image_open(&image, link->capability, bytes, length, &problem);
    if (result == CUDA_SUCCESS) {
        text = cuda_image_texts(&image, name, 0, &problem);
        result = text ? check_texts(link, text, image.n_parts) : CUDA_ERROR_INVALID_IMAGE;
        if (text && result == CUDA_SUCCESS)
            add_texts(link, text, image.n_parts);
        else if (text)
            cuda_image_texts_free(text, image.n_parts);
        cuda_image_close(&image);
    }
    if (result == CUDA_SUCCESS || text)
        return result;
    snprintf(line, sizeof(line), "heddle: %s %s\n", name, problem);
    return complain(link, result, line);
}

/* Adds the fat binaries in an object or an archive of a host compiler, wherever they are. Those without PTX are left
 * out, as in a program (image.c). */
static CUresult add_objects(struct CUlinkState_st *link, const char *name, const unsigned char *bytes, size_t length) {
    static const unsigned char start[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    const unsigned char *at = bytes, *end = bytes + length;
    unsigned n_added = 0;
    while ((at = memmem(at, (size_t)(end - at), start, sizeof(start)))) {
        struct cuda_fatbin fatbin;
        if (cuda_fatbin_open(&fatbin, at, (size_t)(end - at), 0)) {
            at++; /* only looked like one */
            continue;
        }
        size_t own_bytes = fatbin.bytes;
        CUresult result = fatbin.n_ptx ? add_image(link, name, at, own_bytes) : CUDA_SUCCESS;
        n_added += fatbin.n_ptx != 0;
        cuda_fatbin_close(&fatbin);
        if (result != CUDA_SUCCESS)
            return result;
        at += own_bytes;
    }
    if (n_added)
        return CUDA_SUCCESS;
    char line[512];
    snprintf(line, sizeof(line), "heddle: %s contains no PTX to link\n", name);
    return complain(link, CUDA_ERROR_NO_BINARY_FOR_GPU, line);
}

static CUresult add(struct CUlinkState_st *link, CUjitInputType type, const char *name, const void *bytes,
                    size_t length) {
    bool is_object = type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY;
    return is_object ? add_objects(link, name, bytes, length) : add_image(link, name, bytes, length);
}

/* Compiler IR contains no PTX. A cubin may: NVRTC's are PTX here (cudart/preload/nvrtc.c), and so are linked images. */
static CUresult check_type(const struct CUlinkState_st *link, CUjitInputType type, const char *name) {
    char line[512];
    if ((unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_NVVM)
        return CUDA_SUCCESS;
    snprintf(line, sizeof(line), "heddle: %s: compiler IR cannot be linked\n", name);
    return complain(link, CUDA_ERROR_NO_BINARY_FOR_GPU, line);
}

CUresult cuLinkCreate(unsigned n_options, CUjit_option *options, void **values, CUlinkState *state) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!state || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUlinkState_st *link = cuda_object_new(&call, CUDA_KIND_LINK, sizeof(*link));
    link->capability = cuda_capability(&call);
    cuda_collect_logs(n_options, options, values, &link->error, &link->info);
    *state = link;
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                       unsigned n_options, CUjit_option *options, void **values) {
    CUDA_ENTER(call, cuda_enter_context());
    struct CUlinkState_st *link = cuda_object_find(&call, state, CUDA_KIND_LINK);
    if (!link || link->image)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !bytes || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    const char *shown = name ? name : "<linked data>";
    CUresult result = check_type(link, type, shown);
    if (result != CUDA_SUCCESS)
        return result;
    uint32_t magic = 0;
    memcpy(&magic, data, bytes < sizeof(magic) ? bytes : sizeof(magic));
    if (magic == CUDA_FATBIN_WRAPPER_MAGIC)
        return add_image(link, shown, data, CUDA_FATBIN_UNKNOWN_LENGTH);
    char *copy = cuda_allocate(bytes + 1);
    memcpy(copy, data, bytes);
    result = add(link, type, shown, copy, bytes);
    free(copy);
    return result;
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned n_options,
                       CUjit_option *options, void **values) {
    CUDA_ENTER(call, cuda_enter_context());
    struct CUlinkState_st *link = cuda_object_find(&call, state, CUDA_KIND_LINK);
    if (!link || link->image)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!path || (n_options && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_type(link, type, path);
    size_t bytes;
    char *data = result == CUDA_SUCCESS ? cuda_read_file(path, &bytes) : NULL;
    if (result != CUDA_SUCCESS)
        return result;
    if (!data)
        return cuda_refuse(&call, CUDA_ERROR_FILE_NOT_FOUND, "cannot read %s", path);
    result = bytes ? add(link, type, path, data, bytes) : CUDA_ERROR_INVALID_IMAGE;
    free(data);
    return result;
}

/* Missing and duplicate symbols show when the whole is loaded, so this loads it once, for the messages. */
CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    struct CUlinkState_st *link = cuda_object_find(&call, state, CUDA_KIND_LINK);
    if (!link || link->image || !link->n_texts)
        return link && !link->image ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (!cubin)
        return CUDA_ERROR_INVALID_VALUE;
    struct ptx_messages messages = {0};
    struct gpu_module *module = gpu_module_load_linked(call.gpu, "<linked>", link->text, link->n_texts, &messages);
    CUresult result = CUDA_SUCCESS;
    if (module)
        gpu_module_unload(call.gpu, module);
    else
        result = complain(link, CUDA_ERROR_INVALID_PTX, messages.text ? messages.text : "not PTX\n");
    ptx_messages_free(&messages);
    if (result != CUDA_SUCCESS)
        return result;
    size_t n;
    link->image = cuda_image_make_linked(link->text, link->n_texts, &n);
    cuda_write_log(&link->error, "");
    cuda_write_log(&link->info, "");
    *cubin = link->image;
    if (bytes)
        *bytes = n;
    return CUDA_SUCCESS;
}

void cuda_link_destroy(struct cuda_state *state, struct CUlinkState_st *link) {
    cuda_image_texts_free(link->text, link->n_texts);
    free(link->image);
    cuda_object_delete(state, link);
}

CUresult cuLinkDestroy(CUlinkState state) {
    CUDA_ENTER(call, cuda_enter());
    CUDA_FIND(struct CUlinkState_st, link, cuda_object_find(&call, state, CUDA_KIND_LINK));
    cuda_link_destroy(call.state, link);
    return CUDA_SUCCESS;
}

#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
CUDA_ALIAS(cuLinkCreate, cuLinkCreate_v2);
CUDA_ALIAS(cuLinkAddData, cuLinkAddData_v2);
CUDA_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);
