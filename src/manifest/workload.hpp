// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "manifest/objects.hpp"

namespace hcpnet::manifest {

/// A pod that serves on the VLAN, or, without addresses there, on its own alone; as far as its kind of program matters.
struct Workload {
  std::string name;
  std::string component;
  std::string account;
  std::string config_name;                                        ///< ConfigMap
  Json config;                                                    ///< its data
  std::vector<std::pair<std::string, std::string>> config_items;  ///< key, path; empty: every key as a file of its name
  std::string config_path;                                        ///< where it is mounted
  std::string secret;                                             ///< of the user's; empty: none
  std::string secret_path;                                        ///< where it is mounted
  std::vector<std::string> secret_keys;                           ///< which files of it
  bool reloads = true;  ///< the program sees changed files by itself; else a change makes a new pod
  std::string image;
  std::vector<std::string> command, args;
  std::vector<Port> ports;                  ///< DNS, DHCP, proxy: what clients use
  std::vector<InterfaceAddress> addresses;  ///< on the VLAN
  int replicas = 1;                         ///< addresses on the VLAN exist once
  bool needs_raw_socket = false;
  bool has_file_capabilities = false;  ///< the image's program carries cap_net_bind_service
  std::string state_path;              ///< empty: it keeps no state
  std::string claim;                   ///< PersistentVolumeClaim of the state; empty: lost with the pod
  std::string live_path = "/healthz", ready_path = "/readyz";
  std::uint16_t live_port = kObservePort, ready_port = kObservePort;
  std::uint16_t admin_port = 0;  ///< of the program, on loopback; 0: none
};

[[nodiscard]] Json deployment(const Unit& unit, const Workload& workload);

}  // namespace hcpnet::manifest
