// SPDX-License-Identifier: MIT
// Steps of the Collatz sequence (n -> n / 2 or 3 n + 1) down to 1: a loop with a branch inside, and lanes that part ways.
extern "C" __global__ void collatz(const unsigned* start, unsigned* steps) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned n = start[i], count = 0;
    while (n > 1) {
        if (n % 2 == 0)
            n = n / 2;
        else
            n = 3 * n + 1;
        ++count;
    }
    steps[i] = count;
}
