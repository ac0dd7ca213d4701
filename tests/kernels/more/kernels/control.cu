// control: switch, nested loops with break and continue, goto, do-while, ternaries, exits before barriers.
extern "C" __global__ void calc(const int* code, const int* a, const int* b, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], r;
    switch (code[i]) {
        case 0: r = x + y; break;
        case 1: r = x - y; break;
        case 2: r = x * y; break;
        case 3: r = y ? x / y : -1; break;
        case 4: r = y ? x % y : -2; break;
        case 5: r = x & y; break;
        case 6: r = x | ~y; break;
        case 7: r = (x ^ y) << (y & 3);  // falls through
        case 8: r = x >> (y & 7); break;
        case 9: r = min(x, y) * 3; break;
        case 10: {
            r = 0;
            for (int k = 0; k < (y & 7); ++k) r += x ^ k;
            break;
        }
        case 100: r = __popc(x) - __clz(y); break;
        default: r = -x;
    }
    out[i] = r;
}
extern "C" __global__ void pairs(const int* x, int n, int target, int* out) {
    int t = threadIdx.x, found = -1, tried = 0;
    for (int i = t; i < n; i += blockDim.x) {
        if (x[i] < 0) continue;
        for (int j = 0; j < n; ++j) {
            if (j == i || x[j] < 0) continue;
            ++tried;
            if (x[i] + x[j] > 2 * target) break;
            if (x[i] + x[j] == target) { found = i * 16 + j; goto done; }
        }
    }
done:
    out[2 * t] = found;
    out[2 * t + 1] = tried;
}
extern "C" __global__ void leave_early(const int* x, int* out, int n) {
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t >= n) return;            // single lanes and whole warps
    s[t] = x[t] * x[t];
    __syncthreads();
    if (x[t] == 0) return;
    out[t] = s[(t + 1) % n];
    if (t & 1) return;
    __syncthreads();
    out[t] += s[(t + 2) % n];
}
extern "C" __global__ void digits(const unsigned* x, int* out, int base) {
    unsigned v = x[threadIdx.x];
    int sum = 0, len = 0, top;
    do {
        top = v % base;
        sum += top;
        ++len;
        v /= base;
    } while (v != 0);
    out[threadIdx.x] = sum > 20 ? len > 5 ? 3 : 2 : sum > 10 ? top == 1 ? 1 : -1 : len == 1 ? sum : 0;
}
extern "C" __global__ void machine(const unsigned char* prog, int len, int* out) {  // a little interpreter, a lane each
    int acc = (int)threadIdx.x, x = 1, pc = 0, fuel = 60;
    while (pc < len && fuel-- > 0) {
        unsigned char op = prog[pc++];
        switch (op >> 4) {
            case 0: acc += op & 15; continue;
            case 1: acc -= x; break;
            case 2: x = acc; break;
            case 3: if (acc > (int)(op & 15)) pc = 0; break;
            case 4: acc ^= x << (op & 15); break;
            case 5: if (acc & 1) pc += op & 15; break;
            case 6: goto halt;
            default: acc = acc * 3 + 1;
        }
        acc &= 0xffff;
    }
halt:
    out[threadIdx.x] = acc * 64 + fuel;
}
