// Lookups in a sorted tree of keys, and points in a bounding volume hierarchy walked with a stack.
#include <algorithm>

#include "../check.cuh"

__global__ void find(const int *keys, int n, const int *wanted, int *place, int n_wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_wanted)
        return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[middle] < wanted[i])
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low < n && keys[low] == wanted[i] ? low : -1;
}

struct Box {
    float low, high;
    int left, right; // children; for a leaf left is -1 and right its number
};

__global__ void stab(const Box *boxes, const float *points, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stack[32], depth = 0;
    if (i >= n)
        return;
    count[i] = 0;
    stack[depth++] = 0;
    while (depth) {
        const Box &box = boxes[stack[--depth]];
        if (points[i] < box.low || points[i] > box.high)
            continue;
        if (box.left < 0) {
            count[i]++;
            continue;
        }
        stack[depth++] = box.left;
        stack[depth++] = box.right;
    }
}

static int build(std::vector<Box> &boxes, const std::vector<float2> &leaves, int first, int end) {
    int me = static_cast<int>(boxes.size());
    boxes.push_back({leaves[first].x, leaves[first].y, -1, first});
    if (end - first > 1) {
        int middle = (first + end) / 2, left = build(boxes, leaves, first, middle),
            right = build(boxes, leaves, middle, end);
        boxes[me] = {std::min(boxes[left].low, boxes[right].low), std::max(boxes[left].high, boxes[right].high), left,
                     right};
    }
    return me;
}

int main() {
    const int n = 1000, n_wanted = 700, n_leaves = 60, n_points = 200;
    Random random(29);
    std::vector<int> keys(n), wanted(n_wanted), expected(n_wanted), counts(n_points);
    for (int i = 0; i < n; i++)
        keys[i] = i * 3;
    for (int i = 0; i < n_wanted; i++) {
        wanted[i] = random.below(3 * n);
        expected[i] = wanted[i] % 3 ? -1 : wanted[i] / 3;
    }
    Device<int> dk(keys), dw(wanted), place(n_wanted), count(n_points);
    find<<<blocks_of(n_wanted, 128), 128>>>(dk, n, dw, place, n_wanted);
    expect_equal(place.get(), expected);

    std::vector<float2> leaves(n_leaves);
    std::vector<float> points(n_points);
    std::vector<Box> boxes;
    for (float2 &leaf : leaves) {
        leaf.x = random.uniform();
        leaf.y = leaf.x + 0.1f * random.uniform();
    }
    std::sort(leaves.begin(), leaves.end(), [](float2 a, float2 b) { return a.x < b.x; });
    build(boxes, leaves, 0, n_leaves);
    for (int i = 0; i < n_points; i++) {
        points[i] = random.uniform();
        for (float2 leaf : leaves)
            counts[i] += points[i] >= leaf.x && points[i] <= leaf.y;
    }
    Device<Box> db(boxes);
    Device<float> dp(points);
    stab<<<2, 128>>>(db, dp, count, n_points);
    expect_equal(count.get(), counts);
    return 0;
}
