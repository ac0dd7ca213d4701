# SPDX-License-Identifier: MIT
# How our own programs are compiled: all warnings are errors, and no multiply-add is fused, since bits are compared.
function(qwengpu_own_target target)
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wdouble-promotion -Werror -ffp-contract=off
        # g++ 12 sees overlaps and overruns in std::string's operator+ where there are none (GCC bug 105651).
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow>
        ${QWENGPU_OWN_OPTIONS})
endfunction()
