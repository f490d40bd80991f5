/* registers [--limit N] FILE.ptx...: prints FILE,KERNEL,REGISTERS,STORED,LOADED of each kernel, as src/isa counts them
 * for sm_90: its registers, at most N, and the bytes that its text stores and loads for spilled ones. */
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

/* Returns the bytes of the spilled registers that instructions of this opcode access. */
static unsigned spilled_bytes(const struct ptx_function *function, enum ptx_opcode opcode) {
    unsigned bytes = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        const struct ptx_operand *address = insn->opcode == opcode ? &insn->operand[opcode == PTX_OP_LD] : NULL;
        if (address && address->variable && !strcmp(address->variable->name, ISA_SPILL_NAME))
            bytes += ptx_type_bits(insn->type[0]) / 8;
    }
    return bytes;
}

int main(int argc, char **argv) {
    const struct isa_target *target = isa_find_target("sm_90");
    bool has_limit = argc > 2 && !strcmp(argv[1], "--limit");
    for (int i = has_limit ? 3 : 1; i < argc; i++) {
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
            if (has_limit)
                function->max_registers = (uint32_t)atoi(argv[2]);
            isa_rewrite(target, function, module->arena);
            printf("%s,%s,%u,%u,%u\n", name ? name + 1 : argv[i], function->name, function->machine_registers,
                   spilled_bytes(function, PTX_OP_ST), spilled_bytes(function, PTX_OP_LD));
        }
        ptx_module_free(module);
    }
    return 0;
}
