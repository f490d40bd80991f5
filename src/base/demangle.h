/* Names of C++ functions as people write them. */
#pragma once

struct base_arena;

/* `_ZN3geo5scaleIfEEvPT_` is `geo::scale<float>`: without a result type and parameters. The name itself where it is no
 * mangled one, or the host has no C++ library to ask. */
const char *base_demangle(const char *name, struct base_arena *arena);
