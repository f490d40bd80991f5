/* The fixture: its memory, its kernel, and its life. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "divergence/testing/internal.h"

uint64_t fixture_alloc(struct fixture *f, uint64_t bytes) {
    uint64_t address = f->next_address;
    f->next_address += (bytes + 255) & ~255ull;
    assert_true(f->next_address <= FIXTURE_MEMORY + FIXTURE_MEMORY_BYTES);
    return address;
}

uint32_t *fixture_u32(struct fixture *f, uint64_t address) {
    return (uint32_t *)(f->memory_bytes + (address - FIXTURE_MEMORY));
}

static uint64_t fixture_symbol_address(void *user, const struct ptx_variable *variable) {
    struct fixture *f = user;
    uint32_t i = 0;
    while (f->symbol[i] && f->symbol[i] != variable)
        i++;
    assert_true(i < FIXTURE_SYMBOLS - 1);
    if (!f->symbol[i]) {
        f->symbol[i] = variable;
        f->symbol_address[i] = fixture_alloc(f, variable->size ? variable->size : 1);
    }
    return f->symbol_address[i];
}

uint64_t fixture_variable(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; f->symbol[i]; i++)
        if (strcmp(f->symbol[i]->name, name) == 0)
            return f->symbol_address[i];
    return 0;
}

void fixture_parameter(struct fixture *f, uint32_t index, uint64_t value) {
    assert_true(index < FIXTURE_PARAMETERS);
    f->parameter[index] = value;
}

/* --- life --- */

static void fixture_load(struct fixture *f, const char *text) {
    struct ptx_messages messages = {0};
    f->module = ptx_parse("t.ptx", text, strlen(text), &messages);
    if (!f->module)
        fail_msg("%s", messages.text);
    const struct ptx_function *kernel = ptx_find_function(f->module, "k");
    assert_non_null(kernel);
    f->program = exec_link(f->module, kernel, fixture_symbol_address, f, &messages);
    if (!f->program)
        fail_msg("%s", messages.text);
    assert_true(f->program->parameter_bytes <= sizeof f->parameter);
}

static void fixture_parse_options(struct fixture *f, const char *text) {
    struct config_plugin plugin = {f->ops->name, f->ops->help, f->ops->option, f->ops->preset, f->ops->options_bytes};
    char error[256] = "";
    size_t which;
    if (!config_plugin_parse("divergence model", &plugin, 1, text, &which, &f->options, error, sizeof error))
        fail_msg("%s", error);
}

static uint32_t fixture_or(uint32_t value, uint32_t otherwise) { return value ? value : otherwise; }

struct fixture *fixture_open(const struct divergence_ops *ops, const char *model, const char *text,
                             const struct fixture_shape *shape) {
    /* Most of it is never touched: fresh pages cost less than zeroing all of it in each of thousands of runs. */
    struct fixture *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f != MAP_FAILED);
    f->ops = ops;
    f->next_address = FIXTURE_MEMORY;
    f->most_steps = FIXTURE_MOST_STEPS;
    f->allocation[0] = (struct exec_allocation){FIXTURE_MEMORY, FIXTURE_MEMORY_BYTES};
    f->memory = (struct exec_memory){.base = FIXTURE_MEMORY,
                                     .limit = FIXTURE_MEMORY + FIXTURE_MEMORY_BYTES,
                                     .delta = (ptrdiff_t)((uintptr_t)f->memory_bytes - FIXTURE_MEMORY),
                                     .allocation = f->allocation,
                                     .n_allocations = 1};
    fixture_parse_options(f, model);
    fixture_load(f, text);
    uint32_t warp_size = fixture_or(shape->warp_size, EXEC_LANES), block = fixture_or(shape->block, 32);
    uint32_t blocks = fixture_or(shape->grid, 1), most = blocks < FIXTURE_BLOCKS ? blocks : FIXTURE_BLOCKS;
    f->n_sms = fixture_or(shape->n_sms, 1);
    f->blocks_per_sm = fixture_or(shape->blocks_per_sm, most);
    assert_true(f->n_sms <= FIXTURE_SMS && f->blocks_per_sm <= FIXTURE_BLOCKS);
    uint32_t n_warps = (block + warp_size - 1) / warp_size * f->blocks_per_sm;
    f->machine = (struct config_machine){
        .name = "fixture",
        .sm = {.count = f->n_sms,
               .warp_size = warp_size,
               .simd_width = warp_size,
               .threads = n_warps * warp_size,
               .blocks = f->blocks_per_sm,
               .threads_per_block = 1024,
               .pipeline = shape->is_scoreboard ? CONFIG_PIPELINE_SCOREBOARD : CONFIG_PIPELINE_BARREL,
               .schedulers = 1}};
    f->n_slots = shape->n_slots ? shape->n_slots
                 : ops->n_slots ? ops->n_slots(f->options, &f->machine, n_warps, FIXTURE_SLOTS)
                                : n_warps;
    assert_true(f->n_slots <= FIXTURE_SLOTS && f->n_slots > 0);
    f->grid = (struct exec_grid){
        .program = f->program,
        .memory = &f->memory,
        .parameters = (const unsigned char *)f->parameter,
        .parameter_bytes = f->program->parameter_bytes,
        .shape.grid = {blocks, 1, 1},
        .shape.block = {block, 1, 1},
        .shared_bytes = f->program->dynamic_shared_offset,
        .local_bytes = (f->program->local_bytes + (exec_needs_stack(f->program) ? 4096u : 0u) + 15u) & ~15u,
        .grid_id = 1,
        .n_sms = f->n_sms,
        .warps_per_sm = n_warps,
        .warp_size = warp_size,
    };
    return f;
}

static void fixture_start_sm(struct fixture *f, uint32_t index) {
    struct fixture_sm *sm = &f->sm[index];
    sm->f = f;
    sm->index = index;
    sm->call_at = UINT64_MAX;
    for (uint32_t s = 0; s < FIXTURE_SLOTS; s++)
        sm->slot[s].access = sm->access[s];
    sm->cx.grid = &f->grid;
    sm->cx.lanes = exec_level_table();
    struct divergence_setup setup = {.machine = &f->machine,
                                     .options = f->options,
                                     .chip = f->chip,
                                     .sm_index = index,
                                     .n_slots = f->n_slots,
                                     .host = &fixture_host,
                                     .sm = sm,
                                     .cx = &sm->cx,
                                     .counters = &sm->counters};
    sm->model = f->ops->new_model(&setup);
    for (uint32_t b = 0; b < f->blocks_per_sm; b++) {
        struct divergence_block *block = &sm->block[b].block;
        block->cta = exec_cta_new(&f->grid);
        block->cta->owner = block;
        block->slot = b;
        block->state = f->ops->new_block ? f->ops->new_block(sm->model, block->cta) : NULL;
    }
}

void fixture_start(struct fixture *f) {
    f->chip = f->ops->chip ? f->ops->chip->new_chip(f->options, &f->machine) : NULL;
    for (uint32_t i = 0; i < f->n_sms; i++)
        fixture_start_sm(f, i);
    for (uint32_t i = 0; i < f->n_sms; i++)
        if (f->ops->begin_grid)
            f->ops->begin_grid(f->sm[i].model);
    if (f->ops->chip) {
        for (uint32_t i = 0; i < f->n_sms; i++)
            f->ops->refill(f->sm[i].model, f->cycle);
    } else {
        for (bool again = true; again;) {
            again = false;
            for (uint32_t i = 0; i < f->n_sms; i++)
                again |= fixture_free_slots(&f->sm[i]) >= f->sm[i].block[0].block.cta->n_rows &&
                         fixture_pull_block(&f->sm[i], f->cycle);
        }
    }
    fixture_after(&f->sm[0], NULL);
}

void fixture_close(struct fixture *f) {
    for (uint32_t i = 0; i < f->n_sms && f->sm[i].f; i++) {
        for (uint32_t b = 0; b < f->blocks_per_sm; b++) {
            if (f->ops->free_block)
                f->ops->free_block(f->sm[i].model, f->sm[i].block[b].block.state);
            exec_cta_free(f->sm[i].block[b].block.cta);
        }
        f->ops->free_model(f->sm[i].model);
    }
    if (f->ops->chip)
        f->ops->chip->free_chip(f->chip);
    exec_program_free(f->program);
    ptx_module_free(f->module);
    free(f->options);
    munmap(f, sizeof *f);
}

/* --- step by step --- */

struct fixture *fixture_begin(const char *model, const char *text, const struct fixture_shape *shape) {
    char name[64];
    size_t length = strcspn(model, ":");
    assert_in_range(length, 1, sizeof name - 1);
    memcpy(name, model, length);
    name[length] = '\0';
    struct fixture *f = fixture_open(divergence_find(name), model, text, shape);
    fixture_parameter(f, 0, fixture_alloc(f, 1024));
    fixture_start(f);
    return f;
}

void fixture_steps(struct fixture *f, uint32_t slot, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        fixture_step(&f->sm[0], slot);
        fixture_catch_up(f);
    }
}

void fixture_step_to(struct fixture *f, uint32_t slot, uint32_t pc) {
    while (f->sm[0].slot[slot].group->pc != pc)
        fixture_step(&f->sm[0], slot);
}

void fixture_expect(const struct fixture *f, uint32_t slot, uint32_t pc, uint32_t mask) {
    const struct divergence_group *group = f->sm[0].slot[slot].group;
    assert_non_null(group);
    assert_int_equal(group->status, DIVERGENCE_RUNS);
    assert_int_equal(group->pc, pc);
    assert_int_equal(group->mask, mask);
}

void fixture_expect_until(const struct fixture *f, uint32_t slot, uint32_t pc, uint32_t mask, uint32_t notify_pc) {
    fixture_expect(f, slot, pc, mask);
    assert_int_equal(f->sm[0].slot[slot].group->notify_pc, notify_pc);
}

void fixture_finish(struct fixture *f) {
    fixture_run(f);
    assert_int_equal(f->n_finished, 1);
    fixture_close(f);
}

uint32_t fixture_pc_of(const struct fixture *f, enum ptx_opcode opcode, unsigned which) {
    for (uint32_t pc = 0; pc < f->program->n_insns; pc++)
        if (f->program->code[pc].opcode == opcode && which-- == 0)
            return pc;
    fail_msg("the program has no such instruction");
    return 0;
}
