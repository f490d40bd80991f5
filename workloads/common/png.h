// Writes pictures as PNG files.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Writes width x height pixels of three bytes (red, green, blue), row by row from the top. Returns false, with errno
// set and no file left, if the file cannot be written. Neither side may be 0.
bool workload_write_png(const char *path, const uint8_t *rgb, unsigned width, unsigned height);
