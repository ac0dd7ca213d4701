# SPDX-License-Identifier: MIT
# How our own programs are compiled: all warnings are errors, and no multiply-add is fused, since bits are compared.
function(qwengpu_own_target target)
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wdouble-promotion -Werror -ffp-contract=off
        ${QWENGPU_OWN_OPTIONS})
endfunction()
