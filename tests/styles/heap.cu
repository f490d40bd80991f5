#include <new>
struct node {
    node *next;
    int v;
    __device__ virtual int get() const { return v; }
    __device__ virtual ~node() {}
};
struct leaf : node {
    __device__ int get() const override { return 7; }
};
__global__ void all(int *i) {
    node *n = new leaf;
    n->v = 3;
    i[0] = n->get();
    delete n;
    int *p = (int *)malloc(64);
    if (p) {
        p[threadIdx.x & 15] = 1;
        i[1] = p[3];
        free(p);
    }
    char *a = new char[i[2]];
    memset(a, 1, i[2]);
    memcpy(i + 4, a, 8);
    delete[] a;
}
