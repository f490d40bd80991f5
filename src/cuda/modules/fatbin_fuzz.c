/* A libFuzzer target: treats any bytes as a container and reads every entry's text. Nothing may crash or use unbounded
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "cuda/modules/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cuda_fatbin fatbin;
    if (size == 0 || cuda_fatbin_open(&fatbin, data, size, 80) != NULL)
        return 0;
    for (unsigned i = 0; i < fatbin.n_entries; i++) {
        size_t length;
        const char *problem;
        char *text = cuda_fatbin_text(&fatbin.entry[i], &length, &problem);
        if (text && strlen(text) > length)
            abort();
        free(text);
    }
    cuda_fatbin_close(&fatbin);
    return 0;
}
