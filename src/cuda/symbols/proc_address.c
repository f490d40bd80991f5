/* cuGetProcAddress: finds functions by name and version. Per-thread default streams behave like the one default stream
 * here, so the flags that choose between them are checked and change nothing. */
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "cuda/symbols/symbols.h"

bool cuda_note_unsupported(struct cuda_state *state, const char *name) {
    for (unsigned i = 0; i < state->n_unsupported; i++)
        if (strcmp(state->unsupported[i], name) == 0)
            return false;
    char *copy = cuda_allocate(strlen(name) + 1);
    strcpy(copy, name);
    const char **larger = cuda_allocate((state->n_unsupported + 1) * sizeof(*larger));
    if (state->n_unsupported)
        memcpy(larger, state->unsupported, state->n_unsupported * sizeof(*larger));
    free(state->unsupported);
    state->unsupported = larger;
    larger[state->n_unsupported++] = copy;
    state->n_changes++;
    return true;
}

int cuda_unsupported(const char *name) {
    CUDA_CALL call = cuda_enter_any();
    cuda_note_unsupported(call.state, name);
    return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED, "%s is not supported", name);
}

/* Not part of CUDA: Heddle's runtime library reports unsupported calls as errors of the run. */
void cuHeddleReportError(int result, const char *message);

void cuHeddleReportError(int result, const char *message) {
    CUDA_CALL call = cuda_enter_any();
    cuda_results_add_error(call.state, (CUresult)result, NULL, message);
}

/* Not part of CUDA: Heddle's libcublas chooses its kernels by it. */
int cuHeddleHasMatrixUnits(void);

int cuHeddleHasMatrixUnits(void) {
    CUDA_CALL call = cuda_enter();
    if (call.result != CUDA_SUCCESS)
        return 0;
    const struct config_machine *machine = gpu_config(call.gpu)->machine;
    return !machine || machine->matrix.is_present;
}

/* Returns the newest symbol in the version. is_known: some version has the name. */
static const struct cuda_symbol *find(const char *name, int version, bool *is_known) {
    const struct cuda_symbol *best = NULL;
    *is_known = false;
    for (size_t i = 0; i < cuda_n_symbols; i++) {
        if (strcmp(cuda_symbols[i].name, name) != 0)
            continue;
        *is_known = true;
        if (cuda_symbols[i].version <= version)
            best = &cuda_symbols[i];
    }
    return best;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int cuda_version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status) {
    if (!symbol || !function ||
        flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_CALL call = cuda_enter_any();
    bool is_known;
    const struct cuda_symbol *found = find(symbol, cuda_version, &is_known);
    if (status)
        *status = found      ? CU_GET_PROC_ADDRESS_SUCCESS
                  : is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    *function = NULL;
    if (found) {
        memcpy(function, &found->function, sizeof(*function));
        return CUDA_SUCCESS;
    }
    /* Libraries look up everything that any driver might have. Only functions that are called count as missing. */
    return cuda_refuse(&call, CUDA_ERROR_NOT_FOUND, "the program looked up %s, which is not supported", symbol);
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char *symbol, void **function, int cuda_version, cuuint64_t flags);

CUresult cuGetProcAddress(const char *symbol, void **function, int cuda_version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, cuda_version, flags, NULL);
}
