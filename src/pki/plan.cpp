// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "pki/layouts.hpp"

namespace hcpnet::pki {
namespace {

constexpr std::array<std::string_view, 2> kLayoutNames{"HandMade", "Installer"};

template <class T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::string_view to_string(Layout layout) noexcept {
  return kLayoutNames.at(static_cast<std::size_t>(layout));
}
std::optional<Layout> parse_layout(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(kLayoutNames, text);
  if (found == kLayoutNames.end()) return std::nullopt;
  return static_cast<Layout>(found - kLayoutNames.begin());
}

const PlannedCertificate* PkiPlan::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(certificates, name, &PlannedCertificate::name);
  return found == certificates.end() ? nullptr : &*found;
}

PkiPlan plan_pki(Layout layout, const ClusterIdentity& cluster, const Lifetimes& lifetimes) {
  return layout == Layout::hand_made ? plan_hand_made(cluster, lifetimes) : plan_installer(cluster, lifetimes);
}

void PlanBuilder::authority(const std::string& name, const std::string& issuer) {
  authority(name, issuer, lifetimes_.authority);
}
void PlanBuilder::authority(const std::string& name, const std::string& issuer, std::chrono::seconds lifetime) {
  CertificateProfile profile;
  profile.subject.common_name = name;
  profile.is_authority = true;
  plan.certificates.push_back({name, issuer, std::move(profile), lifetime});
}

void PlanBuilder::client(const std::string& name, const std::string& issuer, DistinguishedName subject) {
  CertificateProfile profile;
  profile.subject = std::move(subject);
  profile.client_auth = true;
  leaf(name, issuer, std::move(profile));
}
void PlanBuilder::server(const std::string& name, const std::string& issuer, std::string common_name, Names names) {
  CertificateProfile profile;
  profile.subject.common_name = std::move(common_name);
  profile.server_auth = true;
  leaf(name, issuer, std::move(profile), std::move(names));
}
void PlanBuilder::peer(const std::string& name, const std::string& issuer, std::string common_name, Names names) {
  CertificateProfile profile;
  profile.subject.common_name = std::move(common_name);
  profile.server_auth = profile.client_auth = true;
  leaf(name, issuer, std::move(profile), std::move(names));
}
void PlanBuilder::leaf(const std::string& name, const std::string& issuer, CertificateProfile profile, Names names) {
  sort_unique(names.dns);
  sort_unique(names.addresses);
  profile.dns_names = std::move(names.dns);
  profile.addresses = std::move(names.addresses);
  plan.certificates.push_back({name, issuer, std::move(profile), lifetimes_.leaf});
}
void PlanBuilder::bundle(const std::string& name, std::vector<std::string> certificates) {
  plan.bundles.push_back({name, std::move(certificates)});
}

const IpAddress& loopback_v4() {
  static const IpAddress address = Ipv4(127, 0, 0, 1);
  return address;
}
const IpAddress& loopback_v6() {
  static const IpAddress address = Ipv6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  return address;
}
std::vector<std::string> service_names(const std::string& service) {
  return {service, service + ".default", service + ".default.svc", service + ".default.svc.cluster.local"};
}

}  // namespace hcpnet::pki
