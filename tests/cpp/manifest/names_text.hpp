// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hcpnet/diagnostic.hpp>
#include <string>
#include <vector>

namespace hcpnet::test {

struct Published {
  std::string service, type, host;  ///< without a host the strategy has no part of its own
};

/// What `hypershift create cluster kubevirt` writes.
inline const std::vector<Published> kDefaults{{"APIServer", "LoadBalancer", ""},
                                              {"OAuthServer", "Route", ""},
                                              {"Konnectivity", "Route", ""},
                                              {"Ignition", "Route", ""}};
/// Names below blue.example.com.
inline const std::vector<Published> kByName{{"APIServer", "LoadBalancer", "api.blue.example.com"},
                                            {"OAuthServer", "Route", "oauth.blue.example.com"},
                                            {"Konnectivity", "Route", "konnectivity.blue.example.com"},
                                            {"Ignition", "Route", "ignition.blue.example.com"}};

/// A HostedCluster of the namespace `clusters`; `more` are further lines of its spec.
inline std::string hosted_text(const std::string& name, const std::string& base_domain,
                               const std::vector<Published>& services = kDefaults, const std::string& more = {}) {
  std::string text = "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nmetadata: {name: " + name +
                     ", namespace: clusters}\nspec:\n  platform: {type: KubeVirt}\n  dns: {baseDomain: " + base_domain +
                     "}\n" + more;
  if (!services.empty()) text += "  services:\n";
  for (const auto& [service, type, host] : services) {
    const std::string part = type == "Route" ? "route" : "loadBalancer";
    text += "  - {service: " + service + ", servicePublishingStrategy: {type: " + type +
            (host.empty() ? "" : ", " + part + ": {hostname: " + host + '}') + "}}\n";
  }
  return text + "---\n";
}

/// The codes, "error " in front of those of errors.
inline std::vector<std::string> codes(const Diagnostics& found) {
  std::vector<std::string> list;
  for (const Diagnostic& d : found) list.push_back((d.severity == Severity::error ? "error " : "") + d.code);
  return list;
}

}  // namespace hcpnet::test
