// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <hcpnet/diagnostic.hpp>
#include <hcpnet/spec/hosted_cluster.hpp>
#include <hcpnet/spec/model.hpp>
#include <hcpnet/spec/origin.hpp>
#include <hcpnet/spec/primary_udn.hpp>
#include <hcpnet/text/limits.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hcpnet::spec {

/// One file's text. A name that ends in ".json" is read as JSON, any other as YAML; "-" as JSON when it begins with a
/// brace.
struct SourceText {
  std::string name;  ///< as the user named it; "-" for standard input
  std::string text;
};

using text::LoadLimits;

/// Every object of a set of files, each with the place it came from.
struct SpecSet {
  template <class Kind>
  struct Object {
    Kind value;
    Origin origin;  ///< file, document and the positions of its fields, for problems found later
  };
  std::vector<Object<Infra>> infras;
  std::vector<Object<InfraClusterAttachment>> attachments;
  std::vector<Object<DHCPServer>> dhcp_servers;
  std::vector<Object<DNSServer>> dns_servers;
  std::vector<Object<ProxyServer>> proxy_servers;
  std::vector<Object<DHCPPolicy>> dhcp_policies;
  std::vector<Object<DNSPolicy>> dns_policies;
  std::vector<Object<ProxyPolicy>> proxy_policies;
  std::vector<Object<AppsPolicy>> apps_policies;
  std::vector<Object<BootstrapCluster>> bootstrap_clusters;
  std::vector<Object<HostedCluster>> hosted_clusters;
  std::vector<Object<PrimaryUDN>> primary_udns;
  bool complete = true;  ///< false when a file, or an object in one, could not be read at all: then nothing is known
                         ///< about what is missing from the set
  Diagnostics
      problems;  ///< what could not be read; fields it concerns hold their defaults and are left out of later rules
};

/// The kinds that a command takes; any other is an error, "unknown-kind".
enum class KindSet : std::uint8_t {
  network,  ///< those of docs/spec.md
  names,    ///< these and HostedCluster: what looks at hosted clusters themselves
};

/// Reads objects and checks them one value at a time. Never throws but std::bad_alloc.
[[nodiscard]] SpecSet load(const std::vector<SourceText>& sources, const LoadLimits& limits = {},
                           KindSet kinds = KindSet::network);

}  // namespace hcpnet::spec
