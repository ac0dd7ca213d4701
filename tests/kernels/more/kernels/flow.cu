// flow: gotos forwards and backwards, Duff's device, labelled breaks, fall-through, returns before barriers, loops with two exits.
extern "C" __global__ void duff(const char* from, char* to, const int* counts) {
    const char* s = from + 12 * threadIdx.x;
    char* d = to + 12 * threadIdx.x;
    int count = counts[threadIdx.x];
    if (count == 0) return;
    int n = (count + 3) / 4;
    switch (count % 4) {
        case 0: do { *d++ = *s++;
        case 3:      *d++ = *s++;
        case 2:      *d++ = *s++;
        case 1:      *d++ = *s++;
                } while (--n > 0);
    }
}
extern "C" __global__ void pythagoras(int limit, int* triple) {      // first triple with a + b + c == limit
    int t = threadIdx.x, a, b, c, target = limit + t;
    for (a = 1; a < target; ++a)
        for (b = a; b < target; ++b) {
            c = target - a - b;
            if (c < b) break;
            if (a * a + b * b == c * c) goto found;
        }
    a = b = c = 0;
found:
    triple[3 * t] = a; triple[3 * t + 1] = b; triple[3 * t + 2] = c;
}
extern "C" __global__ void jump_in(const int* v, int* out) {         // a goto into a loop: two entries
    int x = v[threadIdx.x], k = 0;
    if (x & 1) goto odd;
even:
    x /= 2;
    k += 1;
    if (x <= 1) goto end;
    if (!(x & 1)) goto even;
odd:
    x = x * 3 + 1;
    k += 100;
    if (k > 900) goto end;
    if (x & 2) { x -= 1; goto odd; }
    goto even;
end:
    out[threadIdx.x] = x * 10000 + k;
}
extern "C" __global__ void falling(const int* op, int* out, int n) {
    int r = threadIdx.x;
    for (int i = 0; i < n; ++i) {
        switch (op[i] + r % 2) {
            case 0: r += 5;
            case 1: r <<= 1; break;
            case 2: { int s = r; r = s * s % 97; }
            case 3: continue;
            case 4: r ^= 0x55;
            default: r++;
            case 9: if (r > 1000) goto out;
        }
        r -= 3;
    }
out:
    out[threadIdx.x] = r;
}
extern "C" __global__ void early(const int* v, int* out, int n) {    // threads leave before one barrier, between two, and never
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = v[t];
    __syncthreads();
    int x = s[(t + 1) % n];
    if (x < 0) { out[t] = -1; return; }
    __syncthreads();
    s[t] = x * 2;
    __syncthreads();
    int left = t ? t - 1 : n - 1;
    out[t] = s[left];
}
extern "C" __global__ void spiral(int* m, int rows, int cols) {
    int top = 0, bottom = rows - 1, left = 0, right = cols - 1, k = 1;
    while (1) {
        for (int c = left; c <= right; ++c) m[top * cols + c] = k++;
        if (++top > bottom) break;
        for (int r = top; r <= bottom; ++r) m[r * cols + right] = k++;
        if (--right < left) break;
        for (int c = right; c >= left; --c) m[bottom * cols + c] = k++;
        if (--bottom < top) break;
        for (int r = bottom; r >= top; --r) m[r * cols + left] = k++;
        if (++left > right) break;
    }
}
