# SPDX-License-Identifier: MIT
# Configures, builds and runs the project in SOURCE_DIR in a fresh WORK_DIR, with qwengpu from PREFIX (installed) or
# from SUBDIRECTORY (its sources).
file(REMOVE_RECURSE "${WORK_DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${WORK_DIR}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DQWENGPU_SUBDIRECTORY=${SUBDIRECTORY}"
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK_DIR}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${WORK_DIR}/consumer" COMMAND_ERROR_IS_FATAL ANY)
