// String matching: one thread for each place, and Aho-Corasick with a table of states for several words.
#include <cstring>
#include <string>

#include "../check.cuh"

__global__ void naive(const char *text, int n, const char *word, int length, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length > n)
        return;
    for (int k = 0; k < length; k++)
        if (text[i + k] != word[k])
            return;
    atomicAdd(count, 1);
}

// Each thread reads its piece and as much before it as the longest word needs to be known.
__global__ void automaton(const char *text, int n, const int *next, const int *ends, int piece, int overlap,
                          int *count) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * piece, state = 0, found = 0;
    for (int i = max(first - overlap, 0); i < min(first + piece, n); i++) {
        state = next[state * 26 + text[i] - 'a'];
        if (i >= first)
            found += ends[state];
    }
    if (found)
        atomicAdd(count, found);
}

int main() {
    const char *words[] = {"abba", "cab", "bab", "accab", "b"};
    Random random(24);
    std::string text;
    for (int i = 0; i < 5000; i++)
        text += static_cast<char>('a' + random.below(3));
    Device<char> d(std::vector<char>(text.begin(), text.end()));
    int total = 0;
    for (const char *word : words) {
        int expected = 0;
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
            expected++;
        total += expected;
        Device<char> dw(std::vector<char>(word, word + strlen(word)));
        Device<int> count(std::vector<int>{0});
        naive<<<blocks_of(text.size(), 256), 256>>>(d, static_cast<int>(text.size()), dw,
                                                    static_cast<int>(strlen(word)), count);
        expect_equal(count.get(), {expected});
    }
    std::vector<int> next(26, -1), ends(1), fail(1), queue;
    for (const char *word : words) {
        int state = 0;
        for (const char *c = word; *c; c++) {
            if (next[state * 26 + *c - 'a'] < 0) {
                next[state * 26 + *c - 'a'] = static_cast<int>(ends.size());
                next.resize(next.size() + 26, -1);
                ends.push_back(0);
                fail.push_back(0);
            }
            state = next[state * 26 + *c - 'a'];
        }
        ends[state]++;
    }
    for (int c = 0; c < 26; c++)
        if (next[c] < 0)
            next[c] = 0;
        else
            queue.push_back(next[c]);
    for (size_t at = 0; at < queue.size(); at++)
        for (int c = 0; c < 26; c++) {
            int s = queue[at], &to = next[s * 26 + c], other = next[fail[s] * 26 + c];
            if (to < 0) {
                to = other;
                continue;
            }
            fail[to] = other;
            ends[to] += ends[other];
            queue.push_back(to);
        }
    Device<int> dn(next), de(ends), count(std::vector<int>{0});
    automaton<<<1, 64>>>(d, static_cast<int>(text.size()), dn, de, 80, 5, count);
    expect_equal(count.get(), {total});
    return 0;
}
