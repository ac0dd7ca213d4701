// inverse: 2x2 by the formula, 3x3 by Gauss-Jordan with pivoting in a local array.
extern "C" __global__ void inverse2(const float4* m, float4* r, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    float4 a = m[i];
    float det = fmaf(a.x, a.w, -__fmul_rn(a.y, a.z));
    if (det == 0.0f) {
        r[i] = make_float4(0, 0, 0, 0);
    } else {
        float k = 1.0f / det;
        r[i] = make_float4(__fmul_rn(a.w, k), __fmul_rn(-a.y, k), __fmul_rn(-a.z, k), __fmul_rn(a.x, k));
    }
}
extern "C" __global__ void inverse3(const float* m, float* r, int n) {
    int t = threadIdx.x;
    if (t >= n) return;
    float a[3][6];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            a[i][j] = m[9 * t + 3 * i + j];
            a[i][j + 3] = i == j ? 1.0f : 0.0f;
        }
    for (int c = 0; c < 3; ++c) {
        int p = c;
        for (int i = c + 1; i < 3; ++i)
            if (fabsf(a[i][c]) > fabsf(a[p][c])) p = i;
        for (int j = 0; j < 6; ++j) {
            float x = a[c][j];
            a[c][j] = a[p][j];
            a[p][j] = x;
        }
        float d = a[c][c];
        for (int j = 0; j < 6; ++j) a[c][j] = a[c][j] / d;
        for (int i = 0; i < 3; ++i) {
            if (i == c) continue;
            float f = a[i][c];
            for (int j = 0; j < 6; ++j) a[i][j] = fmaf(-f, a[c][j], a[i][j]);
        }
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r[9 * t + 3 * i + j] = a[i][j + 3];
}
