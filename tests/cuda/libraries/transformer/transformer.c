/* Trains a small transformer: one block with attention of several heads and a perceptron, between embeddings and a
 * classifier. Matrix products are cuBLAS calls, other operations kernels of ours (ops.h); the optimizer is AdamW.
 *
 * The same model runs on the host, with loops instead of cuBLAS. Both must have the same loss in every step, within
 * 0.1 %, and it must fall. A few gradients of the first step are compared with differences of the loss. */
#include "../check.h"
#include "../cublas.h"
#include "ops.h"

enum { BATCH = 4, TIME = 16, ROWS = BATCH * TIME, VOCABULARY = 24, WIDTH = 32, HEADS = 4, HEAD = WIDTH / HEADS };
enum { HIDDEN = 64, STEPS = 30 };

/* Parameters, and activations with their gradients: name and size. */
#define PARAMETERS(X)                                                                                                  \
    X(tokens, VOCABULARY *WIDTH)                                                                                       \
    X(positions, TIME *WIDTH)                                                                                          \
    X(norm1, WIDTH)                                                                                                    \
    X(norm1_shift, WIDTH)                                                                                              \
    X(qkv, WIDTH * 3 * WIDTH)                                                                                          \
    X(qkv_bias, 3 * WIDTH)                                                                                             \
    X(project, WIDTH *WIDTH)                                                                                           \
    X(project_bias, WIDTH)                                                                                             \
    X(norm2, WIDTH)                                                                                                    \
    X(norm2_shift, WIDTH)                                                                                              \
    X(up, WIDTH *HIDDEN)                                                                                               \
    X(up_bias, HIDDEN)                                                                                                 \
    X(down, HIDDEN *WIDTH)                                                                                             \
    X(down_bias, WIDTH)                                                                                                \
    X(norm3, WIDTH)                                                                                                    \
    X(norm3_shift, WIDTH)                                                                                              \
    X(classify, WIDTH *VOCABULARY)
#define ACTIVATIONS(X)                                                                                                 \
    X(x0, ROWS *WIDTH)                                                                                                 \
    X(n1, ROWS *WIDTH)                                                                                                 \
    X(qkvs, ROWS * 3 * WIDTH)                                                                                          \
    X(scores, BATCH *HEADS *TIME *TIME)                                                                                \
    X(mixed, ROWS *WIDTH)                                                                                              \
    X(x1, ROWS *WIDTH)                                                                                                 \
    X(n2, ROWS *WIDTH)                                                                                                 \
    X(h, ROWS *HIDDEN)                                                                                                 \
    X(g, ROWS *HIDDEN)                                                                                                 \
    X(x2, ROWS *WIDTH)                                                                                                 \
    X(n3, ROWS *WIDTH)                                                                                                 \
    X(logits, ROWS *VOCABULARY)                                                                                        \
    X(work, BATCH *HEADS *TIME *TIME)                                                                                  \
    X(losses, ROWS)

#define MEMBER(name, size) float *name;
#define COUNT(name, size) +(size)
enum { N_PARAMETERS = 0 PARAMETERS(COUNT), N_ACTIVATIONS = 0 ACTIVATIONS(COUNT) };

struct parameters {
    PARAMETERS(MEMBER)
};
struct activations {
    ACTIVATIONS(MEMBER)
};

/* The model on one side: `base` pointers are memory of the host or the device. */
struct model {
    int is_on_device;
    cublasHandle_t handle;
    CUfunction kernel;
    float *base, *gradient_base, *moment1, *moment2, *activation_base, *activation_gradient_base;
    struct parameters p, dp;
    struct activations x, dx;
    int *inputs, *targets;
    int step;
};

#define PLACE(name, size) m->name = at, at += (size);
static void place_parameters(struct parameters *m, float *at) { PARAMETERS(PLACE) }
static void place_activations(struct activations *m, float *at) { ACTIVATIONS(PLACE) }

/* ---- The two sides ------------------------------------------------------------------------------------------------
 */

static void run(const struct model *m, struct op o) {
    if (m->is_on_device) {
        void *arguments[] = {&o};
        NEED(cuLaunchKernel(m->kernel, (unsigned)(o.n + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
        return;
    }
    for (int i = 0; i < o.n; i++)
        op_run(&o, i);
}

/* A matrix by rows, or its transpose; `stride` is the distance of those of a batch. */
struct view {
    float *at;
    int ld, is_transposed, stride;
};

/* c (m x n) = alpha a (m x k) b (k x n) + beta c, n_batches times. By columns, as cuBLAS sees them, c' = b' a'. */
static void multiply(const struct model *model, int m, int n, int k, float alpha, struct view a, struct view b,
                     float beta, struct view c, int n_batches) {
    if (model->is_on_device) {
        NEED(cublasSgemmStridedBatched(model->handle, b.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                                       a.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b.at, b.ld,
                                       b.stride, a.at, a.ld, a.stride, &beta, c.at, c.ld, c.stride, n_batches));
        return;
    }
    for (int batch = 0; batch < n_batches; batch++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                const float *left = a.at + batch * a.stride, *right = b.at + batch * b.stride;
                float *to = &c.at[batch * c.stride + i * c.ld + j], sum = 0;
                for (int x = 0; x < k; x++)
                    sum += (a.is_transposed ? left[x * a.ld + i] : left[i * a.ld + x]) *
                           (b.is_transposed ? right[j * b.ld + x] : right[x * b.ld + j]);
                *to = alpha * sum + (beta != 0 ? beta * *to : 0);
            }
}

static struct view plain(float *at, int ld) { return (struct view){at, ld, 0, 0}; }
static struct view transposed(float *at, int ld) { return (struct view){at, ld, 1, 0}; }

/* ---- Layers -------------------------------------------------------------------------------------------------------
 */

static void norm(const struct model *m, const float *from, const float *scale, const float *shift, float *to) {
    run(m, (struct op){.kind = OP_NORM, .n = ROWS, .cols = WIDTH, .a = from, .b = scale, .c = shift, .out = to});
}

static void norm_back(const struct model *m, const float *from, const float *scale, const float *d, float *d_from,
                      float *d_scale, float *d_shift) {
    run(m, (struct op){.kind = OP_NORM_BACK, .n = ROWS, .cols = WIDTH, .a = from, .b = scale, .d = d, .out = d_from});
    run(m, (struct op){.kind = OP_NORM_SCALE_BACK,
                       .n = WIDTH,
                       .rows = ROWS,
                       .cols = WIDTH,
                       .a = from,
                       .d = d,
                       .out = d_scale,
                       .out2 = d_shift});
}

/* to = from w + bias */
static void linear(const struct model *m, int n_in, int n_out, float *from, float *w, const float *bias, float *to) {
    multiply(m, ROWS, n_out, n_in, 1, plain(from, n_in), plain(w, n_out), 0, plain(to, n_out), 1);
    if (bias)
        run(m, (struct op){.kind = OP_ADD_BIAS, .n = ROWS * n_out, .cols = n_out, .a = bias, .out = to});
}

static void linear_back(const struct model *m, int n_in, int n_out, float *from, float *w, float *d, float *d_from,
                        float *dw, float *d_bias) {
    multiply(m, n_in, n_out, ROWS, 1, transposed(from, n_in), plain(d, n_out), 1, plain(dw, n_out), 1);
    multiply(m, ROWS, n_in, n_out, 1, plain(d, n_out), transposed(w, n_out), 0, plain(d_from, n_in), 1);
    if (d_bias)
        run(m, (struct op){.kind = OP_SUM_ROWS, .n = n_out, .rows = ROWS, .cols = n_out, .a = d, .out = d_bias});
}

static void add(const struct model *m, const float *a, const float *b, float *to) {
    run(m, (struct op){.kind = OP_ADD, .n = ROWS * WIDTH, .a = a, .b = b, .out = to});
}

/* Queries, keys and values of one sentence: a batch of heads. `which` is 0, 1 or 2. */
static struct view heads_of(float *qkvs, int sentence, int which, int is_transposed) {
    return (struct view){qkvs + sentence * TIME * 3 * WIDTH + which * WIDTH, 3 * WIDTH, is_transposed, HEAD};
}
static struct view scores_of(float *scores, int sentence, int is_transposed) {
    return (struct view){scores + sentence * HEADS * TIME * TIME, TIME, is_transposed, TIME * TIME};
}
static struct view mixed_of(float *mixed, int sentence) {
    return (struct view){mixed + sentence * TIME * WIDTH, WIDTH, 0, HEAD};
}

static void attend(const struct model *m) {
    float scale = 1 / sqrtf(HEAD);
    for (int s = 0; s < BATCH; s++)
        multiply(m, TIME, TIME, HEAD, scale, heads_of(m->x.qkvs, s, 0, 0), heads_of(m->x.qkvs, s, 1, 1), 0,
                 scores_of(m->x.scores, s, 0), HEADS);
    run(m, (struct op){.kind = OP_SOFTMAX, .n = BATCH * HEADS * TIME, .cols = TIME, .out = m->x.scores});
    for (int s = 0; s < BATCH; s++)
        multiply(m, TIME, HEAD, TIME, 1, scores_of(m->x.scores, s, 0), heads_of(m->x.qkvs, s, 2, 0), 0,
                 mixed_of(m->x.mixed, s), HEADS);
}

static void attend_back(const struct model *m) {
    float scale = 1 / sqrtf(HEAD);
    for (int s = 0; s < BATCH; s++) {
        multiply(m, TIME, TIME, HEAD, 1, mixed_of(m->dx.mixed, s), heads_of(m->x.qkvs, s, 2, 1), 0,
                 scores_of(m->dx.scores, s, 0), HEADS);
        multiply(m, TIME, HEAD, TIME, 1, scores_of(m->x.scores, s, 1), mixed_of(m->dx.mixed, s), 0,
                 heads_of(m->dx.qkvs, s, 2, 0), HEADS);
    }
    run(m, (struct op){.kind = OP_SOFTMAX_BACK,
                       .n = BATCH * HEADS * TIME,
                       .cols = TIME,
                       .a = m->x.scores,
                       .d = m->dx.scores,
                       .out = m->dx.work});
    for (int s = 0; s < BATCH; s++) {
        multiply(m, TIME, HEAD, TIME, scale, scores_of(m->dx.work, s, 0), heads_of(m->x.qkvs, s, 1, 0), 0,
                 heads_of(m->dx.qkvs, s, 0, 0), HEADS);
        multiply(m, TIME, HEAD, TIME, scale, scores_of(m->dx.work, s, 1), heads_of(m->x.qkvs, s, 0, 0), 0,
                 heads_of(m->dx.qkvs, s, 1, 0), HEADS);
    }
}

/* ---- The model ----------------------------------------------------------------------------------------------------
 */

static double forward(const struct model *m) {
    const struct parameters *p = &m->p;
    const struct activations *x = &m->x;
    float losses[ROWS];
    run(m, (struct op){.kind = OP_EMBED,
                       .n = ROWS * WIDTH,
                       .cols = WIDTH,
                       .c_rows = TIME,
                       .token = m->inputs,
                       .a = p->tokens,
                       .b = p->positions,
                       .out = x->x0});
    norm(m, x->x0, p->norm1, p->norm1_shift, x->n1);
    linear(m, WIDTH, 3 * WIDTH, x->n1, p->qkv, p->qkv_bias, x->qkvs);
    attend(m);
    linear(m, WIDTH, WIDTH, x->mixed, p->project, p->project_bias, x->x1);
    add(m, x->x1, x->x0, x->x1);
    norm(m, x->x1, p->norm2, p->norm2_shift, x->n2);
    linear(m, WIDTH, HIDDEN, x->n2, p->up, p->up_bias, x->h);
    run(m, (struct op){.kind = OP_GELU, .n = ROWS * HIDDEN, .a = x->h, .out = x->g});
    linear(m, HIDDEN, WIDTH, x->g, p->down, p->down_bias, x->x2);
    add(m, x->x2, x->x1, x->x2);
    norm(m, x->x2, p->norm3, p->norm3_shift, x->n3);
    linear(m, WIDTH, VOCABULARY, x->n3, p->classify, NULL, x->logits);
    run(m, (struct op){.kind = OP_CROSS_ENTROPY,
                       .n = ROWS,
                       .rows = ROWS,
                       .cols = VOCABULARY,
                       .token = m->targets,
                       .a = x->logits,
                       .out = x->losses,
                       .out2 = m->dx.logits});
    if (m->is_on_device)
        from_device(losses, x->losses, sizeof(losses));
    else
        memcpy(losses, x->losses, sizeof(losses));
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += losses[i];
    return sum / ROWS;
}

static void clear(const struct model *m, float *memory, size_t n) {
    if (m->is_on_device)
        NEED(cudaMemset(memory, 0, n * sizeof(float)));
    else
        memset(memory, 0, n * sizeof(float));
}

static void backward(const struct model *m) {
    const struct parameters *p = &m->p, *dp = &m->dp;
    const struct activations *x = &m->x, *dx = &m->dx;
    clear(m, m->gradient_base, N_PARAMETERS);
    clear(m, dx->x2, ROWS * WIDTH);
    linear_back(m, WIDTH, VOCABULARY, x->n3, p->classify, dx->logits, dx->n3, dp->classify, NULL);
    norm_back(m, x->x2, p->norm3, dx->n3, dx->x2, dp->norm3, dp->norm3_shift);
    linear_back(m, HIDDEN, WIDTH, x->g, p->down, dx->x2, dx->g, dp->down, dp->down_bias);
    run(m, (struct op){.kind = OP_GELU_BACK, .n = ROWS * HIDDEN, .a = x->h, .d = dx->g, .out = dx->h});
    linear_back(m, WIDTH, HIDDEN, x->n2, p->up, dx->h, dx->n2, dp->up, dp->up_bias);
    norm_back(m, x->x1, p->norm2, dx->n2, dx->x2, dp->norm2, dp->norm2_shift); /* x2 is x1 and more */
    linear_back(m, WIDTH, WIDTH, x->mixed, p->project, dx->x2, dx->mixed, dp->project, dp->project_bias);
    attend_back(m);
    linear_back(m, WIDTH, 3 * WIDTH, x->n1, p->qkv, dx->qkvs, dx->n1, dp->qkv, dp->qkv_bias);
    norm_back(m, x->x0, p->norm1, dx->n1, dx->x2, dp->norm1, dp->norm1_shift);
    run(m, (struct op){.kind = OP_EMBED_BACK,
                       .n = VOCABULARY * WIDTH,
                       .rows = ROWS,
                       .cols = WIDTH,
                       .token = m->inputs,
                       .a = dx->x2,
                       .out = dp->tokens});
    run(m, (struct op){.kind = OP_POSITION_BACK,
                       .n = TIME * WIDTH,
                       .rows = ROWS,
                       .cols = WIDTH,
                       .c_rows = TIME,
                       .a = dx->x2,
                       .out = dp->positions});
}

static void update(struct model *m) {
    m->step++;
    run(m, (struct op){.kind = OP_ADAMW,
                       .n = N_PARAMETERS,
                       .a = m->gradient_base,
                       .out = m->base,
                       .out2 = m->moment1,
                       .out3 = m->moment2,
                       .rate = 0.01f,
                       .correction1 = 1 - powf(0.9f, (float)m->step),
                       .correction2 = 1 - powf(0.99f, (float)m->step)});
}

/* ---- The test -----------------------------------------------------------------------------------------------------
 */

extern const char transformer_ptx[];

static float start[N_PARAMETERS];
static int inputs[ROWS], targets[ROWS];

static void make_problem(void) {
    struct parameters p;
    for (int i = 0; i < N_PARAMETERS; i++)
        start[i] = (float)next_number() * 0.2f;
    place_parameters(&p, start);
    for (int i = 0; i < WIDTH; i++)
        p.norm1[i] = p.norm2[i] = p.norm3[i] = 1;
    for (int s = 0; s < BATCH; s++) /* each token follows from the one before and the sentence's first */
        for (int t = 0, token = s + 1; t < TIME; t++) {
            inputs[s * TIME + t] = token;
            token = (5 * token + 7 + s) % VOCABULARY;
            targets[s * TIME + t] = token;
        }
}

static void *allocate(int is_on_device, const void *contents, size_t bytes) {
    void *zeros = calloc(1, bytes);
    if (contents)
        memcpy(zeros, contents, bytes);
    if (!is_on_device)
        return zeros;
    void *memory = to_device(zeros, bytes);
    free(zeros);
    return memory;
}

static void open_model(struct model *m, int is_on_device) {
    size_t bytes = N_PARAMETERS * sizeof(float), activation_bytes = N_ACTIVATIONS * sizeof(float);
    memset(m, 0, sizeof(*m));
    m->is_on_device = is_on_device;
    if (is_on_device) {
        CUmodule module;
        NEED(cudaFree(NULL)); /* makes the context */
        NEED(cublasCreate(&m->handle));
        NEED(cuModuleLoadData(&module, transformer_ptx));
        NEED(cuModuleGetFunction(&m->kernel, module, "transformer_op"));
    }
    m->base = allocate(is_on_device, start, bytes);
    m->gradient_base = allocate(is_on_device, NULL, bytes);
    m->moment1 = allocate(is_on_device, NULL, bytes);
    m->moment2 = allocate(is_on_device, NULL, bytes);
    m->activation_base = allocate(is_on_device, NULL, activation_bytes);
    m->activation_gradient_base = allocate(is_on_device, NULL, activation_bytes);
    m->inputs = allocate(is_on_device, inputs, sizeof(inputs));
    m->targets = allocate(is_on_device, targets, sizeof(targets));
    place_parameters(&m->p, m->base);
    place_parameters(&m->dp, m->gradient_base);
    place_activations(&m->x, m->activation_base);
    place_activations(&m->dx, m->activation_gradient_base);
}

/* On the host: the gradient against a difference of the loss, for parameters of every layer. */
static void test_gradients(struct model *m) {
    forward(m);
    backward(m);
    for (int i = 0; i < N_PARAMETERS; i += 97) {
        float before = m->base[i], step = 0.01f;
        m->base[i] = before + step;
        double above = forward(m);
        m->base[i] = before - step;
        double below = forward(m), slope = (above - below) / (2 * step);
        m->base[i] = before;
        EXPECT(fabs(slope - m->gradient_base[i]) <= 0.02 * fabs(slope) + 5e-4);
    }
}

int main(void) {
    static struct model host, device;
    double first = 0, last = 0;
    make_problem();
    open_model(&host, 0);
    open_model(&device, 1);
    test_gradients(&host);
    for (int step = 0; step < STEPS; step++) {
        double on_host = forward(&host), on_device = forward(&device);
        EXPECT(fabs(on_host - on_device) <= 0.001 * on_host);
        first = step ? first : on_device;
        last = on_device;
        backward(&host);
        backward(&device);
        update(&host);
        update(&device);
    }
    printf("loss %.4f, after %d steps %.4f\n", first, STEPS, last);
    EXPECT(first > 2.5 && last < first / 4);
    NEED(cublasDestroy(device.handle));
    return finish("transformer");
}
