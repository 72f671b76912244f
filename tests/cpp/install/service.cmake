# SPDX-License-Identifier: Apache-2.0
# Installs the runtime component below a root of its own and lets systemd read the unit there.
file(REMOVE_RECURSE ${work})
file(COPY /bin/true DESTINATION ${work}/bin)
file(RENAME ${work}/bin/true ${work}/bin/hcpnet)  # systemd only asks whether the program exists
file(READ ${build}/hcpnet.service unit)
string(REGEX REPLACE "ExecStart=[^ ]*" "ExecStart=${work}/bin/hcpnet" unit "${unit}")
string(REPLACE "man:hcpnet(1)" "https://www.rfc-editor.org/rfc/rfc2131" unit "${unit}")  # the page isn't installed here
file(WRITE ${work}/hcpnet.service "${unit}")
execute_process(COMMAND ${analyze} verify ${work}/hcpnet.service RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0 OR text MATCHES "hcpnet.service:")
  message(FATAL_ERROR "${text}")
endif()
execute_process(COMMAND ${analyze} security --offline=true --threshold=40 ${work}/hcpnet.service RESULT_VARIABLE result
  OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "exposure above 4.0:\n${text}")
endif()
