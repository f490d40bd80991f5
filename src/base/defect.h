/* A failed assertion is a defect of Heddle. One line says so and asks for a report; defect.c says which process prints
 * it. */
#pragma once

#include <stddef.h>

enum { BASE_DEFECT_BYTES = 2048 };

/* A process that runs into a defect writes the assertion to a file: the name of its results file with this ending. The
 * command that started it then tells the user. */
#define BASE_DEFECT_ENDING ".defect"

/* Writes the line. failure: the assertion with its place. whose: "" or another possible culprit, such as " or of
 * ./mine.so". run: "" or the program and machine, such as "bfs on gtx480, ". way_round: "" or a workaround. */
void base_defect_line(char *line, size_t size, const char *failure, const char *whose, const char *run,
                      const char *way_round);
