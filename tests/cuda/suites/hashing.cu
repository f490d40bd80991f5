// Hashing: CRC-32 with a table in constant memory, FNV-1a, and a search for a nonce in the style of miners.
#include <cstdint>

#include "../check.cuh"

__constant__ uint32_t crc_table[256];

__global__ void crc(const unsigned char *data, int length, uint32_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t c = ~0u;
    for (int k = 0; k < length; k++)
        c = crc_table[(c ^ data[i * length + k]) & 255] ^ c >> 8;
    out[i] = ~c;
}

__host__ __device__ inline uint64_t fnv(const unsigned char *bytes, int n, uint64_t h) {
    for (int i = 0; i < n; i++)
        h = (h ^ bytes[i]) * 1099511628211ull;
    return h;
}

__host__ __device__ inline uint32_t mix(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

__global__ void fnv_all(const unsigned char *data, int length, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fnv(data + i * length, length, 14695981039346656037ull);
}

__global__ void mine(uint32_t header, uint32_t target, uint32_t *nonce) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (mix(mix(header) + i) < target)
        atomicMin(nonce, i);
}

int main() {
    const int n = 100, length = 37;
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    std::vector<unsigned char> data(n * length);
    for (size_t i = 0; i < data.size(); i++)
        data[i] = static_cast<unsigned char>(i * 31);
    std::vector<uint32_t> crcs(n);
    std::vector<unsigned long long> hashes(n);
    for (int i = 0; i < n; i++) {
        uint32_t c = ~0u;
        for (int k = 0; k < length; k++)
            c = table[(c ^ data[i * length + k]) & 255] ^ c >> 8;
        crcs[i] = ~c;
        hashes[i] = fnv(&data[i * length], length, 14695981039346656037ull);
    }
    CUDA(cudaMemcpyToSymbol(crc_table, table, sizeof table));
    Device<unsigned char> d(data);
    Device<uint32_t> dc(n), nonce(1);
    Device<unsigned long long> dh(n);
    crc<<<1, 128>>>(d, length, dc, n);
    expect_equal(dc.get(), crcs);
    fnv_all<<<1, 128>>>(d, length, dh, n);
    expect_equal(dh.get(), hashes);
    CUDA(cudaMemset(nonce, 0xff, 4));
    mine<<<64, 128>>>(42, 1u << 20, nonce);
    uint32_t first = 0;
    while (mix(mix(42) + first) >= 1u << 20)
        first++;
    expect_equal(nonce.get(), {first < 64 * 128 ? first : ~0u});
    return 0;
}
