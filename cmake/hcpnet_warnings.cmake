# SPDX-License-Identifier: Apache-2.0
# hcpnet_warnings: the warnings that every target of ours is built with; errors in developer mode only, so that a newer
# compiler at a user's site never stops his build.
add_library(hcpnet_warnings INTERFACE)
if(NOT HCPNET_UNITY)  # files that are compiled together shadow names of each other
  set(shadow -Wshadow)
endif()
target_compile_options(hcpnet_warnings INTERFACE -Wall -Wextra -Wpedantic ${shadow} -Wconversion -Wno-sign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual)
if(HCPNET_DEVELOPER_MODE)
  target_compile_options(hcpnet_warnings INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Asio has an atomic_thread_fence, which GCC's ThreadSanitizer does not model.
    target_compile_options(hcpnet_warnings INTERFACE -Wno-tsan)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # libstdc++ 12's stable_sort calls what it has itself marked deprecated; GCC keeps quiet about its own headers.
    target_compile_options(hcpnet_warnings INTERFACE -Wno-deprecated-declarations)
  endif()
endif()
