// dynsplit: dynamic shared memory cut into arrays of different types.
extern "C" __global__ void dyn_three(const int* a, const short* b, const unsigned char* c, long long* out, int n) {
    extern __shared__ unsigned char raw[];
    int* x = (int*)raw;
    short* y = (short*)(x + n);
    unsigned char* z = (unsigned char*)(y + n);
    int t = threadIdx.x;
    if (t < n) {
        x[t] = a[t];
        y[n - 1 - t] = b[t];
        z[(t + 1) % n] = c[t];
    }
    __syncthreads();
    if (t < n) out[t] = (long long)x[n - 1 - t] * y[t] + z[t];
}
