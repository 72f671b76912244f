# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies. Components: devel (headers, static libraries, CMake package), runtime (command, service unit),
# python (the extension module, laid out for a wheel).
include(CMakePackageConfigHelpers)
set(hcpnet_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hcpnet)

install(TARGETS hcpnet_core hcpnet_net hcpnet_pki EXPORT hcpnetTargets
  ARCHIVE COMPONENT devel
  FILE_SET HEADERS COMPONENT devel)
install(EXPORT hcpnetTargets NAMESPACE hcpnet:: DESTINATION ${hcpnet_package_folder} COMPONENT devel)

configure_package_config_file(cmake/hcpnetConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/hcpnetConfig.cmake
  INSTALL_DESTINATION ${hcpnet_package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/hcpnetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hcpnetConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/hcpnetConfigVersion.cmake
  DESTINATION ${hcpnet_package_folder} COMPONENT devel)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT devel)

if(HCPNET_APPS)
  configure_file(packaging/hcpnet.service.in ${CMAKE_CURRENT_BINARY_DIR}/hcpnet.service @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hcpnet.service DESTINATION lib/systemd/system COMPONENT runtime)
endif()
