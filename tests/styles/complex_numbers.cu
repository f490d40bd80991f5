#include <cuComplex.h>
__global__ void all(cuFloatComplex *a, cuDoubleComplex *b) {
    a[0] = cuCmulf(a[1], a[2]);
    a[3] = cuCdivf(a[4], a[5]);
    a[6].x = cuCabsf(a[7]);
    b[0] = cuCfma(b[1], b[2], b[3]);
    b[4].y = cuCabs(b[5]);
}
