/* registers FILE.ptx...: prints FILE,KERNEL,REGISTERS of each kernel, as src/isa counts them for sm_90. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "ptx/ptx.h"

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!file) {
        perror(path);
        exit(1);
    }
    ssize_t n = getdelim(&text, &room, '\0', file);
    *length = n > 0 ? (size_t)n : 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    const struct isa_target *target = isa_find_target("sm_90");
    for (int i = 1; i < argc; i++) {
        struct ptx_messages messages = {0};
        size_t length = 0;
        char *text = read_file(argv[i], &length);
        struct ptx_module *module = ptx_parse(argv[i], text, length, &messages);
        const char *name = strrchr(argv[i], '/');
        free(text);
        ptx_messages_free(&messages);
        if (!module) {
            fprintf(stderr, "registers: %s cannot be read\n", argv[i]);
            continue;
        }
        for (uint32_t f = 0; f < module->n_functions; f++) {
            struct ptx_function *function = module->function[f];
            if (!function->is_entry)
                continue;
            isa_rewrite(target, function, module->arena);
            printf("%s,%s,%u\n", name ? name + 1 : argv[i], function->name, function->machine_registers);
        }
        ptx_module_free(module);
    }
    return 0;
}
