// Levenshtein distances of many pairs of words, one thread for each pair, a row in local memory.
#include <cstring>

#include "../check.cuh"

const int LENGTH = 16;

__host__ __device__ inline int distance(const char *a, const char *b) {
    int row[LENGTH + 1];
    for (int j = 0; j <= LENGTH; j++)
        row[j] = j;
    for (int i = 1; i <= LENGTH && a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= LENGTH && b[j - 1]; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]), best = row[j] < row[j - 1] ? row[j] : row[j - 1];
            diagonal = row[j];
            row[j] = change < best + 1 ? change : best + 1;
        }
    }
    int length = 0;
    while (length < LENGTH && b[length])
        length++;
    return row[length];
}

__global__ void compare(const char *words, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n)
        out[i] = distance(words + i / n * LENGTH, words + i % n * LENGTH);
}

int main() {
    const char *list[] = {"kitten", "sitting", "sunday", "saturday", "", "warp", "wrap", "weave", "heddle", "needle"};
    const int n = sizeof list / sizeof list[0];
    std::vector<char> words(n * LENGTH);
    for (int i = 0; i < n; i++)
        strncpy(&words[i * LENGTH], list[i], LENGTH);
    std::vector<int> expected(n * n);
    for (int i = 0; i < n * n; i++)
        expected[i] = distance(&words[i / n * LENGTH], &words[i % n * LENGTH]);
    EXPECT(expected[1] == 3);
    Device<char> d(words);
    Device<int> out(n * n);
    compare<<<1, 128>>>(d, out, n);
    expect_equal(out.get(), expected);
    return 0;
}
