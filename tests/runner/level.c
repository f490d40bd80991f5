/* Levels of the host's instruction set by the names of HEDDLE_HOST_LEVEL: those of the x86-64 ABI. */
#include "level.h"

#include <string.h>

bool level_is_known(const char *level) {
    return strcmp(level, "base") == 0 || strcmp(level, "v3") == 0 || strcmp(level, "v4") == 0;
}

bool level_is_available(const char *level) {
    if (strcmp(level, "base") == 0)
        return true;
#ifdef __x86_64__
    bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma");
    if (strcmp(level, "v3") == 0)
        return has_v3;
    return has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}
