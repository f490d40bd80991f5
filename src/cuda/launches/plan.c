/* The plan of a run that times only some launches: a text file, which program/estimate.c writes. Its first line is the
 * treatment of the launches that it does not name; each other line is the number of a launch, from 1, and its
 * treatment:
 *
 *     warm
 *     17 timed
 *     18 untimed
 *
 * timed: on the machine. untimed: functionally. warm: functionally, and its accesses warm the machine's caches. */
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_treatment(const char *word, enum cuda_plan *plan) {
    static const char *const words[] = {
        [CUDA_PLAN_TIMED] = "timed", [CUDA_PLAN_UNTIMED] = "untimed", [CUDA_PLAN_WARM] = "warm"};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i]) == 0) {
            *plan = (enum cuda_plan)i;
            return true;
        }
    return false;
}

static bool read_lines(struct cuda_timed_launches *timed, FILE *file) {
    char word[16];
    unsigned long long number;
    uint64_t capacity = 0;
    int n;
    if (fscanf(file, "%15s", word) != 1 || !read_treatment(word, &timed->others))
        return false;
    while ((n = fscanf(file, "%llu %15s", &number, word)) == 2) {
        enum cuda_plan plan;
        if (!number || number > UINT32_MAX || !read_treatment(word, &plan))
            return false;
        if (number > capacity) {
            capacity = 2 * number;
            timed->planned = realloc(timed->planned, capacity);
            if (!timed->planned)
                abort();
        }
        for (; timed->n_planned < number; timed->n_planned++)
            timed->planned[timed->n_planned] = (uint8_t)timed->others;
        timed->planned[number - 1] = (uint8_t)plan;
    }
    return n == EOF;
}

bool cuda_plan_read(struct cuda_timed_launches *timed) {
    FILE *file = fopen(timed->plan, "r");
    bool is_good = file && read_lines(timed, file);
    if (file)
        fclose(file);
    if (!is_good)
        cuda_print("HEDDLE_CONFIG: \"plan\" names no plan of launches: %s", timed->plan);
    return is_good;
}

enum cuda_plan cuda_plan_of(const struct cuda_timed_launches *timed, uint64_t number) {
    return number <= timed->n_planned ? (enum cuda_plan)timed->planned[number - 1] : timed->others;
}
