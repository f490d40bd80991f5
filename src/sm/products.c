/* Times wgmma. Each of the four warps of a group has a quarter of the product computed by the matrix unit of its
 * scheduler, while it goes on. Products of a unit begin one after the other, in the order in which they were issued. A
 * warp collects its products in groups (wgmma.commit_group), and wgmma.wait_group delays its next instruction until all
 * but the last few groups have ended. Values are already in place (exec/matrix/wgmma.c). A wait is a barrier of the
 * four warps, too.
 *
 * From bench/hardware/wgmma.c on an H200. A unit is busy for as long as its multiplications take or, if that is longer,
 * for as long as the SM's shared memory needs to read both matrices, all banks in each cycle. A matrix A in registers
 * needs no time in shared memory, but such a product takes matrix.group_least cycles at least. The kind of elements
 * does not matter, since each line has 32 bytes. wgmma.fence takes matrix.group_fence cycles.
 *
 * Left out: the four warps begin independently of each other; loads and stores of shared memory do not wait for the
 * reads of products; one warp of each group waits at an issue after several products. */
#include "sm/products.h"

#include <stdlib.h>

#include "base/memory.h"
#include "ptx/matrix.h"
#include "sm/internal.h"

enum { MOST_GROUPS = 8, LINE_BYTES = 32, BANK_BYTES = 4 };

/* The products of a row. */
struct sm_product_warp {
    const struct exec_row *row; /* compared, never dereferenced */
    uint64_t end;               /* of its last product */
    uint64_t group_end[MOST_GROUPS];
    uint32_t n_groups;
};

static bool is_in_registers(const struct ptx_instruction *insn) { return insn->operand[1].kind == PTX_OPERAND_VECTOR; }

uint32_t sm_product_cycles(const struct config_machine *machine, const struct ptx_instruction *insn) {
    const struct ptx_matrix *matrix = insn->matrix;
    uint32_t per_cycle = machine->matrix.group_rate, banks_bytes = machine->shared.banks * BANK_BYTES;
    uint32_t cycles = (sm_matrix_products(insn) + per_cycle - 1) / per_cycle;
    uint32_t read_bytes = (is_in_registers(insn) ? 0 : matrix->m * LINE_BYTES) +
                          matrix->n * (matrix->is_sparse ? 2u * LINE_BYTES : LINE_BYTES);
    uint32_t reads = (read_bytes + banks_bytes - 1) / banks_bytes;
    uint32_t least = is_in_registers(insn) ? machine->matrix.group_least_cycles : 1;
    cycles = cycles > reads ? cycles : reads;
    return cycles > least ? cycles : least;
}

uint32_t sm_product_latency(const struct config_machine *machine, const struct ptx_instruction *insn) {
    return machine->matrix.group_latency_cycles + sm_matrix_products(insn) / machine->matrix.group_rate +
           (is_in_registers(insn) ? 0 : machine->matrix.group_shared_cycles);
}

void sm_products_begin(struct sm *sm) {
    bool has_any = false;
    for (uint32_t pc = 0; pc < sm->program->exec->n_insns; pc++)
        has_any |= sm->program->timing[pc].copies == SM_PRODUCTS_MULTIPLY;
    if (has_any)
        sm->products.warp = base_allocate(sm->slots.n, sizeof *sm->products.warp);
}

void sm_products_end(struct sm *sm) {
    free(sm->products.warp);
    sm->products = (struct sm_products){0};
}

/* A row is usually in the slot in which it was before. */
static struct sm_product_warp *warp_of(struct sm *sm, uint32_t s, const struct exec_row *row) {
    struct sm_product_warp *own = &sm->products.warp[s];
    if (own->row == row)
        return own;
    for (uint32_t i = 0; i < sm->slots.n; i++)
        if (sm->products.warp[i].row == row)
            return &sm->products.warp[i];
    *own = (struct sm_product_warp){.row = row};
    return own;
}

static void multiply(struct sm *sm, uint32_t s, const struct ptx_instruction *insn, struct sm_product_warp *warp,
                     uint64_t cycle) {
    uint64_t *free_from = &sm->products.unit_free[s % sm->machine->sm.schedulers];
    uint64_t start = *free_from > cycle ? *free_from : cycle;
    uint64_t end = start + sm_product_latency(sm->machine, insn);
    *free_from = start + sm_product_cycles(sm->machine, insn);
    warp->end = end > warp->end ? end : warp->end;
    if (sm->slots.slot[s].result_ready < warp->end)
        sm->slots.slot[s].result_ready = warp->end;
}

static void hold_until(struct divergence_group *group, uint64_t cycle) {
    if (group->ready_cycle < cycle)
        group->ready_cycle = cycle;
}

void sm_products_follow(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    const struct exec_row *row =
        bundle->row ? bundle->row : exec_row_at(&sm->cx, (uint32_t)__builtin_ctz(bundle->mask));
    struct divergence_group *group = sm->slots.slot[s].group;
    if (!sm->products.warp)
        return;
    struct sm_product_warp *warp = warp_of(sm, s, row);
    switch ((enum sm_copies_role)sm->program->timing[bundle->pc].copies) {
    case SM_PRODUCTS_FENCE:
        hold_until(group, cycle + sm->machine->matrix.group_fence_cycles);
        break;
    case SM_PRODUCTS_MULTIPLY:
        multiply(sm, s, sm->program->exec->source[bundle->pc], warp, cycle);
        break;
    case SM_PRODUCTS_COMMIT:
        warp->group_end[warp->n_groups++ % MOST_GROUPS] = warp->end;
        break;
    default: /* a wait: imm groups may go on */
        if (warp->n_groups > insn->imm)
            hold_until(group, warp->group_end[(warp->n_groups - 1 - insn->imm) % MOST_GROUPS]);
        break;
    }
}
