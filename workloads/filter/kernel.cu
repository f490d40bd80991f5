// Edges of a picture by Sobel's operator: a thread gathers the 3 x 3 neighbourhood of a pixel, weighs it in both
// directions and writes the size of the gradient. Beyond the border the nearest pixel counts.
#include <heddle/device.h>

enum { WHITE = 255 };

extern "C" __global__ void filter(const int *picture, int *edges, int width, int height) {
    int n = width * height;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int y = i / width, x = i - y * width;
        int left = max(x - 1, 0), right = min(x + 1, width - 1);
        const int *above = picture + max(y - 1, 0) * width, *row = picture + y * width;
        const int *below = picture + min(y + 1, height - 1) * width;
        int nw = above[left], north = above[x], ne = above[right];
        int w = row[left], e = row[right];
        int sw = below[left], s = below[x], se = below[right];
        int across = ne + 2 * e + se - nw - 2 * w - sw;
        int down = sw + 2 * s + se - nw - 2 * north - ne;
        edges[i] = min(abs(across) + abs(down), (int)WHITE);
    }
}
