#include <cassert>
#include <cstdio>
__global__ void all(const int *i, const char *s) {
    printf("%d %s %f %llx\n", i[0], s, 1.5 * i[1], (unsigned long long)i[2]);
    assert(i[3] > 0 && "positive");
    if (i[4])
        __trap();
    if (i[5])
        __brkpt();
}
