// Chained hash table with a lock for each bucket, nodes from a pool by atomicAdd, CAS spin locks with fences;
// persistent threads fed by a queue.
#include <cstdio>
#include <cstdlib>
#include <map>
struct Node {
    int key, count;
    Node *next;
};
struct Lock {
    int *mutex;
    __device__ bool try_take() { return atomicCAS(mutex, 0, 1) == 0; }
    __device__ void release() {
        __threadfence();
        atomicExch(mutex, 0);
    }
};
struct Table {
    Node **bucket;
    int *locks;
    Node *pool;
    int *used;
    int n_buckets;
};
__device__ int queue_head;
__global__ void count_words(const int *keys, int n, Table t) {
    __shared__ int base;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            base = atomicAdd(&queue_head, blockDim.x);
        __syncthreads();
        if (base >= n)
            break;
        int i = base + threadIdx.x;
        if (i >= n)
            continue;
        int key = keys[i];
        unsigned b = ((unsigned)key * 2654435761u) % t.n_buckets;
        Lock lock{t.locks + b};
        bool done = false;
        while (!done) {
            if (lock.try_take()) {
                __threadfence();
                Node *volatile *head = t.bucket + b;
                Node *x = *head;
                while (x && *(volatile int *)&x->key != key)
                    x = *(Node *volatile *)&x->next;
                if (x)
                    (*(volatile int *)&x->count)++;
                else {
                    x = t.pool + atomicAdd(t.used, 1);
                    x->key = key;
                    x->count = 1;
                    x->next = *head;
                    __threadfence();
                    *head = x;
                }
                lock.release();
                done = true;
            }
        }
    }
}
int main() {
    const int n = 1000, nb = 64;
    int *h = (int *)malloc(n * sizeof(int));
    srand(3);
    std::map<int, int> m;
    for (int i = 0; i < n; i++) {
        h[i] = rand() % 300 * 7;
        m[h[i]]++;
    }
    int *d;
    Table t;
    t.n_buckets = nb;
    cudaMalloc(&d, n * 4);
    cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
    cudaMalloc(&t.bucket, nb * 8);
    cudaMalloc(&t.locks, nb * 4);
    cudaMalloc(&t.pool, 512 * sizeof(Node));
    cudaMalloc(&t.used, 4);
    cudaMemset(t.bucket, 0, nb * 8);
    cudaMemset(t.locks, 0, nb * 4);
    cudaMemset(t.used, 0, 4);
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    count_words<<<p.multiProcessorCount, 96>>>(d, n, t);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) {
        printf("%s\n", cudaGetErrorString(e));
        return 1;
    }
    int used;
    cudaMemcpy(&used, t.used, 4, cudaMemcpyDeviceToHost);
    Node *nodes = new Node[used];
    cudaMemcpy(nodes, t.pool, used * sizeof(Node), cudaMemcpyDeviceToHost);
    if (used != (int)m.size()) {
        printf("%d keys, expected %zu\n", used, m.size());
        return 1;
    }
    for (int i = 0; i < used; i++)
        if (m[nodes[i].key] != nodes[i].count) {
            printf("key %d\n", nodes[i].key);
            return 1;
        }
    printf("%d distinct\n", used);
    cudaDeviceReset();
    return 0;
}
