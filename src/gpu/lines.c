/* Sums the per-line records of a kernel's launches (stats/lines.def), and keeps the text of the lines, because a
 * listing outlives its module. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exec/profile.h"
#include "gpu/internal.h"

static uint32_t line_of(const struct exec_program *program, uint32_t pc) {
    return program->source[pc] ? program->source[pc]->at.line : 0;
}

struct gpu_place gpu_place_at(const struct exec_program *program, uint32_t pc) {
    const struct ptx_instruction *insn = program->source[pc];
    if (insn && insn->source.file < program->module->n_files && program->module->file[insn->source.file])
        return (struct gpu_place){program->module->file[insn->source.file], insn->source.line};
    return (struct gpu_place){NULL, line_of(program, pc)};
}

/* A kernel of this name in another program has other lines. */
static bool is_of(const struct gpu_listing *listing, const struct exec_program *program, const char *kernel) {
    if (listing->kernel != kernel || listing->n_lines != program->n_insns)
        return false;
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        if (listing->line[pc].line != line_of(program, pc))
            return false;
    return true;
}

/* A place in the text of a module: the beginning of a line, counted from 1. */
struct reader {
    const struct ptx_module *module;
    uint32_t line;
    const char *at;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Returns the line with single spaces for blanks, and none around it. Continues from the last line if possible. */
static const char *copy_line(struct reader *reader, const struct ptx_module *module, uint32_t line,
                             struct base_arena *arena) {
    const char *end = module->text + module->text_length;
    if (reader->module != module || line < reader->line)
        *reader = (struct reader){module, 1, module->text};
    for (; reader->line < line && reader->at < end; reader->line++) {
        const char *newline = memchr(reader->at, '\n', (size_t)(end - reader->at));
        reader->at = newline ? newline + 1 : end;
    }
    const char *at = reader->at, *newline = memchr(at, '\n', (size_t)(end - at));
    end = newline ? newline : end;
    char *copy = base_arena_copy(arena, at, (size_t)(end - at)), *to = copy;
    for (; at < end; at++)
        if (!is_blank(*at))
            *to++ = *at;
        else if (to > copy && to[-1] != ' ')
            *to++ = ' ';
    while (to > copy && to[-1] == ' ')
        to--;
    *to = '\0';
    return copy;
}

static void describe_line(struct gpu_line *line, const struct exec_program *program, uint32_t pc, struct reader *reader,
                          struct base_arena *arena) {
    const struct ptx_instruction *insn = program->source[pc];
    const struct ptx_function *function = program->function[program->function_of[pc]].ptx;
    *line = (struct gpu_line){.line = line_of(program, pc), .text = "ret;"};
    if (!insn)
        return;
    line->text = copy_line(reader, function->home, insn->at.line, arena);
    struct gpu_place place = gpu_place_at(program, pc);
    if (place.file) {
        line->source_line = place.line;
        line->file = base_arena_copy(arena, place.file, strlen(place.file));
    }
}

static struct gpu_listing *new_listing(struct gpu *gpu, const struct exec_program *program, const char *kernel) {
    gpu->listing = realloc(gpu->listing, (gpu->n_listings + 1) * sizeof *gpu->listing);
    if (!gpu->listing)
        abort();
    struct gpu_listing *listing = &gpu->listing[gpu->n_listings++];
    struct reader reader = {0};
    *listing = (struct gpu_listing){.kernel = kernel, .n_lines = program->n_insns};
    listing->line = base_allocate(program->n_insns, sizeof *listing->line);
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        describe_line(&listing->line[pc], program, pc, &reader, &gpu->listing_texts);
    return listing;
}

void gpu_lines_add(struct gpu *gpu, const struct exec_grid *grid, const char *kernel) {
    struct gpu_listing *to = NULL;
    for (uint32_t i = 0; i < gpu->n_listings && !to; i++)
        to = is_of(&gpu->listing[i], grid->program, kernel) ? &gpu->listing[i] : NULL;
    if (!to)
        to = new_listing(gpu, grid->program, kernel);
    to->n_launches++;
    for (uint32_t pc = 0; pc < to->n_lines; pc++)
        stats_add_line(&to->line[pc].counters, &grid->profile->line[pc]);
}

const struct gpu_listing *gpu_listings(const struct gpu *gpu, uint32_t *count) {
    *count = gpu->n_listings;
    return gpu->listing;
}

void gpu_lines_free(struct gpu *gpu) {
    for (uint32_t i = 0; i < gpu->n_listings; i++)
        free(gpu->listing[i].line);
    free(gpu->listing);
    base_arena_free(&gpu->listing_texts);
}
