/* Kernels on data structures: graphs, trees, tables, sorting, sums with a head, strings, ciphers, codes, searches with
 * a stack. */
#include "kernels.cuh"

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* Ranks of nodes from their neighbours' ranks, one thread a node. */
KERNEL ranks(const float *a, float *b, int *c, int n, const int *d) {
    int node = THREAD;
    if (node >= n)
        return;
    float sum = 0;
    for (int e = d[node]; e < d[node + 1]; e++) {
        int from = d[GRAPH_EDGES + e];
        sum += a[from] / (float)(d[from + 1] - d[from]);
    }
    b[node] = 0.15f / n + 0.85f * sum;
}

/* Shortest ways: every node relaxes its edges. Distances are in c, the first launch makes them. */
KERNEL relax(const float *a, float *b, int *c, int n, const int *d, int step) {
    int node = THREAD;
    if (node >= n)
        return;
    if (step == 0) {
        c[node] = node ? 1 << 30 : 0;
        return;
    }
    int mine = c[node];
    if (mine == 1 << 30)
        return;
    for (int e = d[node]; e < d[node + 1]; e++)
        atomicMin(&c[d[GRAPH_EDGES + e]], mine + 1 + (e & 7));
}

/* Triangles of a graph: common neighbours of the two ends of each edge, a warp for a node. */
KERNEL triangles(const float *a, float *b, int *c, int n, const int *d) {
    int node = THREAD / 32, lane = threadIdx.x % 32, count = 0;
    int first = d[node], last = d[node + 1];
    for (int e = first + lane; e < last; e += 32) {
        int other = d[GRAPH_EDGES + e];
        if (other <= node)
            continue;
        int i = first, j = d[other], j_end = d[other + 1];
        while (i < last && j < j_end) {
            int x = d[GRAPH_EDGES + i], y = d[GRAPH_EDGES + j];
            count += x == y;
            i += x <= y, j += y <= x;
        }
    }
    for (int k = 16; k; k /= 2)
        count += __shfl_xor_sync(~0u, count, k);
    if (lane == 0 && count)
        atomicAdd((int *)b, count);
}

/* Breadth first: the nodes of a level are in a queue, those of the next go to another. In c: levels, then the two
 * queues' lengths, then the queues. */
KERNEL spread(const float *a, float *b, int *c, int n, const int *d, int step) {
    int *level = c, *length = c + n, *queue = c + n + 64;
    if (step == 0) {
        for (int i = THREAD; i < n; i += gridDim.x * blockDim.x)
            level[i] = i ? -1 : 0;
        if (THREAD == 0)
            queue[n] = 0, length[1] = 1, length[0] = 0, length[2] = 0;
        return;
    }
    int *from = queue + (step & 1) * n, *to = queue + (~step & 1) * n;
    for (int i = THREAD; i < length[step]; i += gridDim.x * blockDim.x) {
        int node = from[i];
        for (int e = d[node]; e < d[node + 1]; e++) {
            int next = d[GRAPH_EDGES + e];
            if (level[next] < 0 && atomicCAS(&level[next], -1, step) == -1)
                to[atomicAdd(&length[step + 1], 1)] = next;
        }
    }
    if (THREAD == 0)
        length[step + 2] = 0;
}

static __device__ int find_root(int *parent, int node) {
    int up = parent[node];
    while (up != node) {
        int next = parent[up];
        parent[node] = next;
        node = up, up = next;
    }
    return node;
}

/* Joins the ends of edges into sets. */
KERNEL join_sets(const float *a, float *b, int *c, int n, const int *d, int step) {
    int i = THREAD;
    if (step == 0) {
        c[i] = i;
        return;
    }
    int x = find_root(c, i & (NODES - 1)), y = find_root(c, d[GRAPH_EDGES + i]);
    while (x != y) {
        int low = min(x, y), high = max(x, y), old = atomicCAS(&c[high], high, low);
        if (old == high)
            break;
        x = find_root(c, old), y = low;
    }
}

/* Looks up keys in a search tree of nodes that are linked. */
KERNEL descend(const float *a, float *b, int *c, int n, const int *d) {
    unsigned key = (unsigned)c[THREAD] & 0x7fffffff;
    int node = 0, steps = 0;
    while (steps < 64) {
        const int *at = d + TREE + 3 * node;
        if (at[0] == (int)key)
            break;
        int next = (int)key < at[0] ? at[1] : at[2];
        if (!next)
            break;
        node = next, steps++;
    }
    b[THREAD] = node + steps;
}

/* The first pass of sorting by four bits: a block counts the digits of its keys. */
KERNEL digits_count(const float *a, float *b, int *c, int n) {
    __shared__ int bins[16 * 8];
    int warp = threadIdx.x / 32;
    if (threadIdx.x < 128)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        unsigned digit = (unsigned)c[blockIdx.x * 1024 + k * 256 + threadIdx.x] & 15;
        unsigned same = __match_any_sync(~0u, digit);
        if ((threadIdx.x & 31) == __ffs(same) - 1)
            atomicAdd(&bins[digit * 8 + warp], __popc(same));
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        int sum = 0;
        for (int w = 0; w < 8; w++)
            sum += bins[threadIdx.x * 8 + w];
        ((int *)b)[threadIdx.x * gridDim.x + blockIdx.x] = sum;
    }
}

/* The other pass: every key goes to its place among the block's, by ballots of each bit. */
KERNEL digits_move(const float *a, float *b, int *c, int n) {
    __shared__ unsigned keys[256], places[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned key = (unsigned)c[blockIdx.x * 256 + t];
    for (int bit = 0; bit < 4; bit++) {
        bool is_one = key >> bit & 1;
        unsigned vote = __ballot_sync(~0u, !is_one);
        if (lane == 0)
            zeros[warp] = __popc(vote);
        __syncthreads();
        int before = 0, total = 0;
        for (int w = 0; w < 8; w++) {
            before += w < warp ? zeros[w] : 0;
            total += zeros[w];
        }
        before += __popc(vote & ((1u << lane) - 1));
        places[t] = is_one ? total + t - before : before;
        keys[places[t]] = key;
        __syncthreads();
        key = keys[t];
    }
    ((unsigned *)b)[blockIdx.x * 256 + t] = key;
}

/* Sums of everything before, in one launch: a block waits for the sums of the blocks before it. Status words are in b's
 * upper half: 0 nothing, 1 own sum, 2 sum of all. */
KERNEL scan_chained(const float *a, float *b, int *c, int n) {
    __shared__ int part[8], before_me, which;
    volatile unsigned *status = (unsigned *)b + (1 << 21);
    int *tickets = (int *)b + (1 << 21) + (1 << 20);
    if (threadIdx.x == 0)
        which = atomicAdd(tickets, 1) % gridDim.x;
    __syncthreads();
    int i = (which * 256 + threadIdx.x) * 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int4 v = ((const int4 *)c)[i / 4];
    int x0 = v.x & 3, x1 = x0 + (v.y & 3), x2 = x1 + (v.z & 3), x3 = x2 + (v.w & 3), sum = x3;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == 31)
        part[warp] = sum;
    __syncthreads();
    int offset = sum - x3;
    for (int w = 0; w < warp; w++)
        offset += part[w];
    if (threadIdx.x == 255) {
        unsigned total = offset + x3, before = 0;
        if (which) {
            status[which] = total << 2 | 1;
            __threadfence();
            for (int look = which - 1; look >= 0;) {
                unsigned s = status[look];
                if (!(s & 3))
                    continue;
                before += s >> 2;
                if (s & 2)
                    break;
                look--;
            }
        }
        status[which] = (before + total) << 2 | 2;
        before_me = before;
    }
    __syncthreads();
    offset += before_me;
    ((int4 *)b)[i / 4] = make_int4(x0 + offset, x1 + offset, x2 + offset, x3 + offset);
}

/* Sums of runs of equal keys: heads by comparing with the neighbour, sums by shuffles, ends by atomics. */
KERNEL sum_runs(const float *a, float *b, int *c, int n) {
    int i = THREAD, lane = threadIdx.x % 32, key = (i + (c[i >> 3] & 3)) >> 4;
    float value = a[i];
    int last = __shfl_up_sync(~0u, key, 1);
    unsigned heads = __ballot_sync(~0u, lane == 0 || last != key);
    int first = 31 - __clz(heads & ((2u << lane) - 1));
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(~0u, value, d);
        if (lane - d >= first)
            value += other;
    }
    bool is_last = lane == 31 || heads >> (lane + 1) & 1;
    if (is_last)
        atomicAdd(&b[key & 0xfffff], value);
}

/* Looks up keys of 64 bits in a table with open places; the first launch fills it. */
KERNEL wide_table(const float *a, float *b, int *c, int n, const int *d, int step) {
    unsigned long long *table = (unsigned long long *)b;
    unsigned long long key = ((unsigned long long)(unsigned)c[THREAD] << 32 | (unsigned)c[THREAD + 1]) | 1;
    unsigned long long hash = key;
    hash ^= hash >> 33, hash *= 0xff51afd7ed558ccdull, hash ^= hash >> 33, hash *= 0xc4ceb9fe1a85ec53ull;
    hash ^= hash >> 33;
    unsigned slot = (unsigned)(hash % (unsigned)n);
    int tries = 0;
    if (step == 0) {
        while (tries < 32) {
            unsigned long long found = atomicCAS(&table[slot], 0ull, key);
            if (found == 0 || found == key)
                break;
            slot = slot + 1 == n ? 0 : slot + 1, tries++;
        }
        return;
    }
    while (tries < 32 && table[slot] != key && table[slot])
        slot = slot + 1 == n ? 0 : slot + 1, tries++;
    c[(1 << 21) + THREAD] = tries;
}

__constant__ char pattern[12] = {'a', 'b', 'a', 'c', 'a', 'b', 'a', 'b', 0, 0, 0, 0};
__constant__ signed char failure[12] = {-1, 0, 0, 1, 0, 1, 2, 3, 2, 0, 0, 0};

/* A word in a text, without going back: each thread has n letters. */
KERNEL match_word(const float *a, float *b, int *c, int n, const int *d) {
    const char *text = (const char *)(d + TEXT) + THREAD * n;
    int found = 0, state = 0;
    for (int i = 0; i < n; i++) {
        while (state >= 0 && pattern[state] != text[i])
            state = failure[state];
        if (++state == 8)
            found++, state = failure[8];
    }
    b[THREAD] = found;
}

/* Many words at once: a table of states and letters, in memory; a warp reads its text in words. */
KERNEL match_many(const float *a, float *b, int *c, int n, const int *d) {
    const unsigned *text = (const unsigned *)d + TEXT + THREAD;
    const unsigned short *next = (const unsigned short *)c;
    unsigned state = 0, found = 0;
    for (int i = 0; i < n; i++) {
        unsigned word = text[i * gridDim.x * blockDim.x];
        for (int k = 0; k < 4; k++) {
            state = next[(state & 1023) * 4 + ((word & 255) - 'a')];
            found += (state & 63) == 7;
            word >>= 8;
        }
    }
    b[THREAD] = found;
}

/* Two sequences aligned by a warp: a lane has a column, values move on by shuffles. */
KERNEL align(const float *a, float *b, int *c, int n, const int *d) {
    int lane = threadIdx.x % 32, warp = THREAD / 32, best = 0, up = 0, gap = 0, diagonal = 0;
    const char *text = (const char *)(d + TEXT) + warp * 4096;
    char mine = text[lane];
    for (int i = 0; i < n + 31; i++) {
        int left = __shfl_up_sync(~0u, up, 1), left_gap = __shfl_up_sync(~0u, gap, 1);
        if (lane == 0)
            left = 0, left_gap = 0;
        int row = i - lane;
        int score = 0;
        if (row >= 0 && row < n) {
            score = diagonal + (text[64 + row] == mine ? 3 : -2);
            left_gap = max(left - 4, left_gap - 1);
            score = max(max(score, left_gap), max(up - 4, 0));
            best = max(best, score);
        }
        diagonal = left, up = score, gap = left_gap;
    }
    for (int k = 16; k; k /= 2)
        best = max(best, __shfl_xor_sync(~0u, best, k));
    if (lane == 0)
        b[warp] = best;
}

/* Decodes words of 1 to 8 bits by a table in shared memory; each thread has n words of code. */
KERNEL decode(const float *a, float *b, int *c, int n) {
    __shared__ unsigned char symbol[256], bits[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        int length = min(8, __clz(~((unsigned)i << 24)) + 1);
        symbol[i] = i >> (8 - length), bits[i] = length;
    }
    __syncthreads();
    const unsigned *code = (const unsigned *)c + (size_t)THREAD * n;
    unsigned long long window = code[0];
    int have = 32, next = 1, sum = 0;
    while (next < n || have >= 8) {
        if (have < 8)
            window |= (unsigned long long)code[next++] << have, have += 32;
        unsigned at = window & 255;
        sum = sum * 3 + symbol[at];
        window >>= bits[at], have -= bits[at];
    }
    b[THREAD] = sum;
}

/* A check sum of 32 bits over n words a thread, by a table of 256 that the block makes. */
KERNEL check_sum(const float *a, float *b, int *c, int n) {
    __shared__ unsigned table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned r = i;
        for (int k = 0; k < 8; k++)
            r = r & 1 ? r >> 1 ^ 0xedb88320u : r >> 1;
        table[i] = r;
    }
    __syncthreads();
    unsigned sum = ~0u;
    for (int i = 0; i < n; i++) {
        unsigned word = (unsigned)c[i * gridDim.x * blockDim.x + THREAD];
        for (int k = 0; k < 4; k++) {
            sum = table[(sum ^ word) & 255] ^ sum >> 8;
            word >>= 8;
        }
    }
    b[THREAD] = (float)(sum >> 8);
}

__constant__ unsigned round_key[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ unsigned turn(unsigned x, int by) { return x >> by | x << (32 - by); }

/* SHA-256 of one block of 16 words, n times. */
KERNEL sha(const float *a, float *b, int *c, int n) {
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int round = 0; round < n; round++) {
        unsigned w[16], v[8];
#pragma unroll
        for (int i = 0; i < 16; i++)
            w[i] = (unsigned)c[i * 32768 + (THREAD & 32767)];
#pragma unroll
        for (int i = 0; i < 8; i++)
            v[i] = h[i];
#pragma unroll
        for (int i = 0; i < 64; i++) {
            if (i >= 16) {
                unsigned x = w[(i + 1) & 15], y = w[(i + 14) & 15];
                w[i & 15] +=
                    w[(i + 9) & 15] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
            }
            unsigned s = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                         round_key[i] + w[i & 15];
            unsigned t =
                (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + s, v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = s + t;
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            h[i] += v[i];
    }
    b[THREAD] = (float)(h[0] >> 8) + (float)(h[7] >> 8);
}

static __device__ void quarter(unsigned *x, int p, int q, int r, int s) {
    x[p] += x[q], x[s] = turn(x[s] ^ x[p], 16);
    x[r] += x[s], x[q] = turn(x[q] ^ x[r], 20);
    x[p] += x[q], x[s] = turn(x[s] ^ x[p], 24);
    x[r] += x[s], x[q] = turn(x[q] ^ x[r], 25);
}

/* ChaCha: encrypts 16 words a thread and step. */
KERNEL stream_cipher(const float *a, float *b, int *c, int n) {
    unsigned in[16], x[16];
    for (int i = 0; i < 16; i++)
        in[i] = 0x61707865u * (i + 1);
    for (int block = 0; block < n; block++) {
        in[12] = THREAD * n + block;
#pragma unroll
        for (int i = 0; i < 16; i++)
            x[i] = in[i];
#pragma unroll 1
        for (int round = 0; round < 10; round++) {
            quarter(x, 0, 4, 8, 12), quarter(x, 1, 5, 9, 13), quarter(x, 2, 6, 10, 14), quarter(x, 3, 7, 11, 15);
            quarter(x, 0, 5, 10, 15), quarter(x, 1, 6, 11, 12), quarter(x, 2, 7, 8, 13), quarter(x, 3, 4, 9, 14);
        }
        uint4 *to = (uint4 *)b + (size_t)(block * gridDim.x * blockDim.x + THREAD) * 4;
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[i] = make_uint4(x[4 * i] + in[4 * i], x[4 * i + 1] + in[4 * i + 1], x[4 * i + 2] + in[4 * i + 2],
                               x[4 * i + 3] + in[4 * i + 3]);
    }
}

/* Subsets of 16 numbers that add up to a sum, with a stack of its own for each thread. */
KERNEL subsets(const float *a, float *b, int *c, int n) {
    int weight[16], taken[17], depth = 0, sum = 0, found = 0;
    int wanted = 200 + (c[THREAD] & 255);
    for (int i = 0; i < 16; i++)
        weight[i] = 20 + (c[(THREAD >> 5) * 16 + i] & 63);
    taken[0] = 0;
    for (int step = 0; step < n && depth >= 0; step++) {
        if (depth == 16 || sum >= wanted || taken[depth] == 2) {
            found += sum == wanted && (depth == 16 || taken[depth] != 2);
            depth--;
            if (depth >= 0 && taken[depth] == 1)
                sum -= weight[depth];
            if (depth >= 0)
                taken[depth]++;
            continue;
        }
        if (taken[depth] == 0) {
            sum += weight[depth];
            taken[depth] = 1;
        } else {
            taken[depth] = 2;
        }
        depth += taken[depth] != 2 || depth < 15;
        if (depth <= 16)
            taken[depth] = 0;
    }
    b[THREAD] = found;
}

/* A machine with a stack: n instructions of a small language, the same program for the lanes of a warp. */
KERNEL interpret(const float *a, float *b, int *c, int n) {
    int stack[16], top = 0, at = THREAD / 32 * 256, steps = 0, x = THREAD;
    for (int i = 0; i < 16; i++)
        stack[i] = i + x;
    while (steps++ < n) {
        int word = c[at & 0xfffff];
        at++;
        switch (word & 7) {
        case 0:
            stack[top = (top + 1) & 15] = word >> 3;
            break;
        case 1:
            stack[(top - 1) & 15] += stack[top];
            top = (top - 1) & 15;
            break;
        case 2:
            stack[(top - 1) & 15] *= stack[top] | 1;
            top = (top - 1) & 15;
            break;
        case 3:
            stack[top] ^= stack[top] >> 5;
            break;
        case 4:
            top = (top + 1) & 15;
            stack[top] = stack[(top - 1) & 15];
            break;
        case 5:
            if (stack[top] & 1)
                at += word >> 28 & 3;
            break;
        case 6:
            x += stack[top] + c[(stack[top] & 1023)];
            break;
        default:
            stack[top] = stack[top] / (x | 1) + stack[(word >> 4) & 15];
        }
    }
    b[THREAD] = x + stack[top];
}

typedef int (*rule)(int, int);
static __device__ int rule_sum(int x, int y) { return x + 3 * y; }
static __device__ int rule_mix(int x, int y) { return (x ^ y << 3) * 5; }
static __device__ int rule_most(int x, int y) { return max(x, y) - (x >> 2); }
static __device__ rule rules[3] = {rule_sum, rule_mix, rule_most};

/* Functions by pointers from a table. */
KERNEL by_rules(const float *a, float *b, int *c, int n) {
    int x = c[THREAD], y = 1;
    for (int i = 0; i < n; i++) {
        rule apply = rules[(unsigned)(c[THREAD / 32 + i] & 0xffff) % 3u];
        int z = apply(x, y);
        y = x, x = z;
    }
    b[THREAD] = x;
}
