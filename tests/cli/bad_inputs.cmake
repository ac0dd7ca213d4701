# SPDX-License-Identifier: MIT
# Every bad input must be refused, or stopped, at the stage its case names. The exceptions need shared memory, atomics or
# barriers to get that far, which the machine refuses altogether; they are listed, so that none joins or leaves them unseen.
set(refused_too_early divergent_barrier.ptx shared_too_large.ptx spin_lock.cu)

execute_process(COMMAND "${QWENGPU}" check "${BAD}" --sources "${BAD}" --jobs 2 --max-records 2000
    OUTPUT_VARIABLE printed RESULT_VARIABLE status)
string(REGEX MATCHALL "(^|\n)FAIL [^: ]+" failed "${printed}")
list(TRANSFORM failed REPLACE "\n?FAIL " "")
list(SORT failed)
if(NOT failed STREQUAL refused_too_early OR NOT status EQUAL 1)
    message(FATAL_ERROR "exit status ${status}, not as expected: ${failed}\n${printed}")
endif()
if(NOT printed MATCHES "\n28 passed, 3 failed\n$")
    message(FATAL_ERROR "another number of cases than expected:\n${printed}")
endif()
