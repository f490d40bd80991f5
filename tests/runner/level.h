/* The levels of the host's instruction set that the simulator is compiled for. */
#pragma once

#include <stdbool.h>

/* level: base, v3 or v4. */
bool level_is_known(const char *level);
bool level_is_available(const char *level);
