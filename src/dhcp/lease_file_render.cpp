// SPDX-License-Identifier: Apache-2.0
// Leases as other servers have them, for the way back.
#include <algorithm>
#include <ctime>
#include <hcpnet/dhcp/lease_file.hpp>
#include <hcpnet/dhcp/options.hpp>
#include <vector>

#include "dhcp/lease_csv.hpp"

namespace hcpnet::dhcp {
namespace {

std::int64_t seconds_of(std::chrono::sys_seconds time) {
  return time.time_since_epoch().count();
}

constexpr std::size_t kMaxClientIdBytes = 255;  // option 61 as these servers take it

/// Empty also for one that is longer than the others know.
std::string client_id_of(const Lease& lease) {
  return lease.client_id.size() > kMaxClientIdBytes ? std::string() : hex_bytes(lease.client_id);
}

/// A label is safe in each of these files.
std::string label(const std::string& host_name) {
  return make_host_label(as_bytes(host_name));
}

/// Numbers subnets from 1 in the order in which they are asked for.
class SubnetIds {
 public:
  std::size_t id_of(const std::string& subnet) {
    const auto found = std::ranges::find(names_, subnet);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin()) + 1;
    names_.push_back(subnet);
    return names_.size();
  }

 private:
  std::vector<std::string> names_;
};

/// Column "state": 0 in use, 1 declined, 2 expired and reclaimed. Versions before 2.7 know no released ones.
int kea_state(LeaseState state) noexcept {
  if (state == LeaseState::bound) return 0;
  return state == LeaseState::declined ? 1 : 2;
}

/// Of 32 bits, and never 0, which would take the lease away; all ones is for ever.
template <class AnyLease>
std::int64_t kea_lifetime(const AnyLease& lease) {
  if (lease.expires >= kNeverEnds) return 0xFFFFFFFF;
  return std::clamp<std::int64_t>(seconds_of(lease.expires) - seconds_of(lease.started), 1, 0xFFFFFFFE);
}

std::string render_kea(std::span<const Lease> leases) {
  std::string out =
      "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
  SubnetIds subnets;
  for (const Lease& lease : leases) {
    const bool is_declined = lease.state == LeaseState::declined;
    out += lease.address.to_string() + ',' + (is_declined ? "" : lease.mac.to_string()) + ',' + client_id_of(lease) +
           ',' + std::to_string(kea_lifetime(lease)) + ',' + std::to_string(seconds_of(lease.expires)) + ',' +
           std::to_string(subnets.id_of(lease.subnet)) + ",0,0," + label(lease.host_name) + ',' +
           std::to_string(kea_state(lease.state)) + ",\n";
  }
  return out;
}

std::string render_dnsmasq(std::span<const Lease> leases) {
  const auto or_star = [](std::string word) { return word.empty() ? std::string("*") : word; };
  std::string out;
  for (const Lease& lease : leases) {
    if (lease.state != LeaseState::bound) continue;
    const bool is_endless = lease.expires >= kNeverEnds;
    const std::int64_t end = is_endless ? 0 : std::max<std::int64_t>(1, seconds_of(lease.expires));
    out += std::to_string(end) + ' ' + lease.mac.to_string() + ' ' + lease.address.to_string() + ' ' +
           or_star(label(lease.host_name)) + ' ' + or_star(client_id_of(lease)) + '\n';
  }
  return out;
}

/// "4 2026/01/01 10:00:00": weekday and time in UTC.
std::string isc_time(std::chrono::sys_seconds time) {
  if (time >= kNeverEnds) return "never";
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%w %Y/%m/%d %H:%M:%S", &parts)};
}

const char* isc_state(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::bound:
      return "active";
    case LeaseState::declined:
      return "abandoned";
    case LeaseState::released:
    case LeaseState::expired:
      break;
  }
  return "free";
}

std::string render_isc(std::span<const Lease> leases) {
  std::string out = "# dhcpd.leases(5)\nauthoring-byte-order little-endian;\n";
  for (const Lease& lease : leases) {
    out += "lease " + lease.address.to_string() + " {\n  starts " + isc_time(lease.started) + ";\n  ends " +
           isc_time(lease.expires) + ";\n  binding state " + isc_state(lease.state) + ";\n";
    if (lease.mac != MacAddress()) out += "  hardware ethernet " + lease.mac.to_string() + ";\n";
    const std::string id = client_id_of(lease);
    if (!id.empty()) out += "  uid " + id + ";\n";
    const std::string name = label(lease.host_name);
    if (!name.empty()) out += "  client-hostname \"" + name + "\";\n";
    out += "}\n";
  }
  return out;
}

}  // namespace

std::string render_lease_file(LeaseFileFormat format, std::span<const Lease> leases) {
  switch (format) {
    case LeaseFileFormat::isc:
      return render_isc(leases);
    case LeaseFileFormat::dnsmasq:
      return render_dnsmasq(leases);
    case LeaseFileFormat::kea:
      return render_kea(leases);
    case LeaseFileFormat::hcpnet:
      break;
  }
  return render_lease_file(leases, {});
}

std::string render_kea_leases6(std::span<const dhcp6::Lease> leases) {
  std::string out =
      "address,duid,valid_lifetime,expire,subnet_id,pref_lifetime,lease_type,iaid,prefix_len,fqdn_fwd,fqdn_rev,"
      "hostname,hwaddr,state,user_context,hwtype,hwaddr_source\n";
  SubnetIds subnets;
  for (const dhcp6::Lease& lease : leases) {
    const std::string lifetime = std::to_string(kea_lifetime(lease));
    const bool is_declined = lease.state == LeaseState::declined;
    const std::string mac = !is_declined && lease.client.mac ? lease.client.mac->to_string() : "";
    out += lease.address.to_string() + ',' + (is_declined ? no_duid() : lease.client.duid).to_string() + ',' +
           lifetime + ',' + std::to_string(seconds_of(lease.expires)) + ',' +
           std::to_string(subnets.id_of(lease.subnet)) + ',' + lifetime + ",0," + std::to_string(lease.client.iaid) +
           ",128,0,0," + label(lease.host_name) + ',' + mac + ',' + std::to_string(kea_state(lease.state)) + ",," +
           (mac.empty() ? "," : "1,0") + '\n';
  }
  return out;
}

}  // namespace hcpnet::dhcp
