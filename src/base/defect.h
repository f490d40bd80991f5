/* A failed assertion is a defect of Heddle. One line says so and what to report; defect.c has who writes it. */
#pragma once

#include <stddef.h>

enum { BASE_DEFECT_BYTES = 2048 };

/* The process that has run into a defect leaves a line about the assertion in the file of its results with this ending.
 * Whoever started it then tells the user. */
#define BASE_DEFECT_ENDING ".defect"

/* Writes the line. failure: the assertion with its place; whose: "" or who else may have caused it, such as " or of
 * ./mine.so"; run: "" or what was run, such as "bfs on gtx480, "; way_round: "" or what helps until it is repaired. */
void base_defect_line(char *line, size_t size, const char *failure, const char *whose, const char *run,
                      const char *way_round);
