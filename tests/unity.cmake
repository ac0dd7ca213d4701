# SPDX-License-Identifier: MIT
# All test files of a program as one translation unit, since most of what a test costs the compiler is the library's inline functions,
# and they are the same in every file. Each file stands in a namespace of its own, so that equal names in two files do not meet; what
# the files include comes before them, and is not included again.

# Writes FILE, which includes the sources (relative to the current folder).
function(write_unity_source file sources)
    set(includes "")
    set(bodies "")
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
        cmake_path(GET path PARENT_PATH folder)
        file(STRINGS "${path}" lines REGEX "^#include ")
        foreach(line IN LISTS lines)
            string(REGEX MATCH "\"(.+)\"" quoted "${line}")
            if(quoted AND EXISTS "${folder}/${CMAKE_MATCH_1}")
                set(line "#include \"${folder}/${CMAKE_MATCH_1}\"")
            endif()
            list(APPEND includes "${line}")
        endforeach()
        string(MAKE_C_IDENTIFIER "unity_${source}" space)
        string(APPEND bodies "\nnamespace ${space} {\n#include \"${path}\"\n}\n")
    endforeach()
    list(REMOVE_DUPLICATES includes)
    list(JOIN includes "\n" includes)
    file(CONFIGURE OUTPUT "${file}" CONTENT "@includes@\n@bodies@" @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
endfunction()
