// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/manifest/build.hpp>
#include <hcpnet/spec/validate.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::manifest {

/// Objects of one PrimaryUDN are put together here.
class UdnBuilder {
 public:
  UdnBuilder(const spec::ValidPrimaryUdn& udn, const spec::ValidSet& set, const spec::Observed& observed,
             const BuildOptions& options, Diagnostics& problems, std::vector<nlohmann::json>& out)
      : udn_(udn), set_(set), observed_(observed), options_(options), problems_(problems), out_(out) {}

  void build();

 private:
  using Json = nlohmann::json;

  void complain(Severity severity, const std::string& pointer, const char* code, const std::string& message);
  void warn(const std::string& pointer, const char* code, const std::string& message) {
    complain(Severity::warning, pointer, code, message);
  }
  [[nodiscard]] Json make_object(const char* version, const char* kind, std::string name, const std::string& ns) const;
  [[nodiscard]] const spec::ValidHostedCluster* hosted_cluster() const;
  [[nodiscard]] bool has_ipv6() const;

  void add_network();
  void add_route_advertisements();
  void check_addresses_are_kept();

  void add_hosted_cluster();
  void add_vm_patch();
  void add_node_pools();
  void add_dns_policy();
  void add_etcd_policy();
  void add_slice_role();
  void add_image_overrides();
  void check_machine_network();
  void check_attachments(const std::string& list, const std::vector<std::string>& references);

  void add_machines();
  void add_services();

  const spec::ValidPrimaryUdn& udn_;
  const spec::ValidSet& set_;
  const spec::Observed& observed_;
  const BuildOptions& options_;
  Diagnostics& problems_;
  std::vector<Json>& out_;
};

}  // namespace hcpnet::manifest
