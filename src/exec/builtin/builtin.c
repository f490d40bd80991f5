/* Functions that the CUDA runtime on the device provides and PTX calls by name: vprintf, malloc, free, __assertfail.
 *
 * The prototypes match the declarations of nvcc and clang. vprintf's second argument points to the values, laid out one
 * after the other with natural alignment after C's promotions. vprintf returns the number of values it used, or -1 if
 * there is no format. A failed assertion ends the kernel. Lanes call in ascending order, so output comes in the order
 * of the threads. */
#include "exec/internal.h"

#include <stdlib.h>

static const struct exec_call_site *site_of(const struct exec_context *cx) {
    return &cx->grid->program->call_site[cx->insn->call_site];
}

static bool has_arguments(struct exec_context *cx, const struct exec_operands *o, const char *name, uint32_t n) {
    uint32_t found = site_of(cx)->n_arguments;
    if (found == n)
        return true;
    exec_fault_set(cx, EXEC_FAULT_TRAP, (unsigned)__builtin_ctz(o->mask), 0, 0, "%s takes %u arguments, not %u", name,
                   n, found);
    return false;
}

/* Returns the place of a value in the caller's frame. */
static unsigned char *frame_at(const struct exec_context *cx, unsigned lane, uint32_t offset) {
    const struct exec_row *row = exec_row_at(cx, lane);
    unsigned home = exec_lane_at(cx, lane);
    return row->local + (size_t)home * cx->grid->local_bytes + row->frame[home] + offset;
}

static unsigned char *register_at(const struct exec_context *cx, unsigned lane, struct exec_operand operand) {
    const struct exec_row *row = exec_row_at(cx, lane);
    return row->base[operand.base] + operand.offset + (size_t)exec_lane_at(cx, lane) * exec_slot_bytes(operand);
}

uint64_t exec_call_argument(const struct exec_context *cx, uint32_t k, unsigned lane) {
    const struct exec_passed *passed = &site_of(cx)->argument[k];
    uint64_t value = 0;
    if (passed->from_frame)
        memcpy(&value, frame_at(cx, lane, passed->from_offset), passed->bytes < 8 ? passed->bytes : 8);
    else
        memcpy(&value, register_at(cx, lane, passed->from), exec_slot_bytes(passed->from));
    return value;
}

void exec_call_result(const struct exec_context *cx, uint64_t value, unsigned lane) {
    const struct exec_call_site *site = site_of(cx);
    if (site->n_results == 0)
        return;
    const struct exec_passed *passed = &site->result[0];
    if (passed->to_frame)
        memcpy(frame_at(cx, lane, passed->to_offset), &value, passed->bytes < 8 ? passed->bytes : 8);
    else
        memcpy(register_at(cx, lane, passed->to), &value, exec_slot_bytes(passed->to));
}

/* vprintf */

struct print_lane {
    struct exec_context *cx;
    unsigned lane;
    uint64_t next; /* address of the next argument */
};

static bool read_string(void *user, uint64_t address, size_t limit, struct exec_text *text) {
    struct print_lane *print = user;
    for (size_t i = 0; i < limit; i++) {
        const unsigned char *p = exec_host_at(print->cx, print->lane, PTX_SPACE_GENERIC, address + i, 1, false);
        if (!p)
            return false;
        if (!*p)
            return true;
        exec_text_add(text, (const char *)p, 1);
    }
    return true;
}

static bool read_argument(void *user, unsigned bytes, uint64_t *value) {
    struct print_lane *print = user;
    print->next = (print->next + bytes - 1) & ~(uint64_t)(bytes - 1);
    const unsigned char *p = exec_host_at(print->cx, print->lane, PTX_SPACE_GENERIC, print->next, bytes, false);
    if (!p)
        return false;
    *value = 0;
    memcpy(value, p, bytes);
    print->next += bytes;
    return true;
}

static void print_lane(struct exec_context *cx, unsigned lane) {
    uint64_t format = exec_call_argument(cx, 0, lane);
    if (format == 0) {
        exec_call_result(cx, (uint64_t)-1, lane);
        return;
    }
    struct print_lane print = {cx, lane, exec_call_argument(cx, 1, lane)};
    struct exec_print_source source = {read_argument, read_string, &print};
    struct exec_text pattern = {0}, text = {0};
    if (read_string(&print, format, SIZE_MAX, &pattern)) {
        int n_used = exec_print_format(&text, pattern.data ? pattern.data : "", &source);
        const struct exec_memory *memory = cx->grid->memory;
        if (n_used >= 0 && memory->print && text.length)
            memory->print(memory->user, text.data, text.length);
        exec_call_result(cx, (uint64_t)(int64_t)n_used, lane);
    }
    exec_text_free(&pattern);
    exec_text_free(&text);
}

static void call_vprintf(struct exec_context *cx, const struct exec_operands *o) {
    if (!has_arguments(cx, o, "vprintf", 2))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        print_lane(cx, l);
        if (cx->fault.kind != EXEC_FAULT_NONE)
            return;
    }
}

/* malloc and free change the allocations, so they clear the context's cached one. */

static void call_malloc(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_memory *memory = cx->grid->memory;
    if (!has_arguments(cx, o, "malloc", 1))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t bytes = exec_call_argument(cx, 0, l);
        exec_call_result(cx, memory->malloc_ ? memory->malloc_(memory->user, bytes) : 0, l);
    }
    exec_forget_allocations(cx);
}

static void call_free(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_memory *memory = cx->grid->memory;
    if (!has_arguments(cx, o, "free", 1))
        return;
    exec_forget_allocations(cx);
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t address = exec_call_argument(cx, 0, l);
        if (address == 0 || (memory->free_ && memory->free_(memory->user, address)))
            continue;
        exec_fault_set(cx, EXEC_FAULT_ILLEGAL_ADDRESS, l, address, 0,
                       "free of a pointer that malloc did not return or that was freed before");
        return;
    }
}

/* Reads one of the assertion's strings. It stays empty if it cannot be read. */
static void read_text(struct exec_context *cx, unsigned lane, uint64_t address, struct exec_text *text) {
    struct print_lane print = {cx, lane, 0};
    exec_text_add(text, "", 0);
    if (address)
        read_string(&print, address, sizeof(cx->fault.detail), text);
    cx->fault.kind = EXEC_FAULT_NONE; /* report the assertion instead */
}

static void call_assertfail(struct exec_context *cx, const struct exec_operands *o) {
    if (!has_arguments(cx, o, "__assertfail", 5))
        return;
    unsigned lane = (unsigned)__builtin_ctz(o->mask);
    struct exec_text message = {0}, file = {0}, function = {0};
    read_text(cx, lane, exec_call_argument(cx, 0, lane), &message);
    read_text(cx, lane, exec_call_argument(cx, 1, lane), &file);
    read_text(cx, lane, exec_call_argument(cx, 3, lane), &function);
    exec_fault_set(cx, EXEC_FAULT_ASSERT, lane, 0, 0, "%s:%u: %s: Assertion `%s' failed", file.data ? file.data : "",
                   (unsigned)exec_call_argument(cx, 2, lane), function.data ? function.data : "",
                   message.data ? message.data : "");
    exec_text_free(&message);
    exec_text_free(&file);
    exec_text_free(&function);
}

exec_act_fn *exec_select_builtin(const char *name) {
    static const struct {
        const char *name;
        exec_act_fn *act;
    } builtins[] = {
        {"vprintf", call_vprintf}, {"malloc", call_malloc}, {"free", call_free}, {"__assertfail", call_assertfail}};
    for (size_t k = 0; k < sizeof(builtins) / sizeof(builtins[0]); k++)
        if (strcmp(name, builtins[k].name) == 0)
            return builtins[k].act;
    return exec_select_device_runtime(name);
}
