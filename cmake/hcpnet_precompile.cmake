# SPDX-License-Identifier: Apache-2.0
option(HCPNET_PRECOMPILE "Let the compiler precompile the headers that nearly every file includes" ${HCPNET_DEVELOPER_MODE})

# hcpnet_precompile(<target> <headers>...): precompiles the standard library's headers and those named. Only headers of
# others: one of ours would let each change compile everything again. Of nlohmann/json.hpp little is spared, so only the
# command has it, whose every file includes it. The release build goes without, and so proves that every file includes
# what it uses. What Clang precompiles names the folder it lies in, so that ccache finds it again in this clone only; it
# spares nearly half of a build, so that is worth it.
function(hcpnet_precompile target)
  if(HCPNET_PRECOMPILE)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      target_compile_options(${target} PRIVATE SHELL:-Xclang\ -fno-pch-timestamp)  # else ccache never finds it again
    endif()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <charconv> <chrono> <functional> <map> <memory>
      <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> ${ARGN})
  endif()
endfunction()
