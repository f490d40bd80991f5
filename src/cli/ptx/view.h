/* `heddle ptx`: the data of the report about a PTX module, and the formats of the report. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "exec/exec.h"
#include "isa/isa.h"
#include "ptx/analysis.h"

/* Classes of instructions, in the order of the report: CLI_PTX_CLASS(enumerator, name). Arithmetic counts by its type:
 * an add of floats is float. */
enum cli_ptx_class {
#define CLI_PTX_CLASS(id, name) CLI_PTX_##id,
#include "cli/ptx/classes.def"
#undef CLI_PTX_CLASS
    CLI_PTX_N_CLASSES
};

/* Why a launch of a kernel would fail, although the file is correct. */
struct cli_ptx_refusal {
    const char *who; /* a divergence model, or "machines" that lack a feature */
    const char *why;
};
struct cli_ptx_refusals {
    struct cli_ptx_refusal *item;
    unsigned count;
};

struct cli_ptx_function {
    const struct ptx_function *function;
    struct ptx_analysis *analysis;
    struct exec_program *program; /* of a kernel that could be linked: its memory and its callees; otherwise NULL */
    uint64_t local_bytes;         /* .local variables, of this function and those of the program */
    bool has_dynamic_shared;      /* uses shared memory whose size the launch sets */
    uint32_t n_class[CLI_PTX_N_CLASSES];
    struct cli_ptx_refusals refusals; /* of a kernel that could be linked */
    uint32_t n_branches, n_divergent; /* branches with several targets; those at which threads may diverge */
};

struct cli_ptx_view {
    const struct ptx_module *module;
    struct cli_ptx_function *function; /* functions with a body that are to be shown */
    unsigned n_functions;
    uint64_t global_bytes, constant_bytes; /* variables of the module */
    unsigned n_unsupported;                /* instructions of the module */
    unsigned n_errors;                     /* of loading the module on a device and linking its kernels */
    const char *unsupported;               /* the messages about these, or "" */
};

struct cli_ptx_refusals cli_ptx_find_refusals(const struct exec_program *program, struct base_arena *arena);

const char *cli_ptx_class_name(enum cli_ptx_class class);
/* Returns the 32-bit registers per thread, including the functions it calls if they are known. */
uint32_t cli_ptx_registers(const struct cli_ptx_function *shown);
/* Returns the line of an instruction, or 0 for the end of the function. */
uint32_t cli_ptx_line(const struct ptx_function *function, uint32_t instruction);

void cli_ptx_print(FILE *file, const struct cli_ptx_view *view, bool is_verbose, struct base_arena *arena);
/* Prints every instruction with the number of machine instructions that it becomes on the target. */
void cli_ptx_print_machine(FILE *file, const struct cli_ptx_view *view, const struct isa_target *target);
/* Returns false if the file cannot be written. */
bool cli_ptx_write_json(FILE *file, const struct cli_ptx_view *view);
/* Writes the flow graphs for Graphviz. */
void cli_ptx_write_dot(FILE *file, const struct cli_ptx_view *view);
