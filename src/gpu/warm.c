/* Warms the caches of the timed machine with launches that run functionally, so that the next timed launch finds them
 * as a timed run would have left them. Left out: local memory. */
#include "gpu/engine.h"

void gpu_timed_touch(struct gpu_timed *timed, const struct exec_context *cx, const struct exec_insn *insn,
                     uint32_t lanes, uint32_t sm, struct gpu_warmed *warmed) {
    uint32_t bytes = insn->is_texture ? cx->texel_bytes : (uint32_t)insn->access.bytes * insn->access.n;
    bool is_atomic = insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED;
    enum mem_kind kind = is_atomic ? MEM_ATOMIC : insn->opcode == PTX_OP_ST ? MEM_WRITE : MEM_READ;
    bool has_span = insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST;
    const struct mem_reach reach = {cx->span.low, cx->span.high};
    struct mem_touched touched = {0};
    mem_touch(timed->mem, sm, cx->address, lanes, bytes ? bytes : 1, kind, has_span ? &reach : NULL, &touched);
    warmed->touched_lines += touched.n_lines;
    warmed->missed_lines += touched.n_misses;
}

void gpu_timed_touch_code(struct gpu_timed *timed, const struct exec_grid *grid) {
    const struct exec_program *program = grid->program;
    uint64_t n_blocks = exec_shape_blocks(&grid->shape);
    uint32_t n_sms = n_blocks < timed->machine.sm.count ? (uint32_t)n_blocks : timed->machine.sm.count;
    mem_touch_code(timed->mem, program->code_address, program->n_insns * GPU_INSTRUCTION_BYTES, n_sms);
}
