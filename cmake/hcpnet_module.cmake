# SPDX-License-Identifier: Apache-2.0
set(HCPNET_UNITY_FILES 8)

# hcpnet_module(<core|net|pki> HEADERS <public headers below include/hcpnet> SOURCES <files of this folder>
#   [APART <more of them>])
# Adds one module's files to its library. Public headers are installed, and checked to be self-contained. With
# HCPNET_UNITY files of a module are compiled together, but for those APART: they have names of their own that another
# file has too.
function(hcpnet_module library)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;APART")
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/hcpnet/)
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM arg_APART PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(hcpnet_${library} PRIVATE ${arg_SOURCES} ${arg_APART}
    PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_HEADERS})
  if(HCPNET_UNITY)
    set_target_properties(hcpnet_${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_filename_component(module ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    set(number 0)
    foreach(file ${arg_SOURCES})
      math(EXPR group "${number} / ${HCPNET_UNITY_FILES}")
      math(EXPR number "${number} + 1")
      set_source_files_properties(${file} TARGET_DIRECTORY hcpnet_${library} PROPERTIES UNITY_GROUP ${library}_${module}_${group})
    endforeach()
  endif()
endfunction()

# hcpnet_add_test(<core|net|pki> <files of this folder>): adds tests to the one test executable of that library.
function(hcpnet_add_test library)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  target_sources(${library}_tests PRIVATE ${files})
endfunction()
