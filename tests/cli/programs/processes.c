/* Uses the device in several processes: `before` forks before cuInit, `after` after it. Each process prints a line. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

static CUresult launch(void) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUresult result = cuInit(0);
    if (!result)
        result = cuCtxCreate(&context, NULL, 0, 0);
    if (!result)
        result = cuModuleLoadData(&module, ptx);
    if (!result)
        result = cuModuleGetFunction(&kernel, module, "k");
    if (!result)
        result = cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    return result ? result : cuCtxSynchronize();
}

int main(int argc, char **argv) {
    int is_after = argc > 1 && strcmp(argv[1], "after") == 0;
    if (is_after)
        printf("first: %d\n", (int)launch());
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr memory;
        printf("child: %d\n", is_after ? (int)cuMemAlloc(&memory, 4) : (int)launch());
        return 0;
    }
    waitpid(child, NULL, 0);
    printf("parent: %d\n", (int)launch());
    return 0;
}
