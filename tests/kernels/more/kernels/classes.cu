// classes: C++ as it is taught: constructors and destructors, static members, inheritance, CRTP, iterators, variadic templates, operators.
namespace geometry {
class Shape {
protected:
    int id_;
public:
    __device__ explicit Shape(int id) : id_(id) {}
    __device__ int id() const { return id_; }
};
class Rect : public Shape {
    int w_, h_;
public:
    __device__ Rect(int id, int w, int h = 1) : Shape(id), w_(w), h_(h) {}
    __device__ int area() const { return w_ * h_; }
    __device__ Rect& scale(int k) { w_ *= k; h_ *= k; return *this; }
    __device__ friend bool operator<(const Rect& a, const Rect& b) { return a.area() != b.area() ? a.area() < b.area() : a.id_ < b.id_; }
};
}
class Guard {                                               // its destructor writes
    int* where; int value;
public:
    __device__ Guard(int* w, int v) : where(w), value(v) {}
    __device__ ~Guard() { *where += value; }
    Guard(const Guard&) = delete;
};
extern "C" __global__ void rects(const int* wh, int* best, int* log, int n) {
    using geometry::Rect;
    int t = threadIdx.x;
    Guard outer(log + t, 1000);
    Rect top(-1, 0);
    for (int i = 0; i < n; ++i) {
        Guard g(log + t, i);
        Rect r(i, wh[2 * i] + t, wh[2 * i + 1]);
        if (r.area() < 0) continue;
        if (r.area() > 400) { best[t] = ~r.id(); return; }
        if (top < r.scale(1 + (i & 1))) top = r;
    }
    best[t] = top.id() * 1000 + top.area();
}
template <class D> struct Stepper {                         // static polymorphism
    __device__ int run(int v, int n) { while (n--) v = static_cast<D*>(this)->step(v); return v; }
};
struct Hailstone : Stepper<Hailstone> { __device__ int step(int v) const { return v % 2 ? 3 * v + 1 : v / 2; } };
struct Affine : Stepper<Affine> { int a, b; __device__ Affine(int a, int b) : a(a), b(b) {} __device__ int step(int v) { b ^= v; return a * v + b; } };
extern "C" __global__ void steppers(const int* v, int* h, int* f) {
    h[threadIdx.x] = Hailstone().run(v[threadIdx.x], 9);
    f[threadIdx.x] = Affine(5, (int)threadIdx.x).run(v[threadIdx.x], 4);
}
template <class T, int N> struct Array {
    T data[N];
    __device__ T* begin() { return data; }
    __device__ T* end() { return data + N; }
    __device__ const T* begin() const { return data; }
    __device__ const T* end() const { return data + N; }
    static constexpr int size = N;
};
template <class... T> __device__ auto make_array(T... t) { return Array<int, sizeof...(T)>{{int(t)...}}; }
template <class... T> __device__ int sum(T... t) { return (0 + ... + t); }
template <class T> __device__ int kind_of(T) { if constexpr (sizeof(T) == 1) return 1; else if constexpr (T(-1) < T(0)) return 2; else return 3; }
struct Range {
    int lo, hi;
    struct It { int i; __device__ int operator*() const { return i; } __device__ It& operator++() { i += 2; return *this; } __device__ bool operator!=(It o) const { return i < o.i; } };
    __device__ It begin() const { return {lo}; }
    __device__ It end() const { return {hi}; }
};
extern "C" __global__ void variadic(const int* v, int* out) {
    int t = threadIdx.x, s = 0;
    auto a = make_array(v[t], (short)v[t], (unsigned char)v[t], t);
    for (int& x : a) x += decltype(a)::size;
    for (int x : a) s = 31 * s + x;
    for (int i : Range{t, 9}) s ^= i << 4;
    auto [p, q] = Range{s & 15, s >> 4 & 15};
    out[t] = sum(s, p * q, kind_of('c'), 10 * kind_of(1), 100 * kind_of(1u), 1000 * kind_of((short)1));
}
template <class T> class Ratio {
    T n, d;
    __device__ static T gcd(T a, T b) { return b ? gcd_loop(a, b) : a; }
    __device__ static T gcd_loop(T a, T b) { while (b) { T r = a % b; a = b; b = r; } return a < 0 ? -a : a; }
public:
    __device__ Ratio(T n = 0, T d = 1) : n(n), d(d) { T g = gcd(n, d); if (g) { this->n /= g; this->d /= g; } if (this->d < 0) { this->n = -this->n; this->d = -this->d; } }
    __device__ Ratio operator+(const Ratio& o) const { return {n * o.d + o.n * d, d * o.d}; }
    __device__ Ratio operator*(const Ratio& o) const { return Ratio(n * o.n, d * o.d); }
    __device__ Ratio operator/(Ratio o) const { return {n * o.d, d * o.n}; }
    __device__ operator float() const { return (float)n / (float)d; }
    __device__ T num() const { return n; }
    __device__ T den() const { return d; }
};
extern "C" __global__ void ratios(const int* a, int* out, float* f) {      // continued fractions
    int t = threadIdx.x;
    Ratio<int> r(a[5 * t + 4]);
    for (int i = 3; i >= 0; --i) r = Ratio<int>(a[5 * t + i]) + Ratio<int>(1) / r;
    out[2 * t] = r.num();
    out[2 * t + 1] = r.den();
    f[t] = r;
}
