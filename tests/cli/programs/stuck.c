/* Launches a kernel that ends, makes the file that its argument names, and launches one that never ends. */
#include <stdio.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry brief() { ret; }\n"
                          ".visible .entry endless() { next: bra.uni next; }\n";

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction brief, endless;
    if (argc != 2 || cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
        cuModuleGetFunction(&brief, module, "brief") || cuModuleGetFunction(&endless, module, "endless") ||
        cuLaunchKernel(brief, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
        return 9;
    FILE *file = fopen(argv[1], "w");
    if (!file || fclose(file) != 0)
        return 9;
    return cuLaunchKernel(endless, 8, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) ? 8 : 0;
}
