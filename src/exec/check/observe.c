/* Notes the accesses of instructions: which bytes each lane reads or writes. See check.h.
 *
 * Every function here executes the instruction first, by the function that it stands for. A fault ends it: the access
 * has not happened. cx->address has the lanes' addresses then, whatever has become of their registers. */
#include "base/arena.h"
#include "exec/check/internal.h"
#include "exec/matrix/matrix.h"
#include "exec/memory/mbarrier.h"

/* Executes the context's instruction. Returns false after a fault. */
static bool execute(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_program *program = cx->grid->program;
    program->unchecked[cx->insn - program->code](cx, o);
    return cx->fault.kind == EXEC_FAULT_NONE;
}

static uint32_t pc_of(const struct exec_context *cx) { return (uint32_t)(cx->insn - cx->grid->program->code); }

static const struct ptx_instruction *source_of(const struct exec_context *cx) {
    return cx->grid->program->source[pc_of(cx)];
}

static struct exec_check_block *block_of(const struct exec_context *cx, unsigned lane) {
    return exec_row_at(cx, lane)->block->check;
}

static uint32_t thread_of(const struct exec_context *cx, unsigned lane) {
    return exec_row_at(cx, lane)->index * EXEC_LANES + exec_lane_at(cx, lane);
}

/* Returns the lane's address in shared memory, of an instruction that accesses no other. */
static uint64_t offset_of(const struct exec_context *cx, unsigned lane) {
    uint64_t offset = cx->address[lane];
    if (cx->insn->access.space == PTX_SPACE_GENERIC)
        exec_generic_space(cx->address[lane], &offset);
    return offset;
}

/* --- accesses of one lane --- */

static void report_unwritten(const struct exec_context *cx, unsigned lane, enum exec_finding_kind kind,
                             uint64_t address, uint32_t bytes) {
    struct exec_finding finding = {.block = exec_row_at(cx, lane)->block->index,
                                   .side[0] = {.thread = thread_of(cx, lane), .pc = pc_of(cx)},
                                   .address = address,
                                   .bytes = bytes};
    exec_check_add(cx->grid->check, kind, &finding);
}

static void read_global(struct exec_context *cx, unsigned lane, uint64_t address, uint32_t bytes) {
    if (!exec_written_any(cx->grid->check->written, address, bytes))
        report_unwritten(cx, lane, EXEC_FINDING_GLOBAL, address, bytes);
}

static void write_global(struct exec_context *cx, uint64_t address, uint32_t bytes) {
    exec_written_mark(cx->grid->check->written, address, bytes);
}

static void report_race(const struct exec_context *cx, unsigned lane, const struct exec_toucher *toucher,
                        const struct exec_race *race, uint32_t bytes) {
    const struct exec_clocks *clocks = &block_of(cx, lane)->clocks;
    struct exec_finding_side now = {toucher->thread, toucher->pc, toucher->touch, toucher->id != toucher->thread};
    struct exec_finding_side then = {race->id % clocks->n_threads, race->pc, race->touch,
                                     race->id >= clocks->n_threads};
    if (race->id == exec_clocks_bulk(clocks)) /* its thread is not known any more */
        then.thread = toucher->thread;
    bool is_first = now.thread < then.thread || (now.thread == then.thread && now.pc < then.pc);
    struct exec_finding finding = {.block = exec_row_at(cx, lane)->block->index,
                                   .side = {is_first ? now : then, is_first ? then : now},
                                   .address = race->offset,
                                   .bytes = bytes};
    exec_check_add(cx->grid->check, EXEC_FINDING_RACE, &finding);
}

/* `value`: the bytes of a write; NULL: they are in memory. */
static void touch_shared(struct exec_context *cx, unsigned lane, struct exec_toucher *toucher, uint64_t offset,
                         uint32_t bytes, const unsigned char *value) {
    struct exec_check_block *block = block_of(cx, lane);
    struct exec_race race;
    if (!value && toucher->touch == EXEC_TOUCH_WRITE)
        value = exec_row_at(cx, lane)->block->shared + offset;
    if (exec_shadow_touch(&block->shadow, &block->clocks, toucher, (uint32_t)offset, bytes, value, &race))
        report_race(cx, lane, toucher, &race, bytes);
}

static struct exec_toucher toucher_of(const struct exec_context *cx, unsigned lane, enum exec_touch touch) {
    uint32_t thread = thread_of(cx, lane);
    return (struct exec_toucher){thread, thread, block_of(cx, lane)->clocks.now[thread], pc_of(cx), touch};
}

/* The clocks of a block know only its own threads, so races between blocks of a cluster are not found. */
static void access_other(struct exec_context *cx, unsigned lane, struct exec_shadow *shadow, enum exec_touch touch,
                         bool reads, uint64_t offset, uint32_t bytes) {
    if (reads && !cx->grid->program->moves[pc_of(cx)] && !exec_shadow_is_written(shadow, (uint32_t)offset, bytes))
        report_unwritten(cx, lane, EXEC_FINDING_SHARED, offset, bytes);
    if (touch != EXEC_TOUCH_READ)
        exec_shadow_write(shadow, (uint32_t)offset, bytes);
}

static void access_shared(struct exec_context *cx, unsigned lane, enum exec_touch touch, bool reads, uint64_t offset,
                          uint32_t bytes, const unsigned char *value) {
    struct exec_check_block *block = block_of(cx, lane), *owner = exec_shared_block(cx, lane, &offset)->check;
    if (owner != block) {
        access_other(cx, lane, &owner->shadow, touch, reads, offset, bytes);
        return;
    }
    struct exec_toucher toucher = toucher_of(cx, lane, touch);
    uint32_t move = cx->grid->program->moves[toucher.pc], *moving = &block->moving[toucher.thread];
    bool is_unwritten = reads && !exec_shadow_is_written(&block->shadow, (uint32_t)offset, bytes);
    if (is_unwritten && !move)
        report_unwritten(cx, lane, EXEC_FINDING_SHARED, offset, bytes);
    touch_shared(cx, lane, &toucher, offset, bytes, value);
    if (reads && move)
        *moving = is_unwritten ? move : *moving == move ? 0 : *moving;
    else if (move && *moving == move)
        exec_shadow_unwrite(&block->shadow, (uint32_t)offset, bytes);
}

/* An access to any space; `reads`: the value that was there matters. */
static void access(struct exec_context *cx, unsigned lane, enum exec_touch touch, bool reads, uint64_t address,
                   uint32_t bytes, const unsigned char *value) {
    enum ptx_space space = (enum ptx_space)cx->insn->access.space;
    uint64_t offset = address;
    if (space == PTX_SPACE_GENERIC)
        space = exec_generic_space(address, &offset);
    if (space == PTX_SPACE_SHARED) {
        access_shared(cx, lane, touch, reads, offset, bytes, value);
    } else if (space == PTX_SPACE_GLOBAL) {
        if (reads)
            read_global(cx, lane, address, bytes);
        if (touch != EXEC_TOUCH_READ)
            write_global(cx, address, bytes);
    }
}

/* --- ld, st, atom, red --- */

/* Returns the bytes of a lane's access. */
static uint32_t access_bytes(const struct exec_context *cx) {
    const struct ptx_instruction *insn = source_of(cx);
    return (uint32_t)cx->insn->access.bytes * (insn->vector ? insn->vector : 1u);
}

/* Accesses with an order or a scope are atomic, except volatile ones. */
static bool is_strong(const struct exec_context *cx) {
    const struct ptx_instruction *insn = source_of(cx);
    return ptx_has(insn, PTX_MOD_RELAXED) || ptx_has(insn, PTX_MOD_ACQUIRE) || ptx_has(insn, PTX_MOD_RELEASE);
}

static void load(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const uint32_t bytes = access_bytes(cx);
    const enum exec_touch touch = is_strong(cx) ? EXEC_TOUCH_ATOMIC : EXEC_TOUCH_READ;
    EXEC_FOR_ACTIVE(l, o->mask) access(cx, l, touch, true, cx->address[l], bytes, NULL);
}

static void store(struct exec_context *cx, const struct exec_operands *o) {
    enum { MOST_ELEMENTS = 4 };
    if (!execute(cx, o))
        return;
    const unsigned bytes = cx->insn->access.bytes, n = access_bytes(cx) / bytes;
    const enum exec_touch touch = is_strong(cx) ? EXEC_TOUCH_ATOMIC : EXEC_TOUCH_WRITE;
    EXEC_FOR_ACTIVE(l, o->mask) {
        unsigned char value[MOST_ELEMENTS * sizeof(uint64_t)]; /* lanes may write to the same place */
        for (unsigned e = 0; e < n && n <= MOST_ELEMENTS; e++)
            memcpy(value + (size_t)e * bytes,
                   (const unsigned char *)o->src[1 + e] + (size_t)l * exec_slot_bytes(cx->insn->operand[1 + e]), bytes);
        access(cx, l, touch, false, cx->address[l], bytes * n, n <= MOST_ELEMENTS ? value : NULL);
    }
}

static void update(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const uint32_t bytes = access_bytes(cx);
    const bool reads = !ptx_has(source_of(cx), PTX_MOD_EXCH);
    EXEC_FOR_ACTIVE(l, o->mask) access(cx, l, EXEC_TOUCH_ATOMIC, reads, cx->address[l], bytes, NULL);
}

/* --- whole rows: matrices, cond_acc --- */

/* Returns the bytes of a lane: of a matrix with a pitch the bytes are divided among the lanes, other rows have 16. */
static uint32_t matrix_bytes(const struct exec_context *cx) {
    enum { ROW_BYTES = 16 };
    const struct ptx_instruction *insn = source_of(cx);
    if (!insn->matrix->k)
        return ROW_BYTES;
    struct ptx_fragment shape = ptx_matrix_fragment(insn, insn->matrix->role);
    return shape.rows * shape.columns * ptx_element_bits(shape.element) / 8 / EXEC_LANES;
}

static void load_matrix(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const uint32_t bytes = matrix_bytes(cx);
    EXEC_FOR_ACTIVE(l, cx->touched) access(cx, l, EXEC_TOUCH_READ, true, cx->address[l], bytes, NULL);
}

static void store_matrix(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const uint32_t bytes = matrix_bytes(cx);
    EXEC_FOR_ACTIVE(l, cx->touched) access(cx, l, EXEC_TOUCH_WRITE, false, cx->address[l], bytes, NULL);
}

static void accumulate(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const uint32_t bytes = cx->insn->access.bytes;
    EXEC_FOR_ACTIVE(l, cx->touched) access(cx, l, EXEC_TOUCH_WRITE, false, cx->address[l], bytes, NULL);
}

/* --- asynchronous copies --- */

static void copy_elements(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct exec_clocks *clocks = &block_of(cx, l)->clocks;
        struct exec_toucher toucher = toucher_of(cx, l, EXEC_TOUCH_WRITE);
        toucher.id = exec_clocks_twin(clocks, toucher.thread);
        toucher.stamp = exec_clocks_copy(clocks);
        uint64_t to = exec_based_address(cx, o, 0, l);
        if (cx->async.bytes[l])
            read_global(cx, l, cx->address[l], cx->async.bytes[l]);
        if (exec_shared_block(cx, l, &to)->check == block_of(cx, l))
            touch_shared(cx, l, &toucher, to, o->imm, NULL);
    }
}

/* Bulk copies are ordered by the mbarrier at which they are completed. */
static void write_bulk(struct exec_context *cx, unsigned lane, enum exec_touch touch, uint64_t offset, uint32_t bytes,
                       uint64_t mbarrier) {
    struct exec_clocks *clocks = &block_of(cx, lane)->clocks;
    struct exec_toucher toucher = toucher_of(cx, lane, touch);
    struct exec_check_block *owner = exec_shared_block(cx, lane, &offset)->check;
    if (owner != block_of(cx, lane)) {
        exec_shadow_write(&owner->shadow, (uint32_t)offset, bytes);
        return;
    }
    exec_shared_block(cx, lane, &mbarrier);
    toucher.id = exec_clocks_bulk(clocks);
    toucher.stamp = exec_clocks_copy(clocks);
    touch_shared(cx, lane, &toucher, offset, bytes, NULL);
    exec_clocks_complete(clocks, (uint32_t)mbarrier, toucher.stamp);
}

/* A copy writes to one block, or with .multicast::cluster to several. */
static void write_copies(struct exec_context *cx, unsigned lane, enum exec_touch touch, uint64_t offset, uint32_t bytes,
                         uint64_t mbarrier) {
    if (!cx->async.multicast[lane])
        write_bulk(cx, lane, touch, offset, bytes, mbarrier);
    EXEC_FOR_ACTIVE(rank, cx->async.multicast[lane])
    write_bulk(cx, lane, touch, exec_of_rank(offset, rank), bytes, exec_of_rank(mbarrier, rank));
}

static void copy_bulk(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const struct ptx_instruction *insn = source_of(cx);
    bool is_out = insn->space == PTX_SPACE_GLOBAL, is_in = insn->source_space == PTX_SPACE_GLOBAL;
    bool reduces = ptx_has(insn, PTX_MOD_REDUCE);
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t to = exec_based_address(cx, o, 0, l), from = exec_based_address(cx, o, 2, l);
        uint32_t bytes = ((const uint32_t *)o->src[4])[l];
        if (!bytes)
            continue;
        if (is_in)
            read_global(cx, l, from, bytes);
        else
            access_shared(cx, l, EXEC_TOUCH_READ, true, from, bytes, NULL);
        if (is_out) {
            write_global(cx, to, bytes);
            continue;
        }
        uint64_t mbarrier = cx->insn->n_src > 5 ? exec_based_address(cx, o, 5, l) : 0;
        write_copies(cx, l, reduces ? EXEC_TOUCH_ATOMIC : EXEC_TOUCH_WRITE, to, bytes, mbarrier);
    }
}

/* Tensor copies: the rows in global memory, and the box in shared memory as if it were dense. */
static void copy_tensor(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    bool is_load = ptx_has(source_of(cx), PTX_MOD_MBARRIER_COMPLETE_TX);
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t shared = exec_based_address(cx, o, 0, l);
        for (uint32_t i = 0; i < cx->async.n_rows[l]; i++) {
            const struct exec_row_of_box *row = &cx->async.rows.row[cx->async.first_row[l] + i];
            if (is_load)
                read_global(cx, l, row->address, row->bytes);
            else
                write_global(cx, row->address, row->bytes);
        }
        if (is_load)
            write_copies(cx, l, EXEC_TOUCH_WRITE, shared, cx->async.bytes[l], exec_based_address(cx, o, 3, l));
    }
}

/* st.async and red.async: the mbarrier comes after the values. */
static void store_async(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const uint32_t bytes = access_bytes(cx);
    const bool reduces = cx->insn->opcode == PTX_OP_RED;
    EXEC_FOR_ACTIVE(l, o->mask) {
        write_bulk(cx, l, reduces ? EXEC_TOUCH_ATOMIC : EXEC_TOUCH_WRITE, offset_of(cx, l), bytes,
                   exec_based_address(cx, o, cx->insn->n_src - 2u, l));
    }
}

static void commit(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    EXEC_FOR_ACTIVE(l, o->mask)
    exec_clocks_commit(&block_of(cx, l)->clocks, thread_of(cx, l),
                       exec_row_at(cx, l)->n_copy_groups[0][exec_lane_at(cx, l)]);
}

static void wait(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    const struct ptx_instruction *insn = source_of(cx);
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct exec_clocks *clocks = &block_of(cx, l)->clocks;
        uint32_t thread = thread_of(cx, l), n = exec_row_at(cx, l)->n_copy_groups[0][exec_lane_at(cx, l)];
        if (ptx_has(insn, PTX_MOD_WAIT_ALL))
            exec_clocks_wait_all(clocks, thread);
        else
            exec_clocks_wait(clocks, thread, n, (uint32_t)insn->operand[0].value);
    }
}

/* --- mbarriers --- */

/* All mbarriers of other blocks count as one. Another block may pass on what an arrival there tells, by a signal to an
 * mbarrier of this block, so a wait for any of these learns it. */
#define OTHER_MBARRIERS UINT32_MAX

static uint32_t mbarrier_of(struct exec_context *cx, unsigned lane) {
    uint64_t offset = offset_of(cx, lane);
    return exec_shared_block(cx, lane, &offset)->check == block_of(cx, lane) ? (uint32_t)offset : OTHER_MBARRIERS;
}

static void touch_mbarriers(struct exec_context *cx, uint32_t mask, enum exec_touch touch) {
    EXEC_FOR_ACTIVE(l, mask) access_shared(cx, l, touch, false, offset_of(cx, l), sizeof(uint64_t), NULL);
}

static void init_mbarrier(struct exec_context *cx, const struct exec_operands *o) {
    if (execute(cx, o))
        touch_mbarriers(cx, o->mask, EXEC_TOUCH_WRITE);
}

static void arrive(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    touch_mbarriers(cx, o->mask, EXEC_TOUCH_ATOMIC);
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct exec_clocks *clocks = &block_of(cx, l)->clocks;
        if (cx->insn->opcode == PTX_OP_CP)
            exec_clocks_wait_all(clocks, thread_of(cx, l));
        exec_clocks_arrive(clocks, mbarrier_of(cx, l), exec_row_at(cx, l)->index, 1u << exec_lane_at(cx, l));
    }
}

static void test_mbarrier(struct exec_context *cx, const struct exec_operands *o) {
    if (!execute(cx, o))
        return;
    touch_mbarriers(cx, o->mask, EXEC_TOUCH_ATOMIC);
    EXEC_FOR_ACTIVE(l, o->mask) {
        const struct exec_row *row = exec_row_at(cx, l);
        uint32_t lane = 1u << exec_lane_at(cx, l);
        if (cx->async.mbarrier[l] == EXEC_NO_MBARRIER)
            continue;
        exec_clocks_learn(&block_of(cx, l)->clocks, mbarrier_of(cx, l), row->index, lane);
        if (row->block->cluster)
            exec_clocks_learn(&block_of(cx, l)->clocks, OTHER_MBARRIERS, row->index, lane);
    }
}

/* expect_tx, complete_tx, inval: libcu++ leaves it to atomics to find the last user of an mbarrier. */
static void change_mbarrier(struct exec_context *cx, const struct exec_operands *o) {
    if (execute(cx, o))
        touch_mbarriers(cx, o->mask, EXEC_TOUCH_ATOMIC);
}

/* --- selection --- */

static exec_act_fn *select_copy(const struct ptx_instruction *insn) {
    bool is_bulk = ptx_has(insn, PTX_MOD_BULK);
    if (ptx_has(insn, PTX_MOD_MBARRIER))
        return arrive;
    if (ptx_has(insn, PTX_MOD_COMMIT_GROUP))
        return is_bulk ? NULL : commit;
    if (ptx_has(insn, PTX_MOD_WAIT_GROUP) || ptx_has(insn, PTX_MOD_WAIT_ALL))
        return is_bulk ? NULL : wait;
    if (ptx_has(insn, PTX_MOD_TENSOR))
        return copy_tensor;
    return is_bulk ? copy_bulk : copy_elements;
}

static exec_act_fn *select_mbarrier(const struct ptx_instruction *insn) {
    if (ptx_has(insn, PTX_MOD_TEST_WAIT) || ptx_has(insn, PTX_MOD_TRY_WAIT))
        return test_mbarrier;
    if (ptx_has(insn, PTX_MOD_ARRIVE) || ptx_has(insn, PTX_MOD_ARRIVE_DROP))
        return arrive;
    return ptx_has(insn, PTX_MOD_INIT) ? init_mbarrier : change_mbarrier;
}

/* Returns the function that executes the instruction and notes its accesses, or NULL if there is nothing to note. */
static exec_act_fn *select(const struct exec_insn *insn, const struct ptx_instruction *source) {
    if (!source || !exec_has_addresses(insn->kind))
        return NULL;
    switch ((enum ptx_opcode)insn->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return load;
    case PTX_OP_ST:
        return ptx_has(source, PTX_MOD_ASYNC) ? store_async : store;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return ptx_has(source, PTX_MOD_ASYNC) ? store_async : update;
    case PTX_OP_CP:
        return select_copy(source);
    case PTX_OP_MBARRIER:
        return select_mbarrier(source);
    case PTX_OP_COND_ACC:
        return accumulate;
    default:
        if (insn->kind != EXEC_KIND_WARP_MEMORY || !source->matrix || insn->opcode == PTX_OP_WGMMA)
            return NULL;
        return source->matrix->action == PTX_MATRIX_STORE || insn->opcode == PTX_OP_STMATRIX ? store_matrix
                                                                                             : load_matrix;
    }
}

void exec_check_program(struct exec_program *program) {
    program->moves = exec_check_find_moves(program);
    program->unchecked = base_arena_alloc_array(program->arena, program->n_insns, sizeof *program->unchecked, 16);
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        exec_act_fn *act = select(&program->code[pc], program->source[pc]);
        program->unchecked[pc] = act ? program->code[pc].act : NULL;
        if (act)
            program->code[pc].act = act;
    }
}
