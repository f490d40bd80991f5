/* Options of the driver's compiler. This file reads those that say where the caller wants messages. The others ask for
 * optimisations, which change no result. */
#include "cuda/internal.h"

#include <stdio.h>
#include <string.h>

void cuda_collect_logs(unsigned n_options, const CUjit_option *options, void **values, struct cuda_log *error,
                       struct cuda_log *info) {
    for (unsigned i = 0; i < n_options; i++)
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            error->text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error->size = (uintptr_t)values[i];
            error->size_value = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            info->text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info->size = (uintptr_t)values[i];
            info->size_value = &values[i];
            break;
        default:
            break;
        }
}

void cuda_write_log(const struct cuda_log *log, const char *text) {
    size_t written = 0;
    if (log->text && log->size) {
        snprintf(log->text, log->size, "%s", text);
        written = strlen(log->text);
    }
    if (log->size_value)
        *log->size_value = (void *)(uintptr_t)written;
}
