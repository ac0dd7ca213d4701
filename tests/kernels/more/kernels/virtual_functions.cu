// SPDX-License-Identifier: MIT
// Virtual functions: through references and pointers to a base, overridden or not, called by other members, in classes with two bases,
// with virtual destructors.
struct Shape {
    int id;
    __device__ explicit Shape(int i) : id(i) {}
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 4; }
    __device__ int describe() const { return 100 * area() + 10 * corners() + id; }
};
struct Square : Shape {
    int s;
    __device__ Square(int i, int a) : Shape(i), s(a) {}
    __device__ int area() const override { return s * s; }
};
struct Box : Shape {
    int w, h;
    __device__ Box(int i, int a, int b) : Shape(i), w(a), h(b) {}
    __device__ int area() const override { return w * h; }
};
struct Triangle final : Box {
    __device__ Triangle(int i, int a, int b) : Box(i, a, b) {}
    __device__ int area() const override { return Box::area() / 2; }
    __device__ int corners() const override { return 3; }
};
extern "C" __global__ void shapes(const int* kind, int* out) {
    const int t = threadIdx.x;
    Square a(1, t + 1);
    Box b(2, t + 2, 3);
    Triangle c(3, t + 2, 5);
    const Shape* all[3] = {&a, &b, &c};
    out[2 * t] = all[kind[t]]->describe();
    int sum = 0;
    for (int i = 0; i < 3; ++i) sum = 3 * sum + all[i]->area();
    out[2 * t + 1] = sum;
}

// Values that a kernel steps by one of several rules; the object lies in shared memory, and all threads use it.
struct Rule {
    __device__ virtual ~Rule() {}
    __device__ virtual unsigned apply(unsigned x) = 0;
};
struct Collatz : Rule {
    __device__ unsigned apply(unsigned x) override { return x & 1 ? 3 * x + 1 : x / 2; }
};
struct Xorshift : Rule {
    int n = 0;
    __device__ unsigned apply(unsigned x) override { ++n; x ^= x << 13; x ^= x >> 17; return x ^ x << 5; }
};
__device__ __noinline__ unsigned iterate(Rule& r, unsigned x, int n) {
    for (int i = 0; i < n; ++i) x = r.apply(x);
    return x;
}
extern "C" __global__ void rules(const unsigned* x, int n, unsigned* out) {
    Collatz c;
    Xorshift s;
    Rule* r = &c;
    if (threadIdx.x % 2) r = &s;
    out[threadIdx.x] = iterate(*r, x[threadIdx.x], n) + s.n;
}

// Two bases: the second one's functions get a pointer that has to be set back.
struct Named { __device__ virtual int name() const { return 7; } };
struct Scaled { int k = 2; __device__ virtual int scale(int x) const { return k * x; } };
struct Both : Named, Scaled {
    int more;
    __device__ explicit Both(int m) : more(m) {}
    __device__ int name() const override { return more; }
    __device__ int scale(int x) const override { return k * x + more; }
};
__device__ __noinline__ int use(const Scaled& s, int x) { return s.scale(x); }
__device__ __noinline__ int call_it(const Named* n) { return n->name(); }
extern "C" __global__ void bases(const int* v, int* out) {
    const int t = threadIdx.x;
    Both b(v[t]);
    Scaled plain;
    Named named;
    plain.k = 5;
    out[2 * t] = use(v[t] > 4 ? static_cast<const Scaled&>(b) : plain, t);
    out[2 * t + 1] = call_it(v[t] > 2 ? &b : &named);
}
