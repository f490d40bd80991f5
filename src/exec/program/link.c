/* Links a kernel: finds the functions it can reach, places registers, frames and shared variables, and decodes
 * everything into one program.
 *
 * Functions have disjoint register ranges, so a call moves no registers unless it may recurse. Then the caller's
 * registers are saved in its frame. Frames lie in each thread's local memory: header, results, parameters, .local
 * variables and call blocks, save area. Results and parameters come first so that their offsets depend only on the
 * prototype (indirect calls). */
#include "exec/program/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "exec/program/live.h"
#include "exec/program/regions.h"

static uint32_t align_up(uint64_t value, uint64_t alignment) {
    return (uint32_t)((value + alignment - 1) & ~(alignment - 1));
}

bool exec_is_kernel_parameter(const struct ptx_variable *variable) {
    const struct ptx_function *owner = variable->owner;
    for (uint32_t i = 0; owner && owner->is_entry && i < owner->n_parameters; i++)
        if (&owner->parameter[i] == variable)
            return true;
    return false;
}

/* Places results, parameters and variables in a function's frame. Returns the frame's size so far. Registers and
 * variables in other spaces get PTX_NO_INDEX. */
static uint32_t lay_out_frame(const struct ptx_function *function, uint32_t *offset) {
    uint32_t at = exec_place_formals(function, offset), n = function->n_results + function->n_parameters;
    for (uint32_t i = 0; i < function->n_variables; i++, n++) {
        const struct ptx_variable *variable = function->variable[i];
        offset[n] = PTX_NO_INDEX;
        if (variable->space != PTX_SPACE_LOCAL && variable->space != PTX_SPACE_PARAM)
            continue;
        at = align_up(at, variable->alignment);
        offset[n] = at;
        at += (uint32_t)variable->size;
    }
    return at;
}

uint32_t exec_frame_offset(const struct exec_linker *linker, uint32_t function_number,
                           const struct ptx_variable *variable) {
    const struct ptx_function *function = linker->program->function[function_number].ptx;
    const uint32_t *offset = linker->frame_offset[function_number];
    for (uint32_t i = 0; i < function->n_results; i++)
        if (&function->result[i] == variable)
            return offset[i];
    for (uint32_t i = 0; i < function->n_parameters; i++)
        if (&function->parameter[i] == variable)
            return offset[function->n_results + i];
    for (uint32_t i = 0; i < function->n_variables; i++)
        if (function->variable[i] == variable)
            return offset[function->n_results + function->n_parameters + i];
    return PTX_NO_INDEX;
}

uint32_t exec_shared_offset(struct exec_linker *linker, const struct ptx_variable *variable) {
    for (uint32_t i = 0; i < linker->n_shared; i++)
        if (linker->shared[i].variable == variable)
            return linker->shared[i].offset;
    return 0;
}

/* --- reachable functions --- */

static uint32_t add_function(struct exec_linker *linker, const struct ptx_function *function) {
    struct exec_program *program = linker->program;
    uint32_t *number = &program->function_number[function->index];
    if (*number == PTX_NO_INDEX) {
        *number = program->n_functions;
        program->function[program->n_functions++] = (struct exec_function){.ptx = function};
    }
    return *number;
}

static void for_each_callee(const struct exec_linker *linker, const struct ptx_instruction *insn,
                            void (*visit)(void *user, const struct ptx_function *callee), void *user) {
    const struct ptx_call *call = insn->call;
    if (call->target.kind == PTX_OPERAND_FUNCTION) {
        if (call->target.function->has_body)
            visit(user, call->target.function);
    } else if (call->n_candidates) {
        for (uint32_t i = 0; i < call->n_candidates; i++)
            visit(user, call->candidate[i]);
    } else {
        for (uint32_t i = 0; i < linker->module->n_functions; i++)
            if (linker->module->function[i]->address_taken && linker->module->function[i]->has_body)
                visit(user, linker->module->function[i]);
    }
}

static void visit_add(void *user, const struct ptx_function *callee) { add_function(user, callee); }

static void collect_functions(struct exec_linker *linker, const struct ptx_function *kernel) {
    struct exec_program *program = linker->program;
    add_function(linker, kernel);
    for (uint32_t f = 0; f < program->n_functions; f++) {
        const struct ptx_function *function = program->function[f].ptx;
        for (uint32_t i = 0; i < function->n_instructions; i++)
            if (function->instruction[i].opcode == PTX_OP_CALL)
                for_each_callee(linker, &function->instruction[i], visit_add, linker);
    }
}

/* --- recursion and stack depth --- */

struct call_graph {
    struct exec_linker *linker;
    uint32_t n, from;
    bool *calls; /* n x n: the transitive closure */
};

static void visit_edge(void *user, const struct ptx_function *callee) {
    struct call_graph *graph = user;
    graph->calls[graph->from * graph->n + graph->linker->program->function_number[callee->index]] = true;
}

static struct call_graph build_call_graph(struct exec_linker *linker) {
    struct exec_program *program = linker->program;
    struct call_graph graph = {linker, program->n_functions, 0, NULL};
    graph.calls = base_arena_alloc_array(linker->arena, (size_t)graph.n * graph.n, sizeof *graph.calls, 16);
    for (; graph.from < graph.n; graph.from++) {
        const struct ptx_function *function = program->function[graph.from].ptx;
        for (uint32_t i = 0; i < function->n_instructions; i++)
            if (function->instruction[i].opcode == PTX_OP_CALL)
                for_each_callee(linker, &function->instruction[i], visit_edge, &graph);
    }
    for (uint32_t k = 0; k < graph.n; k++)
        for (uint32_t i = 0; i < graph.n; i++)
            for (uint32_t j = 0; j < graph.n && graph.calls[i * graph.n + k]; j++)
                graph.calls[i * graph.n + j] |= graph.calls[k * graph.n + j];
    return graph;
}

static uint32_t save_area_bytes(const struct ptx_analysis *analysis) {
    return analysis->n_slots[PTX_WIDTH_64] * 8 + analysis->n_slots[PTX_WIDTH_32] * 4 +
           analysis->n_slots[PTX_WIDTH_16] * 2 + analysis->n_slots[PTX_WIDTH_PRED];
}

/* Sizes the frames, and the local memory of a thread without recursion: at most one frame of every function. */
static void size_frames(struct exec_linker *linker, const struct call_graph *graph) {
    struct exec_program *program = linker->program;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        struct exec_function *function = &program->function[f];
        const struct ptx_function *ptx = function->ptx;
        linker->frame_offset[f] = base_arena_alloc_array(
            linker->arena, (size_t)ptx->n_results + ptx->n_parameters + ptx->n_variables + 1, sizeof(uint32_t), 16);
        function->save_offset = align_up(lay_out_frame(ptx, linker->frame_offset[f]), 8);
        function->is_recursive = graph->calls[f * graph->n + f];
        function->frame_bytes =
            align_up(function->save_offset + (function->is_recursive ? save_area_bytes(function->analysis) : 0), 16);
        program->is_recursive |= function->is_recursive;
        program->local_bytes += function->frame_bytes;
    }
}

/* --- registers, shared memory --- */

static void place_registers(struct exec_program *program) {
    static const uint32_t row_bytes[PTX_N_WIDTHS] = {4, 64, 128, 256};
    uint32_t at = EXEC_FIRST_REGISTER;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        struct exec_function *function = &program->function[f];
        function->register_first = at;
        for (int width = 0; width < PTX_N_WIDTHS; width++) {
            function->register_offset[width] = at;
            at = align_up(at + (uint64_t)function->analysis->n_slots[width] * row_bytes[width], 64);
        }
        function->register_bytes = at - function->register_first;
        uint32_t compiled = function->ptx->machine_registers;
        uint32_t n = compiled ? compiled : function->analysis->register_count;
        if (n > program->registers_per_thread)
            program->registers_per_thread = n;
    }
    program->register_bytes = at;
}

static void place_shared(struct exec_linker *linker, const struct ptx_variable *variable) {
    for (uint32_t i = 0; i < linker->n_shared; i++)
        if (linker->shared[i].variable == variable)
            return;
    if (linker->n_shared == linker->shared_capacity) {
        struct exec_shared_place *old = linker->shared;
        linker->shared_capacity = linker->shared_capacity ? 2 * linker->shared_capacity : 8;
        linker->shared = base_arena_alloc_array(linker->arena, linker->shared_capacity, sizeof *linker->shared, 16);
        if (linker->n_shared)
            memcpy(linker->shared, old, linker->n_shared * sizeof *old);
    }
    struct exec_program *program = linker->program;
    uint32_t offset = align_up(program->shared_bytes, variable->alignment);
    if (!variable->is_unsized)
        program->shared_bytes = offset + (uint32_t)variable->size;
    linker->shared[linker->n_shared++] =
        (struct exec_shared_place){variable, variable->is_unsized ? PTX_NO_INDEX : offset};
}

static void place_shared_of_operand(struct exec_linker *linker, const struct ptx_operand *operand) {
    if (operand->variable && operand->variable->space == PTX_SPACE_SHARED)
        place_shared(linker, operand->variable);
    for (uint32_t i = 0; i < operand->n_elements; i++)
        place_shared_of_operand(linker, &operand->element[i]);
}

/* Places static variables in the order of their first mention. All dynamic ones begin at the same offset after them. */
static void place_all_shared(struct exec_linker *linker) {
    struct exec_program *program = linker->program;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        const struct ptx_function *function = program->function[f].ptx;
        for (uint32_t i = 0; i < function->n_instructions; i++) {
            const struct ptx_instruction *insn = &function->instruction[i];
            for (uint32_t k = 0; k < insn->n_operands; k++)
                place_shared_of_operand(linker, &insn->operand[k]);
        }
    }
    uint32_t alignment = 16;
    for (uint32_t i = 0; i < linker->n_shared; i++)
        if (linker->shared[i].offset == PTX_NO_INDEX && linker->shared[i].variable->alignment > alignment)
            alignment = linker->shared[i].variable->alignment;
    program->dynamic_shared_offset = align_up(program->shared_bytes, alignment);
    for (uint32_t i = 0; i < linker->n_shared; i++)
        if (linker->shared[i].offset == PTX_NO_INDEX)
            linker->shared[i].offset = program->dynamic_shared_offset;
}

/* --- code --- */

static void size_code(struct exec_linker *linker) {
    struct exec_program *program = linker->program;
    uint32_t n_calls = 0, n_tables = 0, n_matrices = 0, n_extras = 0;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        struct exec_function *function = &program->function[f];
        function->first_pc = program->n_insns;
        function->n_insns = function->ptx->n_instructions + 1; /* with the implicit return */
        program->n_insns += function->n_insns;
        for (uint32_t i = 0; i < function->ptx->n_instructions; i++) {
            n_calls += function->ptx->instruction[i].opcode == PTX_OP_CALL;
            n_tables += function->ptx->instruction[i].opcode == PTX_OP_BRX;
            n_matrices += function->ptx->instruction[i].matrix != NULL;
            n_extras += function->ptx->instruction[i].opcode == PTX_OP_TEX ||
                        exec_is_wide(&function->ptx->instruction[i]) ||
                        ptx_has(&function->ptx->instruction[i], PTX_MOD_TENSOR);
        }
    }
    program->code = base_arena_alloc_array(linker->arena, program->n_insns, sizeof *program->code, 64);
    program->source =
        base_arena_alloc_array(linker->arena, program->n_insns, sizeof(const struct ptx_instruction *), 16);
    program->function_of = base_arena_alloc_array(linker->arena, program->n_insns, sizeof *program->function_of, 16);
    program->call_site = base_arena_alloc_array(linker->arena, n_calls + 1, sizeof *program->call_site, 16);
    program->branch_table = base_arena_alloc_array(linker->arena, n_tables + 1, sizeof(uint32_t *), 16);
    program->matrix = base_arena_alloc_array(linker->arena, n_matrices + 1, sizeof(const struct exec_matrix *), 16);
    program->extra = base_arena_alloc_array(linker->arena, n_extras + 1, sizeof *program->extra, 16);
    n_tables = 0;
    for (uint32_t f = 0; f < program->n_functions; f++)
        for (uint32_t i = 0; i < program->function[f].ptx->n_instructions; i++) {
            const struct ptx_instruction *insn = &program->function[f].ptx->instruction[i];
            if (insn->opcode == PTX_OP_BRX)
                program->branch_table[n_tables++] =
                    base_arena_alloc_array(linker->arena, insn->n_targets + 1, sizeof(uint32_t), 16);
        }
}

static void decode_all(struct exec_linker *linker, const struct call_graph *graph) {
    struct exec_program *program = linker->program;
    for (uint32_t f = 0; f < program->n_functions; f++) {
        const struct exec_function *function = &program->function[f];
        for (uint32_t i = 0; i < function->n_insns; i++) {
            uint32_t pc = function->first_pc + i;
            program->function_of[pc] = f;
            if (i == function->ptx->n_instructions) {
                program->code[pc] = (struct exec_insn){
                    .kind = function->ptx->is_entry ? EXEC_KIND_EXIT : EXEC_KIND_RETURN, .opcode = PTX_OP_RET};
                continue;
            }
            program->source[pc] = &function->ptx->instruction[i];
            exec_decode(linker, f, program->source[pc], &program->code[pc]);
            bool is_call =
                program->code[pc].kind == EXEC_KIND_CALL || program->code[pc].kind == EXEC_KIND_CALL_INDIRECT;
            if (is_call && graph->calls[f * graph->n + f])
                program->code[pc].flags |= EXEC_FLAG_SAVES;
        }
    }
}

static void place_const_variables(struct exec_linker *linker) {
    const struct ptx_module *module = linker->module;
    struct exec_program *program = linker->program;
    program->const_variable =
        base_arena_alloc_array(linker->arena, module->n_variables, sizeof *program->const_variable, 16);
    program->const_place = base_arena_alloc_array(linker->arena, module->n_variables, sizeof(uint64_t), 16);
    uint64_t end = 0;
    for (uint32_t i = 0; i < module->n_variables && linker->symbol_address; i++) {
        const struct ptx_variable *variable = module->variable[i];
        if (variable->space != PTX_SPACE_CONST)
            continue;
        uint64_t address = linker->symbol_address(linker->user, variable);
        uint64_t alignment = variable->alignment ? variable->alignment : 1;
        uint64_t place = program->n_const_variables ? (end + alignment - 1) / alignment * alignment : address;
        program->const_place[program->n_const_variables] = place;
        program->const_variable[program->n_const_variables++] = (struct exec_allocation){address, variable->size};
        end = place + variable->size;
    }
}

/* .pragma "heddle warp_size N" is for machines that let a kernel choose its warp size. Other tools' pragmas are
 * ignored.
 */
static void read_pragmas(struct exec_linker *linker, const struct ptx_function *kernel) {
    static const char ours[] = "heddle ", warp_size[] = "heddle warp_size ";
    for (uint32_t i = 0; i < kernel->n_pragmas; i++) {
        const char *pragma = kernel->pragma[i];
        uint64_t size = 0;
        if (strncmp(pragma, ours, sizeof ours - 1) != 0)
            continue;
        bool is_good = strncmp(pragma, warp_size, sizeof warp_size - 1) == 0 &&
                       base_parse_u64(pragma + sizeof warp_size - 1, &size) && size >= 32 && size <= 512 &&
                       !(size & (size - 1));
        if (!is_good)
            ptx_error_at(
                linker->messages, kernel->home, kernel->at,
                "kernel '%s' has .pragma \"%s\"; the only one is \"heddle warp_size N\" with N 32, 64, 128, 256 or 512",
                kernel->name, pragma);
        linker->program->warp_size_wanted = (uint32_t)size;
    }
}

struct exec_program *exec_link(const struct ptx_module *module, const struct ptx_function *kernel,
                               uint64_t (*symbol_address)(void *user, const struct ptx_variable *variable), void *user,
                               struct ptx_messages *messages) {
    struct base_arena first = {0}, *arena = BASE_ARENA_NEW(&first, struct base_arena);
    *arena = first; /* from here on the arena is in its own memory */
    struct exec_program *program = BASE_ARENA_NEW(arena, struct exec_program);
    *program = (struct exec_program){.name = kernel->name, .module = module, .arena = arena};
    program->parameter_bytes = (uint32_t)kernel->parameter_bytes;
    program->function = base_arena_alloc_array(arena, module->n_functions, sizeof *program->function, 16);
    program->function_number = base_arena_alloc_array(arena, module->n_functions, sizeof *program->function_number, 16);
    for (uint32_t i = 0; i < module->n_functions; i++)
        program->function_number[i] = PTX_NO_INDEX;
    struct exec_linker linker = {
        .program = program,
        .arena = arena,
        .module = module,
        .messages = messages,
        .symbol_address = symbol_address,
        .user = user,
        .constants = exec_constants_new(arena),
    };
    unsigned n_errors_before = messages->n_errors;

    read_pragmas(&linker, kernel);
    collect_functions(&linker, kernel);
    for (uint32_t f = 0; f < program->n_functions; f++)
        program->function[f].analysis = ptx_analyze(program->function[f].ptx);
    struct call_graph graph = build_call_graph(&linker);
    linker.frame_offset = base_arena_alloc_array(arena, program->n_functions, sizeof(uint32_t *), 16);
    size_frames(&linker, &graph);
    place_registers(program);
    place_all_shared(&linker);
    place_const_variables(&linker);
    size_code(&linker);
    decode_all(&linker, &graph);
    program->constants = exec_constants_finish(linker.constants, &program->constant_bytes);
    exec_constants_free(linker.constants);

    if (messages->n_errors > n_errors_before) {
        exec_program_free(program);
        return NULL;
    }
    program->live = exec_live_new(program);
    program->regions = exec_regions_new(program);
    return program;
}

void exec_program_free(struct exec_program *program) {
    if (!program)
        return;
    for (uint32_t f = 0; f < program->n_functions; f++)
        ptx_analysis_free(program->function[f].analysis);
    base_arena_free(program->arena);
}
