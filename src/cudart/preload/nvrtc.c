/* Stands between the program and NVRTC, the compiler that programs call at run time.
 *
 * A program asks NVRTC for the architecture that the device reports, "sm_80", and then for a cubin, which is machine
 * code. NVRTC keeps the PTX that it made the code from, so here the cubin is that PTX: the driver recognises it by its
 * first bytes. A program that asked for "compute_80" has no cubin, and gets none.
 *
 * The loader finds these functions before NVRTC's because this library is preloaded. A program that opens NVRTC by
 * itself asks dlsym() for them, whose name this file shadows too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* As in nvrtc.h. */
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INTERNAL_ERROR = 11 };
EXPORTED int nvrtcGetCUBINSize(void *program, size_t *bytes);
EXPORTED int nvrtcGetCUBIN(void *program, char *cubin);

typedef void *(*find_function)(void *handle, const char *name);

/* The C library's dlsym(). */
static find_function next_dlsym(void) { return (find_function)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"); }

/* ---- NVRTC's own functions --------------------------------------------------------------------------------------- */

struct nvrtc {
    int (*get_cubin_size)(void *program, size_t *bytes);
    int (*get_cubin)(void *program, char *cubin);
    int (*get_ptx_size)(void *program, size_t *bytes);
    int (*get_ptx)(void *program, char *ptx);
};

/* Fills in the functions if the object is NVRTC; stops the search then. */
static int look_at(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct nvrtc *nvrtc = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!strstr(slash ? slash : info->dlpi_name, "nvrtc"))
        return 0;
    find_function find = next_dlsym();
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return 0;
    *(void **)&nvrtc->get_cubin_size = find(library, "nvrtcGetCUBINSize");
    *(void **)&nvrtc->get_cubin = find(library, "nvrtcGetCUBIN");
    *(void **)&nvrtc->get_ptx_size = find(library, "nvrtcGetPTXSize");
    *(void **)&nvrtc->get_ptx = find(library, "nvrtcGetPTX");
    dlclose(library);
    return nvrtc->get_cubin_size && nvrtc->get_cubin && nvrtc->get_ptx_size && nvrtc->get_ptx;
}

static bool find_nvrtc(struct nvrtc *nvrtc) { return dl_iterate_phdr(look_at, nvrtc) != 0; }

/* ---- In their place ---------------------------------------------------------------------------------------------- */

int nvrtcGetCUBINSize(void *program, size_t *bytes) {
    struct nvrtc nvrtc;
    if (!find_nvrtc(&nvrtc))
        return NVRTC_ERROR_INTERNAL_ERROR;
    int result = nvrtc.get_cubin_size(program, bytes);
    return result == NVRTC_SUCCESS && *bytes ? nvrtc.get_ptx_size(program, bytes) : result;
}

int nvrtcGetCUBIN(void *program, char *cubin) {
    struct nvrtc nvrtc;
    size_t bytes = 0;
    if (!find_nvrtc(&nvrtc))
        return NVRTC_ERROR_INTERNAL_ERROR;
    if (cubin && nvrtc.get_cubin_size(program, &bytes) == NVRTC_SUCCESS && bytes)
        return nvrtc.get_ptx(program, cubin);
    return nvrtc.get_cubin(program, cubin);
}

/* A search may depend on the object that calls (RTLD_NEXT), so what is not for NVRTC must remain a jump. */
EXPORTED void *dlsym(void *handle, const char *name) {
    find_function next = next_dlsym();
    if (strncmp(name, "nvrtcGetCUBIN", strlen("nvrtcGetCUBIN")) != 0)
        return next(handle, name);
    void *found = next(handle, name);
    if (found && strcmp(name, "nvrtcGetCUBINSize") == 0)
        return (void *)nvrtcGetCUBINSize;
    return found && strcmp(name, "nvrtcGetCUBIN") == 0 ? (void *)nvrtcGetCUBIN : found;
}
