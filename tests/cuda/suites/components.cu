// Connected components: labels spread along edges and jump to their roots.
#include "../check.cuh"

__global__ void hook(const int *a, const int *b, int *label, int n_edges, int *is_changed) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n_edges)
        return;
    int la = label[a[e]], lb = label[b[e]];
    if (la == lb)
        return;
    atomicMin(&label[max(la, lb)], min(la, lb));
    *is_changed = 1;
}

__global__ void jump(int *label, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    while (label[i] != label[label[i]])
        label[i] = label[label[i]];
}

static int root(std::vector<int> &parent, int x) {
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

int main() {
    const int n = 500, n_edges = 420;
    Random random(13);
    std::vector<int> a(n_edges), b(n_edges), label(n), parent(n), expected(n);
    for (int i = 0; i < n; i++)
        label[i] = parent[i] = i;
    for (int e = 0; e < n_edges; e++) {
        a[e] = random.below(n);
        b[e] = random.below(n);
        int x = root(parent, a[e]), y = root(parent, b[e]);
        parent[std::max(x, y)] = std::min(x, y);
    }
    for (int i = 0; i < n; i++)
        expected[i] = root(parent, i);
    Device<int> da(a), db(b), dl(label), flag(1);
    int is_changed = 1;
    while (is_changed) {
        CUDA(cudaMemset(flag, 0, sizeof(int)));
        hook<<<blocks_of(n_edges, 128), 128>>>(da, db, dl, n_edges, flag);
        jump<<<blocks_of(n, 128), 128>>>(dl, n);
        is_changed = flag.get()[0];
    }
    expect_equal(dl.get(), expected);
    return 0;
}
