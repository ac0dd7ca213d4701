// SPDX-License-Identifier: MIT
// Second of two translation units with every header of the library in them.
#include "all_headers.hpp"

int second();
int second() { return 0; }
