# SPDX-License-Identifier: Apache-2.0

# hcpnet_module(<core|net|pki> HEADERS <public headers below include/hcpnet> SOURCES <files of this folder>)
# Adds one module's files to its library. Public headers are installed, and checked to be self-contained.
function(hcpnet_module library)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES")
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/hcpnet/)
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(hcpnet_${library} PRIVATE ${arg_SOURCES}
    PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_HEADERS})
endfunction()

# hcpnet_add_test(<core|net|pki> <files of this folder>): adds tests to the one test executable of that library.
function(hcpnet_add_test library)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  target_sources(${library}_tests PRIVATE ${files})
endfunction()
