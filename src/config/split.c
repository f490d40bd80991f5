/* Divides an SM's memory into shared memory and L1 for a launch. unified.shared_sizes lists the possible sizes of
 * shared memory. */
#include <string.h>

#include "config/internal.h"

/* Reads the size at `*text` and moves on to the next. Returns 0 at the end and for text that is not a size. */
static uint64_t next_size(const char **text) {
    char word[16];
    size_t length = strcspn(*text, ",");
    uint64_t bytes;
    if (!length || length >= sizeof word)
        return 0;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length + ((*text)[length] == ',');
    return config_parse_bytes(word, &bytes) ? bytes : 0;
}

bool config_check_split(const struct config_machine *machine, char *error, size_t error_bytes) {
    const char *rest = machine->unified.shared_sizes;
    char size[CONFIG_VALUE_BYTES];
    uint64_t last = 0;
    if (!machine->unified.is_present)
        return true;
    while (*rest) {
        uint64_t bytes = next_size(&rest);
        if (bytes <= last || bytes + machine->l1.cache.line_bytes > machine->l1.cache.size_bytes) {
            config_format_bytes(machine->l1.cache.size_bytes, size);
            return config_error(
                error, error_bytes,
                "unified.shared_sizes is '%s', but must be sizes in ascending order, such as 8K,16K,32K, all below "
                "l1.size, %s",
                machine->unified.shared_sizes, size);
        }
        last = bytes;
    }
    if (last < machine->shared.size_bytes) {
        config_format_bytes(machine->shared.size_bytes, size);
        return config_error(error, error_bytes,
                            "unified.shared_sizes is '%s', but its last size must hold shared.size, %s",
                            machine->unified.shared_sizes, size);
    }
    if (machine->l1.writes.policy == CONFIG_WRITE_BACK)
        return config_error(error, error_bytes,
                            "unified.shared_sizes is '%s', but needs an L1 that writes through (l1.write through)",
                            machine->unified.shared_sizes);
    return true;
}

uint32_t config_l1_bytes(const struct config_machine *machine, uint64_t shared_bytes) {
    const char *rest = machine->unified.shared_sizes;
    uint64_t bytes = 0;
    if (!machine->unified.is_present)
        return machine->l1.cache.size_bytes;
    while (*rest && (!bytes || bytes < shared_bytes))
        bytes = next_size(&rest);
    uint64_t rest_bytes = machine->l1.cache.size_bytes - bytes, reserved = machine->unified.reserved_bytes;
    return (uint32_t)(rest_bytes > reserved + machine->l1.cache.line_bytes ? rest_bytes - reserved : rest_bytes);
}
