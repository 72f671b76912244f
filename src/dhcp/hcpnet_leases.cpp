// SPDX-License-Identifier: Apache-2.0
// Our own lease file: a CSV of both families that people and spreadsheets can read.
//   address,mac,client_id,duid,iaid,host_name,state,started,expires,subnet,line
// "line", where it is there, is that of the file which the leases came from.
#include <algorithm>

#include "dhcp/lease_csv.hpp"
#include "timestamp.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::string_view kRequired[] = {"address", "mac", "duid", "iaid", "state", "expires"};
constexpr std::string_view kHeader = "address,mac,client_id,duid,iaid,host_name,state,started,expires,subnet,line\n";
constexpr std::size_t kMaxClientIdBytes = 4096;  // as the lease database takes it
constexpr std::size_t kMaxHostNameBytes = 255;

std::optional<LeaseState> parse_state(std::string_view text) {
  for (const auto state : {LeaseState::bound, LeaseState::released, LeaseState::expired, LeaseState::declined})
    if (text == to_string(state)) return state;
  return std::nullopt;
}

class Reader {
 public:
  Reader(LeaseCsv& csv, LeaseListBuilder& out) : csv_(csv), out_(out) {}

  void read() {
    const auto address = parse_ip_address(csv_.field("address"));
    if (!address) return error("an address is needed", "address");
    line_ = csv_.line();
    if (const std::string_view text = csv_.field("line"); !text.empty()) {
      const auto line = parse_number(text, 0xFFFFFFFF);
      if (!line) return error("a line number is needed", "line");
      line_ = static_cast<std::uint32_t>(*line);
    }
    if (address->is_v4())
      read_v4(address->v4());
    else
      read_v6(address->v6());
  }

 private:
  void error(std::string message, std::string_view column) {
    out_.error(csv_.line(), "lease-bad-value", std::string(column) + ": " + std::move(message), csv_.field(column));
  }

  void read_v4(Ipv4 address) {
    Lease lease;
    lease.address = address;
    if (!read_common(lease)) return;
    const std::string_view mac_text = csv_.field("mac");
    const auto mac = parse_mac_address(mac_text);
    const bool may_lack_mac = lease.state == LeaseState::declined && mac_text.empty();
    if (mac ? !is_client_mac(*mac) && lease.state != LeaseState::declined : !may_lack_mac)
      return error("the hardware address of a client is needed", "mac");
    if (mac) lease.mac = *mac;
    if (const std::string_view id = csv_.field("client_id"); !id.empty()) {
      auto bytes = parse_hex_bytes(id, kMaxClientIdBytes);
      if (!bytes) return error("a client identifier is needed: hexadecimal bytes between colons", "client_id");
      lease.client_id = *std::move(bytes);
    }
    out_.put(std::move(lease), line_);
  }

  void read_v6(const Ipv6& address) {
    dhcp6::Lease lease;
    lease.address = address;
    if (!read_common(lease)) return;
    const auto duid = dhcp6::parse_duid(csv_.field("duid"));
    if (!duid) return error("a DUID is needed: hexadecimal bytes between colons", "duid");
    const auto iaid = parse_number(csv_.field("iaid"), 0xFFFFFFFF);
    if (!iaid) return error("an IAID is needed: a number of 32 bits", "iaid");
    lease.client.duid = *duid;
    lease.client.iaid = static_cast<std::uint32_t>(*iaid);
    if (const std::string_view text = csv_.field("mac"); !text.empty()) {
      lease.client.mac = parse_mac_address(text);
      if (!lease.client.mac) return error("a hardware address is needed", "mac");
    }
    out_.put(std::move(lease), line_);
  }

  /// What both families have.
  template <class AnyLease>
  bool read_common(AnyLease& lease) {
    const auto state = parse_state(csv_.field("state"));
    if (!state) error("a state is needed: bound, released, expired or declined", "state");
    const auto expires = parse_timestamp(csv_.field("expires"));
    if (!expires) error("a time is needed, such as 2026-01-31T23:59:59Z", "expires");
    const std::string_view started_text = csv_.field("started");
    const auto started = started_text.empty() ? std::chrono::sys_seconds() : parse_timestamp(started_text);
    if (!started) error("a time is needed, such as 2026-01-31T23:59:59Z", "started");
    lease.host_name = unescape_csv(csv_.field("host_name"));
    if (lease.host_name.size() > kMaxHostNameBytes) {
      error("a name has 255 bytes at most", "host_name");
      return false;
    }
    if (!state || !expires || !started) return false;
    lease.subnet = unescape_csv(csv_.field("subnet"));
    lease.state = *state;
    lease.expires = clamp(*expires);
    lease.started = clamp(*started);
    return true;
  }

  static std::chrono::sys_seconds clamp(std::chrono::sys_seconds time) {
    return std::clamp(time, std::chrono::sys_seconds(), kNeverEnds);
  }

  LeaseCsv& csv_;
  LeaseListBuilder& out_;
  std::uint32_t line_ = 0;
};

template <class AnyLease>
std::string tail(const AnyLease& lease, std::string_view line) {
  return escape_csv(lease.host_name) + ',' + std::string(to_string(lease.state)) + ',' + timestamp(lease.started) +
         ',' + timestamp(lease.expires) + ',' + escape_csv(lease.subnet) + ',' + std::string(line) + '\n';
}

}  // namespace

void read_hcpnet_leases(std::string_view text, LeaseListBuilder& out) {
  LeaseCsv csv(text, out);
  if (!csv.read_header(kRequired)) return;
  Reader reader(csv, out);
  while (csv.next()) reader.read();
}

std::string render_lease_file(std::span<const Lease> leases, std::span<const dhcp6::Lease> leases6,
                              std::span<const std::uint32_t> lines) {
  std::string out(kHeader);
  std::size_t count = 0;
  const auto line = [&] { return count < lines.size() ? std::to_string(lines[count++]) : std::string(); };
  for (const Lease& lease : leases)
    out += lease.address.to_string() + ',' + lease.mac.to_string() + ',' + hex_bytes(lease.client_id) + ",,," +
           tail(lease, line());
  for (const dhcp6::Lease& lease : leases6)
    out += lease.address.to_string() + ',' + (lease.client.mac ? lease.client.mac->to_string() : "") + ",," +
           lease.client.duid.to_string() + ',' + std::to_string(lease.client.iaid) + ',' + tail(lease, line());
  return out;
}

}  // namespace hcpnet::dhcp
