// A small neural network learns exclusive or: forward, backward, update, many tiny launches.
#include "../check.cuh"

const int HIDDEN = 8;

struct Network {
    float w1[HIDDEN][2], b1[HIDDEN], w2[HIDDEN], b2;
};

__global__ void train(Network *net, const float2 *in, const float *target, float *loss) {
    __shared__ float hidden[4][HIDDEN], output[4];
    int sample = threadIdx.y, h = threadIdx.x;
    hidden[sample][h] = tanhf(net->w1[h][0] * in[sample].x + net->w1[h][1] * in[sample].y + net->b1[h]);
    __syncthreads();
    if (h == 0) {
        float sum = net->b2;
        for (int k = 0; k < HIDDEN; k++)
            sum += net->w2[k] * hidden[sample][k];
        output[sample] = 1 / (1 + expf(-sum));
    }
    __syncthreads();
    if (sample == 0) {
        float d2 = 0, d1[3] = {0, 0, 0}, db = 0;
        for (int s = 0; s < 4; s++) {
            float error = output[s] - target[s], back = error * net->w2[h] * (1 - hidden[s][h] * hidden[s][h]);
            d2 += error * hidden[s][h];
            d1[0] += back * in[s].x;
            d1[1] += back * in[s].y;
            d1[2] += back;
            db += error;
        }
        __syncwarp(0xff);
        net->w2[h] -= 0.5f * d2;
        net->w1[h][0] -= 0.5f * d1[0];
        net->w1[h][1] -= 0.5f * d1[1];
        net->b1[h] -= 0.5f * d1[2];
        if (h == 0) {
            net->b2 -= 0.5f * db;
            *loss = 0;
            for (int s = 0; s < 4; s++)
                *loss += fabsf(output[s] - target[s]);
        }
    }
}

int main() {
    Random random(27);
    Network net;
    for (int h = 0; h < HIDDEN; h++) {
        net.w1[h][0] = random.uniform() * 2 - 1;
        net.w1[h][1] = random.uniform() * 2 - 1;
        net.b1[h] = random.uniform() - 0.5f;
        net.w2[h] = random.uniform() * 2 - 1;
    }
    net.b2 = 0;
    Device<Network> d(std::vector<Network>{net});
    Device<float2> in(std::vector<float2>{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
    Device<float> target(std::vector<float>{0, 1, 1, 0}), loss(1);
    train<<<1, dim3(HIDDEN, 4)>>>(d, in, target, loss);
    float first = loss.get()[0];
    for (int i = 0; i < 400; i++)
        train<<<1, dim3(HIDDEN, 4)>>>(d, in, target, loss);
    EXPECT(first > 1 && loss.get()[0] < 0.2f);
    return 0;
}
