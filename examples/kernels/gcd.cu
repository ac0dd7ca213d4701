// SPDX-License-Identifier: MIT
// Greatest common divisors by Euclid's algorithm: every lane of a warp leaves the loop at a time of its own.
extern "C" __global__ void gcd(const unsigned* a, const unsigned* b, unsigned* result) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    while (y != 0) {
        unsigned rest = x % y;
        x = y;
        y = rest;
    }
    result[i] = x;
}
