/* The operations of a transformer that are no matrix products, each as the work of one thread. Kernels and the host run
 * the same code. Matrices are stored by rows. */
#pragma once

#ifdef __CUDA_ARCH__
#include <heddle/device.h>
#define OP static __device__ __forceinline__
#else
#include <math.h>
#define OP static inline
#endif

enum op_kind {
    OP_EMBED,           /* out[row] = a[token[row]] + b[row % c_rows], an element each */
    OP_EMBED_BACK,      /* out[token] += rows of a with that token */
    OP_POSITION_BACK,   /* out[position] += rows of a at that position */
    OP_NORM,            /* out = normalized rows of a, times b, plus c */
    OP_NORM_BACK,       /* out += the gradient of a's rows, from that of the output (d) and the scale b */
    OP_NORM_SCALE_BACK, /* out += the gradient of the scale, out2 += that of the shift, a column each */
    OP_ADD_BIAS,        /* out += a, an element each */
    OP_SUM_ROWS,        /* out += sums of the columns of a */
    OP_ADD,             /* out = a + b */
    OP_GELU,            /* out = gelu(a) */
    OP_GELU_BACK,       /* out = d gelu'(a) */
    OP_SOFTMAX,         /* rows of out up to their own position; zero after it */
    OP_SOFTMAX_BACK,    /* out = the gradient before the softmax whose result is a, from d */
    OP_CROSS_ENTROPY,   /* out[row] = loss; out2 = its gradient by a */
    OP_ADAMW,           /* out = parameters, a = gradient, out2 and out3 = moments */
};

struct op {
    enum op_kind kind;
    int n;          /* threads */
    int rows, cols; /* of the matrix */
    int c_rows;
    const int *token;
    const float *a, *b, *c, *d;
    float *out, *out2, *out3;
    float rate, correction1, correction2; /* AdamW */
};

OP float op_gelu_tanh(float x) {
    float e = expf(2.0f * 0.79788456f * (x + 0.044715f * x * x * x));
    return 1.0f - 2.0f / (1.0f + e);
}

OP void op_moments(const float *row, int n, float *mean, float *scale) {
    float sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += row[i];
    *mean = sum / (float)n;
    for (int i = 0; i < n; i++)
        squares += (row[i] - *mean) * (row[i] - *mean);
    *scale = 1.0f / sqrtf(squares / (float)n + 1e-5f);
}

OP void op_norm(const struct op *o, int row) {
    const float *x = o->a + row * o->cols;
    float mean, scale;
    op_moments(x, o->cols, &mean, &scale);
    for (int i = 0; i < o->cols; i++)
        o->out[row * o->cols + i] = (x[i] - mean) * scale * o->b[i] + o->c[i];
}

OP void op_norm_back(const struct op *o, int row) {
    const float *x = o->a + row * o->cols, *d = o->d + row * o->cols;
    float mean, scale, sum = 0, product = 0, n = (float)o->cols;
    op_moments(x, o->cols, &mean, &scale);
    for (int i = 0; i < o->cols; i++) {
        float g = d[i] * o->b[i];
        sum += g;
        product += g * (x[i] - mean) * scale;
    }
    for (int i = 0; i < o->cols; i++)
        o->out[row * o->cols + i] += scale * (d[i] * o->b[i] - sum / n - (x[i] - mean) * scale * product / n);
}

OP void op_norm_scale_back(const struct op *o, int col) {
    for (int row = 0; row < o->rows; row++) {
        float mean, scale, d = o->d[row * o->cols + col];
        op_moments(o->a + row * o->cols, o->cols, &mean, &scale);
        o->out[col] += d * (o->a[row * o->cols + col] - mean) * scale;
        o->out2[col] += d;
    }
}

OP void op_softmax(const struct op *o, int row) {
    float *x = o->out + row * o->cols, largest = x[0], sum = 0;
    int n = row % o->cols + 1;
    for (int i = 1; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (int i = 0; i < n; i++)
        sum += x[i] = expf(x[i] - largest);
    for (int i = 0; i < o->cols; i++)
        x[i] = i < n ? x[i] / sum : 0;
}

OP void op_softmax_back(const struct op *o, int row) {
    const float *p = o->a + row * o->cols, *d = o->d + row * o->cols;
    float sum = 0;
    for (int i = 0; i < o->cols; i++)
        sum += p[i] * d[i];
    for (int i = 0; i < o->cols; i++)
        o->out[row * o->cols + i] = p[i] * (d[i] - sum);
}

OP void op_cross_entropy(const struct op *o, int row) {
    const float *x = o->a + row * o->cols;
    float largest = x[0], sum = 0;
    for (int i = 1; i < o->cols; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (int i = 0; i < o->cols; i++)
        sum += expf(x[i] - largest);
    o->out[row] = logf(sum) + largest - x[o->token[row]];
    for (int i = 0; i < o->cols; i++)
        o->out2[row * o->cols + i] = (expf(x[i] - largest) / sum - (i == o->token[row] ? 1.0f : 0.0f)) / (float)o->rows;
}

OP void op_adamw(const struct op *o, int i) {
    float g = o->a[i], m = o->out2[i] = 0.9f * o->out2[i] + 0.1f * g;
    float v = o->out3[i] = 0.99f * o->out3[i] + 0.01f * g * g;
    o->out[i] -= o->rate * (m / o->correction1 / (sqrtf(v / o->correction2) + 1e-8f) + 0.01f * o->out[i]);
}

/* The work of thread i. */
OP void op_run(const struct op *o, int i) {
    int row = i / (o->cols ? o->cols : 1), col = o->cols ? i % o->cols : 0;
    switch (o->kind) {
    case OP_EMBED:
        o->out[i] = o->a[o->token[row] * o->cols + col] + o->b[row % o->c_rows * o->cols + col];
        break;
    case OP_EMBED_BACK: /* thread: (token, column) */
        for (int r = 0; r < o->rows; r++)
            o->out[i] += o->token[r] == row ? o->a[r * o->cols + col] : 0;
        break;
    case OP_POSITION_BACK:
        for (int r = row; r < o->rows; r += o->c_rows)
            o->out[i] += o->a[r * o->cols + col];
        break;
    case OP_NORM:
        op_norm(o, i);
        break;
    case OP_NORM_BACK:
        op_norm_back(o, i);
        break;
    case OP_NORM_SCALE_BACK:
        op_norm_scale_back(o, i);
        break;
    case OP_ADD_BIAS:
        o->out[i] += o->a[col];
        break;
    case OP_SUM_ROWS:
        for (int r = 0; r < o->rows; r++)
            o->out[i] += o->a[r * o->cols + i];
        break;
    case OP_ADD:
        o->out[i] = o->a[i] + o->b[i];
        break;
    case OP_GELU:
        o->out[i] = 0.5f * o->a[i] * (1.0f + op_gelu_tanh(o->a[i]));
        break;
    case OP_GELU_BACK: {
        float x = o->a[i], t = op_gelu_tanh(x);
        o->out[i] =
            o->d[i] * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.79788456f * (1.0f + 3.0f * 0.044715f * x * x));
        break;
    }
    case OP_SOFTMAX:
        op_softmax(o, i);
        break;
    case OP_SOFTMAX_BACK:
        op_softmax_back(o, i);
        break;
    case OP_CROSS_ENTROPY:
        op_cross_entropy(o, i);
        break;
    case OP_ADAMW:
        op_adamw(o, i);
        break;
    }
}
