# SPDX-License-Identifier: MIT
# The two libraries. qwengpu::qwengpu needs Eigen and fmt; qwengpu::io adds JSON, for the rooms that read and write it.
# Neither carries a warning flag or a -march to those who link it.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 QUIET)

set(QWENGPU_INCLUDE_DIR "${PROJECT_SOURCE_DIR}/include")
set(QWENGPU_IO_ROOMS checkpoint io view)
file(GLOB_RECURSE QWENGPU_HEADERS CONFIGURE_DEPENDS "${QWENGPU_INCLUDE_DIR}/qwengpu/*.hpp")
set(QWENGPU_IO_HEADERS ${QWENGPU_HEADERS})
list(JOIN QWENGPU_IO_ROOMS "|" io_rooms)
list(FILTER QWENGPU_IO_HEADERS INCLUDE REGEX "/qwengpu/(${io_rooms})/")
list(FILTER QWENGPU_HEADERS EXCLUDE REGEX "/qwengpu/(${io_rooms})/")

add_library(qwengpu INTERFACE)
add_library(qwengpu::qwengpu ALIAS qwengpu)
target_compile_features(qwengpu INTERFACE cxx_std_20)
target_link_libraries(qwengpu INTERFACE Eigen3::Eigen fmt::fmt)
target_sources(qwengpu INTERFACE FILE_SET HEADERS BASE_DIRS "${QWENGPU_INCLUDE_DIR}" FILES ${QWENGPU_HEADERS})

if(nlohmann_json_FOUND)
    add_library(qwengpu_io INTERFACE)
    add_library(qwengpu::io ALIAS qwengpu_io)
    target_link_libraries(qwengpu_io INTERFACE qwengpu nlohmann_json::nlohmann_json)
    target_sources(qwengpu_io INTERFACE FILE_SET HEADERS BASE_DIRS "${QWENGPU_INCLUDE_DIR}" FILES ${QWENGPU_IO_HEADERS})
    set_target_properties(qwengpu_io PROPERTIES EXPORT_NAME io)
elseif(QWENGPU_BUILD_CLI OR QWENGPU_BUILD_TESTS)
    message(FATAL_ERROR "The command line and the tests need nlohmann/json 3.11 (Debian: apt-get install nlohmann-json3-dev)")
endif()
