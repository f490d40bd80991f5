/* Jumps over functions of the program, for x86-64.
 *
 * A jump has a 32-bit distance, so that it takes only five bytes: some functions are not much longer. It leads to a
 * table near the program, which jumps on to the target's 64-bit address. A function that begins with endbr64, as
 * indirect calls may require, keeps it. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/preload/preload.h"

enum {
    JUMP_BYTES = 5,      /* jmp rel32 */
    FAR_JUMP_BYTES = 16, /* jmp *0(%rip), the address, two bytes of padding */
    ENDBR_BYTES = 4,
};

static const uintptr_t reach = (uintptr_t)1 << 30; /* half the range of 32 bits, so that both ends are within range */

static uintptr_t page_bytes(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

bool jump_table_make(struct jump_table *table, uintptr_t begin, uintptr_t end, size_t n_jumps) {
    uintptr_t page = page_bytes(), step = 16 * page;
    table->size = (n_jumps * FAR_JUMP_BYTES + page - 1) / page * page;
    table->used = 0;
    for (uintptr_t distance = step; distance < reach; distance += step) {
        const uintptr_t places[2] = {(end + distance) / page * page,
                                     begin > distance ? (begin - distance) / page * page : 0};
        for (unsigned i = 0; i < 2; i++) {
            if (!places[i])
                continue;
            void *memory = mmap((void *)places[i], table->size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (memory == MAP_FAILED)
                continue;
            table->memory = memory;
            if ((uintptr_t)memory == places[i])
                return true;
            munmap(memory, table->size); /* an old kernel treats the address as a hint */
        }
    }
    return false;
}

/* Makes the pages of [at, at + bytes) writable, or code again. */
static bool protect(uintptr_t at, size_t bytes, int protection) {
    uintptr_t page = page_bytes(), first = at / page * page, last = (at + bytes + page - 1) / page * page;
    return mprotect((void *)first, last - first, protection) == 0;
}

bool jump_write(struct jump_table *table, uintptr_t at, size_t function_bytes, const void *target) {
    static const unsigned char endbr[ENDBR_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (function_bytes >= ENDBR_BYTES && memcmp((void *)at, endbr, ENDBR_BYTES) == 0) {
        at += ENDBR_BYTES;
        function_bytes -= ENDBR_BYTES;
    }
    if (function_bytes < JUMP_BYTES || table->used + FAR_JUMP_BYTES > table->size)
        return false;
    unsigned char *far = table->memory + table->used;
    static const unsigned char far_jump[6] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(far, far_jump, sizeof(far_jump));
    memcpy(far + sizeof(far_jump), &target, sizeof(target));
    int64_t distance = (int64_t)((uintptr_t)far - (at + JUMP_BYTES));
    int32_t short_distance = (int32_t)distance;
    if (short_distance != distance || !protect(at, JUMP_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC))
        return false;
    *(unsigned char *)at = 0xe9;
    memcpy((unsigned char *)at + 1, &short_distance, sizeof(short_distance));
    table->used += FAR_JUMP_BYTES;
    return protect(at, JUMP_BYTES, PROT_READ | PROT_EXEC);
}

bool jump_table_close(struct jump_table *table) {
    return mprotect(table->memory, table->size, PROT_READ | PROT_EXEC) == 0;
}
