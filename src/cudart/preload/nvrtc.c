/* Stands between the program and NVRTC, the compiler that programs call at run time.
 *
 * A program asks NVRTC for the architecture that the device reports, "sm_80", and then for a cubin, which is machine
 * code. NVRTC keeps the PTX that it made the code from, so here the cubin is that PTX: the driver recognises it by its
 * first bytes. For "compute_80" NVRTC makes no cubin, and the program gets none here either. */
#include <stddef.h>

#include "cudart/preload/preload.h"

/* As in nvrtc.h. */
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INTERNAL_ERROR = 11 };

struct nvrtc {
    int (*get_cubin_size)(void *program, size_t *bytes);
    int (*get_cubin)(void *program, char *cubin);
    int (*get_ptx_size)(void *program, size_t *bytes);
    int (*get_ptx)(void *program, char *ptx);
};

static bool find_nvrtc(struct nvrtc *nvrtc) {
    static const char *const names[] = {"nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetPTXSize", "nvrtcGetPTX"};
    return find_functions("nvrtc", names, sizeof(names) / sizeof(names[0]), (void **)(void *)nvrtc);
}

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
