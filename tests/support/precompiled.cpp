// SPDX-License-Identifier: MIT
// Carries the precompiled header that the test programs reuse.
