/* libFuzzer target: parses any bytes as PTX and analyses every function that parses. */
#include "ptx/analysis.h"
#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ptx_messages messages;
    struct ptx_module *module = ptx_parse("fuzz.ptx", (const char *)data, size, &messages);
    if ((module == NULL) != (messages.n_errors > 0))
        __builtin_trap(); /* errors if and only if there is no module */
    for (uint32_t i = 0; module && i < module->n_functions; i++)
        if (module->function[i]->has_body)
            ptx_analysis_free(ptx_analyze(module->function[i]));
    ptx_module_free(module);
    ptx_messages_free(&messages);
    return 0;
}
