/* Names and descriptions of errors. */
#include "cudart/internal.h"

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define CUDART_ERROR(name, text) {name, #name, text},
#include "cudart/errors.def"
#undef CUDART_ERROR
};

enum { N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

static unsigned find(cudaError_t error) {
    unsigned i = 0;
    while (i < N_ERRORS && errors[i].error != error)
        i++;
    return i;
}

const char *cudaGetErrorName(cudaError_t error) {
    unsigned i = find(error);
    return i < N_ERRORS ? errors[i].name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    unsigned i = find(error);
    const char *text = NULL;
    if (i < N_ERRORS)
        text = errors[i].text;
    if (i < N_ERRORS && !text)
        cuGetErrorString((CUresult)error, &text);
    return text ? text : "unrecognized error code";
}
