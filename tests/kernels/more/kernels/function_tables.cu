// SPDX-License-Identifier: MIT
// Functions through pointers: chosen by each thread, from tables in global and constant memory, passed on, kept in structures, returned
// by functions, and pointers to members.
typedef int (*binary)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ int largest(int a, int b) { return a > b ? a : b; }
__device__ int power(int a, int b) { int r = 1; for (; b > 0; --b) r *= a; return r; }
__device__ binary table[5] = {add, sub, mul, largest, power};

extern "C" __global__ void calculator(const int* op, const int* a, const int* b, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[op[i]](a[i], b[i]);
}

extern "C" __global__ void choose(const int* v, int n, int* out) {
    binary f = n > 3 ? &add : &mul;
    if (threadIdx.x == 2) f = sub;
    out[threadIdx.x] = f(v[0], v[threadIdx.x]);
}

// A table that the kernel itself writes, then every thread reads.
__device__ binary chosen[2];
extern "C" __global__ void installed(const int* v, int which, int* out) {
    if (threadIdx.x == 0) chosen[0] = which ? largest : add, chosen[1] = table[which];
    __syncthreads();
    out[threadIdx.x] = chosen[threadIdx.x & 1](v[threadIdx.x], 3);
}

// What another launch has left there, or nothing: a null pointer may be asked for, but not called.
extern "C" __global__ void left(int* out) { out[threadIdx.x] = chosen[threadIdx.x] == nullptr; }

typedef float (*curve)(float, const float*);
__device__ float line(float x, const float* c) { return fmaf(c[1], x, c[0]); }
__device__ float bend(float x, const float* c) { return fmaf(fmaf(c[2], x, c[1]), x, c[0]); }
__device__ float step(float x, const float* c) { return x < c[0] ? c[1] : c[2]; }
__constant__ curve curves[3] = {line, bend, step};
struct Task { curve f; float from; };
__device__ __noinline__ float sample(const Task& task, const float* c, int n) {
    float s = 0.0f;
    for (int i = 0; i < n; ++i) s = __fadd_rn(s, task.f(__fadd_rn(task.from, (float)i), c));
    return s;
}
extern "C" __global__ void areas(const float* c, const int* kind, float* out) {
    const int t = threadIdx.x;
    Task tasks[2] = {{curves[kind[t]], 0.0f}, {line, (float)t}};
    out[2 * t] = sample(tasks[0], c, 4);
    out[2 * t + 1] = sample(tasks[1], c, 2);
}

// A reduction of the block by any operation.
__device__ __noinline__ int reduce(binary f, int x) {
    __shared__ int s[16];
    s[threadIdx.x] = x;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] = f(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    const int r = s[0];
    __syncthreads();
    return r;
}
extern "C" __global__ void reductions(const int* v, const int* op, int* out) {
    const int total = reduce(add, v[threadIdx.x]), other = reduce(table[op[0]], v[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = total, out[1] = other;
}

// A machine whose states are functions that tell the next one: counts words and numbers in a text.
struct Counts { int words, numbers; };
struct State { State (*next)(char, Counts*); };
__device__ State outside(char, Counts*);
__device__ State in_word(char, Counts*);
__device__ State in_number(char, Counts*);
__device__ bool is_digit(char c) { return c >= '0' && c <= '9'; }
__device__ State outside(char c, Counts* n) {
    if (c == ' ') return {outside};
    if (is_digit(c)) return n->numbers++, State{in_number};
    return n->words++, State{in_word};
}
__device__ State in_word(char c, Counts*) { return {c == ' ' ? outside : in_word}; }
__device__ State in_number(char c, Counts* n) {
    if (c == ' ') return {outside};
    if (is_digit(c)) return {in_number};
    return n->numbers--, n->words++, State{in_word};
}
extern "C" __global__ void lexer(const char* text, int n, int* out) {
    Counts counts = {0, 0};
    State s = {outside};
    for (int i = threadIdx.x * n; i < (threadIdx.x + 1) * n; ++i) s = s.next(text[i], &counts);
    out[2 * threadIdx.x] = counts.words;
    out[2 * threadIdx.x + 1] = counts.numbers;
}

struct Counter {
    int n;
    __device__ int up(int k) { return n += k; }
    __device__ int down(int k) { return n -= k; }
};
template <int (Counter::*M)(int)> __device__ int twice(Counter& c, int k) { (c.*M)(k); return (c.*M)(k); }
template <binary F> __device__ int fold(const int* v, int n, int s) { for (int i = 0; i < n; ++i) s = F(s, v[i]); return s; }
extern "C" __global__ void members(const int* v, int* out) {
    const int t = threadIdx.x;
    Counter c = {t};
    out[4 * t] = twice<&Counter::up>(c, 5);
    out[4 * t + 1] = twice<&Counter::down>(c, 3);
    int (Counter::*m)(int) = v[t] > 0 ? &Counter::up : &Counter::down;
    out[4 * t + 2] = (c.*m)(10);
    out[4 * t + 3] = fold<largest>(v, 4, 0) + fold<add>(v, 4, 0);
}
