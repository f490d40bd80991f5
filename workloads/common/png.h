// Pictures as PNG files, for the programs that compute one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Writes width x height pixels of three bytes (red, green, blue), row by row from the top. False, with errno set and no
// file left behind, when the file cannot be written. Neither side may be 0.
bool workload_write_png(const char *path, const uint8_t *rgb, unsigned width, unsigned height);
