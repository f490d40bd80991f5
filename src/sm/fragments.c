/* Fragments of matrices in memory. A warp's wmma.load or wmma.store is several machine instructions, each of which
 * accesses eight lines of the matrix: a word of each lane if elements have 16 bits or fewer, two words if they have 32.
 * LDSM, which loads from shared memory, also takes eight lines of 16 bytes at once. The H200 takes as long for the
 * whole fragment as for these parts one after the other (bench/hardware: tile_wmma_*). */
#include "ptx/matrix.h"
#include "sm/internal.h"

enum { WORD_BYTES = 4, PART_LINES = 8, LANES_OF_LINE = EXEC_LANES / PART_LINES };

bool sm_is_fragment(const struct sm *sm, uint32_t pc) {
    const struct ptx_instruction *source = sm->program->exec->source[pc];
    return sm->issues != SM_ISSUES_PTX && source && source->opcode == PTX_OP_WMMA;
}

uint32_t sm_fragment_passes(const struct sm *sm, uint32_t pc, bool is_shared) {
    const struct config_machine *machine = sm->machine;
    const struct ptx_matrix *matrix = sm->program->exec->source[pc]->matrix;
    struct ptx_fragment fragment = ptx_matrix_fragment(sm->program->exec->source[pc], matrix->role);
    unsigned bits = ptx_element_bits(fragment.element);
    unsigned n_lines = matrix->is_column_major[0] ? fragment.columns : fragment.rows;
    unsigned line_bytes = fragment.rows * fragment.columns / n_lines * bits / 8;
    unsigned bytes = bits > 16 ? 2 * WORD_BYTES : WORD_BYTES; /* of a lane */
    uint32_t passes = 0;
    for (unsigned line = 0; line + PART_LINES <= n_lines && n_lines <= EXEC_LANES; line += PART_LINES)
        for (unsigned at = 0; at < line_bytes; at += bytes * LANES_OF_LINE) {
            uint64_t address[EXEC_LANES];
            struct mem_transaction sector[MEM_MAX_TRANSACTIONS];
            for (unsigned l = 0; l < EXEC_LANES; l++)
                address[l] = sm->cx.address[(line + l / LANES_OF_LINE) * (EXEC_LANES / n_lines)] + at +
                             l % LANES_OF_LINE * bytes;
            if (is_shared) {
                passes += mem_bank_conflicts(address, ~0u, bytes, machine->shared.banks);
                continue;
            }
            unsigned n = mem_coalesce(address, ~0u, bytes, machine->l1.cache.line_bytes, sector);
            passes += mem_l1_passes(address, ~0u, bytes, sector, n, machine->unified.tag_banks, machine->shared.banks);
        }
    return passes;
}
