// SPDX-License-Identifier: MIT
// First of two translation units with every header of the library in them.
#include "all_headers.hpp"

int second();

int main() { return second(); }
