/* Readable names of C++ functions. */
#pragma once

struct base_arena;

/* Returns `geo::scale<float>` for `_ZN3geo5scaleIfEEvPT_`, without result type and parameters. Returns the name itself
 * if it is not mangled or the host has no C++ library. */
const char *base_demangle(const char *name, struct base_arena *arena);
