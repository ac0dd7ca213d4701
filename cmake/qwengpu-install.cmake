# SPDX-License-Identifier: MIT
# The installed tree: headers, a CMake package with a component `io`, and two pkg-config files. All of it can be moved.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/qwengpu")

install(TARGETS qwengpu EXPORT qwengpu-targets FILE_SET HEADERS)
install(EXPORT qwengpu-targets NAMESPACE qwengpu:: DESTINATION "${package_dir}")
if(TARGET qwengpu_io)
    install(TARGETS qwengpu_io EXPORT qwengpu-io-targets FILE_SET HEADERS)
    install(EXPORT qwengpu-io-targets NAMESPACE qwengpu:: DESTINATION "${package_dir}")
endif()

configure_package_config_file(cmake/qwengpu-config.cmake.in "${PROJECT_BINARY_DIR}/qwengpu-config.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/qwengpu-config-version.cmake"
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/qwengpu-config.cmake" "${PROJECT_BINARY_DIR}/qwengpu-config-version.cmake"
    DESTINATION "${package_dir}")

foreach(name IN ITEMS qwengpu qwengpu-io)
    configure_file("cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
endforeach()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
