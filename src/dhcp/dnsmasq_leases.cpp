// SPDX-License-Identifier: Apache-2.0
// dnsmasq, --dhcp-leasefile: one lease per line, words between blanks.
//   IPv4:  END MAC ADDRESS HOST-NAME CLIENT-ID         IPv6:  END IAID ADDRESS HOST-NAME DUID
// "*" stands for none; the end is in seconds since 1970, 0 for never; a MAC of another kind than Ethernet has its ARP
// type before it ("06-..."); an IAID after T is that of a temporary address. Before the IPv6 leases stands the server's
// own DUID: "duid 00:01:...".
#include <algorithm>
#include <array>
#include <hcpnet/dhcp/options.hpp>

#include "dhcp/lease_file_reader.hpp"

namespace hcpnet::dhcp {
namespace {

constexpr std::size_t kWords = 5;
constexpr std::size_t kMaxClientIdBytes = 255;  // option 61 has one length byte, and nothing longer is written

/// The words of a line; more than there may be are only counted.
struct Words {
  std::array<std::string_view, kWords> at;
  std::size_t count = 0;
};

Words split(std::string_view line) {
  Words out;
  while (true) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (line.empty()) return out;
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (out.count < kWords) out.at[out.count] = word;
    ++out.count;
    line.remove_prefix(word.size());
  }
}

std::optional<std::chrono::sys_seconds> parse_end(std::string_view text) {
  const auto seconds = parse_number(text);
  if (!seconds) return std::nullopt;
  return *seconds == 0 ? kNeverEnds : lease_time(*seconds);
}

std::string host_label(std::string_view text) {
  return text == "*" ? std::string() : make_host_label(as_bytes(text));
}

struct Hardware {
  std::optional<MacAddress> mac;  ///< none: of another kind
};

std::optional<Hardware> parse_hardware(std::string_view text) {
  constexpr std::size_t kPrefix = 3;
  if (text.size() < kPrefix || text[2] != '-') {
    if (const auto mac = parse_mac_address(text)) return Hardware{mac};
    return parse_hex_bytes(text, 16) ? std::optional(Hardware{}) : std::nullopt;  // Ethernet, but of another length
  }
  const auto type = parse_hex_bytes(text.substr(0, 2), 1);
  const std::string_view address = text.substr(kPrefix);
  if (!type || !(address.empty() || parse_hex_bytes(address, 16))) return std::nullopt;
  return Hardware{*type == "\x01" ? parse_mac_address(address) : std::nullopt};
}

class Reader {
 public:
  Reader(LeaseListBuilder& out, std::uint32_t line, const Words& words) : out_(out), line_(line), at_(words.at) {}

  void read() {
    const auto end = parse_end(at_[0]);
    if (!end) error("an end is needed: seconds since 1970, 0 for never", at_[0]);
    const auto address = parse_ip_address(at_[2]);
    if (!address) error("an address is needed", at_[2]);
    if (!end || !address) return;
    if (address->is_v4()) return read_v4(address->v4(), *end);
    read_v6(address->v6(), *end);
  }

 private:
  void error(std::string message, std::string_view found) {
    out_.error(line_, "lease-bad-value", std::move(message), found);
  }

  void read_v4(Ipv4 address, std::chrono::sys_seconds end) {
    Lease lease;
    lease.address = address;
    lease.expires = end;
    const auto hardware = parse_hardware(at_[1]);
    if (!hardware) return error("a hardware address is needed", at_[1]);
    lease.host_name = host_label(at_[3]);
    if (at_[4] != "*") {
      auto id = parse_hex_bytes(at_[4], kMaxClientIdBytes);
      if (!id) return error("a client identifier is needed: hexadecimal bytes between colons, or *", at_[4]);
      lease.client_id = *std::move(id);
    }
    if (hardware->mac && is_client_mac(*hardware->mac)) {
      lease.mac = *hardware->mac;
    } else {
      out_.warn(line_, "lease-no-client", "no client with an Ethernet address: the address rests until the lease ends",
                at_[1]);
      make_rest(lease);
    }
    out_.put(std::move(lease), line_);
  }

  void read_v6(const Ipv6& address, std::chrono::sys_seconds end) {
    dhcp6::Lease lease;
    lease.address = address;
    lease.expires = end;
    const bool is_temporary = at_[1].starts_with('T');
    const auto iaid = parse_number(at_[1].substr(is_temporary ? 1 : 0), 0xFFFFFFFF);
    if (!iaid) return error("an IAID is needed: a number of 32 bits, after T that of a temporary address", at_[1]);
    lease.host_name = host_label(at_[3]);
    const auto duid = dhcp6::parse_duid(at_[4]);
    if (!duid && at_[4] != "*") return error("a DUID is needed: hexadecimal bytes between colons, or *", at_[4]);
    if (duid && !is_temporary) {
      lease.client = make_client(*duid, static_cast<std::uint32_t>(*iaid));
    } else {
      out_.warn(line_, "lease-no-client",
                is_temporary ? "a temporary address: it rests until the lease ends"
                             : "no DUID: the address rests until the lease ends");
      make_rest(lease);
    }
    out_.put(std::move(lease), line_);
  }

  LeaseListBuilder& out_;
  std::uint32_t line_;
  const std::array<std::string_view, kWords>& at_;
};

}  // namespace

void read_dnsmasq_leases(std::string_view text, LeaseListBuilder& out) {
  for (std::uint32_t line = 1; !text.empty() && !out.is_full(); ++line) {
    const std::string_view content = take_line(text);
    const Words words = split(content);
    if (words.count == 0) continue;
    if (words.at[0] == "duid" && words.count == 2) {
      if (!dhcp6::parse_duid(words.at[1]))
        out.error(line, "lease-bad-value", "the server's DUID is needed: hexadecimal bytes between colons",
                  words.at[1]);
      continue;
    }
    if (words.count == kWords) {
      Reader(out, line, words).read();
    } else {
      out.error(line, "lease-syntax", "a lease has five words, here are " + std::to_string(words.count), content,
                "END MAC ADDRESS HOST-NAME CLIENT-ID, or END IAID ADDRESS HOST-NAME DUID");
    }
  }
}

}  // namespace hcpnet::dhcp
