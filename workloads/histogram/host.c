// histogram: how often each character occurs in a text.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 256, ASCII = 128, BINS_OPTION = 0 };

static const struct workload_info info = {
    .name = "histogram",
    .summary = "character counts with shared-memory atomics, one private copy per block",
    .sizes = {"131,072 characters", "2,097,152 characters", "16,777,216 characters"},
    .options = {[BINS_OPTION] = {"--bins", "shared|private",
                                 "one copy for each block, or 128 bytes for each thread (Narasiman 2011)", 0, 0}},
};

// Draws characters roughly as often as in English text: the skew makes atomics collide.
static void write_text(struct workload *w, unsigned char *text, size_t n) {
    static const char letters[] =
        "          eeeeeeeetttttaaaaaooooooiiiiinnnnnssssshhhhrrrrddddllluuucccmmwwffggyyppbbvkjxqz.,\nETAI";
    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)letters[workload_random(w) % (sizeof letters - 1)];
}

static bool has_private_bins(const struct workload *w) {
    const char *bins = w->option[BINS_OPTION].text;
    if (bins && strcmp(bins, "shared") != 0 && strcmp(bins, "private") != 0)
        workload_usage_error(w, "--bins takes shared or private, not '%s'", bins);
    return bins && strcmp(bins, "private") == 0;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 1 << 17, 1 << 21, 1 << 24);
    int n_words = (int)(n / 4), n_characters = (int)n;
    bool is_private = has_private_bins(&w);
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256;
    unsigned blocks = w.blocks ? w.blocks : workload_pick(&w, 16, 128, 256);
    if (is_private && (threads % 8 || n % (blocks * threads)))
        workload_usage_error(
            &w, "%u blocks of %u threads do not divide %zu characters, or 8 the threads; --bins private needs that",
            blocks, threads, n);
    unsigned char *text = workload_array(&w, n, 1);
    uint32_t bins[BINS] = {0}, expected[BINS] = {0};
    write_text(&w, text, n);

    CUdeviceptr device_text = workload_upload(&w, text, n), device_bins = workload_device_alloc(&w, sizeof bins);
    WORKLOAD_CUDA(&w, cuMemsetD8(device_bins, 0, sizeof bins));
    if (is_private)
        workload_launch(&w, "histogram_private", (struct workload_grid){blocks, 1, threads, 1, threads * ASCII},
                        (void *[]){&device_text, &device_bins, &n_characters});
    else
        workload_launch(&w, "histogram", (struct workload_grid){blocks, 1, threads, 1, 0},
                        (void *[]){&device_text, &device_bins, &n_words});
    workload_download(&w, bins, device_bins, sizeof bins);

    struct workload_diff diff = {0};
    if (w.check) {
        for (size_t i = 0; i < n; i++)
            expected[text[i]]++;
        diff = workload_diff_u32(bins, expected, BINS);
    }
    workload_device_free(&w, device_text);
    workload_device_free(&w, device_bins);
    free(text);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu characters, %u blocks of %u threads", n, blocks, threads);
}
