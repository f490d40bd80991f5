/* The host instruction sets that the simulator is compiled for. */
#pragma once

#include <stdbool.h>

/* level: base, v3 or v4. */
bool isa_is_known(const char *level);
bool isa_is_available(const char *level);
