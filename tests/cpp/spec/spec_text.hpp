// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>

#include <algorithm>
#include <hcpnet/spec/validate.hpp>
#include <string>
#include <vector>

namespace hcpnet::test {

inline constexpr const char* kOooi = "apiVersion: hostedcluster.densityops.com/v1alpha1\n";
inline constexpr const char* kHcpnet = "apiVersion: hcpnet.io/v1alpha1\n";

/// An Infra without a cluster, on 192.0.2.0/24: gateway .1, servers .2 to .4, DHCP from .100 to .149.
inline std::string infra_text(const std::string& name = "yard", const std::string& network = "",
                              const std::string& prefix = "192.0.2.") {
  return std::string(kOooi) + "kind: Infra\nmetadata: {name: " + name +
         ", namespace: hcp}\nspec:\n  networkConfig:\n    cidr: " + prefix + "0/24\n    gateway: " + prefix +
         "1\n    " + (network.empty() ? "networkAttachmentDefinition: vlan7" : network) +
         "\n  infraComponents:\n    dhcp: {serverIP: " + prefix + "2, rangeStart: " + prefix +
         "100, rangeEnd: " + prefix + "149}\n    dns: {serverIP: " + prefix + "3}\n    proxy: {serverIP: " + prefix +
         "4}\n---\n";
}

/// An attachment of "yard"; `more` are further lines of its spec.
inline std::string attachment_text(const std::string& name, const std::string& more = "",
                                   const std::string& infra = "yard") {
  return std::string(kOooi) + "kind: InfraClusterAttachment\nmetadata: {name: " + name +
         ", namespace: hcp}\nspec:\n  infraRef: {name: " + infra + "}\n  hostedClusterRef: {name: " + name +
         ", namespace: hcp}\n  dns: {clusterName: " + name + ", baseDomain: hc.example.com}\n" + more + "---\n";
}

/// The AppsPolicy of an attachment.
inline std::string apps_policy_text(const std::string& attachment, const std::string& vip) {
  return std::string(kHcpnet) + "kind: AppsPolicy\nmetadata: {name: " + attachment +
         ", namespace: hcp}\nspec: {targetRef: {kind: InfraClusterAttachment, name: " + attachment +
         "}, staticVIP: " + vip + "}\n---\n";
}

/// What a check of one file "f.yaml" found, as "LINE:COLUMN CODE PATH"; warnings begin with "warning ".
inline std::vector<std::string> findings(const std::vector<spec::SourceText>& sources) {
  const auto result = spec::check(sources);
  std::vector<std::string> list;
  for (const Diagnostic& d : result.has_value() ? result->warnings : result.error())
    list.push_back((d.severity == Severity::warning ? "warning " : "") + std::to_string(d.line) + ':' +
                   std::to_string(d.column) + ' ' + d.code + ' ' + d.path);
  return list;
}
inline std::vector<std::string> findings(const std::string& text) {
  return findings(std::vector<spec::SourceText>{{"f.yaml", text}});
}

/// Only "CODE PATH" of each error.
inline std::vector<std::string> errors(const std::vector<spec::SourceText>& sources) {
  const auto result = spec::check(sources);
  std::vector<std::string> list;
  if (!result.has_value())
    for (const Diagnostic& d : result.error())
      if (d.severity == Severity::error) list.push_back(d.code + ' ' + d.path);
  return list;
}
inline std::vector<std::string> errors(const std::string& text) {
  return errors(std::vector<spec::SourceText>{{"f.yaml", text}});
}

/// Only "CODE PATH" of each warning of a good set.
inline std::vector<std::string> warnings(const std::string& text) {
  const auto result = spec::check({{"f.yaml", text}});
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  std::vector<std::string> list;
  if (result.has_value())
    for (const Diagnostic& d : result->warnings) list.push_back(d.code + ' ' + d.path);
  return list;
}

/// The set that a good text describes; the test fails when it does not.
inline spec::ValidSet valid(const std::string& text) {
  auto result = spec::check({{"f.yaml", text}});
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  return result.has_value() ? *std::move(result) : spec::ValidSet{};
}

}  // namespace hcpnet::test
