// stencil: 2-D heat step on a tile with a halo; 1-D convolution with a halo and weights in constant memory.
#define TX 4
#define TY 4
extern "C" __global__ void heat(const float* in, float* out, int w, int h, float k) {
    __shared__ float tile[TY + 2][TX + 2];
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    auto at = [&](int cx, int cy) {
        cx = min(max(cx, 0), w - 1);
        cy = min(max(cy, 0), h - 1);
        return in[cy * w + cx];
    };
    tile[ly][lx] = at(x, y);
    if (threadIdx.x == 0) tile[ly][0] = at(x - 1, y);
    if (threadIdx.x == TX - 1) tile[ly][TX + 1] = at(x + 1, y);
    if (threadIdx.y == 0) tile[0][lx] = at(x, y - 1);
    if (threadIdx.y == TY - 1) tile[TY + 1][lx] = at(x, y + 1);
    __syncthreads();
    if (x < w && y < h) {
        float c = tile[ly][lx];
        float sum = tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx];
        out[y * w + x] = fmaf(k, fmaf(-4.0f, c, sum), c);
    }
}
#define R 2
__constant__ float taps[2 * R + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
extern "C" __global__ void blur(const float* in, float* out, int n) {
    extern __shared__ float s[];
    int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
    s[l] = g < n ? in[g] : 0.0f;
    if (threadIdx.x < R) {
        s[l - R] = g >= R ? in[g - R] : 0.0f;
        s[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.0f;
    }
    __syncthreads();
    if (g >= n) return;
    float acc = 0.0f;
#pragma unroll
    for (int j = -R; j <= R; ++j) acc = fmaf(taps[j + R], s[l + j], acc);
    out[g] = acc;
}
