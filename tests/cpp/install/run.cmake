# SPDX-License-Identifier: Apache-2.0
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${build} --component devel --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G Ninja
  -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher}
  -D CMAKE_CXX_FLAGS=${flags} -D EXAMPLES=${examples})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/use_core)
run(${work}/build/use_net)
run(${work}/build/use_pki)
run(${work}/build/embed)
# Nothing in the package may point back into the source or build folder.
file(GLOB_RECURSE package_files ${work}/prefix/*.cmake)
foreach(file IN LISTS package_files)
  file(STRINGS ${file} lines REGEX "${build}/(src|include)")
  if(lines)
    message(FATAL_ERROR "${file} points into the build folder: ${lines}")
  endif()
endforeach()
