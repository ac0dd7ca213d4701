// function_objects: function pointers: as template arguments, chosen by a switch, in a constant table, through a struct, and pointers to members.
typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ int gcd(int a, int b) { while (b) { int c = a % b; a = b; b = c; } return a < 0 ? -a : a; }
template <Op F> __device__ int fold(const int* v, int n, int s) { for (int i = 0; i < n; i++) s = F(s, v[i]); return s; }
extern "C" __global__ void folds(const int* v, int n, int* out) {
    switch (threadIdx.x) {
        case 0: out[0] = fold<add>(v, n, 0); break;
        case 1: out[1] = fold<sub>(v, n, 0); break;
        case 2: out[2] = fold<mul>(v, n, 1); break;
        case 3: out[3] = fold<gcd>(v, n, 0); break;
        case 4: { constexpr Op f = sizeof(int) > 3 ? &add : &mul; out[4] = f(v[0], v[1]); } break;
    }
}
struct Counter {
    int n;
    __device__ int up(int k) { return n += k; }
    __device__ int down(int k) { return n -= k; }
};
template <int (Counter::*M)(int)> __device__ int twice(Counter& c, int k) { (c.*M)(k); return (c.*M)(k); }
template <class F, class G> __device__ auto compose(F f, G g) { return [=](auto x) { return g(f(x)); }; }
extern "C" __global__ void members(int* out) {
    int t = threadIdx.x;
    Counter c = {t};
    int a = twice<&Counter::up>(c, 5), b = twice<&Counter::down>(c, 3);
    auto h = compose([](int x) { return x * x; }, [b](int x) { return x - b; });
    auto curry = [](int a) { return [a](int b) { return [=](int c) { return a * 100 + b * 10 + c; }; }; };
    int fib[2] = {0, 1};
    auto next = [&fib, k = 0]() mutable { k++; int s = fib[0] + fib[1]; fib[0] = fib[1]; fib[1] = s; return s * k; };
    int s = 0;
    for (int i = 0; i <= t; ++i) s += next();
    out[4 * t] = a; out[4 * t + 1] = h(a); out[4 * t + 2] = curry(t)(a)(b); out[4 * t + 3] = s;
}
template <class F> __device__ float integrate(F f, float a, float b, int n) {
    float h = (b - a) / n, s = 0.0f;
    for (int i = 0; i < n; ++i) s = __fadd_rn(s, f(__fadd_rn(a, __fmul_rn(h, i + 0.5f))));
    return __fmul_rn(s, h);
}
struct Poly { float c[3]; __device__ float operator()(float x) const { return __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(c[2], x), c[1]), x), c[0]); } };
extern "C" __global__ void integrals(const float* c, float* out) {
    Poly p;
    for (int i = 0; i < 3; ++i) p.c[i] = c[3 * threadIdx.x + i];
    out[2 * threadIdx.x] = integrate(p, 0.0f, 2.0f, 5);
    out[2 * threadIdx.x + 1] = integrate([](float x) { return 1.0f / (x + 1.0f); }, 0.0f, 1.0f, 3 + threadIdx.x);
}
