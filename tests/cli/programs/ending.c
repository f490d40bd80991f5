/* Ends as its first argument says: with an exit status, by a `signal`, or after a long `sleep`. It uses the driver only
 * when `driver` comes first. */
#include <cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int at = 1;
    if (argc > at && strcmp(argv[at], "driver") == 0) {
        at++;
        if (cuInit(0) != CUDA_SUCCESS)
            return 1;
    }
    const char *how = argc > at ? argv[at] : "0";
    for (int i = at + 1; i < argc; i++)
        printf("[%s]", argv[i]);
    fflush(stdout);
    if (strcmp(how, "signal") == 0)
        raise(SIGABRT);
    if (strcmp(how, "sleep") == 0)
        sleep(100);
    return atoi(how);
}
