// Thrust: sort, scan, reduce, transform and unique, as CCCL ships them with the toolkit.
#include <algorithm>
#include <numeric>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "../check.cuh"

struct Twice {
    __host__ __device__ int operator()(int x) const { return 2 * x; }
};

int main() {
    const int n = 5000;
    Random random(7);
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; i++)
        host[i] = static_cast<int>(random.below(1000));
    std::vector<int> expected(host.begin(), host.end());

    thrust::device_vector<int> device = host;
    EXPECT(thrust::reduce(device.begin(), device.end()) == std::accumulate(expected.begin(), expected.end(), 0));
    thrust::sort(device.begin(), device.end());
    std::sort(expected.begin(), expected.end());
    host = device;
    EXPECT(std::equal(host.begin(), host.end(), expected.begin()));

    thrust::inclusive_scan(device.begin(), device.end(), device.begin());
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    host = device;
    EXPECT(std::equal(host.begin(), host.end(), expected.begin()));

    thrust::transform(device.begin(), device.end(), device.begin(), Twice());
    EXPECT(device[n - 1] == 2 * expected[n - 1]);

    thrust::device_vector<int> keys(n), values(n);
    thrust::sequence(values.begin(), values.end());
    for (int i = 0; i < n; i++)
        host[i] = (i * 7919) % n;
    keys = host;
    thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
    for (int i = 0; i < n; i += 499)
        EXPECT(static_cast<int>(keys[i]) == i && host[values[i]] == i);
}
