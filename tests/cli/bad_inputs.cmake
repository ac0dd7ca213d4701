# SPDX-License-Identifier: MIT
# Every bad input must be refused, or stopped, at the stage its case names.
execute_process(COMMAND "${QWENGPU}" check "${BAD}" --sources "${BAD}" --jobs 2 --max-records 3000
    OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT printed MATCHES "\n31 passed, 0 failed\n$")
    message(FATAL_ERROR "exit status ${status}:\n${printed}")
endif()
